//===- LDSPlan.cpp - How a tile lies in workgroup memory --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LDSPlan.h"

#include "CooperativeCopy.h"
#include "Evoformer/Dialect/Tile/IR/ConsecutiveCopy.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Accesses below this many bytes waste most of the memory pipeline.
static constexpr int64_t kNarrowBytes = 4;
static constexpr int64_t kWideBytes = 8;
/// A row vector of this many bytes in a lane is cheaper to load ahead through
/// workgroup memory, where all lanes together hold it once.
static constexpr int64_t kManyRegisterBytes = 32;

StringRef mlir::evoformer::tile::stringify(PromotionReason reason) {
  switch (reason) {
  case PromotionReason::Shared:
    return "shared by subgroups";
  case PromotionReason::ShortRun:
    return "narrow accesses to memory";
  case PromotionReason::Direct:
    return "not shared, and wide enough";
  case PromotionReason::RowVector:
    return "a row vector, served by the cache";
  case PromotionReason::SharedVector:
    return "a row vector that many registers would hold";
  case PromotionReason::OutsideLoop:
    return "outside a loop, with few narrow accesses";
  case PromotionReason::PartialBytes:
    return "elements are not whole bytes";
  case PromotionReason::NoWiderAccess:
    return "not wider from workgroup memory";
  case PromotionReason::Written:
    return "the kernel writes this memory";
  case PromotionReason::Staged:
    return "on its way to workgroup memory";
  case PromotionReason::Rare:
    return "in work that is rarely needed";
  }
  return "unknown";
}

static int64_t getElementBytes(RankedTensorType tile) {
  return tile.getElementTypeBitWidth() / 8;
}

int64_t mlir::evoformer::tile::getContiguousDim(MemRefType memory,
                                                ArrayRef<int64_t> tileShape) {
  SmallVector<int64_t> strides;
  int64_t offset, best = -1;
  if (failed(memory.getStridesAndOffset(strides, offset)))
    return -1;
  for (int64_t d = memory.getRank() - 1; d >= 0; --d)
    if (strides[d] == 1 && (best < 0 || tileShape[d] > tileShape[best]))
      best = d;
  return best;
}

int64_t mlir::evoformer::tile::getSharing(const LaneMap &map,
                                          int64_t subgroups) {
  int64_t distinct = 1;
  for (const LayoutAxis &axis : map.subgroups)
    if (!axis.isReplicated())
      distinct *= axis.size;
  return std::max<int64_t>(subgroups / distinct, 1);
}

/// Rows of `rowBytes` along `contiguous`, the other dimensions around them from
/// the innermost to the outermost.
static LDSPlacement getPlacement(ArrayRef<int64_t> shape, int64_t contiguous,
                                 int64_t elementBytes, int64_t rowBytes) {
  LDSPlacement placement{SmallVector<int64_t>(shape),
                         SmallVector<int64_t>(shape.size(), 1), contiguous,
                         elementBytes};
  int64_t stride = rowBytes / elementBytes;
  for (int64_t d = shape.size() - 1; d >= 0; --d)
    if (d != contiguous) {
      placement.strides[d] = stride;
      stride *= shape[d];
    }
  return placement;
}

bool mlir::evoformer::tile::usesMatrixReads(RankedTensorType reader,
                                            int64_t contiguousDim,
                                            TargetAttr target) {
  int64_t bytes = getElementBytes(reader);
  if (!target.hasLdmatrix() || bytes != 2)
    return false;
  LDSPlacement placement =
      getPlacement(reader.getShape(), contiguousDim, bytes,
                   reader.getDimSize(contiguousDim) * bytes);
  return countMatrixReads(*getLaneMap(reader), placement, target.getLdsBanks())
      .has_value();
}

/// Bytes of one access of a lane along `dim`.
static int64_t getRunBytes(RankedTensorType tile, int64_t dim) {
  int64_t bytes = getElementBytes(tile);
  return bytes * getAccessWidth(*getLaneMap(tile), tile.getShape(), dim,
                                std::max<int64_t>(16 / bytes, 1));
}

int64_t mlir::evoformer::tile::getWantedDim(RankedTensorType reader,
                                            int64_t sourceDim,
                                            TargetAttr target) {
  int64_t best = 0, bestBytes = 0;
  for (int64_t d = 0; d < reader.getRank(); ++d)
    if (int64_t bytes = getRunBytes(reader, d); bytes >= bestBytes) {
      best = d;
      bestBytes = bytes;
    }
  if (sourceDim < 0 || usesMatrixReads(reader, sourceDim, target))
    return sourceDim < 0 ? best : sourceDim;
  int64_t sourceBytes = getRunBytes(reader, sourceDim);
  if (sourceBytes >= kWideBytes || bestBytes <= sourceBytes)
    return sourceDim;
  // Asynchronous copies cannot transpose; four bytes a lane are good enough to
  // keep them.
  CopyEngineAttr engine = target.getCopyEngine();
  if (engine && engine.getKind() == CopyEngineKind::PerLane &&
      sourceBytes >= kNarrowBytes)
    return sourceDim;
  return best;
}

