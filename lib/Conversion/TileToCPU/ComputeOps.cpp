//===- ComputeOps.cpp - Computation on tiles as linalg --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/RandomDraws.h"
#include "Lowering.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static RankedTensorType tileType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value emptyTile(OpBuilder &b, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(),
                                 type.getElementType());
}

static Value filledTile(OpBuilder &b, Location loc, RankedTensorType type,
                        Value scalar) {
  return linalg::FillOp::create(b, loc, scalar, emptyTile(b, loc, type))
      .getResult(0);
}

/// The one value of all elements of a tile, or null.
static Value getSplat(OpBuilder &b, Location loc, Value tile) {
  DenseElementsAttr elements;
  if (matchPattern(tile, m_Constant(&elements)) && elements.isSplat())
    return arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  return {};
}

using BodyBuilder = function_ref<Value(OpBuilder &, Location, ValueRange)>;

static Value emitParallel(OpBuilder &b, Location loc, ValueRange inputs,
                          ArrayRef<AffineMap> inputMaps,
                          RankedTensorType result, BodyBuilder body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(b.getMultiDimIdentityMap(result.getRank()));
  SmallVector<utils::IteratorType> iterators(result.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, result, inputs, emptyTile(b, loc, result), maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, body(b, loc, args));
             })
      .getResult(0);
}

/// Any op with elementwise traits: the scalar op inside a loop. Operands that
/// are the same everywhere (and scalars, as the condition of a select) are
/// used as scalars.
static LogicalResult lowerElementwise(RewriterBase &rewriter, Operation *op) {
  Location loc = op->getLoc();
  SmallVector<Value> inputs, scalars;
  for (Value operand : op->getOperands()) {
    Value scalar = operand;
    if (isa<RankedTensorType>(operand.getType())) {
      scalar = getSplat(rewriter, loc, operand);
      if (!scalar)
        inputs.push_back(operand);
    }
    scalars.push_back(scalar);
  }
  SmallVector<Value> results;
  // One loop per result: no op of arith or math on tiles has an expensive
  // second result.
  for (auto [number, value] : llvm::enumerate(op->getResults())) {
    RankedTensorType type = tileType(value);
    SmallVector<AffineMap> maps(
        inputs.size(), rewriter.getMultiDimIdentityMap(type.getRank()));
    auto body = [&, number = number](OpBuilder &b, Location loc,
                                     ValueRange args) -> Value {
      SmallVector<Value> operands;
      unsigned next = 0;
      for (Value scalar : scalars)
        operands.push_back(scalar ? scalar : args[next++]);
      SmallVector<Type> types;
      for (Type result : op->getResultTypes())
        types.push_back(getElementTypeOrSelf(result));
      return b
          .create(loc, op->getName().getIdentifier(), operands, types,
                  op->getAttrs())
          ->getResult(number);
    };
    results.push_back(emitParallel(rewriter, loc, inputs, maps, type, body));
  }
  rewriter.replaceOp(op, results);
  return success();
}

static void lowerBroadcast(RewriterBase &rewriter, BroadcastOp op) {
  RankedTensorType type = tileType(op.getResult());
  AffineMap map =
      rewriter.getMultiDimIdentityMap(type.getRank()).dropResult(op.getDim());
  rewriter.replaceOp(op, emitParallel(rewriter, op.getLoc(), op.getSource(),
                                      map, type,
                                      [](OpBuilder &, Location,
                                         ValueRange args) { return args[0]; }));
}

static void lowerTranspose(RewriterBase &rewriter, TransposeOp op) {
  RankedTensorType type = tileType(op.getResult());
  AffineMap map = inversePermutation(
      AffineMap::getPermutationMap(op.getPermutation(), rewriter.getContext()));
  rewriter.replaceOp(op, emitParallel(rewriter, op.getLoc(), op.getSource(),
                                      map, type,
                                      [](OpBuilder &, Location,
                                         ValueRange args) { return args[0]; }));
}

