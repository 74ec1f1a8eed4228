//===- SharedLayout.cpp - How workgroup memory holds a tile ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: "Parallel Thread Execution ISA", "Warp-level matrix load
// instruction: ldmatrix"; "AMD Instinct CDNA4 Instruction Set Architecture",
// DS_READ_B64_TR_B16.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

LogicalResult
SwizzledLDSAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                        int64_t base, ArrayRef<int64_t> from,
                        ArrayRef<int64_t> panels) {
  // LDS addresses have few bits.
  constexpr int64_t kBits = 20;
  int64_t above = base + from.size();
  if (base < 0 || base >= kBits || from.empty() ||
      llvm::any_of(
          from, [&](int64_t bit) { return bit < above || bit >= kBits; }))
    return emitError() << "needs a base from 0 to " << kBits - 1
                       << " and bits from above those that change to "
                       << kBits - 1 << ", got base = " << base << ", from = ["
                       << from << "]";
  if (panels.empty())
    return success();
  constexpr int64_t kNumbers = 3;
  bool good =
      panels.size() == kNumbers &&
      llvm::all_of(panels, [&](int64_t n) { return n > 0 && n < kBits; }) &&
      panels[0] >= above && panels[0] + panels[1] + panels[2] < kBits;
  if (!good)
    return emitError() << "needs panels of three positive numbers: the lowest "
                          "bit, above those that are XORed, how many bits tell "
                          "a row's pieces and how many the rows, all below "
                       << kBits << "; got [" << panels << "]";
  return success();
}

/// As the attribute has them.
static SmallVector<int64_t> getNumbers(const Panels &panels) {
  if (!panels)
    return {};
  return {panels.low, panels.pieces, panels.rows};
}

MemRefType mlir::evoformer::tile::getSharedType(const SharedLayout &layout,
                                                Type element) {
  MLIRContext *context = element.getContext();
  Attribute space =
      gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  if (const Swizzle &swizzle = layout.swizzle)
    space = SwizzledLDSAttr::get(context, swizzle.base, swizzle.from,
                                 getNumbers(swizzle.panels));
  auto plain = MemRefType::get(layout.shape, element, AffineMap(), space);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(plain.getStridesAndOffset(strides, offset)) &&
      strides == layout.strides)
    return plain;
  return MemRefType::get(layout.shape, element,
                         StridedLayoutAttr::get(context, 0, layout.strides),
                         space);
}

Swizzle mlir::evoformer::tile::getSwizzle(MemRefType type) {
  auto space = dyn_cast_if_present<SwizzledLDSAttr>(type.getMemorySpace());
  if (!space)
    return {};
  Swizzle swizzle{
      space.getBase(), SmallVector<int64_t, 3>(space.getFrom()), {}};
  if (ArrayRef<int64_t> panels = space.getPanels(); !panels.empty())
    swizzle.panels = {panels[0], panels[1], panels[2]};
  return swizzle;
}

int64_t mlir::evoformer::tile::getLDSBytes(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, elements = 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    elements += (size - 1) * stride;
  return llvm::alignTo(elements *
                           llvm::divideCeil(type.getElementTypeBitWidth(), 8),
                       std::max<int64_t>(16, getSwizzle(type).getPeriod()));
}

/// a + scale * b.
static SmallVector<int64_t> combine(ArrayRef<int64_t> a, int64_t scale,
                                    ArrayRef<int64_t> b) {
  SmallVector<int64_t> result(a);
  for (auto [x, y] : llvm::zip(result, b))
    x += scale * y;
  return result;
}

