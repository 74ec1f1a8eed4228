//===- VectorizeGeneric.cpp - Elementwise work and reductions -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile_to_cpu;

bool tile_to_cpu::isVectorMemory(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  // A vector of i1 is bits in memory, a buffer of i1 bytes.
  return memref && memref.getElementType().isIntOrFloat() &&
         memref.getElementTypeBitWidth() % 8 == 0 &&
         (memref.getRank() == 0 || memref.isLastDimUnitStride());
}

void tile_to_cpu::emitStrips(
    OpBuilder &b, Location loc, const Strips &strips,
    function_ref<void(OpBuilder &, Value, int64_t)> body) {
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  if (strips.main == strips.step) {
    body(b, index(0), strips.step);
  } else if (strips.main > 0) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(strips.main),
                                   index(strips.step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(b, loop.getInductionVar(), strips.step);
  }
  int64_t start = strips.main;
  for (int64_t width : strips.tail) {
    body(b, index(start), width);
    start += width;
  }
}

namespace {

/// The emission of one op. `vec` is the loop that runs over vectors.
class Emitter {
public:
  Emitter(RewriterBase &rewriter, linalg::GenericOp op, VectorTarget target)
      : b(rewriter), op(op), loc(op.getLoc()), target(target),
        sizes(op.getStaticLoopRanges()), ivs(sizes.size()) {}

  LogicalResult run();

private:
  bool isSupported();
  /// Position of `dim` in the results of an operand's map, -1 where absent.
  int64_t positionOf(OpOperand &operand, unsigned dim) {
    std::optional<unsigned> position =
        op.getMatchingIndexingMap(&operand).getResultPosition(
            getAffineDimExpr(dim, op.getContext()));
    return position ? int64_t(*position) : -1;
  }
  SmallVector<Value> indicesOf(OpOperand &operand);
  Value broadcast(Value scalar, int64_t width);
  Value load(OpOperand &operand, int64_t width);
  void store(OpOperand &operand, Value value, int64_t width);
  /// The body for the vector at `ivs`; `accumulators` stand for the outputs
  /// where given. Returns what it yields.
  SmallVector<Value> emitBody(int64_t width, ValueRange accumulators);
  Value cloneOp(Operation &inner, IRMapping &map, int64_t width);
  void emitPoint(int64_t width);
  void emitReductionLoops(ArrayRef<unsigned> dims, int64_t width,
                          ValueRange inits, SmallVector<Value> &results);
  void emitHorizontal();
  void emitLoops(ArrayRef<unsigned> dims, function_ref<void()> body);

  RewriterBase &b;
  linalg::GenericOp op;
  Location loc;
  VectorTarget target;
  SmallVector<int64_t> sizes;
  SmallVector<Value> ivs;
  unsigned vec = 0;
  int64_t lanes = 1;
  std::optional<vector::CombiningKind> kind;
};

} // namespace

bool Emitter::isSupported() {
  if (!op.hasPureBufferSemantics() || ShapedType::isDynamicShape(sizes) ||
      llvm::is_contained(sizes, 0))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!isVectorMemory(operand.get().getType()) ||
        !map.isProjectedPermutation())
      return false;
  }
  // Index arithmetic is cheap in scalars and wide in vectors, but right.
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &o) {
    return isa<linalg::IndexOp, arith::ConstantOp>(o) ||
           (OpTrait::hasElementwiseMappableTraits(&o) &&
            o.getNumResults() == 1 && o.getNumRegions() == 0);
  });
}

SmallVector<Value> Emitter::indicesOf(OpOperand &operand) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(ivs[cast<AffineDimExpr>(expr).getPosition()]);
  return indices;
}

Value Emitter::broadcast(Value scalar, int64_t width) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(
      b, loc, VectorType::get(width, scalar.getType()), scalar);
}

/// The operand's elements at `ivs`: a scalar where they are all the same.
Value Emitter::load(OpOperand &operand, int64_t width) {
  Value memory = operand.get();
  SmallVector<Value> indices = indicesOf(operand);
  auto type = cast<MemRefType>(memory.getType());
  int64_t position = positionOf(operand, vec);
  if (position < 0)
    return memref::LoadOp::create(b, loc, memory, indices);
  auto vectorType = VectorType::get(width, type.getElementType());
  if (position == type.getRank() - 1)
    return vector::LoadOp::create(b, loc, vectorType, memory, indices);
  SmallVector<Value> elements;
  Value start = indices[position];
  for (int64_t lane = 0; lane < width; ++lane) {
    Value offset = arith::ConstantIndexOp::create(b, loc, lane);
    indices[position] = arith::AddIOp::create(b, loc, start, offset);
    elements.push_back(memref::LoadOp::create(b, loc, memory, indices));
  }
  return vector::FromElementsOp::create(b, loc, vectorType, elements);
}

