//===- RandomDraws.h - What a random tile is made of ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generator of `evo_tile.random` as ops on numbers of 32 bits. A call
// serves eight columns: bits 1 and 2 of a column say which of its words has the
// draw, bit 0 which half of that.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_RANDOMDRAWS_H
#define EVOFORMER_DIALECT_TILE_IR_RANDOMDRAWS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include <array>

namespace mlir::evoformer::tile {

/// Columns that a call serves.
inline constexpr int64_t kColumnsOfCall = 8;
/// The bits of a column's number that say which of a call's it is.
inline constexpr int64_t kColumnOfCall = kColumnsOfCall - 1;

/// What a call of the generator gives.
using RandomWords = std::array<Value, 4>;

/// Builds draws of one op.
class RandomBuilder {
public:
  RandomBuilder(OpBuilder &builder, RandomOp op);

  /// The number of the call that serves a column.
  Value getCall(Value column);
  /// A call's words.
  RandomWords call(Value number, Value row);
  /// The word of a column.
  Value chooseWord(const RandomWords &words, Value column);
  /// How far a word is shifted to the left to have a column's draw on top.
  Value getShift(Value column);
  /// Whether the draw on top of a word, whatever lies below, reaches the
  /// threshold.
  Value isKept(Value word);

  Value constant(int64_t value);
  Value toI32(Value index);
  Value add(Value x, Value y);

private:
  /// The upper and lower 32 bits of a product.
  std::pair<Value, Value> multiply(Value x, uint32_t factor);

  OpBuilder &builder;
  Location loc;
  int64_t threshold;
  Value key[2], stream, offset;
};

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_RANDOMDRAWS_H
