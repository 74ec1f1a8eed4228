//===- Dropout.cpp - Which weights are dropped ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dropout.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::evoformer;

Dropout::Dropout(TileBuilder &builder, const AttentionFacts &facts, Value state,
                 const LogitShape &shape)
    : threshold(facts.dropThreshold) {
  if (!state)
    return;
  auto read = [&](int64_t which) -> Value {
    Value slice = builder.slice(state, {{builder.getIndexAttr(which), {}}});
    return memref::LoadOp::create(builder, slice, ValueRange());
  };
  seed = read(0);
  offset = read(1);
  numRows = builder.index(shape.size(builder, kBiasN));
  numHeads = builder.index(shape.size(builder, kBiasH));
}

Value Dropout::findKept(TileBuilder &b, const ScorePlace &place,
                        const LogitsTile &tile) const {
  assert(tile.shape[0] == 1 && "draws are for one row");
  Value stream = b.add(b.mul(place.batch, numRows), place.row);
  stream = b.add(b.mul(stream, numHeads), place.head);
  auto start = [&](Value first, LogitDim dim) {
    return b.add(first, tile.offsets[static_cast<unsigned>(dim)]);
  };
  int64_t ofKeys = tile.getPosition(LogitDim::Keys);
  // Blocks of keys start at multiples of their size, whoever loops over them.
  return tile::RandomOp::create(
      b, RankedTensorType::get(tile.shape, b.getI1Type()), seed, offset, stream,
      start(place.query, LogitDim::Queries), start(place.key, LogitDim::Keys),
      tile.getPosition(LogitDim::Queries), ofKeys, threshold,
      /*multiple=*/tile.shape[ofKeys]);
}