void Emitter::store(OpOperand &operand, Value value, int64_t width) {
  SmallVector<Value> indices = indicesOf(operand);
  if (positionOf(operand, vec) < 0)
    memref::StoreOp::create(b, loc, value, operand.get(), indices);
  else
    vector::StoreOp::create(b, loc, broadcast(value, width), operand.get(),
                            indices);
}

Value Emitter::cloneOp(Operation &inner, IRMapping &map, int64_t width) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    Value iv = ivs[index.getDim()];
    if (index.getDim() != vec)
      return iv;
    SmallVector<int64_t> steps = llvm::to_vector(llvm::seq<int64_t>(0, width));
    Value step = arith::ConstantOp::create(b, loc, b.getIndexVectorAttr(steps));
    return arith::AddIOp::create(b, loc, broadcast(iv, width), step);
  }
  SmallVector<Value> operands;
  bool isVector = false;
  for (Value operand : inner.getOperands()) {
    operands.push_back(map.lookupOrDefault(operand));
    isVector |= isa<VectorType>(operands.back().getType());
  }
  Type type = inner.getResult(0).getType();
  if (isVector) {
    for (Value &operand : operands)
      operand = broadcast(operand, width);
    type = VectorType::get(width, type);
  }
  return b
      .create(inner.getLoc(), inner.getName().getIdentifier(), operands, type,
              inner.getAttrs())
      ->getResult(0);
}

SmallVector<Value> Emitter::emitBody(int64_t width, ValueRange accumulators) {
  IRMapping map;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    if (op.isDpsInit(&operand) && !accumulators.empty())
      map.map(argument,
              accumulators[operand.getOperandNumber() - op.getNumDpsInputs()]);
    else
      map.map(argument, load(operand, width));
  }
  for (Operation &inner : op.getBody()->without_terminator())
    map.map(inner.getResult(0), cloneOp(inner, map, width));
  SmallVector<Value> results;
  for (Value value : op.getBody()->getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  return results;
}

void Emitter::emitLoops(ArrayRef<unsigned> dims, function_ref<void()> body) {
  if (dims.empty())
    return body();
  emitStrips(b, loc, Strips(sizes[dims.front()], 1),
             [&](OpBuilder &, Value iv, int64_t) {
               ivs[dims.front()] = iv;
               emitLoops(dims.drop_front(), body);
             });
}

void Emitter::emitReductionLoops(ArrayRef<unsigned> dims, int64_t width,
                                 ValueRange inits,
                                 SmallVector<Value> &results) {
  if (dims.empty()) {
    results = emitBody(width, inits);
    for (auto [value, init] : llvm::zip_equal(results, inits))
      if (isa<VectorType>(init.getType()))
        value = broadcast(value, width);
    return;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value size = arith::ConstantIndexOp::create(b, loc, sizes[dims.front()]);
  auto loop = scf::ForOp::create(b, loc, zero, size, one, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ivs[dims.front()] = loop.getInductionVar();
  SmallVector<Value> yielded;
  emitReductionLoops(dims.drop_front(), width, loop.getRegionIterArgs(),
                     yielded);
  scf::YieldOp::create(b, loc, yielded);
  results.assign(loop.getResults().begin(), loop.getResults().end());
}

/// One vector of results.
void Emitter::emitPoint(int64_t width) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  SmallVector<Value> inits, results;
  if (!reductions.empty())
    for (OpOperand &init : op.getDpsInitsMutable())
      inits.push_back(load(init, width));
  if (reductions.empty())
    results = emitBody(width, {});
  else
    emitReductionLoops(reductions, width, inits, results);
  for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), results))
    store(init, value, width);
}

static std::optional<vector::CombiningKind> getKind(Operation *combiner) {
  using Kind = vector::CombiningKind;
  return llvm::TypeSwitch<Operation *, std::optional<Kind>>(combiner)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Kind::ADD; })
      .Case<arith::MaxNumFOp>([](auto) { return Kind::MAXNUMF; })
      .Case<arith::MinNumFOp>([](auto) { return Kind::MINNUMF; })
      .Case<arith::MaxSIOp>([](auto) { return Kind::MAXSI; })
      .Case<arith::MinSIOp>([](auto) { return Kind::MINSI; })
      .Default(std::nullopt);
}

