//===- WorkItem.cpp - What a work item reads of an attention --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkItem.h"

#include "BlockLoop.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

ItemRange ItemRange::ofBlock(TileBuilder &builder, OpFoldResult size,
                             Value start, int64_t block) {
  OpFoldResult extent = builder.remaining(size, start, block);
  return {start, extent, block, isa<Attribute>(extent)};
}

ItemRange ItemRange::whole(TileBuilder &builder, OpFoldResult size,
                           int64_t block) {
  std::optional<int64_t> fixed = getConstantIntValue(size);
  return {builder.index(0), size, block, fixed && *fixed % block == 0};
}

ItemRange ItemRange::upTo(TileBuilder &builder, Value length,
                          Value offset) const {
  Value left = builder.sub(length, start);
  ItemRange range = *this;
  range.extent = Value(
      arith::MaxSIOp::create(builder, left, builder.index(0)).getResult());
  range.fits = false;
  range.wholeExtent = extent;
  range.wholeFits = fits;
  range.offset = offset;
  return range;
}

ItemRange ItemRange::part(TileBuilder &builder, int64_t number,
                          int64_t size) const {
  Value zero = builder.index(0), offset = builder.index(number * size);
  auto behind = [&](OpFoldResult all) -> OpFoldResult {
    Value left = builder.sub(builder.index(all), offset);
    left = arith::MinSIOp::create(builder, left, builder.index(size));
    return Value(arith::MaxSIOp::create(builder, left, zero).getResult());
  };
  ItemRange range = *this;
  range.block = size;
  range.extent = fits ? builder.getIndexAttr(size) : behind(extent);
  // What is empty has no last element to be read in place of others.
  if (mayEndEarly())
    range.wholeExtent = wholeFits ? OpFoldResult(builder.getIndexAttr(size))
                                  : behind(wholeExtent);
  else if (!fits)
    range.wholeExtent = range.extent;
  // Nor is there a first one behind the end, which reads outside are of: that
  // of the block is as good.
  range.start = builder.add(start, offset);
  if (!range.mayEndEarly() || getConstantIntValue(range.wholeExtent))
    return range;
  Value isThere = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt,
                                        builder.index(range.wholeExtent), zero);
  range.start = builder.select(isThere, range.start, start);
  return range;
}

ItemRange ItemRange::all() const {
  if (!mayEndEarly())
    return *this;
  return {start, wholeExtent, block, wholeFits, shared};
}

Value ItemRange::isPresent(TileBuilder &b, ArrayRef<int64_t> shape, int64_t dim,
                           Value offset) const {
  // Ranges and blocks are shorter than what i32 holds.
  Value beyond = IotaOp::create(b, RankedTensorType::get(shape, b.getI32Type()),
                                b.sub(offset, b.index(extent)), dim,
                                /*minus=*/IntegerAttr());
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, beyond,
                               b.splatLike(beyond, 0));
}

SmallVector<DepthPart> evoformer::cutDepth(Type elementType, int64_t depth) {
  constexpr int64_t kLong = 64, kShort = 32;
  int64_t step = elementType.isF32() && depth > kLong ? kShort : depth;
  SmallVector<DepthPart> parts;
  for (int64_t start = 0; start < depth; start += step)
    parts.push_back({start, std::min(step, depth - start)});
  return parts;
}

//===----------------------------------------------------------------------===//
// Sequences and statistics
//===----------------------------------------------------------------------===//

