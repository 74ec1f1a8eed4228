//===- Logits.h - Logits of one tile ------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_LOGITS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_LOGITS_H

#include "../AttentionProblem.h"
#include "ScoreProgram.h"
#include "TileBuilder.h"

namespace mlir::evoformer {

/// The unit that logits of queries and keys of a type are held in, as an
/// exponent of 2. Not even the sum of ten lowest finite numbers is infinite in
/// units of 16, which would drop a key. 16-bit types: in base 2, so that the
/// exponent is one multiply-add with an exact product. f32: in base e, which
/// takes an operation more, since multiplying large logits by log2(e) would be
/// a rounding of its own, not one of their difference. Where weights are logits
/// these are in no unit.
double getLogitUnit(const AttentionFacts &facts);

/// The dimensions of logits.
enum class LogitDim { Rows, Queries, Keys };

/// The part of a bias that a work item reads: a memref with those of the
/// logits' dimensions that the bias has, in the order of the enumeration.
struct BiasSlice {
  Value memory;
  SmallVector<LogitDim, 3> dims;
  SmallVector<bool, 3> inBounds;
  bool isMask = false;
  /// Of whole vectors, in bytes; 0 if nothing is known.
  int64_t alignment = 0;
  /// Queries that do not exist have a bias of 0, which copies past registers
  /// fill in without reading memory. Otherwise it is that of the last query,
  /// which all work items read again for each.
  bool fillsZeros = false;
  /// What readBias gives, where it has been read before; else null.
  Value tile;
  /// Of a table that the score looks up: its entries, of f32.
  SmallVector<Value> entries = {};
  /// The same as it is in memory, without what repeats it.
  Value loaded = {};
};

/// Prepared sums of key biases have a multiple of so many keys.
inline constexpr int64_t kKeySumBlock = 128;

/// A tile of logits: [rows, queries, keys], or [rows, keys, queries].
struct LogitsTile {
  SmallVector<int64_t, 3> shape;
  bool keysFirst = false;
  /// Where the tile starts in the slices, by LogitDim.
  std::array<Value, 3> offsets;
  /// i1 in the tile's shape: pairs of a query and a key that it sees; null:
  /// all.
  Value seen = {};

  int64_t getPosition(LogitDim dim) const {
    if (dim == LogitDim::Rows)
      return 0;
    return (dim == LogitDim::Keys) == keysFirst ? 1 : 2;
  }
  /// Repeats a tile with the dimensions `dims`, ascending, of the logits.
  Value broadcast(TileBuilder &builder, Value tile,
                  ArrayRef<LogitDim> dims) const;
};

/// What becomes of a dropped key whose score or further biases are NaN. Masks
/// of the query hide that in any case.
enum class Drops {
  /// -inf is added, so that its logit is NaN. Costs nothing.
  Added,
  /// Its logit is -inf where a bias of the query drops it, at two instructions
  /// a logit; added where the prepared sum does.
  ChosenByQuery,
  /// Its logit is -inf, at two instructions a logit more.
  Chosen,
};

/// Whether products of queries and keys may start from the biases, and from
/// what a score that is a sum adds, which saves an operation a logit. Then
/// logits are in units of products, and those of more than kLargestStart have
/// too few digits: such rows are done in another way.
bool mayStartFromBiases(tile::TargetAttr target, const AttentionFacts &facts);

/// The largest size of a binary exponent of a row whose products start from
/// biases.
inline constexpr double kLargestStart = 0x1p11;

/// The binary exponents in a unit of products.
double getProductUnit(double scale);

/// What the logits of one work item depend on besides the scores.
struct LogitsSlices {
  /// Null memory: no prepared sum.
  BiasSlice keySum;
  /// The same in units of products, see mayStartFromBiases; null memory: none.
  BiasSlice keyStart = {};
  SmallVector<BiasSlice> biases;
  float scale;
  /// Binary exponents in a unit of logits, see getLogitUnit; with
  /// `startsFromBiases` see getProductUnit.
  double unit;
  /// Whether the scores have the biases in them, see startOf.
  bool startsFromBiases = false;
  Drops drops = Drops::Added;
  ScoreFacts score = {};
  ScorePlace place = {};
  /// What the score reads.
  SmallVector<BiasSlice> captures = {};
  /// Whether steps of a loop differ in their rows alone: what the score and
  /// biases add is the same in all, and leaves the loop.
  bool loopsOverRows = false;

  /// The same for products that start from the biases.
  LogitsSlices startingFromBiases() const;
};

/// The bias of a tile of logits, in its shape: f32, or i1 for 'keep'.
Value readBias(TileBuilder &builder, const BiasSlice &bias,
               const LogitsTile &tile);

/// Reads what every tile of a loop reads alike: a bias without queries, where
/// all tiles have the same keys.
void loadOnce(TileBuilder &builder, BiasSlice &bias, const LogitsTile &tile);

/// What a capture holds for a tile of logits, of f32 or i32: a number, or a
/// tile with the slice's dimensions; of one with queries and keys in the tile's
/// shape.
Value readCapture(TileBuilder &builder, const BiasSlice &capture,
                  const LogitsTile &tile);

/// Whether a logit may be -inf, of a key that is dropped; `isMasked`: whether
/// there are pairs that do not see each other.
bool mayDrop(const LogitsSlices &slices, bool isMasked);

/// What a product of queries and keys starts from; null: zero.
Value startOf(TileBuilder &builder, const LogitsSlices &slices,
              const LogitsTile &tile);

/// The logits, in their units and relative to the prepared maximum: scale *
/// scores, or what the score makes of that, + biases, and -inf for dropped keys
/// (see Drops). `scores` is a tile of f32. Every kernel adds the terms in the
/// same order, so that it rounds logits as the others do. What the score gives
/// beside itself is left in `more`: its derivative, and of a table's gradient
/// the number of the entry.
Value buildLogits(TileBuilder &builder, const LogitsSlices &slices,
                  const LogitsTile &tile, Value scores,
                  SmallVectorImpl<Value> *more = nullptr);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_LOGITS_H
