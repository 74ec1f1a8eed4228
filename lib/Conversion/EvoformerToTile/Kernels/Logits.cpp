//===- Logits.cpp - Logits of one tile --------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Logits.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

double evoformer::getLogitUnit(const AttentionFacts &facts) {
  if (facts.weights.areLogits)
    return llvm::numbers::log2e;
  constexpr double kUnit = 16;
  return facts.elementType.isF32() ? kUnit * llvm::numbers::log2e : kUnit;
}

bool evoformer::mayStartFromBiases(tile::TargetAttr target,
                                   const AttentionFacts &facts) {
  // Of such scales quotients and products are ordinary numbers.
  constexpr double kSmallScale = 0x1p-20, kLargeScale = 0x1p20;
  return !target.isCPU() && !facts.elementType.isF32() &&
         (!facts.score || facts.score.isSum) && !facts.weights.areLogits &&
         facts.scale >= kSmallScale && facts.scale <= kLargeScale;
}

double evoformer::getProductUnit(double scale) {
  return scale * llvm::numbers::log2e;
}

LogitsSlices LogitsSlices::startingFromBiases() const {
  LogitsSlices result = *this;
  result.keySum = keyStart;
  result.unit = getProductUnit(scale);
  result.startsFromBiases = true;
  return result;
}

Value LogitsTile::broadcast(TileBuilder &builder, Value tile,
                            ArrayRef<LogitDim> dims) const {
  SmallVector<int64_t> positions;
  for (LogitDim dim : dims)
    positions.push_back(getPosition(dim));
  if (!llvm::is_sorted(positions)) {
    // Queries and keys, in the other order.
    SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq<int64_t>(0, positions.size()));
    std::swap(permutation[permutation.size() - 2], permutation.back());
    std::swap(positions[positions.size() - 2], positions.back());
    RankedTensorType type = TileBuilder::typeOf(tile);
    SmallVector<int64_t> swapped;
    for (int64_t dim : permutation)
      swapped.push_back(type.getDimSize(dim));
    tile = tile::TransposeOp::create(builder, type.clone(swapped), tile,
                                     permutation);
  }
  return builder.broadcast(tile, positions, shape);
}

static Value loadBias(TileBuilder &builder, const BiasSlice &bias,
                      const LogitsTile &tile) {
  if (bias.loaded)
    return bias.loaded;
  SmallVector<Value> indices;
  SmallVector<int64_t> shape;
  for (LogitDim dim : bias.dims) {
    indices.push_back(tile.offsets[static_cast<unsigned>(dim)]);
    shape.push_back(tile.shape[tile.getPosition(dim)]);
  }
  TypedAttr outside;
  if (bias.fillsZeros && bias.alignment)
    outside = builder.getZeroAttr(
        cast<MemRefType>(bias.memory.getType()).getElementType());
  return builder.load(bias.memory, indices, shape, bias.inBounds, outside,
                      bias.alignment);
}

/// A tile of f32, or of integers as it is.
static Value toNumbers(TileBuilder &builder, Value tile) {
  return TileBuilder::typeOf(tile).getElementType().isInteger()
             ? tile
             : builder.convert(tile, builder.getF32Type());
}

void evoformer::loadOnce(TileBuilder &builder, BiasSlice &bias,
                         const LogitsTile &tile) {
  if (bias.memory)
    bias.loaded = loadBias(builder, bias, tile);
}

Value evoformer::readBias(TileBuilder &builder, const BiasSlice &bias,
                          const LogitsTile &tile) {
  if (bias.tile)
    return bias.tile;
  Value loaded = loadBias(builder, bias, tile);
  loaded = bias.isMask ? builder.isSet(loaded) : toNumbers(builder, loaded);
  return tile.broadcast(builder, loaded, bias.dims);
}

Value evoformer::readCapture(TileBuilder &builder, const BiasSlice &capture,
                             const LogitsTile &tile) {
  if (capture.dims.empty()) {
    Value number =
        memref::LoadOp::create(builder, capture.memory, ValueRange());
    Type f32 = builder.getF32Type();
    return number.getType() == f32 || number.getType().isInteger()
               ? number
               : arith::ExtFOp::create(builder, f32, number).getResult();
  }
  if (llvm::is_contained(capture.dims, LogitDim::Queries) &&
      llvm::is_contained(capture.dims, LogitDim::Keys))
    return readBias(builder, capture, tile);
  return toNumbers(builder, loadBias(builder, capture, tile));
}