WorkItem WorkItem::find(TileBuilder &builder, bool alignedRows,
                        const LogitShape &shape, const AttentionBlocks &blocks,
                        const KeyRange &keyRange, bool ownsKeyBlock) {
  const RowLengths &lengths = shape.lengths;
  std::optional<SeenKeys> seen;
  if (!lengths.any())
    seen = makeSeenKeys(builder, keyRange, shape);
  Value id[4];
  for (int64_t dim = 0; dim < 4; ++dim)
    id[dim] = WorkItemIdOp::create(builder, dim);
  SpaceOrder order = SpaceOrder::of(keyRange);
  Value row = builder.mul(id[order.rows], builder.index(blocks.rows));
  int64_t block = ownsKeyBlock ? blocks.keys : blocks.queries;
  Value number = id[order.blocks];
  if (growsWith(keyRange, ownsKeyBlock ? LogitDim::Keys : LogitDim::Queries)) {
    Value count = builder.ceilDiv(
        shape.size(builder, ownsKeyBlock ? kBiasK : kBiasQ), block);
    number = builder.sub(builder.sub(count, builder.index(1)), number);
  }
  Value start = builder.mul(number, builder.index(block));
  auto range = [&](int64_t dim, bool isOwned, int64_t block) {
    OpFoldResult size = shape.size(builder, dim);
    return isOwned ? ItemRange::ofBlock(builder, size, start, block)
                   : ItemRange::whole(builder, size, block);
  };
  WorkItem item{builder,
                alignedRows,
                id[order.batch],
                id[order.head],
                ItemRange::ofBlock(builder, shape.size(builder, kBiasN), row,
                                   blocks.rows),
                range(kBiasQ, !ownsKeyBlock, blocks.queries),
                range(kBiasK, ownsKeyBlock, blocks.keys),
                ownsKeyBlock,
                seen};
  item.endRow(shape, keyRange);
  return item;
}

void WorkItem::endRow(const LogitShape &shape, const KeyRange &range) {
  const RowLengths &lengths = shape.lengths;
  if (!lengths.any())
    return;
  RowCounts counts = RowCounts::load(builder, shape, batch, rows.start);
  counts = ownsKeyBlock ? counts.behindKey(builder, keys.start, shape)
                        : counts.behindQuery(builder, queries.start, shape);
  // Queries that the item owns are cleared when they are stored: behind the end
  // of the row biases repeat the last one's. Those of keys may hold anything.
  seen = makeSeenKeys(builder, range, shape, counts,
                      {/*queries=*/ownsKeyBlock && lengths.ofQueries(),
                       /*keys=*/lengths.ofKeys()});
  endAt(counts, lengths);
}

void WorkItem::endAt(const RowCounts &counts, const RowLengths &lengths) {
  auto limit = [&](ItemRange &range, Value count, Value start,
                   bool hasLengths) {
    if (hasLengths)
      range = range.upTo(builder, count, start);
    range.visited = count;
  };
  limit(queries, counts.queries, counts.queryStart, lengths.ofQueries());
  limit(keys, counts.keys, counts.keyStart, lengths.ofKeys());
}

WorkItem WorkItem::withWritten() const {
  WorkItem item = *this;
  item.queries = queries.written();
  item.keys = keys.written();
  return item;
}

WorkItem WorkItem::withAll() const {
  WorkItem item = *this;
  item.queries = queries.all();
  item.keys = keys.all();
  return item;
}

WorkItem WorkItem::withCarefulBlocks(LogitDim dim, int64_t parts) const {
  // Better short than quick. They divide the block, which memory is padded to.
  constexpr int64_t kAtoms = 16;
  WorkItem item = *this;
  item.isCareful = true;
  ItemRange &range = dim == LogitDim::Keys ? item.keys : item.queries;
  if (parts > 1)
    range.block /= parts;
  else if (range.block % (2 * kAtoms) == 0)
    range.block /= 2;
  return item;
}

WorkItem WorkItem::withSharedKeys(const SharedKeys &shared) const {
  WorkItem item = *this;
  ItemRange::Shared &place = item.keys.shared;
  if (shared.batch)
    place.batch = builder.index(0);
  if (shared.rows)
    place.row = builder.index(0);
  if (shared.groupSize != 1)
    place.head =
        arith::DivUIOp::create(builder, head, builder.index(shared.groupSize));
  return item;
}

WorkItem WorkItem::withHead(TileBuilder &b, Value head) const {
  return {b,       alignedRows, batch,        head, rows,
          queries, keys,        ownsKeyBlock, seen, isCareful};
}

std::optional<SeenKeys> evoformer::makeSeenKeys(TileBuilder &builder,
                                                const KeyRange &range,
                                                const LogitShape &shape,
                                                const RowCounts &counts,
                                                ExactEnds exact) {
  if (range.isWhole() && !exact.queries && !exact.keys)
    return std::nullopt;
  auto countOr = [&](Value count, int64_t dim) {
    return count ? count : builder.index(shape.size(builder, dim));
  };
  Value queries = countOr(counts.queries, kBiasQ);
  Value keys = countOr(counts.keys, kBiasK);
  return SeenKeys(range, queries, keys, exact, shape.keyOffsets);
}