std::optional<MatrixRead> mlir::evoformer::tile::matchMatrixRead(
    const LaneMap &map, ArrayRef<int64_t> shape, int64_t contiguousDim,
    int64_t elementBytes) {
  constexpr int64_t kSize = 8, kLanesPerRow = 4;
  int64_t registers = map.getNumRegisters();
  if (elementBytes != 2 || contiguousDim < 0 || registers % 2 != 0 ||
      map.getNumLanes() != kSize * kLanesPerRow)
    return std::nullopt;
  SmallVector<int64_t> along(map.rank, 0), none(map.rank, 0);
  along[contiguousDim] = 1;
  // Each register beside the one before it, alike in all matrices.
  SmallVector<int64_t> pair =
      combine(map.registerOffset(1), -1, map.registerOffset(0));
  for (int64_t r = 0; r < registers; r += 2)
    if (combine(map.registerOffset(r), 1, pair) != map.registerOffset(r + 1))
      return std::nullopt;
  // As stored: lanes and registers of a row go along it; or transposed.
  MatrixRead read{pair != along, {}};
  SmallVector<int64_t> step = map.laneOffset(1);
  if (read.transposed)
    read.rowBits = {pair, step, map.laneOffset(2)};
  else
    read.rowBits = {map.laneOffset(kLanesPerRow),
                    map.laneOffset(2 * kLanesPerRow),
                    map.laneOffset(4 * kLanesPerRow)};
  auto rowOf = [&](int64_t number) {
    SmallVector<int64_t> row = none;
    for (auto [bit, offset] : llvm::enumerate(read.rowBits))
      row = combine(row, number >> bit & 1, offset);
    return row;
  };
  for (int64_t l = 0; l < map.getNumLanes(); ++l) {
    int64_t slow = l / kLanesPerRow, fast = l % kLanesPerRow;
    int64_t row = read.transposed ? 2 * fast : slow;
    int64_t column = read.transposed ? slow : 2 * fast;
    if (map.laneOffset(l) != combine(rowOf(row), column, along))
      return std::nullopt;
  }
  // Rows are eight elements of the tile from a multiple of eight on.
  for (ArrayRef<int64_t> row : read.rowBits)
    if (row[contiguousDim] != 0)
      return std::nullopt;
  for (int64_t r = 0; r < registers; r += 2)
    if (map.registerOffset(r)[contiguousDim] % kSize != 0)
      return std::nullopt;
  for (const LayoutAxis &axis : map.subgroups)
    if (axis.size > 1 && axis.strides[contiguousDim] % kSize != 0)
      return std::nullopt;
  if (ArrayRef(map.getBox()) != shape)
    return std::nullopt;
  return read;
}

std::optional<LaneMap> mlir::evoformer::tile::matchTransposedRead(
    const LaneMap &map, ArrayRef<int64_t> shape, int64_t contiguousDim,
    int64_t elementBytes) {
  constexpr int64_t kRows = 4, kLanes = 16, kPiece = 4;
  int64_t registers = map.getNumRegisters(), lanes = map.getNumLanes();
  if (elementBytes != 2 || contiguousDim < 0 || registers % kRows != 0 ||
      lanes <= kLanes || !llvm::isPowerOf2_64(lanes) ||
      ArrayRef(map.getBox()) != shape)
    return std::nullopt;
  SmallVector<int64_t> none(map.rank, 0), along = none;
  along[contiguousDim] = 1;
  // Each register a row behind the one before it, alike in all matrices.
  SmallVector<int64_t> step =
      combine(map.registerOffset(1), -1, map.registerOffset(0));
  if (step[contiguousDim] != 0)
    return std::nullopt;
  for (int64_t r = 0; r < registers; r += kRows) {
    SmallVector<int64_t> first = map.registerOffset(r);
    if (first[contiguousDim] % kPiece != 0)
      return std::nullopt;
    for (int64_t row = 1; row < kRows; ++row)
      if (combine(first, row, step) != map.registerOffset(r + row))
        return std::nullopt;
  }
  for (int64_t l = 0; l < kPiece; ++l)
    if (map.laneOffset(l) != combine(none, l, along))
      return std::nullopt;
  // Four lanes get their elements of one piece of each row.
  LaneMap addresses(map.rank);
  auto addBit = [&](int64_t scale, ArrayRef<int64_t> offset) {
    addresses.lanes.push_back(
        {2, SmallVector<int64_t, 4>(combine(none, scale, offset))});
  };
  for (int64_t bit = kPiece; bit < lanes; bit *= 2) {
    SmallVector<int64_t> offset = map.laneOffset(bit);
    if (offset[contiguousDim] % kPiece != 0)
      return std::nullopt;
    if (bit == kLanes) {
      addBit(1, step);
      addBit(2, step);
    }
    addBit(1, offset);
  }
  addresses.registers = map.registers;
  addresses.subgroups = map.subgroups;
  for (const LayoutAxis &axis : map.subgroups)
    if (axis.size > 1 && axis.strides[contiguousDim] % kPiece != 0)
      return std::nullopt;
  return addresses;
}