static void lowerIota(RewriterBase &rewriter, IotaOp op) {
  Type i32 = rewriter.getI32Type();
  Value offset =
      arith::IndexCastOp::create(rewriter, op.getLoc(), i32, op.getOffset());
  auto body = [&](OpBuilder &b, Location loc, ValueRange) -> Value {
    auto indexOf = [&](uint64_t dim) -> Value {
      Value index = linalg::IndexOp::create(b, loc, dim);
      return arith::IndexCastOp::create(b, loc, i32, index);
    };
    Value sum = arith::AddIOp::create(b, loc, offset, indexOf(op.getDim()));
    if (std::optional<uint64_t> minus = op.getMinus())
      sum = arith::SubIOp::create(b, loc, sum, indexOf(*minus));
    return sum;
  };
  rewriter.replaceOp(op, emitParallel(rewriter, op.getLoc(), {}, {},
                                      tileType(op.getResult()), body));
}

/// A call of the generator for each element.
static void lowerRandom(RewriterBase &rewriter, RandomOp op) {
  RandomBuilder outer(rewriter, op);
  Value firstRow = outer.toI32(op.getRow());
  Value firstColumn = outer.toI32(op.getColumn());
  auto body = [&](OpBuilder &b, Location loc, ValueRange) -> Value {
    RandomBuilder random(b, op);
    auto at = [&](Value first, uint64_t dim) {
      return random.add(first,
                        random.toI32(linalg::IndexOp::create(b, loc, dim)));
    };
    Value column = at(firstColumn, op.getColumnDim());
    RandomWords words =
        random.call(random.getCall(column), at(firstRow, op.getRowDim()));
    return random.isKept(arith::ShLIOp::create(
        b, loc, random.chooseWord(words, column), random.getShift(column)));
  };
  rewriter.replaceOp(op, emitParallel(rewriter, op.getLoc(), {}, {},
                                      tileType(op.getResult()), body));
}

/// Narrow floats are summed in f32.
static Type getSumType(Type type) {
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

/// The tile rounded to the elements of `type`, where these are narrower.
static Value roundTile(OpBuilder &b, Location loc, Value tile,
                       RankedTensorType type) {
  if (tile.getType() == type)
    return tile;
  return emitParallel(
      b, loc, tile, b.getMultiDimIdentityMap(type.getRank()), type,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        return arith::TruncFOp::create(b, loc, type.getElementType(), args[0]);
      });
}

/// The tile with wider elements; the tile itself where they are wide already.
static FailureOr<Value> extendTile(OpBuilder &b, Operation *op, Value tile,
                                   Type element) {
  RankedTensorType type = tileType(tile);
  Type from = type.getElementType();
  if (from == element)
    return tile;
  bool isFloat = isa<FloatType>(from) && isa<FloatType>(element);
  bool isInteger = isa<IntegerType>(from) && isa<IntegerType>(element);
  if (!(isFloat || isInteger) ||
      from.getIntOrFloatBitWidth() >= element.getIntOrFloatBitWidth())
    return op->emitOpError("sums products of ")
           << from << " in " << element
           << "; on the CPU operands are of the sum's type or a narrower one";
  return emitParallel(
      b, op->getLoc(), tile, b.getMultiDimIdentityMap(type.getRank()),
      type.clone(element),
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        if (isFloat)
          return arith::ExtFOp::create(b, loc, element, args[0]);
        return arith::ExtSIOp::create(b, loc, element, args[0]);
      });
}

/// What a tile is the transpose [batch.., y, x] of, or null. Transposes have
/// become loops by the time that their users do.
static Value getTransposed(Value tile) {
  auto copy = tile.getDefiningOp<linalg::GenericOp>();
  if (!copy || copy.getNumDpsInputs() != 1 ||
      !llvm::hasSingleElement(*copy.getBody()) ||
      copy.getBody()->getTerminator()->getOperand(0) !=
          copy.getBody()->getArgument(0))
    return {};
  AffineMap map = copy.getIndexingMapsArray()[0];
  unsigned rank = map.getNumDims();
  SmallVector<unsigned> swapped = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  if (rank < 2)
    return {};
  std::swap(swapped[rank - 2], swapped[rank - 1]);
  if (map != AffineMap::getPermutationMap(swapped, tile.getContext()))
    return {};
  return copy.getDpsInputs()[0];
}

