//===- TileBuilder.h - Short ways to write tile programs --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_TILEBUILDER_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_TILEBUILDER_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace mlir::evoformer {

/// What a tile or a slice of memory covers of one dimension of a memref: an
/// index, which takes the dimension away, or `extent` elements from `offset`.
struct SliceDim {
  OpFoldResult offset;
  /// Null: the dimension is indexed away.
  OpFoldResult extent;
};

/// The bytes of a vector in memory that divide rows of so many bytes: at most
/// what a lane moves at once.
inline int64_t getVectorBytes(int64_t rowBytes) {
  return std::min<int64_t>(16, rowBytes & -rowBytes);
}

/// Bytes of an element in memory; those of masks take one.
inline int64_t getElementBytes(Type element) {
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

/// A builder with the vocabulary of tile programs and of index arithmetic that
/// folds what is static.
class TileBuilder : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  // Indices.
  Value index(int64_t value);
  Value index(OpFoldResult value);
  /// A size of a memref, a constant where the type knows it.
  OpFoldResult dim(Value memref, int64_t dim);
  Value add(Value a, Value b) { return arith::AddIOp::create(*this, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(*this, a, b); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(*this, a, b); }
  Value ceilDiv(OpFoldResult value, int64_t divisor);
  Value roundUp(OpFoldResult value, int64_t multiple);
  /// Elements from `start` (a multiple of `block`) to the end of a dimension:
  /// static where no block sticks out.
  OpFoldResult remaining(OpFoldResult size, Value start, int64_t block);

  // Memory.
  /// The part of a memref that `dims` describe.
  Value slice(Value memref, ArrayRef<SliceDim> dims);
  /// The tile at `indices`. Dimensions beyond `inBounds` are not promised;
  /// `alignment` is that of whole vectors in bytes, 0 if nothing is known.
  Value load(Value memref, ValueRange indices, ArrayRef<int64_t> shape,
             ArrayRef<bool> inBounds = {}, TypedAttr padding = {},
             int64_t alignment = 0);
  void store(Value tile, Value memref, ValueRange indices,
             ArrayRef<bool> inBounds = {}, int64_t alignment = 0);

  // Tiles.
  static RankedTensorType typeOf(Value tile) {
    return cast<RankedTensorType>(tile.getType());
  }
  Value splat(ArrayRef<int64_t> shape, Type element, double value);
  /// A constant of the shape and type of `tile`.
  Value splatLike(Value tile, double value);
  /// Repeats a tile whose dimensions are the dimensions `dims` of `shape`.
  Value broadcast(Value tile, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape);
  Value reduce(tile::ReduceKind kind, Value tile, int64_t dim,
               bool held = false);
  /// Float to float, wider or narrower or neither.
  Value convert(Value tile, Type element);
  /// Narrower by cutting off; a NaN may become an infinity.
  Value truncate(Value tile, Type element);
  /// Narrower by rounding to nearest, ties away from zero; a NaN may become a
  /// number unless an operation has made it.
  Value round(Value tile, Type element);
  Value addf(Value a, Value b) { return arith::AddFOp::create(*this, a, b); }
  Value subf(Value a, Value b) { return arith::SubFOp::create(*this, a, b); }
  Value mulf(Value a, Value b) { return arith::MulFOp::create(*this, a, b); }
  Value divf(Value a, Value b) { return arith::DivFOp::create(*this, a, b); }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(*this, a, b, c);
  }
  /// The larger; a NaN gives way to a number.
  Value maxnum(Value a, Value b) {
    return arith::MaxNumFOp::create(*this, a, b);
  }
  Value exp2(Value a) { return math::Exp2Op::create(*this, a); }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(*this, condition, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value tile, double bound);
  Value equals(Value tile, double value) {
    return compare(arith::CmpFPredicate::OEQ, tile, value);
  }
  /// What is beyond the finite numbers of f32 as the last one; NaN stays.
  Value saturate(Value tile);
  Value isNaN(Value tile) {
    return arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, tile, tile);
  }
  Value isFinite(Value tile) {
    Value size = math::AbsFOp::create(*this, convert(tile, getF32Type()));
    return arith::CmpFOp::create(
        *this, arith::CmpFPredicate::OLT, size,
        splatLike(size, std::numeric_limits<double>::infinity()));
  }
  /// Runs `body` from `first` to before `end` in steps; it is given what the
  /// step before has left, at first `start`. Gives what the last one has left.
  SmallVector<Value>
  loop(Value first, Value end, Value step, ValueRange start,
       function_ref<SmallVector<Value>(TileBuilder &, Value, ValueRange)> body);
  /// The same where steps leave nothing.
  void forEach(Value first, Value end, Value step,
               function_ref<void(TileBuilder &, Value)> body);
  /// `inits`, done again by `body` where `condition` holds (evo_tile.where).
  SmallVector<Value>
  where(Value condition, ValueRange inits,
        function_ref<SmallVector<Value>(TileBuilder &)> body);
  /// Whether the elements of an integer tile are not 0.
  Value isSet(Value tile);

private:
  IntegerAttr alignmentAttr(int64_t bytes);
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_TILEBUILDER_H
