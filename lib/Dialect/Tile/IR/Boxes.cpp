//===- Boxes.cpp - How boxes lie in workgroup memory ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Boxes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

ArrayRef<Type> mlir::evoformer::tile::getPassedTypes(KernelOp kernel) {
  return kernel.getArgumentTypes().take_until(llvm::IsaPred<TensorMapType>);
}

bool mlir::evoformer::tile::isBoxElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

int64_t BoxTiling::getNumElements() const { return llvm::product_of(sizes); }

SmallVector<int64_t>
mlir::evoformer::tile::getWideSizes(ArrayRef<int64_t> sizes) {
  return llvm::filter_to_vector(sizes, [](int64_t size) { return size != 1; });
}

/// Pieces of 16 bytes, XORed with the number of the 128 bytes that they lie in.
static constexpr int64_t kPieceBits = 4, kLineBits = 7, kMostBits = 3;

/// The bytes of a row for which tensor maps know this swizzle, 0 for none.
static std::optional<int64_t> getSwizzledRowBytes(const Swizzle &swizzle) {
  int64_t bits = swizzle.from.size();
  if (bits == 0)
    return 0;
  if (swizzle.base != kPieceBits || bits > kMostBits)
    return std::nullopt;
  for (auto [i, bit] : llvm::enumerate(swizzle.from))
    if (bit != kLineBits + static_cast<int64_t>(i))
      return std::nullopt;
  return (int64_t(1) << kPieceBits) << bits;
}

std::optional<BoxTiling>
mlir::evoformer::tile::findBoxTiling(MemRefType memory) {
  SmallVector<int64_t> strides;
  int64_t offset;
  Swizzle swizzle = getSwizzle(memory);
  std::optional<int64_t> swizzled = getSwizzledRowBytes(swizzle);
  BoxTiling tiling;
  tiling.sizes = getWideSizes(memory.getShape());
  if (!swizzled || tiling.sizes.empty() ||
      !isBoxElement(memory.getElementType()) || !memory.hasStaticShape() ||
      failed(memory.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return std::nullopt;
  tiling.swizzle = *swizzled;
  // From one row to the next, and the rows.
  int64_t &row = tiling.sizes.back();
  int64_t bytes = llvm::divideCeil(memory.getElementTypeBitWidth(), 8);
  int64_t pitch = row, rows = 1;
  bool isRow = true;
  for (int64_t d = memory.getRank() - 1; d >= 0; --d) {
    int64_t size = memory.getDimSize(d);
    if (size == 1)
      continue;
    if (isRow) {
      if (strides[d] != 1)
        return std::nullopt;
      isRow = false;
      continue;
    }
    if (rows == 1)
      pitch = strides[d];
    if (strides[d] != pitch * rows)
      return std::nullopt;
    rows *= size;
  }
  if (swizzle.panels) {
    const Panels &panels = swizzle.panels;
    if (panels.low != kLineBits || *swizzled != int64_t(1) << kLineBits ||
        pitch * bytes != int64_t(1) << (panels.low + panels.pieces) ||
        rows != int64_t(1) << panels.rows)
      return std::nullopt;
    tiling.count = llvm::divideCeil(row * bytes, *swizzled);
    row = *swizzled / bytes;
    return tiling;
  }
  if (*swizzled == 0 ? pitch != row : pitch * bytes != *swizzled)
    return std::nullopt;
  row = pitch;
  return tiling;
}