static LogicalResult lowerMma(RewriterBase &rewriter, MmaOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = tileType(op.getC());
  Type sumType = getSumType(type.getElementType());
  // Elements of the left operand are read one at a time, in any order.
  Value left = getTransposed(op.getA());
  bool isTransposed = left != nullptr;
  FailureOr<Value> a =
      extendTile(rewriter, op, isTransposed ? left : op.getA(), sumType);
  FailureOr<Value> b = extendTile(rewriter, op, op.getB(), sumType);
  // Sums that start from zero start in registers.
  bool isFromZero = matchPattern(op.getC(), m_PosZeroFloat());
  FailureOr<Value> c = isFromZero
                           ? emptyTile(rewriter, loc, type.clone(sumType))
                           : extendTile(rewriter, op, op.getC(), sumType);
  if (failed(a) || failed(b) || failed(c))
    return failure();
  // Loops: batch.., M, N, K.
  int64_t rank = type.getRank();
  SmallVector<AffineExpr> batch, exprs;
  for (int64_t d = 0; d <= rank; ++d)
    exprs.push_back(rewriter.getAffineDimExpr(d));
  batch.assign(exprs.begin(), exprs.begin() + rank - 2);
  AffineExpr m = exprs[rank - 2], n = exprs[rank - 1], k = exprs[rank];
  auto map = [&](AffineExpr row, AffineExpr column) {
    SmallVector<AffineExpr> results(batch);
    results.append({row, column});
    return AffineMap::get(rank + 1, 0, results, rewriter.getContext());
  };
  auto product = linalg::ContractOp::create(
      rewriter, loc, TypeRange(c->getType()), ValueRange{*a, *b},
      ValueRange{*c},
      rewriter.getAffineMapArrayAttr(
          {isTransposed ? map(k, m) : map(m, k), map(k, n), map(m, n)}));
  if (isFromZero)
    product->setAttr(tile_to_cpu::kFromZeroAttr, rewriter.getUnitAttr());
  rewriter.replaceOp(op, roundTile(rewriter, loc, product.getResult(0), type));
  return success();
}

/// What leaves every element as it is: for max and min of floats NaN, which
/// they ignore unless there is nothing else.
static TypedAttr getNeutral(OpBuilder &b, ReduceKind kind, Type type) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    return b.getFloatAttr(real, kind == ReduceKind::Add
                                    ? APFloat::getZero(semantics, true)
                                    : APFloat::getQNaN(semantics));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = kind == ReduceKind::Add   ? APInt::getZero(width)
                : kind == ReduceKind::Max ? APInt::getSignedMinValue(width)
                                          : APInt::getSignedMaxValue(width);
  return b.getIntegerAttr(type, value);
}

static LogicalResult lowerReduce(RewriterBase &rewriter, ReduceOp op) {
  Location loc = op.getLoc();
  RankedTensorType source = tileType(op.getSource());
  RankedTensorType result = tileType(op.getResult());
  Type narrow = source.getElementType();
  if (!isa<FloatType, IntegerType>(narrow))
    return op.emitOpError("reduces floats and integers on the CPU, not ")
           << narrow;
  Type type = getSumType(narrow);
  FailureOr<Value> input = extendTile(rewriter, op, op.getSource(), type);
  if (failed(input))
    return failure();
  result = result.clone(type);
  ReduceKind kind = op.getKind();
  Value neutral = arith::ConstantOp::create(rewriter, loc,
                                            getNeutral(rewriter, kind, type));
  SmallVector<utils::IteratorType> iterators(source.getRank(),
                                             utils::IteratorType::parallel);
  iterators[op.getDim()] = utils::IteratorType::reduction;
  AffineMap identity = rewriter.getMultiDimIdentityMap(source.getRank());
  auto reduction = linalg::GenericOp::create(
      rewriter, loc, result, *input, filledTile(rewriter, loc, result, neutral),
      ArrayRef{identity, identity.dropResult(op.getDim())}, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value x = args[0], y = args[1], z;
        bool isFloat = isa<FloatType>(type);
        switch (kind) {
        case ReduceKind::Add:
          z = isFloat ? Value(arith::AddFOp::create(b, loc, x, y))
                      : Value(arith::AddIOp::create(b, loc, x, y));
          break;
        case ReduceKind::Max:
          z = isFloat ? Value(arith::MaxNumFOp::create(b, loc, x, y))
                      : Value(arith::MaxSIOp::create(b, loc, x, y));
          break;
        case ReduceKind::Min:
          z = isFloat ? Value(arith::MinNumFOp::create(b, loc, x, y))
                      : Value(arith::MinSIOp::create(b, loc, x, y));
          break;
        }
        linalg::YieldOp::create(b, loc, z);
      });
  rewriter.replaceOp(op, roundTile(rewriter, loc, reduction.getResult(0),
                                   tileType(op.getResult())));
  return success();
}