Value WorkItem::findSeen(TileBuilder &b, const LogitsTile &tile) const {
  if (!seen)
    return {};
  auto at = [&](const ItemRange &range, LogitDim dim) {
    return b.add(range.start, tile.offsets[static_cast<unsigned>(dim)]);
  };
  return seen->isSeen(b, tile, at(queries, LogitDim::Queries),
                      at(keys, LogitDim::Keys),
                      /*sumsQueries=*/ownsKeyBlock && !queries.fits);
}

SeenBlocks WorkItem::findBlocks(TileBuilder &b, LogitDim dim) const {
  bool ofKeys = dim == LogitDim::Keys;
  const ItemRange &moving = ofKeys ? keys : queries;
  const ItemRange &fixed = ofKeys ? queries : keys;
  // The last block may stick out.
  Value extent = b.index(fixed.extent);
  if (!getConstantIntValue(fixed.extent))
    extent = arith::MinUIOp::create(b, extent, b.index(fixed.block));
  Value last = b.sub(b.add(fixed.start, extent), b.index(1));
  Value isFull;
  if (seen->isExact(ofKeys ? LogitDim::Queries : LogitDim::Keys))
    isFull = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extent,
                                   b.index(fixed.block));
  return seen->find(b, dim, moving.block, fixed.start, last, isFull);
}

std::pair<OpFoldResult, OpFoldResult>
WorkItem::placeOf(const ItemRange &range, Value memory, int64_t dim) const {
  if (!range.offset)
    return {range.shared.batch ? range.shared.batch : batch, range.start};
  // Reads outside of a range are of its first element, which must be one.
  Value last =
      builder.sub(builder.index(builder.dim(memory, dim)), builder.index(1));
  Value start = arith::MinSIOp::create(
      builder, builder.add(range.offset, range.start), last);
  return {builder.getIndexAttr(0), start};
}

Value WorkItem::sliceSequence(Value memory, const ItemRange &range) const {
  auto [first, start] = placeOf(range, memory, 3);
  const ItemRange::Shared &shared = range.shared;
  return builder.slice(memory,
                       {{first, {}},
                        {shared.row ? shared.row : rows.start, rows.extent},
                        {shared.head ? shared.head : head, {}},
                        {start, range.extent},
                        {builder.getIndexAttr(0), builder.dim(memory, 4)}});
}

int64_t WorkItem::rowAlignment(Value slice) const {
  auto type = cast<MemRefType>(slice.getType());
  if (!alignedRows)
    return 0;
  return getVectorBytes(type.getDimSize(2) *
                        getElementBytes(type.getElementType()));
}

/// Whether a sequence has all the elements of its rows that tiles have.
static bool hasDepth(MemRefType slice, int64_t start, int64_t size) {
  return start + size <= slice.getDimSize(2);
}

Value WorkItem::load(TileBuilder &b, Value slice, Value offset,
                     const ItemRange &range, DepthPart depth,
                     bool anyOutside) const {
  auto type = cast<MemRefType>(slice.getType());
  bool isWhole = hasDepth(type, depth.start, depth.size);
  return b.load(slice, {b.index(0), offset, b.index(depth.start)},
                {rows.block, range.block, depth.size},
                {rows.fits, range.fits, isWhole},
                anyOutside && isWhole ? TypedAttr()
                                      : b.getZeroAttr(type.getElementType()),
                rowAlignment(slice));
}

void WorkItem::store(Value tile, Value slice, const ItemRange &range,
                     int64_t depth) const {
  Type element = cast<MemRefType>(slice.getType()).getElementType();
  storeAt(builder, builder.convert(tile, element), slice, builder.index(0),
          range.fits, depth);
}

void WorkItem::storeAt(TileBuilder &b, Value tile, Value slice, Value offset,
                       bool fits, int64_t depth) const {
  bool isWhole = hasDepth(cast<MemRefType>(slice.getType()), depth,
                          TileBuilder::typeOf(tile).getDimSize(2));
  b.store(tile, slice, {b.index(0), offset, b.index(depth)},
          {rows.fits, fits, isWhole}, rowAlignment(slice));
}