PromotionReason
mlir::evoformer::tile::decidePromotion(RankedTensorType tile, MemRefType memory,
                                       bool inLoop, int64_t minNarrow,
                                       const LDSMachine &machine) {
  if (!tile.getElementType().isIntOrFloat() ||
      tile.getElementTypeBitWidth() % 8 != 0)
    return PromotionReason::PartialBytes;
  if (llvm::count_if(tile.getShape(), [](int64_t s) { return s > 1; }) <= 1)
    return PromotionReason::RowVector;
  LaneMap map = *getLaneMap(tile);
  if (inLoop && getSharing(map, machine.subgroups) > 1)
    return PromotionReason::Shared;
  int64_t sourceDim = getContiguousDim(memory, tile.getShape());
  int64_t bytes =
      sourceDim < 0 ? getElementBytes(tile) : getRunBytes(tile, sourceDim);
  if (bytes >= kNarrowBytes)
    return PromotionReason::Direct;
  int64_t wanted = getWantedDim(tile, sourceDim, machine.target);
  if (!usesMatrixReads(tile, wanted, machine.target) &&
      getRunBytes(tile, wanted) < kNarrowBytes)
    return PromotionReason::NoWiderAccess;
  int64_t accesses = map.getNumRegisters() * getElementBytes(tile) / bytes;
  if (!inLoop && accesses < minNarrow)
    return PromotionReason::OutsideLoop;
  return PromotionReason::ShortRun;
}

int64_t mlir::evoformer::tile::getAsyncCopyBytes(LoadOp load, int64_t sourceDim,
                                                 int64_t wantedDim,
                                                 TargetAttr target) {
  CopyEngineAttr engine = target.getCopyEngine();
  if (!engine || sourceDim < 0 || sourceDim != wantedDim)
    return 0;
  // What lies outside must be zero or some valid element.
  if (auto padding = load.getPaddingAttr()) {
    auto value = dyn_cast<FloatAttr>(padding);
    if (!value || !value.getValue().isPosZero())
      return 0;
  }
  // A piece must be aligned, which also keeps it from straddling a bound.
  RankedTensorType tile = load.getTileType();
  int64_t bytes = getElementBytes(tile);
  int64_t limit = std::min<int64_t>(
      engine.getMostBytes(),
      std::max<int64_t>(load.getAlignment().value_or(1), bytes));
  int64_t rowBytes = tile.getDimSize(sourceDim) * bytes, piece = bytes;
  while (piece * 2 <= limit && rowBytes % (piece * 2) == 0)
    piece *= 2;
  while (piece > bytes && !engine.copies(piece))
    piece /= 2;
  return engine.copies(piece) ? piece : 0;
}

bool mlir::evoformer::tile::isSharedVector(RankedTensorType tile,
                                           const LDSMachine &machine) {
  LaneMap map = *getLaneMap(tile);
  return getSharing(map, machine.subgroups) > 1 &&
         map.getNumRegisters() * getElementBytes(tile) >= kManyRegisterBytes;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

static MemRefType getMemRefType(const LDSPlacement &placement, Type element) {
  MLIRContext *context = element.getContext();
  auto space =
      gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  auto plain = MemRefType::get(placement.shape, element, AffineMap(), space);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(plain.getStridesAndOffset(strides, offset)) &&
      strides == placement.strides)
    return plain;
  return MemRefType::get(placement.shape, element,
                         StridedLayoutAttr::get(context, 0, placement.strides),
                         space);
}

int64_t mlir::evoformer::tile::getLDSBytes(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, elements = 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    elements += (size - 1) * stride;
  return llvm::alignTo(
      llvm::divideCeil(elements * type.getElementTypeBitWidth(), 8), 16);
}

/// Adds up the readers' cycles.
static LDSCycles countReads(ArrayRef<RankedTensorType> readers,
                            const LDSPlacement &placement, TargetAttr target) {
  LDSCycles reads;
  for (RankedTensorType reader : readers) {
    LaneMap map = *getLaneMap(reader);
    std::optional<LDSCycles> cycles;
    if (usesMatrixReads(reader, placement.contiguousDim, target))
      cycles = countMatrixReads(map, placement, target.getLdsBanks());
    if (!cycles)
      cycles = countVectorAccess(map, placement, target.getLdsBanks());
    reads.actual += cycles->actual;
    reads.ideal += cycles->ideal;
  }
  return reads;
}

/// Bytes at whose multiples rows start. An access may not reach beyond the
/// row's elements either.
static int64_t getRowAlignment(const LDSPlacement &placement) {
  int64_t contiguous = placement.contiguousDim, alignment = 1;
  int64_t contentBytes = placement.shape[contiguous] * placement.elementBytes;
  auto divides = [&](int64_t bytes) {
    for (auto [dim, stride] : llvm::enumerate(placement.strides))
      if ((int64_t)dim != contiguous &&
          stride * placement.elementBytes % bytes != 0)
        return false;
    return contentBytes % bytes == 0;
  };
  while (alignment < 16 && divides(alignment * 2))
    alignment *= 2;
  return alignment;
}

