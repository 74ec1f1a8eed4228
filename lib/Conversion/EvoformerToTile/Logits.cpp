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

static Value loadBias(TileBuilder &builder, const BiasSlice &bias,
                      ArrayRef<int64_t> tile, Value keyOffset) {
  SmallVector<Value> indices;
  SmallVector<int64_t> shape;
  for (int64_t dim : bias.dims) {
    indices.push_back(dim == 2 ? keyOffset : builder.index(0));
    shape.push_back(tile[dim]);
  }
  return builder.load(bias.memory, indices, shape, bias.inBounds, {},
                      bias.alignment);
}

Value evoformer::buildLogits(TileBuilder &builder, const LogitsSlices &slices,
                             Value scores, Value keyOffset) {
  RankedTensorType type = TileBuilder::typeOf(scores);
  ArrayRef<int64_t> tile = type.getShape();

  // All additive terms first: they do not wait for the scores.
  Value sum;
  if (slices.keySum.memory)
    sum = builder.broadcast(loadBias(builder, slices.keySum, tile, keyOffset),
                            slices.keySum.dims, tile);
  Value log2e = builder.splatLike(scores, llvm::numbers::log2e);
  for (const BiasSlice &bias : slices.biases) {
    if (bias.isMask)
      continue;
    Value terms = builder.convert(loadBias(builder, bias, tile, keyOffset),
                                  type.getElementType());
    terms = builder.broadcast(terms, bias.dims, tile);
    sum = sum ? builder.fma(terms, log2e, sum) : builder.mulf(terms, log2e);
  }

  // The scale enters here and not in a bias divided by it, which overflows for
  // large masks and has no value for a scale of 0.
  Value factor = builder.splatLike(scores, slices.scale * llvm::numbers::log2e);
  Value logits =
      sum ? builder.fma(scores, factor, sum) : builder.mulf(scores, factor);
  Value nothing = builder.splatLike(scores, -kInfinity);
  bool hasQueryTerms = llvm::any_of(
      slices.biases, [](const BiasSlice &bias) { return !bias.isMask; });
  if (slices.chooseDrops && hasQueryTerms)
    logits = builder.select(builder.equals(sum, -kInfinity), nothing, logits);
  for (const BiasSlice &bias : slices.biases) {
    if (!bias.isMask)
      continue;
    Value keep = builder.isSet(loadBias(builder, bias, tile, keyOffset));
    logits = builder.select(builder.broadcast(keep, bias.dims, tile), logits,
                            nothing);
  }
  return logits;
}
