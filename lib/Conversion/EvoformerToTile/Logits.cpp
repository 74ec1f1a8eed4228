//===- Logits.cpp - Logits of one tile --------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Logits.h"

#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
  SmallVector<Value> indices;
  SmallVector<int64_t> shape;
  for (LogitDim dim : bias.dims) {
    indices.push_back(tile.offsets[static_cast<unsigned>(dim)]);
    shape.push_back(tile.shape[tile.getPosition(dim)]);
  }
  return builder.load(bias.memory, indices, shape, bias.inBounds, {},
                      bias.alignment);
}

void evoformer::addTerms(TileBuilder &builder, const LogitsSlices &slices,
                         const LogitsTile &tile, LogitsTerms &terms) {
  Type f32 = builder.getF32Type();
  auto add = [&](Value more) {
    terms.sum = terms.sum ? builder.addf(terms.sum, more) : more;
  };
  if (slices.keySum.memory)
    add(tile.broadcast(builder, loadBias(builder, slices.keySum, tile),
                       slices.keySum.dims));
  Value log2e = builder.splat(tile.shape, f32, llvm::numbers::log2e);
  for (const BiasSlice &bias : slices.biases) {
    Value loaded = loadBias(builder, bias, tile);
    if (bias.isMask) {
      terms.keeps.push_back(
          tile.broadcast(builder, builder.isSet(loaded), bias.dims));
      continue;
    }
    terms.hasQueryTerms = true;
    Value more =
        tile.broadcast(builder, builder.convert(loaded, f32), bias.dims);
    terms.sum = terms.sum ? builder.fma(more, log2e, terms.sum)
                          : builder.mulf(more, log2e);
  }
}

Value evoformer::buildLogits(TileBuilder &builder, const LogitsSlices &slices,
                             const LogitsTile &tile, Value scores,
                             LogitsTerms terms) {
  // All additive terms first: they do not wait for the scores.
  addTerms(builder, slices, tile, terms);

  // The scale enters here and not in a bias divided by it, which overflows for
  // large masks and has no value for a scale of 0.
  Value factor = builder.splatLike(scores, slices.scale * llvm::numbers::log2e);
  Value logits = terms.sum ? builder.fma(scores, factor, terms.sum)
                           : builder.mulf(scores, factor);
  Value nothing = builder.splatLike(scores, -kInfinity);
  if (slices.chooseDrops && terms.hasQueryTerms)
    logits =
        builder.select(builder.equals(terms.sum, -kInfinity), nothing, logits);
  for (Value keep : terms.keeps)
    logits = builder.select(keep, logits, nothing);
  return logits;
}
