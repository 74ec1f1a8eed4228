//===- Views.cpp - Views of memrefs in host programs ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

/// Sizes of empty memrefs may be anything, so products may wrap.
static int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

SmallVector<int64_t, 6> rowMajorStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t, 6> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride = multiply(stride, sizes[dim]);
  }
  return strides;
}

Error checkDescriptor(const PlanType &type,
                      const MemRefDescriptor &descriptor) {
  if (descriptor.sizes.size() != type.shape.size() ||
      descriptor.strides.size() != type.shape.size())
    return createStringError("rank " + Twine(descriptor.sizes.size()) +
                             " where " + Twine(type.getRank()) +
                             " is expected");
  bool isEmpty = is_contained(descriptor.sizes, 0);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = descriptor.sizes[dim];
    if (size < 0 ||
        (type.shape[dim] != dynamicExtent && type.shape[dim] != size))
      return createStringError(
          "size " + Twine(size) + " of dimension " + Twine(dim) +
          (size < 0 ? " is negative"
                    : " where " + Twine(type.shape[dim]) + " is expected"));
    if (!isEmpty && size != 1 && type.strides[dim] != dynamicExtent &&
        type.strides[dim] != descriptor.strides[dim])
      return createStringError("stride " + Twine(descriptor.strides[dim]) +
                               " of dimension " + Twine(dim) + " where " +
                               Twine(type.strides[dim]) + " is expected");
  }
  if (!isEmpty && type.offset != dynamicExtent &&
      type.offset != descriptor.offset)
    return createStringError("offset " + Twine(descriptor.offset) + " where " +
                             Twine(type.offset) + " is expected");
  return Error::success();
}

/// Offsets, sizes and strides select within the source; nothing outside of it.
static Expected<MemRefDescriptor> computeSubView(const PlanOp &op,
                                                 const MemRefDescriptor &source,
                                                 ArrayRef<int64_t> offsets,
                                                 ArrayRef<int64_t> sizes,
                                                 ArrayRef<int64_t> strides) {
  MemRefDescriptor result{
      source.allocated, source.aligned, source.offset, {}, {}};
  bool isEmpty = is_contained(sizes, 0);
  for (auto [dim, offset, size, stride] : enumerate(offsets, sizes, strides)) {
    __int128 last = static_cast<__int128>(offset) +
                    (static_cast<__int128>(size) - 1) * stride;
    if (size < 0 || (!isEmpty && (offset < 0 || offset >= source.sizes[dim] ||
                                  last < 0 || last >= source.sizes[dim])))
      return createStringError("memref.subview takes " + Twine(size) +
                               " elements from " + Twine(offset) + ", step " +
                               Twine(stride) + ", of dimension " + Twine(dim) +
                               " of size " + Twine(source.sizes[dim]));
    if (!isEmpty)
      result.offset += multiply(offset, source.strides[dim]);
    if (is_contained(op.dimensions, static_cast<int64_t>(dim)))
      continue;
    result.sizes.push_back(size);
    result.strides.push_back(multiply(stride, source.strides[dim]));
  }
  return result;
}

Expected<MemRefDescriptor> computeView(const PlanOp &op,
                                       const MemRefDescriptor &source,
                                       ArrayRef<int64_t> offsets,
                                       ArrayRef<int64_t> sizes,
                                       ArrayRef<int64_t> strides) {
  MemRefDescriptor result = source;
  switch (op.code) {
  case PlanOpcode::SubView: {
    Expected<MemRefDescriptor> view =
        computeSubView(op, source, offsets, sizes, strides);
    if (!view)
      return view;
    result = std::move(*view);
    break;
  }
  case PlanOpcode::ReinterpretCast:
    result = {source.allocated, source.aligned, offsets[0],
              SmallVector<int64_t, 6>(sizes), SmallVector<int64_t, 6>(strides)};
    break;
  case PlanOpcode::Transpose:
    for (auto [dim, from] : enumerate(op.dimensions)) {
      result.sizes[dim] = source.sizes[from];
      result.strides[dim] = source.strides[from];
    }
    break;
  default: // memref.cast
    break;
  }
  if (Error error = checkDescriptor(op.type, result))
    return createStringError(getName(op.code) + Twine(": ") +
                             toString(std::move(error)));
  return result;
}

} // namespace mlir::evoformer::runtime