Value WorkItem::clearAbsent(Value tile, const ItemRange &range) const {
  if (!range.mayEndEarly() || range.offset)
    return tile;
  Value present =
      range.isPresent(builder, TileBuilder::typeOf(tile).getShape(), /*dim=*/1,
                      /*offset=*/builder.index(0));
  return builder.select(present, tile, builder.splatLike(tile, 0));
}

void WorkItem::storeParts(ValueRange tiles, ArrayRef<DepthPart> parts,
                          double factor, Value memory,
                          const ItemRange &range) const {
  ItemRange written = range.written();
  Value slice = sliceSequence(memory, written);
  for (auto [tile, part] : llvm::zip_equal(tiles, parts))
    store(clearAbsent(factor == 1
                          ? tile
                          : builder.mulf(tile, builder.splatLike(tile, factor)),
                      range),
          slice, written, part.start);
}

Value WorkItem::sliceStatistic(Value memory) const {
  auto [first, start] = placeOf(queries, memory, 3);
  return builder.slice(memory, {{first, {}},
                                {rows.start, rows.extent},
                                {head, {}},
                                {start, queries.extent}});
}

Value WorkItem::sliceStatistic(Value memory, int64_t which) const {
  auto [first, start] = placeOf(queries, memory, 4);
  return builder.slice(memory, {{builder.getIndexAttr(which), {}},
                                {first, {}},
                                {rows.start, rows.extent},
                                {head, {}},
                                {start, queries.extent}});
}

Value WorkItem::loadStatistic(TileBuilder &b, Value slice, Value offset,
                              std::optional<double> outside) const {
  return b.load(slice, {b.index(0), offset}, {rows.block, queries.block},
                {rows.fits, queries.fits},
                outside ? b.getF32FloatAttr(*outside) : TypedAttr());
}

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

/// Of the elements of `range` in a bias, which are contiguous in whole blocks.
static int64_t getAlignment(Value bias, const ItemRange &range) {
  auto type = cast<MemRefType>(bias.getType());
  return getVectorBytes(range.block * getElementBytes(type.getElementType()));
}

OpFoldResult WorkItem::offsetIn(const Bias &bias, int64_t dim) const {
  if (bias.broadcast[dim])
    return builder.getIndexAttr(0);
  const std::array<Value, 5> offsets = {batch, rows.start, head, queries.start,
                                        keys.start};
  return offsets[dim];
}

/// The extent for reads that repeat the last element: there is one, whether the
/// row has it or not.
static OpFoldResult findRepeatable(TileBuilder &b, const ItemRange &range) {
  if (!range.mayEndEarly())
    return range.extent;
  return arith::MaxSIOp::create(b, b.index(range.extent), b.index(1))
      .getResult();
}

BiasSlice WorkItem::sliceBias(const Bias &bias, bool fillsZeros) const {
  BiasSlice result;
  result.isMask = bias.isMask;
  result.fillsZeros = fillsZeros;
  SmallVector<SliceDim> dims;
  for (int64_t dim = 0; dim < 5; ++dim)
    dims.push_back({offsetIn(bias, dim), {}});
  auto keep = [&](int64_t dim, LogitDim logitDim, OpFoldResult extent,
                  bool fits) {
    if (bias.broadcast[dim])
      return;
    dims[dim].extent = extent;
    result.dims.push_back(logitDim);
    result.inBounds.push_back(fits);
  };
  keep(kBiasN, LogitDim::Rows, rows.extent, rows.fits);
  if (bias.isTransposed)
    keep(kBiasQ, LogitDim::Queries, builder.dim(bias.memory, kBiasQ), true);
  else
    keep(kBiasQ, LogitDim::Queries, findRepeatable(builder, queries),
         queries.fits);
  if (!bias.broadcast[kBiasK]) {
    keep(kBiasK, LogitDim::Keys, keyExtent(bias.memory, kBiasK), true);
    result.alignment =
        getAlignment(bias.memory, bias.isTransposed ? queries : keys);
  }
  result.memory = builder.slice(bias.memory, dims);
  return result;
}

/// A slab has whole blocks: tiles are all inside.
Value WorkItem::sliceSlab(Value slab) const {
  auto extent = [&](const ItemRange &range, int64_t dim, bool isBlock) {
    return isBlock ? OpFoldResult(builder.getIndexAttr(range.block))
                   : builder.dim(slab, dim);
  };
  return builder.slice(slab,
                       {{batch, {}},
                        {rows.start, rows.extent},
                        {head, {}},
                        {keys.start, extent(keys, 3, ownsKeyBlock)},
                        {queries.start, extent(queries, 4, !ownsKeyBlock)}});
}

