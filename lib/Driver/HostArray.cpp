//===- HostArray.cpp - Strided arrays between host and device -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/HostArray.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::ArrayRef;
using llvm::SmallVector;

constexpr char untouchedByte = static_cast<char>(0xff);

int64_t ArrayLayout::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

int64_t ArrayLayout::getStorageElements() const {
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    last += (size - 1) * stride;
  return last + 1;
}

ArrayLayout mlir::evoformer::makeDense(ElementType type,
                                       ArrayRef<int64_t> sizes,
                                       ArrayRef<unsigned> order) {
  ArrayLayout layout;
  layout.type = type;
  layout.sizes.assign(sizes.begin(), sizes.end());
  layout.strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    unsigned dim = order.empty() ? i : order[i];
    layout.strides[dim] = stride;
    stride *= sizes[dim];
  }
  return layout;
}

HostArray::HostArray(ArrayLayout layout)
    : layout(std::move(layout)), storage(this->layout.getStorageElements() *
                                             getByteSize(this->layout.type),
                                         untouchedByte) {}

static int64_t getByteOffset(const ArrayLayout &layout,
                             ArrayRef<int64_t> index) {
  int64_t at = layout.offset;
  for (auto [i, stride] : llvm::zip_equal(index, layout.strides))
    at += i * stride;
  return at * getByteSize(layout.type);
}

double HostArray::read(ArrayRef<int64_t> index) const {
  return readElement(layout.type,
                     storage.data() + getByteOffset(layout, index));
}

void HostArray::write(ArrayRef<int64_t> index, double number) {
  writeElement(layout.type, number,
               storage.data() + getByteOffset(layout, index));
}

void HostArray::forEach(
    llvm::function_ref<void(ArrayRef<int64_t>, int64_t)> function) const {
  if (llvm::is_contained(layout.sizes, 0))
    return;
  int64_t elementBytes = getByteSize(layout.type);
  SmallVector<int64_t, 6> index(layout.sizes.size(), 0);
  int64_t at = layout.offset;
  for (;;) {
    function(index, at * elementBytes);
    size_t dim = index.size();
    for (; dim-- > 0;) {
      at += layout.strides[dim];
      if (++index[dim] < layout.sizes[dim])
        break;
      at -= index[dim] * layout.strides[dim];
      index[dim] = 0;
    }
    if (dim == static_cast<size_t>(-1))
      return;
  }
}

bool HostArray::gapsAreUntouched(
    llvm::function_ref<bool(ArrayRef<int64_t>)> isElement) const {
  std::vector<char> copy = storage;
  int64_t elementBytes = getByteSize(layout.type);
  forEach([&](ArrayRef<int64_t> index, int64_t at) {
    if (isElement && !isElement(index))
      return;
    std::memset(copy.data() + at, untouchedByte, elementBytes);
  });
  return llvm::all_of(copy, [](char c) { return c == untouchedByte; });
}

HostArray mlir::evoformer::fromTensor(const HostTensor &tensor,
                                      ArrayLayout layout) {
  HostArray array(std::move(layout));
  int64_t elementBytes = getByteSize(array.layout.type), from = 0;
  array.forEach([&](ArrayRef<int64_t>, int64_t at) {
    std::memcpy(array.storage.data() + at, tensor.data.data() + from,
                elementBytes);
    from += elementBytes;
  });
  return array;
}

HostTensor mlir::evoformer::toTensor(const HostArray &array) {
  HostTensor tensor;
  tensor.elementType = array.layout.type;
  tensor.shape.assign(array.layout.sizes.begin(), array.layout.sizes.end());
  int64_t elementBytes = getByteSize(array.layout.type);
  tensor.data.reserve(array.layout.getNumElements() * elementBytes);
  array.forEach([&](ArrayRef<int64_t>, int64_t at) {
    auto begin = array.storage.begin() + at;
    tensor.data.insert(tensor.data.end(), begin, begin + elementBytes);
  });
  return tensor;
}

llvm::Expected<DeviceArray> DeviceArray::create(Device &device,
                                                std::string name,
                                                const ArrayLayout &layout,
                                                uint64_t guardBytes) {
  auto buffer = DeviceBuffer::create(
      device, std::move(name),
      layout.getStorageElements() * getByteSize(layout.type), guardBytes);
  if (!buffer)
    return buffer.takeError();
  return DeviceArray(std::move(*buffer), layout);
}

HostValue mlir::evoformer::describe(const ArrayLayout &layout, uint64_t address,
                                    ArrayRef<unsigned> order) {
  HostValue value;
  MemRefDescriptor &memref = value.memref;
  memref.allocated = memref.aligned = address;
  memref.offset = layout.offset;
  for (size_t i = 0; i < layout.sizes.size(); ++i) {
    unsigned dim = order.empty() ? i : order[i];
    memref.sizes.push_back(layout.sizes[dim]);
    memref.strides.push_back(layout.strides[dim]);
  }
  return value;
}

HostValue DeviceArray::getValue(ArrayRef<unsigned> order) const {
  return describe(layout, buffer.getAddress(), order);
}
