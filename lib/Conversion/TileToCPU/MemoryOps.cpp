//===- MemoryOps.cpp - Tiles from and to memory as loops ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load copies the tile into a buffer of its own, which then is the tensor,
// unless no write can come between: then the memory itself is.
// Bounds are intersected once per dimension, so that the loops are plain.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {

/// A tile-shaped window of memory, seen from the tile's origin.
struct Window {
  Value memory;
  SmallVector<Value> origin;

  SmallVector<Value> at(OpBuilder &b, Location loc, ValueRange indices) const {
    SmallVector<Value> result;
    for (auto [base, index] : llvm::zip_equal(origin, indices))
      result.push_back(arith::AddIOp::create(b, loc, base, index));
    return result;
  }
};

/// Per dimension the range of tile indices to run over.
struct Ranges {
  SmallVector<Value> low, high;
};

} // namespace

static Value index(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

static void
emitLoops(OpBuilder &b, Location loc, const Ranges &ranges,
          function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  SmallVector<Value> steps(ranges.low.size(), Value());
  for (Value &step : steps)
    step = index(b, loc, 1);
  scf::buildLoopNest(b, loc, ranges.low, ranges.high, steps, body);
}

static Ranges wholeTile(OpBuilder &b, Location loc, ArrayRef<int64_t> shape) {
  Ranges ranges;
  for (int64_t size : shape) {
    ranges.low.push_back(index(b, loc, 0));
    ranges.high.push_back(index(b, loc, size));
  }
  return ranges;
}

/// The part of the tile that lies inside `window`'s memory; `partial` says
/// whether some of the tile is outside (null: none can be).
static Ranges insideOf(OpBuilder &b, Location loc, const Window &window,
                       ArrayRef<int64_t> shape,
                       function_ref<bool(int64_t)> isInBounds, Value &partial) {
  Ranges ranges = wholeTile(b, loc, shape);
  partial = Value();
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (isInBounds(d))
      continue;
    Value zero = ranges.low[d], whole = ranges.high[d];
    auto clamp = [&](Value value) -> Value {
      value = arith::MaxSIOp::create(b, loc, value, zero);
      return arith::MinSIOp::create(b, loc, value, whole);
    };
    Value extent = memref::DimOp::create(b, loc, window.memory, d);
    ranges.low[d] =
        clamp(arith::SubIOp::create(b, loc, zero, window.origin[d]));
    ranges.high[d] =
        clamp(arith::SubIOp::create(b, loc, extent, window.origin[d]));
    Value count = arith::SubIOp::create(b, loc, ranges.high[d], ranges.low[d]);
    Value cut =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, count, whole);
    partial = partial ? Value(arith::OrIOp::create(b, loc, partial, cut)) : cut;
  }
  return ranges;
}

/// A piece of the window: its rows of `sizes` at `indices`, as one memref.
static Value viewOf(OpBuilder &b, Location loc, const Window &window,
                    ValueRange indices, ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> offsets =
      getAsOpFoldResult(window.at(b, loc, indices));
  SmallVector<OpFoldResult> extents, strides(sizes.size(), b.getIndexAttr(1));
  for (int64_t size : sizes)
    extents.push_back(b.getIndexAttr(size));
  return memref::SubViewOp::create(b, loc, window.memory, offsets, extents,
                                   strides);
}

/// Copies the elements in `ranges`. Dimensions that `isWhole` promises to be
/// complete are copied together where no other comes after them.
static void emitCopy(OpBuilder &b, Location loc, const Window &from,
                     const Window &to, ArrayRef<int64_t> shape,
                     const Ranges &ranges,
                     function_ref<bool(int64_t)> isWhole) {
  int64_t rank = shape.size(), loops = rank;
  while (loops > 0 && isWhole(loops - 1))
    --loops;
  auto copy = [&](OpBuilder &b, Location loc, ValueRange iv) {
    if (loops == rank) {
      Value element =
          memref::LoadOp::create(b, loc, from.memory, from.at(b, loc, iv));
      memref::StoreOp::create(b, loc, element, to.memory, to.at(b, loc, iv));
      return;
    }
    SmallVector<Value> at(iv);
    at.resize(rank, index(b, loc, 0));
    SmallVector<int64_t> sizes(shape);
    std::fill_n(sizes.begin(), loops, 1);
    Value source = viewOf(b, loc, from, at, sizes);
    memref::CopyOp::create(b, loc, source, viewOf(b, loc, to, at, sizes));
  };
  if (loops == 0)
    return copy(b, loc, {});
  Ranges outer;
  outer.low.assign(ranges.low.begin(), ranges.low.begin() + loops);
  outer.high.assign(ranges.high.begin(), ranges.high.begin() + loops);
  emitLoops(b, loc, outer, copy);
}

static void emitWholeCopy(OpBuilder &b, Location loc, const Window &from,
                          const Window &to, ArrayRef<int64_t> shape) {
  emitCopy(b, loc, from, to, shape, {}, [](int64_t) { return true; });
}