/// A loop of one iteration or none: what loops carry has its buffers.
static void lowerWhere(RewriterBase &rewriter, WhereOp op) {
  Location loc = op.getLoc();
  // Bits are no elements of memory.
  RankedTensorType type = tileType(op.getCondition());
  Type byte = rewriter.getI8Type();
  Value bytes = emitParallel(
      rewriter, loc, op.getCondition(),
      rewriter.getMultiDimIdentityMap(type.getRank()), type.clone(byte),
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        return arith::ExtUIOp::create(b, loc, byte, args[0]);
      });
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value any = arith::ConstantOp::create(rewriter, loc,
                                        rewriter.getIntegerAttr(byte, 0));
  SmallVector<Value> lower(type.getRank(), zero), step(type.getRank(), one);
  SmallVector<Value> upper;
  for (int64_t size : type.getShape())
    upper.push_back(arith::ConstantIndexOp::create(rewriter, loc, size));
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, lower, upper, step, any,
      [&](OpBuilder &b, Location loc, ValueRange at, ValueRange carried) {
        Value here = tensor::ExtractOp::create(b, loc, bytes, at);
        return scf::ValueVector{arith::OrIOp::create(b, loc, carried[0], here)};
      });
  Value count = arith::IndexCastOp::create(
      rewriter, loc, rewriter.getIndexType(), nest.results.front());
  auto loop =
      scf::ForOp::create(rewriter, loc, zero, count, one, op.getInits());
  YieldOp yield = op.getYield();
  SmallVector<Value> results(yield.getResults());
  rewriter.eraseOp(yield);
  if (loop.getNumResults() == 0)
    rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(&op.getBody().front(), loop.getBody(),
                             loop.getBody()->end());
  rewriter.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(rewriter, loc, results);
  rewriter.replaceOp(op, loop.getResults());
}

LogicalResult tile_to_cpu::lowerComputeOp(RewriterBase &rewriter,
                                          Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    lowerBroadcast(rewriter, broadcast);
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    lowerTranspose(rewriter, transpose);
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    lowerIota(rewriter, iota);
  } else if (auto random = dyn_cast<RandomOp>(op)) {
    lowerRandom(rewriter, random);
  } else if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    rewriter.replaceOp(op, convert.getSource());
  } else if (auto exchange = dyn_cast<ExchangeOp>(op)) {
    rewriter.replaceOp(op, exchange.getSource());
  } else if (auto skip = dyn_cast<SkipIdleOp>(op)) {
    rewriter.replaceOp(op, skip.getValue());
  } else if (isa<HoldsWithinOp>(op)) {
    // One thread has all elements.
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                   rewriter.getBoolAttr(true));
  } else if (auto mma = dyn_cast<MmaOp>(op)) {
    return lowerMma(rewriter, mma);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return lowerReduce(rewriter, reduce);
  } else if (auto where = dyn_cast<WhereOp>(op)) {
    lowerWhere(rewriter, where);
  } else if (OpTrait::hasElementwiseMappableTraits(op) &&
             op->getNumResults() > 0 &&
             isa<RankedTensorType>(op->getResult(0).getType())) {
    return lowerElementwise(rewriter, op);
  } else if (op->getNumResults() == 1 &&
             isa<RankedTensorType>(op->getResult(0).getType())) {
    // A splat that is no operand of elementwise work.
    if (Value scalar = getSplat(rewriter, op->getLoc(), op->getResult(0)))
      rewriter.replaceOp(op, filledTile(rewriter, op->getLoc(),
                                        tileType(op->getResult(0)), scalar));
  }
  return success();
}
