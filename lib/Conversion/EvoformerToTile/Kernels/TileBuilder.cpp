//===- TileBuilder.cpp - Short ways to write tile programs ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

Value TileBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value TileBuilder::index(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(*constant);
  return cast<Value>(value);
}

OpFoldResult TileBuilder::dim(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return getIndexAttr(type.getDimSize(dim));
  return memref::DimOp::create(*this, memref, dim).getResult();
}

Value TileBuilder::ceilDiv(OpFoldResult value, int64_t divisor) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(llvm::divideCeil(*constant, divisor));
  // Sizes are not negative.
  Value sum = add(cast<Value>(value), index(divisor - 1));
  return arith::DivUIOp::create(*this, sum, index(divisor));
}

Value TileBuilder::roundUp(OpFoldResult value, int64_t multiple) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return index(llvm::divideCeil(*constant, multiple) * multiple);
  return mul(ceilDiv(value, multiple), index(multiple));
}

OpFoldResult TileBuilder::remaining(OpFoldResult size, Value start,
                                    int64_t block) {
  std::optional<int64_t> constant = getConstantIntValue(size);
  if (block == 1 || (constant && *constant % block == 0))
    return getIndexAttr(block);
  return sub(index(size), start);
}

/// Whether `subview` will be taken for one that keeps other dimensions than
/// `kept`. Passes infer from shapes and strides what it drops; where all
/// strides are dynamic, the first of size 1, and which of those is no matter.
static bool dropsOthers(memref::SubViewOp subview, ArrayRef<int64_t> kept) {
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  ArrayRef<int64_t> sizes = subview.getStaticSizes();
  unsigned position = 0;
  for (int64_t dim = 0, rank = sizes.size(); dim < rank; ++dim) {
    if (dropped.test(dim))
      continue;
    int64_t wanted = kept[position++];
    if (dim != wanted && (sizes[dim] != 1 || sizes[wanted] != 1))
      return true;
  }
  return false;
}

/// `memory`, of which only the dimensions `kept` are not of size 1, with these
/// alone.
static Value collapseTo(TileBuilder &builder, Value memory,
                        ArrayRef<int64_t> kept) {
  SmallVector<ReassociationIndices> groups(kept.size());
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    size_t group = llvm::count_if(kept.drop_front(),
                                  [&](int64_t next) { return next <= dim; });
    groups[group].push_back(dim);
  }
  return memref::CollapseShapeOp::create(builder, memory, groups);
}

Value TileBuilder::slice(Value memref, ArrayRef<SliceDim> dims) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<OpFoldResult> strides(dims.size(), getIndexAttr(1));
  for (const SliceDim &dim : dims) {
    offsets.push_back(dim.offset);
    sizes.push_back(dim.extent ? dim.extent : getIndexAttr(1));
  }
  // Which dimensions go is said here: inferring it from the shapes would mix up
  // those of size 1.
  MemRefType full =
      memref::SubViewOp::inferResultType(type, offsets, sizes, strides);
  auto [fullStrides, offset] = full.getStridesAndOffset();
  SmallVector<int64_t> kept, shape, keptStrides;
  for (auto [dim, size, stride] :
       llvm::zip_equal(dims, full.getShape(), fullStrides)) {
    if (!dim.extent)
      continue;
    kept.push_back(&dim - dims.begin());
    shape.push_back(size);
    keptStrides.push_back(stride);
  }
  auto result =
      MemRefType::get(shape, type.getElementType(),
                      StridedLayoutAttr::get(getContext(), offset, keptStrides),
                      type.getMemorySpace());
  auto subview =
      memref::SubViewOp::create(*this, result, memref, offsets, sizes, strides);
  if (!dropsOthers(subview, kept))
    return subview;
  subview.erase();
  Value whole =
      memref::SubViewOp::create(*this, full, memref, offsets, sizes, strides);
  return collapseTo(*this, whole, kept);
}

Value TileBuilder::load(Value memref, ValueRange indices,
                        ArrayRef<int64_t> shape, ArrayRef<bool> inBounds,
                        TypedAttr padding, int64_t alignment) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return LoadOp::create(*this, RankedTensorType::get(shape, element), memref,
                        indices, getDenseBoolArrayAttr(inBounds), padding,
                        alignmentAttr(alignment));
}

void TileBuilder::store(Value tile, Value memref, ValueRange indices,
                        ArrayRef<bool> inBounds, int64_t alignment) {
  StoreOp::create(*this, tile, memref, indices, getDenseBoolArrayAttr(inBounds),
                  alignmentAttr(alignment));
}