/// With `consecutiveBytes`, only copies whose lanes write so much side by side.
static std::optional<LDSPlan>
choosePlan(ArrayRef<RankedTensorType> readers, int64_t sourceDim,
           int64_t wantedDim, int64_t maxBytes, const LDSMachine &machine,
           std::optional<int64_t> consecutiveBytes) {
  RankedTensorType tile = readers.front();
  ArrayRef<int64_t> shape = tile.getShape();
  int64_t bytes = getElementBytes(tile);
  std::optional<LDSPlan> best;
  for (const CooperativeCopy &copy : getCooperativeCopies(
           shape, bytes, sourceDim < 0 ? wantedDim : sourceDim, wantedDim,
           maxBytes, machine.getLanes(), machine.subgroups)) {
    // Rows start at multiples of the widest access.
    LDSPlacement tight =
        getPlacement(shape, wantedDim, bytes, shape[wantedDim] * bytes);
    int64_t alignment = std::max<int64_t>(8, getAccessBytes(copy.map, tight));
    for (RankedTensorType reader : readers)
      alignment =
          std::max(alignment, usesMatrixReads(reader, wantedDim, machine.target)
                                  ? 16
                                  : getAccessBytes(*getLaneMap(reader), tight));
    int64_t rowBytes = llvm::alignTo(shape[wantedDim] * bytes, alignment);
    for (int64_t padding : {0, 8, 16, 32}) {
      if ((rowBytes + padding) % alignment != 0)
        continue;
      LDSPlacement placement =
          getPlacement(shape, wantedDim, bytes, rowBytes + padding);
      if (consecutiveBytes &&
          getConsecutiveBytes(copy.map, shape, placement.strides, bytes) !=
              *consecutiveBytes)
        continue;
      LDSPlan plan;
      plan.type = getMemRefType(placement, tile.getElementType());
      plan.copy = copy.map;
      plan.transposed = sourceDim >= 0 && sourceDim != wantedDim;
      plan.copyBytes = sourceDim < 0 ? bytes : copy.bytes;
      plan.padding = rowBytes + padding - shape[wantedDim] * bytes;
      plan.alignment = getRowAlignment(placement);
      plan.writes =
          countVectorAccess(plan.copy, placement, machine.target.getLdsBanks());
      plan.reads = countReads(readers, placement, machine.target);
      // Candidates come best first: only fewer cycles beat an earlier one.
      if (!best || plan.reads.actual + plan.writes.actual <
                       best->reads.actual + best->writes.actual)
        best = plan;
    }
  }
  return best;
}

LDSPlan mlir::evoformer::tile::planLDS(ArrayRef<RankedTensorType> readers,
                                       int64_t sourceDim, int64_t wantedDim,
                                       int64_t maxBytes,
                                       const LDSMachine &machine) {
  return *choosePlan(readers, sourceDim, wantedDim, maxBytes, machine,
                     std::nullopt);
}

std::optional<LDSPlan> mlir::evoformer::tile::planConsecutive(
    ArrayRef<RankedTensorType> readers, int64_t dim, int64_t copyBytes,
    const LDSPlan &through, const LDSMachine &machine) {
  std::optional<LDSPlan> plan =
      choosePlan(readers, dim, dim, copyBytes, machine, copyBytes);
  // A piece takes an instruction and one that says where it goes, as many as a
  // load and a store.
  if (!plan || copyBytes < through.copyBytes ||
      plan->reads.actual + plan->writes.ideal >
          through.reads.actual + through.writes.actual)
    return std::nullopt;
  return plan;
}

LDSPlan mlir::evoformer::tile::planExchange(RankedTensorType writer,
                                            RankedTensorType reader,
                                            TargetAttr target) {
  ArrayRef<int64_t> shape = writer.getShape();
  int64_t bytes = getElementBytes(writer);
  LaneMap from = *getLaneMap(writer), to = *getLaneMap(reader);
  std::optional<LDSPlan> best;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    LDSPlacement tight = getPlacement(shape, dim, bytes, shape[dim] * bytes);
    int64_t alignment = std::max<int64_t>(
        8, std::max(getAccessBytes(from, tight), getAccessBytes(to, tight)));
    int64_t rowBytes = llvm::alignTo(shape[dim] * bytes, alignment);
    for (int64_t padding : {0, 8, 16, 32}) {
      if (padding % alignment != 0)
        continue;
      LDSPlacement placement =
          getPlacement(shape, dim, bytes, rowBytes + padding);
      LDSPlan plan;
      plan.type = getMemRefType(placement, writer.getElementType());
      plan.copy = from;
      plan.padding = rowBytes + padding - shape[dim] * bytes;
      plan.alignment = getRowAlignment(placement);
      plan.writes = countVectorAccess(from, placement, target.getLdsBanks());
      plan.reads = countVectorAccess(to, placement, target.getLdsBanks());
      if (!best || plan.reads.actual + plan.writes.actual <
                       best->reads.actual + best->writes.actual)
        best = plan;
    }
  }
  return *best;
}
