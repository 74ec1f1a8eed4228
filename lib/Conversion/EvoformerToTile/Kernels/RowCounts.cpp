//===- RowCounts.cpp - How many queries and keys rows have ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowCounts.h"

using namespace mlir;
using namespace mlir::evoformer;

OpFoldResult LogitShape::size(TileBuilder &builder, int64_t dim) const {
  if (lengths.isRagged()) {
    if (dim == kBiasQ)
      return lengths.mostQueries.get(builder);
    if (dim == kBiasK)
      return lengths.mostKeys.get(builder);
    if (dim == kBiasB) {
      OpFoldResult starts = builder.dim(lengths.queryStarts, 0);
      if (std::optional<int64_t> count = getConstantIntValue(starts))
        return builder.getIndexAttr(*count - 1);
      return builder.sub(builder.index(starts), builder.index(1));
    }
  }
  return dim == kBiasK ? builder.dim(key, 3) : builder.dim(query, dim);
}

Value LogitShape::countBatches(TileBuilder &builder, bool ofKeys) const {
  Value count = builder.index(size(builder, kBiasB));
  if (!lengths.isRagged())
    return count;
  Value zero = builder.index(0);
  Value isEmpty = arith::CmpIOp::create(
      builder, arith::CmpIPredicate::eq,
      builder.index(builder.dim(ofKeys ? key : query, 3)), zero);
  return builder.select(isEmpty, zero, count);
}

/// The number in a memref without dimensions, held to 0 to `most`.
static Value loadWithin(TileBuilder &b, Value slice, OpFoldResult most) {
  Value loaded = memref::LoadOp::create(b, slice, ValueRange());
  Value number = arith::IndexCastOp::create(b, b.getIndexType(), loaded);
  number = arith::MaxSIOp::create(b, number, b.index(0));
  return arith::MinSIOp::create(b, number, b.index(most));
}

Value evoformer::loadLength(TileBuilder &b, Value lengths, Value batch,
                            Value row, OpFoldResult size) {
  auto type = cast<MemRefType>(lengths.getType());
  auto at = [&](int64_t dim, Value index) -> SliceDim {
    bool isShared = type.getDimSize(dim) == 1;
    return {isShared ? OpFoldResult(b.getIndexAttr(0)) : OpFoldResult(index),
            {}};
  };
  return loadWithin(b, b.slice(lengths, {at(0, batch), at(1, row)}), size);
}

Span Span::load(TileBuilder &b, Value starts, Value number, OpFoldResult all,
                OpFoldResult most) {
  auto at = [&](Value index) {
    return loadWithin(b, b.slice(starts, {{index, {}}}), all);
  };
  Value start = at(number);
  Value end = at(b.add(number, b.index(1)));
  Value length = arith::MaxSIOp::create(b, b.sub(end, start), b.index(0));
  return {start, arith::MinSIOp::create(b, length, b.index(most))};
}

RowCounts RowCounts::load(TileBuilder &b, const LogitShape &shape, Value batch,
                          Value row) {
  const RowLengths &lengths = shape.lengths;
  RowCounts counts;
  if (lengths.queries)
    counts.queries =
        loadLength(b, lengths.queries, batch, row, shape.size(b, kBiasQ));
  if (lengths.keys)
    counts.keys =
        loadLength(b, lengths.keys, batch, row, shape.size(b, kBiasK));
  auto find = [&](Value starts, Value memory, int64_t dim, Value &start,
                  Value &count) {
    if (!starts)
      return;
    Span span =
        Span::load(b, starts, batch, b.dim(memory, 3), shape.size(b, dim));
    start = span.start;
    count = span.length;
  };
  find(lengths.queryStarts, shape.query, kBiasQ, counts.queryStart,
       counts.queries);
  find(lengths.keyStarts, shape.key, kBiasK, counts.keyStart, counts.keys);
  return counts;
}

/// `count`, or 0 where `first` is not less than `length`.
static Value noneBehind(TileBuilder &b, Value first, Value length,
                        Value count) {
  Value isInside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, first, length);
  return b.select(isInside, count, b.index(0));
}

RowCounts RowCounts::behindQuery(TileBuilder &b, Value first,
                                 const LogitShape &shape) const {
  RowCounts counts = *this;
  if (queries)
    counts.keys = noneBehind(b, first, queries,
                             keys ? keys : b.index(shape.size(b, kBiasK)));
  return counts;
}

RowCounts RowCounts::behindKey(TileBuilder &b, Value first,
                               const LogitShape &shape) const {
  RowCounts counts = *this;
  if (keys)
    counts.queries = noneBehind(
        b, first, keys, queries ? queries : b.index(shape.size(b, kBiasQ)));
  return counts;
}