/// Copies with every index outside the source moved to the nearest inside.
static void emitClampedCopy(OpBuilder &b, Location loc, const Window &from,
                            const Window &to, ArrayRef<int64_t> shape,
                            function_ref<bool(int64_t)> isInBounds) {
  SmallVector<Value> last(shape.size());
  Value zero = index(b, loc, 0);
  for (size_t d = 0; d < shape.size(); ++d)
    if (!isInBounds(d))
      last[d] = arith::SubIOp::create(
          b, loc, memref::DimOp::create(b, loc, from.memory, d),
          index(b, loc, 1));
  emitLoops(b, loc, wholeTile(b, loc, shape),
            [&](OpBuilder &b, Location loc, ValueRange iv) {
              SmallVector<Value> at = from.at(b, loc, iv);
              for (auto [d, value] : llvm::enumerate(at)) {
                if (!last[d])
                  continue;
                value = arith::MinSIOp::create(b, loc, value, last[d]);
                value = arith::MaxSIOp::create(b, loc, value, zero);
              }
              Value element = memref::LoadOp::create(b, loc, from.memory, at);
              memref::StoreOp::create(b, loc, element, to.memory,
                                      to.at(b, loc, iv));
            });
}

/// Reads a tile of which `inside` lies in `from`'s memory.
static void emitPartialRead(OpBuilder &b, Location loc, const Window &from,
                            const Window &to, ArrayRef<int64_t> shape,
                            const Ranges &inside,
                            function_ref<bool(int64_t)> isInBounds,
                            TypedAttr padding) {
  if (!padding)
    return emitClampedCopy(b, loc, from, to, shape, isInBounds);
  Value value = arith::ConstantOp::create(b, loc, padding);
  SmallVector<Value> start(shape.size(), index(b, loc, 0));
  linalg::FillOp::create(b, loc, value, viewOf(b, loc, to, start, shape));
  emitCopy(b, loc, from, to, shape, inside, isInBounds);
}

/// Reads a tile into `to`: outside of `from`'s memory elements are `padding`
/// or, without one, the nearest valid element.
static void emitRead(OpBuilder &b, Location loc, const Window &from,
                     const Window &to, ArrayRef<int64_t> shape,
                     function_ref<bool(int64_t)> isInBounds,
                     TypedAttr padding) {
  Value partial;
  Ranges inside = insideOf(b, loc, from, shape, isInBounds, partial);
  if (!partial)
    return emitWholeCopy(b, loc, from, to, shape);
  scf::IfOp::create(
      b, loc, partial,
      [&](OpBuilder &b, Location loc) {
        emitPartialRead(b, loc, from, to, shape, inside, isInBounds, padding);
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &b, Location loc) {
        emitWholeCopy(b, loc, from, to, shape);
        scf::YieldOp::create(b, loc);
      });
}

static Window wholeBuffer(OpBuilder &b, Location loc, Value buffer) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  return {buffer, SmallVector<Value>(rank, index(b, loc, 0))};
}

/// True where nothing may write memory while the tile is in use, so that it
/// can stay where it is. What a loop's body computes ends with the iteration:
/// a tile that is carried on is copied.
static bool canStayInPlace(LoadOp op) {
  if (!isa<scf::ForOp>(op->getParentOp()) || op.getTileType().getRank() == 0 ||
      !op.getSourceType().isLastDimUnitStride())
    return false;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    WalkResult walk = next->walk([](Operation *inner) {
      bool reads = isa<LoadOp, AllocLDSOp, AsyncGroupOp, WaitOp, BarrierOp,
                       IssueFenceOp, ProxyFenceOp, memref::LoadOp>(inner) ||
                   inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                   isMemoryEffectFree(inner);
      return reads ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return false;
  }
  return true;
}

/// A memref of any offset and strides but 1 for the last.
static MemRefType getRowsType(RankedTensorType tile) {
  SmallVector<int64_t> strides(tile.getRank(), ShapedType::kDynamic);
  strides.back() = 1;
  return MemRefType::get(
      tile.getShape(), tile.getElementType(),
      StridedLayoutAttr::get(tile.getContext(), ShapedType::kDynamic, strides));
}

/// The tile where it lies; a copy of it where some of it is outside.
static void lowerLoadInPlace(RewriterBase &rewriter, LoadOp op) {
  Location loc = op.getLoc();
  RankedTensorType tile = op.getTileType();
  MemRefType type = getRowsType(tile);
  Window from{op.getSource(), op.getIndices()};
  auto isInBounds = [&](int64_t d) { return op.isDimInBounds(d); };
  auto inPlace = [&](OpBuilder &b, Location loc) -> Value {
    SmallVector<Value> start(tile.getRank(), index(b, loc, 0));
    Value view = viewOf(b, loc, from, start, tile.getShape());
    return memref::CastOp::create(b, loc, type, view);
  };
  Value partial;
  Ranges inside =
      insideOf(rewriter, loc, from, tile.getShape(), isInBounds, partial);
  Value buffer;
  if (!partial) {
    buffer = inPlace(rewriter, loc);
  } else {
    Value copy = memref::AllocOp::create(
        rewriter, loc, MemRefType::get(tile.getShape(), tile.getElementType()));
    buffer = scf::IfOp::create(
                 rewriter, loc, partial,
                 [&](OpBuilder &b, Location loc) {
                   emitPartialRead(b, loc, from, wholeBuffer(b, loc, copy),
                                   tile.getShape(), inside, isInBounds,
                                   op.getPaddingAttr());
                   Value cast = memref::CastOp::create(b, loc, type, copy);
                   scf::YieldOp::create(b, loc, cast);
                 },
                 [&](OpBuilder &b, Location loc) {
                   scf::YieldOp::create(b, loc, inPlace(b, loc));
                 })
                 .getResult(0);
  }
  rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
      op, tile, buffer, /*restrict=*/true, /*writable=*/false);
}