/// Of whole blocks of queries, which are contiguous.
static int64_t getSlabAlignment(Value slice, const ItemRange &queries) {
  auto type = cast<MemRefType>(slice.getType());
  return getVectorBytes(queries.block * getElementBytes(type.getElementType()));
}

Value WorkItem::loadSlab(TileBuilder &b, Value slice, Value key) const {
  Value zero = b.index(0);
  return b.load(slice, {zero, key, zero},
                {rows.block, keys.block, queries.block},
                {rows.fits, true, true}, {}, getSlabAlignment(slice, queries));
}

void WorkItem::storeSlab(TileBuilder &b, Value tile, Value slice,
                         Value query) const {
  Value zero = b.index(0);
  b.store(tile, slice, {zero, zero, query}, {rows.fits, true, true},
          getSlabAlignment(slice, queries));
}

ScorePlace WorkItem::findPlace(const LogitShape &shape) const {
  auto count = [&](const ItemRange &range, int64_t dim) {
    return range.visited ? range.visited
                         : builder.index(shape.size(builder, dim));
  };
  return {batch,
          rows.start,
          head,
          queries.start,
          keys.start,
          count(queries, kBiasQ),
          count(keys, kBiasK),
          queries.fits,
          keys.fits};
}

LogitsSlices WorkItem::sliceLogits(const AttentionFacts &facts,
                                   const Bias &keySum, ArrayRef<Bias> biases,
                                   ArrayRef<Bias> captures,
                                   const LogitShape &shape,
                                   bool fillsZeros) const {
  LogitsSlices slices;
  slices.scale = facts.scale;
  slices.unit = getLogitUnit(facts);
  if (keySum.memory) {
    slices.keySum = sliceKeySum(keySum, /*unit=*/0);
    int64_t units = cast<MemRefType>(keySum.memory.getType()).getDimSize(0);
    slices.keyStart =
        units == 1 ? slices.keySum : sliceKeySum(keySum, /*unit=*/1);
  }
  for (const Bias &bias : biases)
    slices.biases.push_back(sliceBias(bias, fillsZeros));
  if (facts.score || facts.dropThreshold != 0)
    slices.place = findPlace(shape);
  if (!facts.score)
    return slices;
  slices.score = facts.score;
  for (const Bias &capture : captures)
    slices.captures.push_back(capture.entries ? readTable(capture)
                                              : sliceBias(capture));
  return slices;
}

BiasSlice WorkItem::readTable(const Bias &table) const {
  OpFoldResult first = builder.getIndexAttr(0);
  BiasSlice slice;
  slice.memory = builder.slice(table.memory,
                               {{offsetIn(table, kBiasB), {}},
                                {first, {}},
                                {offsetIn(table, kBiasH), {}},
                                {first, {}},
                                {first, builder.getIndexAttr(table.entries)}});
  Type f32 = builder.getF32Type();
  for (int64_t entry = 0; entry < table.entries; ++entry) {
    Value number = memref::LoadOp::create(builder, slice.memory,
                                          ValueRange(builder.index(entry)));
    slice.entries.push_back(
        number.getType() == f32
            ? number
            : arith::ExtFOp::create(builder, f32, number).getResult());
  }
  return slice;
}

Value WorkItem::sliceBiasGradient(const Bias &gradient) const {
  ItemRange ofQueries = queries.all(), ofKeys = keys.all();
  return builder.slice(
      gradient.memory,
      {{offsetIn(gradient, kBiasB), {}},
       {offsetIn(gradient, kBiasN), gradient.broadcast[kBiasN]
                                        ? OpFoldResult(builder.getIndexAttr(1))
                                        : rows.extent},
       {offsetIn(gradient, kBiasH), {}},
       {ofQueries.start, ofQueries.extent},
       {ofKeys.start, ofKeys.extent}});
}

