//===- GroupProduct.cpp - Products of several subgroups -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: "Parallel Thread Execution ISA", "Asynchronous Warpgroup Level Matrix
// Instructions", "Shared Memory Matrix Layout".
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Rows that a pattern of XORs spans, and the pieces that it exchanges.
static constexpr int64_t kPatternRows = 8, kPieceBits = 4;
static constexpr int64_t kLeastRowBytes = 32, kMostRowBytes = 128;

/// The XORs of rows of so many bytes: a piece's number with the row's.
static Swizzle getRowSwizzle(int64_t rowBytes) {
  Swizzle swizzle{kPieceBits, {}, {}};
  for (int64_t bit = llvm::Log2_64(kMostRowBytes), bytes = rowBytes;
       bytes > int64_t(1) << kPieceBits; bytes /= 2)
    swizzle.from.push_back(bit++);
  return swizzle;
}

std::optional<SharedLayout> mlir::evoformer::tile::getGroupLayout(
    ArrayRef<int64_t> shape, int64_t contiguousDim, int64_t elementBytes) {
  if (contiguousDim < 0 || elementBytes != 2)
    return std::nullopt;
  int64_t rows = 1, rowDim = -1;
  for (auto [d, size] : llvm::enumerate(shape))
    if ((int64_t)d != contiguousDim && size > 1) {
      if (rowDim >= 0)
        return std::nullopt;
      rowDim = d;
      rows = size;
    }
  int64_t bytes = shape[contiguousDim] * elementBytes;
  int64_t pitch = std::max<int64_t>(llvm::PowerOf2Ceil(bytes), kLeastRowBytes);
  if (rows % kPatternRows != 0 ||
      (pitch > kMostRowBytes && !llvm::isPowerOf2_64(rows)))
    return std::nullopt;
  SharedLayout layout{SmallVector<int64_t>(shape),
                      SmallVector<int64_t>(shape.size(), 1), contiguousDim,
                      elementBytes,
                      getRowSwizzle(std::min(pitch, kMostRowBytes))};
  for (int64_t d = shape.size() - 1, stride = pitch / elementBytes; d >= 0; --d)
    if (d != contiguousDim) {
      layout.strides[d] = stride;
      stride *= shape[d];
    }
  if (pitch > kMostRowBytes)
    layout.swizzle.panels = {llvm::Log2_64(kMostRowBytes),
                             llvm::Log2_64(pitch / kMostRowBytes),
                             llvm::Log2_64(rows)};
  return layout;
}