/// A reduction along the dimension that is contiguous in memory: a vector of
/// partial results, combined at the end. The value at `ivs` of all dimensions
/// but `vec` is reduced.
void Emitter::emitHorizontal() {
  OpOperand &init = *op.getDpsInitOperand(0);
  int64_t main = sizes[vec] - sizes[vec] % lanes;
  Value result = memref::LoadOp::create(b, loc, init.get(), indicesOf(init));
  auto combine = [&](Value vectorValue) {
    auto sum = vector::ReductionOp::create(
        b, loc, *kind, vectorValue, result,
        *kind == vector::CombiningKind::ADD && isa<FloatType>(result.getType())
            ? arith::FastMathFlags::reassoc
            : arith::FastMathFlags::none);
    result = sum.getResult();
  };
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // The first vector starts the partial results: no neutral element is needed.
  auto first = [&](int64_t at, int64_t width) {
    ivs[vec] = index(at);
    Operation *combiner =
        op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
    IRMapping map;
    for (OpOperand *operand : op.getDpsInputOperands())
      if (!op.getMatchingBlockArgument(operand).use_empty())
        map.map(op.getMatchingBlockArgument(operand), load(*operand, width));
    for (Operation &inner : op.getBody()->without_terminator())
      if (&inner != combiner)
        map.map(inner.getResult(0), cloneOp(inner, map, width));
    BlockArgument accumulator = op.getMatchingBlockArgument(&init);
    Value term = combiner->getOperand(combiner->getOperand(0) == accumulator);
    return broadcast(map.lookupOrDefault(term), width);
  };
  if (main > 0) {
    Value partial = first(0, lanes);
    if (main > lanes) {
      auto loop = scf::ForOp::create(b, loc, index(lanes), index(main),
                                     index(lanes), partial);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      ivs[vec] = loop.getInductionVar();
      Value next = emitBody(lanes, loop.getRegionIterArg(0)).front();
      scf::YieldOp::create(b, loc, next);
      partial = loop.getResult(0);
    }
    combine(partial);
  }
  if (main < sizes[vec])
    combine(first(main, sizes[vec] - main));
  memref::StoreOp::create(b, loc, result, init.get(), indicesOf(init));
}

LogicalResult Emitter::run() {
  if (!isSupported())
    return failure();
  b.setInsertionPoint(op);
  Type element = getElementTypeOrSelf(op.getDpsInits().front().getType());
  lanes = target.getLanes(element);

  SmallVector<unsigned> parallel, reductions;
  op.getParallelDims(parallel);
  op.getReductionDims(reductions);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));

  // Along the contiguous dimension of the input where that is reduced.
  if (reductions.size() == 1 && op.getNumDpsInits() == 1) {
    vec = reductions.front();
    Value yielded = op.getBody()->getTerminator()->getOperand(0);
    Operation *combiner = yielded.getDefiningOp();
    BlockArgument accumulator =
        op.getMatchingBlockArgument(op.getDpsInitOperand(0));
    bool isLast = llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      return map.getNumResults() > 0 &&
             positionOf(operand, vec) == map.getNumResults() - 1;
    });
    if (combiner && isLast && accumulator.hasOneUse() &&
        *accumulator.user_begin() == combiner && (kind = getKind(combiner))) {
      emitLoops(parallel, [&] { emitHorizontal(); });
      b.eraseOp(op);
      return success();
    }
  }
  if (result.getNumResults() == 0)
    return failure();
  vec = cast<AffineDimExpr>(result.getResults().back()).getPosition();
  for (OpOperand &init : op.getDpsInitsMutable())
    if (positionOf(init, vec) !=
        cast<MemRefType>(init.get().getType()).getRank() - 1)
      return failure();
  llvm::erase(parallel, vec);
  emitLoops(parallel, [&] {
    emitStrips(b, loc, Strips(sizes[vec], lanes),
               [&](OpBuilder &, Value iv, int64_t width) {
                 ivs[vec] = iv;
                 emitPoint(width);
               });
  });
  b.eraseOp(op);
  return success();
}

LogicalResult tile_to_cpu::vectorizeGeneric(RewriterBase &rewriter,
                                            linalg::GenericOp op,
                                            VectorTarget target) {
  // What is reduced is no place of an output.
  for (OpOperand &output : op.getDpsInitsMutable())
    for (AffineExpr place : op.getMatchingIndexingMap(&output).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(place);
          dim && op.getIteratorTypesArray()[dim.getPosition()] ==
                     utils::IteratorType::reduction)
        return failure();
  return Emitter(rewriter, op, target).run();
}