IntegerAttr TileBuilder::alignmentAttr(int64_t bytes) {
  return bytes ? getI64IntegerAttr(bytes) : IntegerAttr();
}

Value TileBuilder::splat(ArrayRef<int64_t> shape, Type element, double value) {
  auto type = RankedTensorType::get(shape, element);
  Attribute scalar = isa<FloatType>(element)
                         ? Attribute(getFloatAttr(element, value))
                         : getIntegerAttr(element, (int64_t)value);
  return arith::ConstantOp::create(*this,
                                   DenseElementsAttr::get(type, {scalar}));
}

Value TileBuilder::splatLike(Value tile, double value) {
  return splat(typeOf(tile).getShape(), typeOf(tile).getElementType(), value);
}

Value TileBuilder::broadcast(Value tile, ArrayRef<int64_t> dims,
                             ArrayRef<int64_t> shape) {
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    if (llvm::is_contained(dims, dim))
      continue;
    // Dimensions before `dim` are there by now: it gets its final position.
    SmallVector<int64_t> wider(typeOf(tile).getShape());
    wider.insert(wider.begin() + dim, shape[dim]);
    tile = BroadcastOp::create(
        *this, RankedTensorType::get(wider, typeOf(tile).getElementType()),
        tile, dim);
  }
  return tile;
}

Value TileBuilder::reduce(ReduceKind kind, Value tile, int64_t dim, bool held) {
  SmallVector<int64_t> shape(typeOf(tile).getShape());
  shape.erase(shape.begin() + dim);
  return ReduceOp::create(
      *this, RankedTensorType::get(shape, typeOf(tile).getElementType()), kind,
      tile, dim, held);
}

Value TileBuilder::convert(Value tile, Type element) {
  RankedTensorType type = typeOf(tile);
  if (type.getElementType() == element)
    return tile;
  unsigned from = type.getElementTypeBitWidth();
  RankedTensorType result = type.clone(element);
  if (from < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(*this, result, tile);
  return arith::TruncFOp::create(*this, result, tile);
}

static Value narrow(TileBuilder &builder, Value tile, Type element,
                    arith::RoundingMode mode) {
  auto narrow = arith::TruncFOp::create(
      builder, TileBuilder::typeOf(tile).clone(element), tile);
  narrow.setRoundingmode(mode);
  narrow.setFastmath(arith::FastMathFlags::nnan);
  return narrow;
}

Value TileBuilder::truncate(Value tile, Type element) {
  return narrow(*this, tile, element, arith::RoundingMode::toward_zero);
}

Value TileBuilder::round(Value tile, Type element) {
  return narrow(*this, tile, element, arith::RoundingMode::to_nearest_away);
}

Value TileBuilder::compare(arith::CmpFPredicate predicate, Value tile,
                           double bound) {
  return arith::CmpFOp::create(*this, predicate, tile, splatLike(tile, bound));
}

Value TileBuilder::saturate(Value tile) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (auto [predicate, bound] :
       {std::pair(arith::CmpFPredicate::OLT, -largest),
        std::pair(arith::CmpFPredicate::OGT, largest)}) {
    Value limit = splatLike(tile, bound);
    Value isBeyond = arith::CmpFOp::create(*this, predicate, tile, limit);
    tile = select(isBeyond, limit, tile);
  }
  return tile;
}

Value TileBuilder::isSet(Value tile) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, tile,
                               splatLike(tile, 0));
}

SmallVector<Value> TileBuilder::loop(
    Value first, Value end, Value step, ValueRange start,
    function_ref<SmallVector<Value>(TileBuilder &, Value, ValueRange)> body) {
  auto op = scf::ForOp::create(
      *this, first, end, step, start,
      [&](OpBuilder &nested, Location loc, Value at, ValueRange carried) {
        TileBuilder b(loc, nested);
        scf::YieldOp::create(b, body(b, at, carried));
      });
  return llvm::to_vector_of<Value>(op.getResults());
}

void TileBuilder::forEach(Value first, Value end, Value step,
                          function_ref<void(TileBuilder &, Value)> body) {
  loop(first, end, step, {},
       [&](TileBuilder &b, Value at, ValueRange) -> SmallVector<Value> {
         body(b, at);
         return {};
       });
}

SmallVector<Value>
TileBuilder::where(Value condition, ValueRange inits,
                   function_ref<SmallVector<Value>(TileBuilder &)> body) {
  auto op = WhereOp::create(*this, inits.getTypes(), condition, inits);
  OpBuilder nested = OpBuilder::atBlockEnd(&op.getBody().emplaceBlock());
  TileBuilder b(getLoc(), nested);
  YieldOp::create(b, body(b));
  return llvm::to_vector_of<Value>(op.getResults());
}