std::optional<GroupOperand>
mlir::evoformer::tile::matchGroupOperand(MemRefType type, int64_t depthDim) {
  SmallVector<int64_t> strides;
  int64_t offset, contiguous = -1;
  if (!isWorkgroupMemory(type) || !type.hasStaticShape() ||
      !type.getElementType().isIntOrFloat() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  for (auto [d, stride] : llvm::enumerate(strides))
    if (stride == 1 && type.getDimSize(d) != 1)
      contiguous = d;
  std::optional<SharedLayout> layout =
      getGroupLayout(type.getShape(), contiguous,
                     llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  if (!layout)
    return std::nullopt;
  int64_t rows = 1, pitch = 0;
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    if (size == 1 || (int64_t)d == contiguous)
      continue;
    if (strides[d] != layout->strides[d])
      return std::nullopt;
    rows = size;
    pitch = strides[d] * layout->elementBytes;
  }
  Swizzle has = getSwizzle(type);
  if (has.base != layout->swizzle.base || has.from != layout->swizzle.from ||
      has.panels != layout->swizzle.panels)
    return std::nullopt;
  int64_t rowBytes = std::min(pitch, kMostRowBytes);
  return GroupOperand{rowBytes, rows * rowBytes, contiguous == depthDim};
}

GroupMatrixInstrAttr mlir::evoformer::tile::findGroupInstr(TargetAttr target,
                                                           Type element) {
  if (ArrayAttr known = target.getGroupMatrix())
    for (auto instr : known.getAsRange<GroupMatrixInstrAttr>())
      if (instr.getEach().multiplies(element))
        return instr;
  return {};
}

GroupMatrixInstrAttr mlir::evoformer::tile::findGroupInstr(TargetAttr target,
                                                           MatrixInstrAttr each,
                                                           int64_t rowSubgroups,
                                                           int64_t columns,
                                                           int64_t depth) {
  ArrayAttr known = target.getGroupMatrix();
  if (!known)
    return {};
  for (auto instr : known.getAsRange<GroupMatrixInstrAttr>())
    if (instr.getEach() == each && rowSubgroups % instr.getSubgroups() == 0 &&
        columns % each.getN() == 0 && columns <= instr.getMostN() &&
        depth % each.getK() == 0)
      return instr;
  return {};
}

GroupMatrixInstrAttr mlir::evoformer::tile::findGroupInstr(KernelOp kernel,
                                                           MatrixInstrAttr each,
                                                           int64_t rowSubgroups,
                                                           int64_t columns,
                                                           int64_t depth) {
  std::optional<TargetAttr> target = kernel.getTarget();
  std::optional<ScheduleAttr> schedule = kernel.getSchedule();
  if (!target || !schedule ||
      schedule->getProducts() == ProductScope::Subgroup ||
      schedule->getNumSubgroups() != rowSubgroups)
    return {};
  return findGroupInstr(*target, each, rowSubgroups, columns, depth);
}

/// The operand in a role of the hardware's.
static OpOperand &getOperand(MmaOp mma, OperandRole role) {
  auto a = cast<FragAttr>(mma.getA().getType().getEncoding());
  return a.getRole() == role ? mma.getAMutable() : mma.getBMutable();
}

OpOperand &mlir::evoformer::tile::getSharedOperand(MmaOp mma) {
  return getOperand(mma, OperandRole::B);
}

int64_t mlir::evoformer::tile::countSubgroups(FragAttr layout, int64_t dim) {
  ArrayRef<int64_t> subgroups = layout.getSubgroups().asArrayRef();
  int64_t count = 1;
  for (size_t i = 0; i < subgroups.size(); i += 2)
    if (subgroups[i + 1] == dim)
      count *= subgroups[i];
  return count;
}

/// Whether the rows of a product are what the block has just read from
/// workgroup memory: of what the kernel itself has stored there.
static bool hasHandedRows(MmaOp mma) {
  Value rows = getOperand(mma, OperandRole::A).get();
  while (auto transpose = rows.getDefiningOp<TransposeOp>())
    rows = transpose.getSource();
  auto load = rows.getDefiningOp<LoadOp>();
  return load && load->getBlock() == mma->getBlock() &&
         isWorkgroupMemory(load.getSourceType());
}

static bool hasOrder(FragAttr layout, int64_t dim) {
  ArrayAttr order = layout.getOrder();
  return !order.empty() && !cast<DenseI64ArrayAttr>(order[dim]).empty();
}

GroupMatrixInstrAttr mlir::evoformer::tile::findGroupInstr(MmaOp mma) {
  auto kernel = mma->getParentOfType<KernelOp>();
  auto type = cast<RankedTensorType>(mma.getC().getType());
  auto c = dyn_cast_if_present<FragAttr>(type.getEncoding());
  if (!kernel || !c || mma.getReads() || mma->getParentOfType<WhereOp>())
    return {};
  std::optional<ScheduleAttr> schedule = kernel.getSchedule();
  if (schedule && schedule->getProducts() == ProductScope::Handed &&
      !hasHandedRows(mma))
    return {};
  int64_t rows = c.getDims()[0], columns = c.getDims()[1];
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != rows && d != columns && type.getDimSize(d) != 1)
      return {};
  auto a = cast<RankedTensorType>(mma.getA().getType());
  int64_t depthOfA = type.getRank() - 1;
  if (hasOrder(c, columns) ||
      hasOrder(cast<FragAttr>(a.getEncoding()), depthOfA))
    return {};
  return findGroupInstr(kernel, c.getInstr(), countSubgroups(c, rows),
                        type.getDimSize(columns), a.getDimSize(depthOfA));
}

bool mlir::evoformer::tile::canShareRows(RankedTensorType result) {
  auto c = cast<FragAttr>(result.getEncoding());
  int64_t rows = c.getDims()[0];
  int64_t size = result.getDimSize(rows), m = c.getInstr().getM();
  int64_t subgroups = countSubgroups(c, rows);
  return !hasOrder(c, rows) && size % m == 0 && size <= m * subgroups &&
         subgroups % (size / m) == 0;
}

bool mlir::evoformer::tile::canShareRows(MmaOp mma) {
  auto type = cast<RankedTensorType>(mma.getC().getType());
  GroupMatrixInstrAttr instr = findGroupInstr(mma);
  if (!instr || !canShareRows(type))
    return false;
  // Groups have rows or none.
  auto c = cast<FragAttr>(type.getEncoding());
  int64_t rowsOfGroup = instr.getSubgroups() * c.getInstr().getM();
  return type.getDimSize(c.getDims()[0]) % rowsOfGroup == 0;
}

bool mlir::evoformer::tile::hasColumnsInOrder(RankedTensorType result) {
  auto c = cast<FragAttr>(result.getEncoding());
  int64_t columns = c.getDims()[1];
  return !hasOrder(c, columns) && countSubgroups(c, columns) == 1 &&
         result.getDimSize(columns) % c.getInstr().getN() == 0;
}
