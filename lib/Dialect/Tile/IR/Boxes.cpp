//===- Boxes.cpp - How boxes lie in workgroup memory ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Boxes.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

ArrayRef<Type> mlir::evoformer::tile::getPassedTypes(KernelOp kernel) {
  return kernel.getArgumentTypes().take_until(llvm::IsaPred<TensorMapType>);
}

bool mlir::evoformer::tile::isBoxElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

bool mlir::evoformer::tile::isFilledByBox(MemRefType memory,
                                          ArrayRef<int64_t> box) {
  SmallVector<int64_t> strides;
  int64_t offset, stride = 1;
  if (failed(memory.getStridesAndOffset(strides, offset)))
    return false;
  auto isWide = [](int64_t size) { return size != 1; };
  SmallVector<int64_t> wanted(llvm::make_filter_range(box, isWide));
  for (int64_t d = memory.getRank() - 1; d >= 0; --d) {
    int64_t size = memory.getDimSize(d);
    if (size == 1)
      continue;
    if (wanted.empty() || wanted.pop_back_val() != size || strides[d] != stride)
      return false;
    stride *= size;
  }
  return wanted.empty();
}

std::optional<int64_t>
mlir::evoformer::tile::getSwizzledRowBytes(const Swizzle &swizzle) {
  if (swizzle.panels)
    return std::nullopt;
  if (!swizzle)
    return 0;
  // Pieces of 16 bytes, XORed with the number of the 128 bytes that they lie
  // in.
  constexpr int64_t kPieceBits = 4, kLineBits = 7, kMostBits = 3;
  int64_t bits = swizzle.from.size();
  if (swizzle.base != kPieceBits || bits > kMostBits)
    return std::nullopt;
  for (auto [i, bit] : llvm::enumerate(swizzle.from))
    if (bit != kLineBits + static_cast<int64_t>(i))
      return std::nullopt;
  return (int64_t(1) << kPieceBits) << bits;
}