BiasSlice WorkItem::sliceKeySum(const Bias &sum, int64_t unit) const {
  BiasSlice result;
  SmallVector<SliceDim> dims = {{builder.getIndexAttr(unit), {}},
                                {offsetIn(sum, kBiasB), {}},
                                {offsetIn(sum, kBiasN), {}},
                                {offsetIn(sum, kBiasH), {}},
                                {keys.start, keyExtent(sum.memory, 4)}};
  if (!sum.broadcast[kBiasN]) {
    dims[2].extent = rows.extent;
    result.dims.push_back(LogitDim::Rows);
    result.inBounds.push_back(rows.fits);
  }
  result.dims.push_back(LogitDim::Keys);
  result.inBounds.push_back(true);
  result.memory = builder.slice(sum.memory, dims);
  result.alignment = getAlignment(sum.memory, keys);
  return result;
}

OpFoldResult WorkItem::keyExtent(Value memory, int64_t dim) const {
  return ownsKeyBlock ? OpFoldResult(builder.getIndexAttr(keys.block))
                      : builder.dim(memory, dim);
}

Value WorkItem::clearDropped(TileBuilder &b, const BiasSlice &keySum,
                             Value tile, Value offset) const {
  ArrayRef<int64_t> shape = TileBuilder::typeOf(tile).getShape();
  SmallVector<Value> indices;
  SmallVector<int64_t> terms, dims;
  for (LogitDim dim : keySum.dims) {
    bool isKey = dim == LogitDim::Keys;
    indices.push_back(isKey ? offset : b.index(0));
    terms.push_back(isKey ? keys.block : rows.block);
    dims.push_back(isKey ? 1 : 0);
  }
  Value sum = b.load(keySum.memory, indices, terms, keySum.inBounds, {},
                     keySum.alignment);
  Value dropped = b.broadcast(b.equals(sum, -kInfinity), dims, shape);
  return b.select(dropped, b.splatLike(tile, 0), tile);
}

Value WorkItem::keepsNone(TileBuilder &b, const BiasSlice &keySum) const {
  // Nobody hides what a step waits for: several blocks in each, unless only
  // some of their pairs count.
  int64_t block = keys.block;
  WorkItem wide = *this;
  if (!seen)
    wide.keys.block = std::lcm(block, kKeySumBlock);
  // In the shape of logits: what lies where in them needs no exchange.
  Value start = b.splat({rows.block, queries.block}, b.getF32Type(), 0);
  SmallVector<Value> any =
      BlockLoop::along(b, LogitDim::Keys, wide)
          .run(b, start,
               [&](TileBuilder &inner, const BlockStep &step,
                   ValueRange carried) -> SmallVector<Value> {
                 Value found = carried[0];
                 for (int64_t first = 0; first < wide.keys.block;
                      first += block) {
                   LogitsTile tile = step.tile;
                   tile.shape.back() = block;
                   Value &key =
                       tile.offsets[static_cast<unsigned>(LogitDim::Keys)];
                   key = inner.add(key, inner.index(first));
                   Value sum = readBias(inner, keySum, tile);
                   Value none = inner.splatLike(sum, 0);
                   Value kept = inner.select(inner.equals(sum, -kInfinity),
                                             none, inner.splatLike(sum, 1));
                   if (tile.seen)
                     kept = inner.select(tile.seen, kept, none);
                   found = inner.maxnum(found,
                                        inner.reduce(ReduceKind::Max, kept, 2));
                 }
                 return {found};
               });
  return b.equals(any[0], 0);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value evoformer::multiply(TileBuilder &b, Value x, Value y, Value c) {
  RankedTensorType xType = TileBuilder::typeOf(x);
  int64_t columns = TileBuilder::typeOf(y).getDimSize(2);
  if (!c)
    c = b.splat({xType.getDimSize(0), xType.getDimSize(1), columns},
                b.getF32Type(), 0);
  return MmaOp::create(b, x, y, c);
}

Value evoformer::transposeLast(TileBuilder &b, Value tile) {
  RankedTensorType type = TileBuilder::typeOf(tile);
  ArrayRef<int64_t> shape = type.getShape();
  return TransposeOp::create(b, type.clone({shape[0], shape[2], shape[1]}),
                             tile, ArrayRef<int64_t>{0, 2, 1});
}

Value evoformer::multiplyTransposed(TileBuilder &b, Value x, Value y, Value c) {
  return multiply(b, x, transposeLast(b, y), c);
}
