//===- LDSPlan.cpp - How a tile lies in workgroup memory --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LDSPlan.h"

#include "../KernelMemory.h"
#include "CooperativeCopy.h"
#include "Evoformer/Dialect/Tile/IR/ConsecutiveCopy.h"
#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Accesses below this many bytes waste most of the memory pipeline.
static constexpr int64_t kNarrowBytes = 4;
static constexpr int64_t kWideBytes = 8;

StringRef mlir::evoformer::tile::stringify(PromotionReason reason) {
  switch (reason) {
  case PromotionReason::Shared:
    return "shared by subgroups";
  case PromotionReason::ShortRun:
    return "narrow accesses to memory";
  case PromotionReason::Own:
    return "read by loops, and the schedule leaves it no registers";
  case PromotionReason::Together:
    return "read by instructions of several subgroups";
  case PromotionReason::Ahead:
    return "too large to be loaded ahead in registers";
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

bool mlir::evoformer::tile::isSharedByAll(const LaneMap &map,
                                          const LDSMachine &machine) {
  return machine.subgroups > 1 &&
         getSharing(map, machine.subgroups) == machine.subgroups;
}

/// Rows of `rowBytes` along `contiguous`, the other dimensions around them from
/// the innermost to the outermost.
static SharedLayout getPlacement(ArrayRef<int64_t> shape, int64_t contiguous,
                                 int64_t elementBytes, int64_t rowBytes) {
  SharedLayout layout{SmallVector<int64_t>(shape),
                      SmallVector<int64_t>(shape.size(), 1), contiguous,
                      elementBytes, Swizzle()};
  int64_t stride = rowBytes / elementBytes;
  for (int64_t d = shape.size() - 1; d >= 0; --d)
    if (d != contiguous) {
      layout.strides[d] = stride;
      stride *= shape[d];
    }
  return layout;
}

bool mlir::evoformer::tile::usesMatrixReads(RankedTensorType reader,
                                            int64_t contiguousDim,
                                            TargetAttr target) {
  return target.hasLdmatrix() &&
         matchMatrixRead(*getLaneMap(reader), reader.getShape(), contiguousDim,
                         getElementBytes(reader))
             .has_value();
}

bool mlir::evoformer::tile::readsAcrossRows(RankedTensorType reader,
                                            int64_t contiguousDim,
                                            TargetAttr target) {
  return target.hasLDSTranspose() &&
         matchTransposedRead(*getLaneMap(reader), reader.getShape(),
                             contiguousDim, getElementBytes(reader))
             .has_value();
}

/// Bytes of a lane that instructions read which are made for matrices; 0 where
/// there are none for this reader.
static int64_t getMatrixBytes(RankedTensorType reader, int64_t contiguousDim,
                              TargetAttr target) {
  constexpr int64_t kWide = 16, kAcross = 8;
  if (usesMatrixReads(reader, contiguousDim, target))
    return kWide;
  return readsAcrossRows(reader, contiguousDim, target) ? kAcross : 0;
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
  if (sourceDim < 0 || getMatrixBytes(reader, sourceDim, target))
    return sourceDim < 0 ? best : sourceDim;
  int64_t sourceBytes = getRunBytes(reader, sourceDim);
  if (sourceBytes >= kWideBytes || bestBytes <= sourceBytes)
    return sourceDim;
  // Asynchronous copies cannot transpose; four bytes a lane are good enough to
  // keep them.
  if (copiesPastRegisters(target) && sourceBytes >= kNarrowBytes)
    return sourceDim;
  return best;
}

int64_t mlir::evoformer::tile::getCopiedWords(RankedTensorType tile,
                                              const LDSMachine &machine) {
  return llvm::divideCeil(tile.getNumElements() * getElementBytes(tile),
                          kNarrowBytes * machine.getLanes() *
                              machine.subgroups);
}

StagingCount mlir::evoformer::tile::countStaging(RankedTensorType reader,
                                                 MemRefType memory,
                                                 const LDSMachine &machine) {
  constexpr int64_t kWordsAnAccess = 4;
  LaneMap map = *getLaneMap(reader);
  int64_t sourceDim = getContiguousDim(memory, reader.getShape());
  int64_t wantedDim = getWantedDim(reader, sourceDim, machine.target);
  int64_t bytes = map.getNumRegisters() * getElementBytes(reader);
  int64_t width = getMatrixBytes(reader, wantedDim, machine.target);
  if (width == 0)
    width = getRunBytes(reader, wantedDim);
  int64_t copied = getCopiedWords(reader, machine);
  // Across memory's order a copy moves half as much at once, and takes words of
  // two rows apart.
  int64_t copy = sourceDim == wantedDim || sourceDim < 0
                     ? llvm::divideCeil(copied, kWordsAnAccess)
                     : 2 * copied;
  return {int64_t(llvm::divideCeil(bytes, width)), copy};
}

bool mlir::evoformer::tile::isGroupOperand(Value tile) {
  bool any = false;
  for (OpOperand &use : tile.getUses()) {
    Operation *user = use.getOwner();
    if (user->getParentOfType<WhereOp>())
      continue;
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      if (!isGroupOperand(transpose.getResult()))
        return false;
      any = true;
      continue;
    }
    auto mma = dyn_cast<MmaOp>(user);
    if (!mma || !findGroupInstr(mma) || use.get() == mma.getC() ||
        (use.get() != getSharedOperand(mma).get() && !canShareRows(mma)))
      return false;
    any = true;
  }
  return any;
}

PromotionReason
mlir::evoformer::tile::decidePromotion(RankedTensorType tile, MemRefType memory,
                                       bool inLoop, int64_t minNarrow,
                                       const LDSMachine &machine) {
  if (!tile.getElementType().isIntOrFloat() ||
      tile.getElementTypeBitWidth() % 8 != 0)
    return PromotionReason::PartialBytes;
  if (isRowVector(tile))
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
  if (!getMatrixBytes(tile, wanted, machine.target) &&
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
  // Many are cheaper to load ahead through workgroup memory, where all lanes
  // together hold them once.
  return getSharing(map, machine.subgroups) > 1 &&
         map.getNumRegisters() * getElementBytes(tile) >=
             machine.target.getSharedVectorBytes();
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// Adds up the readers' cycles.
static LDSCycles countReads(ArrayRef<RankedTensorType> readers,
                            const SharedLayout &layout, TargetAttr target) {
  LDSCycles reads;
  for (RankedTensorType reader : readers) {
    LaneMap map = *getLaneMap(reader);
    std::optional<LDSCycles> cycles;
    if (usesMatrixReads(reader, layout.contiguousDim, target))
      cycles = countMatrixReads(map, layout, target.getLdsBanks());
    else if (readsAcrossRows(reader, layout.contiguousDim, target))
      cycles = countTransposedReads(map, layout, target.getLdsBanks());
    if (!cycles)
      cycles = countVectorAccess(map, layout, target.getLdsBanks());
    reads.actual += cycles->actual;
    reads.ideal += cycles->ideal;
    reads.addressing += cycles->addressing;
  }
  return reads;
}

int64_t mlir::evoformer::tile::getRowAlignment(const SharedLayout &layout) {
  int64_t contiguous = layout.contiguousDim, alignment = 1;
  int64_t contentBytes = layout.shape[contiguous] * layout.elementBytes;
  auto divides = [&](int64_t bytes) {
    for (auto [dim, stride] : llvm::enumerate(layout.strides))
      if ((int64_t)dim != contiguous &&
          stride * layout.elementBytes % bytes != 0)
        return false;
    return contentBytes % bytes == 0;
  };
  while (alignment < 16 && divides(alignment * 2))
    alignment *= 2;
  return alignment;
}

/// Adds the swizzles of buffers of `bytes` that XOR the bits from `base` on
/// with `count` ones above them, ascending unless in `anyOrder`.
static void addSwizzles(SmallVectorImpl<Swizzle> &swizzles, int64_t bytes,
                        int64_t base, int64_t count, bool anyOrder) {
  // A period divides the buffer; lower bits come first.
  int64_t most = llvm::countr_zero(static_cast<uint64_t>(bytes)) - 1;
  SmallVector<Swizzle> open = {{base, {}, {}}};
  while (!open.empty()) {
    Swizzle swizzle = open.pop_back_val();
    if ((int64_t)swizzle.from.size() == count) {
      swizzles.push_back(swizzle);
      continue;
    }
    int64_t least =
        swizzle && !anyOrder ? swizzle.from.back() + 1 : base + count;
    for (int64_t bit = most; bit >= least; --bit) {
      if (llvm::is_contained(swizzle.from, bit))
        continue;
      open.push_back(swizzle);
      open.back().from.push_back(bit);
    }
  }
}

/// How rows of `rowBytes` may be kept from meeting in a bank: not at all, by
/// padding, or by exchanging pieces as wide as the widest access. Addresses of
/// padded rows differ by what an instruction holds, exchanged ones are computed
/// (LDSCycles::addressing). Reads along rows and across them want the same bits
/// in different places: for both, these come in `anyOrder`.
static SmallVector<std::pair<int64_t, Swizzle>>
getSpreads(int64_t rowBytes, int64_t rows, int64_t alignment, int64_t banks,
           bool anyOrder) {
  // As many pieces as all banks deliver in a cycle.
  constexpr int64_t kPieceBits = 4;
  int64_t mostBits =
      llvm::Log2_64(std::max<int64_t>(banks, 1) * kNarrowBytes) - kPieceBits;
  SmallVector<std::pair<int64_t, Swizzle>> spreads;
  for (int64_t padding : {0, 8, 16, 32})
    if ((rowBytes + padding) % alignment == 0)
      spreads.push_back({padding, Swizzle()});
  SmallVector<Swizzle> swizzles;
  for (int64_t bits = 1; bits <= mostBits; ++bits)
    addSwizzles(swizzles, rows * rowBytes, kPieceBits, bits, anyOrder);
  for (const Swizzle &swizzle : swizzles)
    spreads.push_back({0, swizzle});
  return spreads;
}

/// The plan of a buffer with rows along `contiguous`, its writer and its
/// readers.
static LDSPlan makePlan(const SharedLayout &layout, Type element,
                        const LaneMap &writer,
                        ArrayRef<RankedTensorType> readers, TargetAttr target) {
  LDSPlan plan;
  plan.type = getSharedType(layout, element);
  plan.copy = writer;
  plan.swizzle = layout.swizzle;
  plan.alignment = getRowAlignment(layout);
  plan.writes = countVectorAccess(writer, layout, target.getLdsBanks());
  plan.reads = countReads(readers, layout, target);
  return plan;
}

/// With `consecutiveBytes`, only copies whose lanes write so much side by side;
/// see getSpreads for `anyOrder`.
static std::optional<LDSPlan>
choosePlan(ArrayRef<RankedTensorType> readers, int64_t sourceDim,
           int64_t wantedDim, int64_t maxBytes, const LDSMachine &machine,
           std::optional<int64_t> consecutiveBytes = {},
           bool anyOrder = false) {
  RankedTensorType tile = readers.front();
  ArrayRef<int64_t> shape = tile.getShape();
  int64_t bytes = getElementBytes(tile);
  std::optional<LDSPlan> best;
  for (const CooperativeCopy &copy : getCooperativeCopies(
           shape, bytes, sourceDim < 0 ? wantedDim : sourceDim, wantedDim,
           maxBytes, machine.getLanes(), machine.subgroups,
           copiesPastRegisters(machine.target))) {
    // Rows start at multiples of the widest access.
    SharedLayout tight =
        getPlacement(shape, wantedDim, bytes, shape[wantedDim] * bytes);
    int64_t alignment = std::max<int64_t>(8, getAccessBytes(copy.map, tight));
    for (RankedTensorType reader : readers) {
      int64_t ofReader = getMatrixBytes(reader, wantedDim, machine.target);
      if (ofReader == 0)
        ofReader = getAccessBytes(*getLaneMap(reader), tight);
      alignment = std::max(alignment, ofReader);
    }
    int64_t rowBytes = llvm::alignTo(shape[wantedDim] * bytes, alignment);
    for (auto [padding, swizzle] :
         getSpreads(rowBytes, tile.getNumElements() / shape[wantedDim],
                    alignment, machine.target.getLdsBanks(), anyOrder)) {
      SharedLayout layout =
          getPlacement(shape, wantedDim, bytes, rowBytes + padding);
      layout.swizzle = swizzle;
      if (consecutiveBytes &&
          (swizzle || getConsecutiveBytes(copy.map, shape, layout.strides,
                                          bytes) != *consecutiveBytes))
        continue;
      LDSPlan plan = makePlan(layout, tile.getElementType(), copy.map, readers,
                              machine.target);
      plan.transposed = sourceDim >= 0 && sourceDim != wantedDim;
      plan.copyBytes = sourceDim < 0 ? bytes : copy.bytes;
      plan.padding = rowBytes + padding - shape[wantedDim] * bytes;
      // Nobody else has use for the memory while many subgroups wait for it;
      // instructions they issue side by side.
      constexpr int64_t kIssuedAtOnce = 4;
      if (isAlone(machine.target, machine.subgroups))
        for (LDSCycles *cycles : {&plan.reads, &plan.writes})
          cycles->addressing =
              llvm::divideCeil(cycles->addressing, kIssuedAtOnce);
      // Candidates come best first: only a lower cost beats an earlier one.
      if (!best || plan.getCost() < best->getCost())
        best = plan;
    }
  }
  return best;
}

LDSPlan mlir::evoformer::tile::planLDS(ArrayRef<RankedTensorType> readers,
                                       int64_t sourceDim, int64_t wantedDim,
                                       int64_t maxBytes,
                                       const LDSMachine &machine) {
  LDSPlan plan = *choosePlan(readers, sourceDim, wantedDim, maxBytes, machine);
  bool readsAcross = llvm::any_of(readers, [&](RankedTensorType reader) {
    return readsAcrossRows(reader, wantedDim, machine.target);
  });
  if (!readsAcross || plan.reads.actual <= plan.reads.ideal)
    return plan;
  // There are many orders.
  LDSPlan other = *choosePlan(readers, sourceDim, wantedDim, maxBytes, machine,
                              std::nullopt, /*anyOrder=*/true);
  return other.getCost() < plan.getCost() ? other : plan;
}

LDSPlan mlir::evoformer::tile::planLDS(ArrayRef<RankedTensorType> readers,
                                       const SharedLayout &layout,
                                       int64_t sourceDim, int64_t maxBytes,
                                       const LDSMachine &machine) {
  int64_t dim = layout.contiguousDim;
  std::optional<LDSPlan> best;
  for (const CooperativeCopy &copy : getCooperativeCopies(
           layout.shape, layout.elementBytes, sourceDim < 0 ? dim : sourceDim,
           dim, maxBytes, machine.getLanes(), machine.subgroups,
           copiesPastRegisters(machine.target))) {
    LDSPlan plan = makePlan(layout, readers.front().getElementType(), copy.map,
                            readers, machine.target);
    plan.transposed = sourceDim >= 0 && sourceDim != dim;
    plan.copyBytes = sourceDim < 0 ? layout.elementBytes : copy.bytes;
    if (!best || plan.getCost() < best->getCost())
      best = plan;
  }
  return *best;
}

std::optional<LDSPlan> mlir::evoformer::tile::planConsecutive(
    ArrayRef<RankedTensorType> readers, int64_t dim, int64_t copyBytes,
    const LDSPlan &through, const LDSMachine &machine) {
  std::optional<LDSPlan> plan =
      choosePlan(readers, dim, dim, copyBytes, machine, copyBytes);
  // A piece takes an instruction and one that says where it goes, as many as a
  // load and a store.
  if (!plan || copyBytes < through.copyBytes ||
      plan->reads.getCost() + plan->writes.ideal > through.getCost())
    return std::nullopt;
  return plan;
}

LDSPlan mlir::evoformer::tile::planExchange(RankedTensorType writer,
                                            RankedTensorType reader,
                                            TargetAttr target) {
  ArrayRef<int64_t> shape = reader.getShape();
  int64_t bytes = getElementBytes(writer);
  LaneMap from = *getLaneMap(writer), to = *getLaneMap(reader);
  std::optional<LDSPlan> best;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    SharedLayout tight = getPlacement(shape, dim, bytes, shape[dim] * bytes);
    int64_t alignment = std::max<int64_t>(
        8, std::max(getAccessBytes(from, tight), getAccessBytes(to, tight)));
    int64_t rowBytes = llvm::alignTo(shape[dim] * bytes, alignment);
    for (auto [padding, swizzle] :
         getSpreads(rowBytes, reader.getNumElements() / shape[dim], alignment,
                    target.getLdsBanks(), /*anyOrder=*/false)) {
      SharedLayout layout = getPlacement(shape, dim, bytes, rowBytes + padding);
      layout.swizzle = swizzle;
      LDSPlan plan =
          makePlan(layout, writer.getElementType(), from, reader, target);
      plan.padding = rowBytes + padding - shape[dim] * bytes;
      // There is a store for each part.
      plan.writes.extend(writer.getNumElements(), reader.getNumElements());
      if (!best || plan.getCost() < best->getCost())
        best = plan;
    }
  }
  return *best;
}