bool evoformer::mayDrop(const LogitsSlices &slices, bool isMasked) {
  return slices.keySum.memory || !slices.biases.empty() || isMasked ||
         slices.score;
}

Value evoformer::startOf(TileBuilder &builder, const LogitsSlices &slices,
                         const LogitsTile &tile) {
  if (!slices.startsFromBiases)
    return {};
  Value start, ofKeys;
  if (slices.keySum.memory)
    ofKeys = tile.broadcast(builder, loadBias(builder, slices.keySum, tile),
                            slices.keySum.dims);
  bool keysLast = slices.score && slices.loopsOverRows;
  if (!keysLast)
    start = ofKeys;
  double toProducts = 1 / static_cast<double>(slices.scale);
  if (slices.score)
    start = addScoreSummands(builder, slices, tile, toProducts, start);
  for (const BiasSlice &bias : slices.biases) {
    if (bias.isMask)
      continue;
    Value read = readBias(builder, bias, tile);
    Value factor = builder.splatLike(read, toProducts);
    start =
        start ? builder.fma(read, factor, start) : builder.mulf(read, factor);
  }
  if (keysLast && ofKeys)
    start = start ? builder.addf(start, ofKeys) : ofKeys;
  return start;
}

/// `logits` that have the biases in them, and -inf where masks of the query
/// drop keys or a query does not see one.
static Value applyMasks(TileBuilder &builder, const LogitsSlices &slices,
                        const LogitsTile &tile, Value logits) {
  Value nothing = builder.splatLike(logits, -kInfinity);
  for (const BiasSlice &bias : slices.biases)
    if (bias.isMask)
      logits = builder.select(readBias(builder, bias, tile), logits, nothing);
  return tile.seen ? builder.select(tile.seen, logits, nothing) : logits;
}

Value evoformer::buildLogits(TileBuilder &builder, const LogitsSlices &slices,
                             const LogitsTile &tile, Value scores,
                             SmallVectorImpl<Value> *more) {
  if (slices.startsFromBiases)
    return applyMasks(builder, slices, tile, scores);
  double scale = slices.scale;
  if (slices.score) {
    SmallVector<Value> given = applyScore(
        builder, slices, tile,
        scale == 1 ? scores
                   : builder.mulf(scores, builder.splatLike(scores, scale)));
    scores = given.front();
    scale = 1;
    if (more)
      llvm::append_range(*more, llvm::drop_begin(given));
  }
  // The scale enters here and not in a bias divided by it, which overflows for
  // large masks and has no value for a scale of 0.
  double inUnits = llvm::numbers::log2e / slices.unit;
  Value factor = builder.splatLike(scores, scale * inUnits);
  Value logits, sum;
  if (slices.keySum.memory) {
    sum = tile.broadcast(builder, loadBias(builder, slices.keySum, tile),
                         slices.keySum.dims);
    logits = builder.fma(scores, factor, sum);
  } else {
    logits = builder.mulf(scores, factor);
  }
  // Biases of the query after the scores: what is large comes last and in one
  // rounding.
  Value biasFactor = builder.splatLike(scores, inUnits);
  SmallVector<Value> reads;
  for (const BiasSlice &bias : slices.biases) {
    reads.push_back(readBias(builder, bias, tile));
    if (!bias.isMask)
      logits = builder.fma(reads.back(), biasFactor, logits);
  }
  Value nothing = builder.splatLike(scores, -kInfinity);
  auto dropWhere = [&](Value bias) {
    logits = builder.select(builder.equals(bias, -kInfinity), nothing, logits);
  };
  for (auto [bias, read] : llvm::zip_equal(slices.biases, reads)) {
    if (bias.isMask)
      logits = builder.select(read, logits, nothing);
    else if (slices.drops != Drops::Added)
      dropWhere(read);
  }
  if (sum && slices.drops == Drops::Chosen)
    dropWhere(sum);
  if (tile.seen)
    logits = builder.select(tile.seen, logits, nothing);
  return logits;
}