static void lowerLoad(RewriterBase &rewriter, LoadOp op) {
  if (canStayInPlace(op))
    return lowerLoadInPlace(rewriter, op);
  Location loc = op.getLoc();
  RankedTensorType tile = op.getTileType();
  auto type = MemRefType::get(tile.getShape(), tile.getElementType());
  Value buffer = memref::AllocOp::create(rewriter, loc, type);
  emitRead(
      rewriter, loc, {op.getSource(), op.getIndices()},
      wholeBuffer(rewriter, loc, buffer), tile.getShape(),
      [&](int64_t d) { return op.isDimInBounds(d); }, op.getPaddingAttr());
  rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(
      op, tile, buffer, /*restrict=*/true, /*writable=*/true);
}

static void lowerStore(RewriterBase &rewriter, StoreOp op) {
  Location loc = op.getLoc();
  RankedTensorType tile = op.getTileType();
  auto type = MemRefType::get(tile.getShape(), tile.getElementType());
  Value buffer = bufferization::ToBufferOp::create(
      rewriter, loc, type, op.getValue(), /*read_only=*/true);
  Window to{op.getDest(), op.getIndices()};
  Window from = wholeBuffer(rewriter, loc, buffer);
  auto isInBounds = [&](int64_t d) { return op.isDimInBounds(d); };
  Value partial;
  Ranges inside =
      insideOf(rewriter, loc, to, tile.getShape(), isInBounds, partial);
  if (!partial)
    emitWholeCopy(rewriter, loc, from, to, tile.getShape());
  else
    scf::IfOp::create(
        rewriter, loc, partial,
        [&](OpBuilder &b, Location loc) {
          emitCopy(b, loc, from, to, tile.getShape(), inside, isInBounds);
          scf::YieldOp::create(b, loc);
        },
        [&](OpBuilder &b, Location loc) {
          emitWholeCopy(b, loc, from, to, tile.getShape());
          scf::YieldOp::create(b, loc);
        });
  rewriter.eraseOp(op);
}

/// Tokens have become flags, which nothing asks.
static void replaceToken(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<arith::ConstantIntOp>(op, 0, 1);
}

static void lowerAsyncCopy(RewriterBase &rewriter, AsyncCopyOp op) {
  auto copy = [&](OpBuilder &b, Location loc) {
    emitRead(
        b, loc, {op.getSource(), op.getSourceIndices()},
        {op.getDest(), op.getDestIndices()}, op.getTileType().getShape(),
        [&](int64_t d) { return op.isDimInBounds(d); }, op.getPaddingAttr());
  };
  if (Value predicate = op.getPredicate())
    scf::IfOp::create(rewriter, op.getLoc(), predicate,
                      [&](OpBuilder &b, Location loc) {
                        copy(b, loc);
                        scf::YieldOp::create(b, loc);
                      });
  else
    copy(rewriter, op.getLoc());
  replaceToken(rewriter, op);
}

LogicalResult tile_to_cpu::lowerMemoryOp(RewriterBase &rewriter,
                                         Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto load = dyn_cast<LoadOp>(op))
    lowerLoad(rewriter, load);
  else if (auto store = dyn_cast<StoreOp>(op))
    lowerStore(rewriter, store);
  else if (auto copy = dyn_cast<AsyncCopyOp>(op))
    lowerAsyncCopy(rewriter, copy);
  else if (auto alloc = dyn_cast<AllocLDSOp>(op))
    rewriter.replaceOpWithNewOp<memref::AllocOp>(
        alloc, cast<MemRefType>(alloc.getType()));
  else if (isa<AsyncGroupOp>(op))
    replaceToken(rewriter, op);
  else if (isa<WaitOp, BarrierOp, IssueFenceOp, ProxyFenceOp>(op))
    rewriter.eraseOp(op);
  return success();
}
