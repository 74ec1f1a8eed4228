//===- Score.cpp - What makes logits of scores ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Score.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static bool isScoreOp(Operation *op) {
  return isa<arith::ConstantOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
             arith::DivFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::CmpIOp,
             arith::SelectOp, arith::SIToFPOp, arith::FPToSIOp, arith::AddIOp,
             arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp,
             arith::XOrIOp, arith::DivSIOp, arith::RemSIOp, arith::MinSIOp,
             arith::MaxSIOp, math::AbsFOp, math::ExpOp, math::Exp2Op,
             math::LogOp, math::Log2Op, math::SqrtOp, math::RsqrtOp,
             math::TanhOp, math::FmaOp, LookupOp>(op);
}

static constexpr StringLiteral kScoreOps =
    "arith's constant, addf, subf, mulf, divf, negf, maximumf, minimumf, "
    "maxnumf, minnumf, cmpf, cmpi, select, sitofp, fptosi, addi, subi, muli, "
    "andi, ori, xori, divsi, remsi, minsi and maxsi, and math's absf, exp, "
    "exp2, log, log2, sqrt, rsqrt, tanh and fma, and evoformer.lookup";

static bool isScoreType(Type type) {
  return type.isF32() || type.isInteger(32) || type.isInteger(1);
}

/// Whether the region's argument is one of a capture with these elements.
static bool isCaptureArgument(Type type, Type element) {
  if (element.isInteger(32))
    return type.isInteger(32);
  if (type.isF32())
    return true;
  auto table = dyn_cast<VectorType>(type);
  return table && table.getRank() == 1 && !table.isScalable() &&
         table.getElementType().isF32() &&
         table.getDimSize(0) <= kMaxTableEntries;
}

static LogicalResult verifyArguments(Operation *op, Block &body) {
  auto types = body.getArgumentTypes();
  Type f32 = Float32Type::get(op->getContext());
  Type i32 = IntegerType::get(op->getContext(), 32);
  MutableArrayRef<OpOperand> captures =
      cast<AttentionFamilyOpInterface>(op).getRoleOperands(
          AttentionOperand::Capture);
  size_t numCaptures = captures.size();
  bool areKnown = types.size() == kNumScoreArguments + numCaptures;
  for (auto [index, type] : llvm::enumerate(types)) {
    if (!areKnown)
      break;
    if (index < kNumScoreArguments)
      areKnown = type == (index == 0 ? f32 : i32);
    else
      areKnown = isCaptureArgument(
          type, getElementTypeOrSelf(
                    captures[index - kNumScoreArguments].get().getType()));
  }
  if (areKnown)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError()
      << "score must have the arguments x: f32, b: i32, n: i32, h: i32, i: "
         "i32, j: i32, sq: i32 and sk: i32 and an f32 for each of "
      << numCaptures
      << " captures, an i32 where it is of i32, or a vector of f32 of its "
         "entries, up to "
      << kMaxTableEntries << ", where it is a table, but has (";
  llvm::interleaveComma(types, diagnostic);
  return diagnostic << ")";
}

static LogicalResult verifyScoreOp(Operation &op) {
  if (!isScoreOp(&op))
    return op.emitOpError()
           << "must not be in a score, which has only " << kScoreOps;
  for (Type type : op.getResultTypes())
    if (!isScoreType(type))
      return op.emitOpError()
             << "in a score must give f32, i32 or i1, but gives " << type;
  // Only of this type or of one that results have.
  if (!isa<arith::DivSIOp, arith::RemSIOp>(op))
    return success();
  IntegerAttr divisor;
  if (matchPattern(op.getOperand(1), m_Constant(&divisor)) &&
      divisor.getValue().isStrictlyPositive())
    return success();
  return op.emitOpError()
         << "in a score must divide by a constant that is more than 0";
}

LogicalResult evoformer::verifyScore(Operation *op, unsigned numValues) {
  if (op->getNumRegions() == 0) {
    for (OpOperand &capture :
         cast<AttentionFamilyOpInterface>(op).getRoleOperands(
             AttentionOperand::Capture))
      return op->emitOpError()
             << cast<AttentionFamilyOpInterface>(op).getOperandName(capture)
             << " is for a score to read, but there is no score";
    return success();
  }
  if (op->getNumRegions() > 1)
    return op->emitOpError()
           << "must have at most one score, but has " << op->getNumRegions();
  Region &region = op->getRegion(0);
  if (region.empty())
    return op->emitOpError() << "score must have a block, but is empty";
  Block &body = region.front();
  if (failed(verifyArguments(op, body)))
    return failure();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield)
    return op->emitOpError() << "score must end in evoformer.yield";
  if (yield.getValues().size() != numValues)
    return yield.emitOpError()
           << "must give " << numValues
           << (numValues == 1 ? " number, the score, but gives "
                              : " numbers, the score and its derivative, but "
                                "gives ")
           << yield.getValues().size();
  // A derivative has several ops for each.
  int64_t most = numValues == 1 ? kMaxScoreOps : 16 * kMaxScoreOps;
  auto count = static_cast<int64_t>(body.getOperations().size()) - 1;
  if (count > most)
    return op->emitOpError()
           << "score must have at most " << most << " ops, but has " << count;
  for (Operation &inner : body.without_terminator())
    if (failed(verifyScoreOp(inner)))
      return failure();
  return success();
}

LogicalResult AttentionOp::verifyRegions() { return verifyScore(*this, 1); }
LogicalResult AttentionWeightsOp::verifyRegions() {
  return verifyScore(*this, 1);
}
LogicalResult AttentionBackwardOp::verifyRegions() {
  if (failed(verifyScore(*this, 1)))
    return failure();
  auto numBiases = static_cast<int64_t>(getBiases().size());
  for (int64_t index : getBiasGradients()) {
    int64_t capture = index - numBiases;
    if (capture < 0 || !family::getTableEntries(*this, capture))
      continue;
    Value table = getScoreBody()->getArgument(kNumScoreArguments + capture);
    if (!table.use_empty() && !table.hasOneUse())
      return emitOpError()
             << "gradient of capture #" << capture
             << " needs a score that looks its table up once, but "
                "there are "
             << llvm::range_size(table.getUses()) << " lookups";
  }
  return success();
}
LogicalResult AttentionGradientOp::verifyRegions() {
  bool isOfTable = llvm::any_of(
      getRoleOperands(AttentionOperand::BiasGradient),
      [&](OpOperand &gradient) { return family::isTable(*this, gradient); });
  return verifyScore(*this, isOfTable ? 3 : 2);
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

/// The values that depend on `source` through f32.
static DenseSet<Value> findDependent(Block &body, Value source) {
  DenseSet<Value> dependent = {source};
  for (Operation &op : body.without_terminator())
    for (Value result : op.getResults())
      if (result.getType().isF32() &&
          llvm::any_of(op.getOperands(), [&](Value operand) {
            return dependent.contains(operand);
          }))
        dependent.insert(result);
  return dependent;
}

static void eraseUnused(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!isa<YieldOp>(op) && op.use_empty())
      op.erase();
}

/// The number of the entry that is looked up, as f32.
static Value holdWithin(OpBuilder &builder, LookupOp lookup) {
  Location loc = lookup.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value index =
      arith::MaxSIOp::create(builder, loc, lookup.getIndex(), number(0));
  index = arith::MinSIOp::create(
      builder, loc, index,
      number(lookup.getTable().getType().getDimSize(0) - 1));
  return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), index);
}

void evoformer::writeScoreGradient(Block &body, Region &gradient,
                                   unsigned argument) {
  IRMapping mapping;
  body.getParent()->cloneInto(&gradient, mapping);
  Block &block = gradient.front();
  auto yield = cast<YieldOp>(block.getTerminator());
  OpBuilder builder(yield);
  Value source = block.getArgument(argument), score = yield.getValues().front();
  DenseSet<Value> dependent = findDependent(block, source);
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, yield.getLoc(),
                                     builder.getF32FloatAttr(value));
  };
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  DenseMap<Value, Value> gradients;
  if (dependent.contains(score))
    gradients[score] = constant(1);
  for (Operation *op : llvm::reverse(ops)) {
    if (op->getNumResults() != 1 || !dependent.contains(op->getResult(0)))
      continue;
    Value ofResult = gradients.lookup(op->getResult(0));
    auto differentiable = dyn_cast<DifferentiableScalarOpInterface>(op);
    if (!ofResult || !differentiable)
      continue;
    for (auto [operand, ofOperand] :
         llvm::zip_equal(op->getOperands(),
                         differentiable.buildAdjoint(builder, ofResult))) {
      if (!ofOperand || !dependent.contains(operand))
        continue;
      Value &sum = gradients[operand];
      sum = sum ? builder.createOrFold<arith::AddFOp>(op->getLoc(), sum,
                                                      ofOperand)
                : ofOperand;
    }
  }
  if (!isa<VectorType>(source.getType())) {
    Value derivative = gradients.lookup(source);
    yield.getValuesMutable().append(derivative ? derivative : constant(0));
    eraseUnused(block);
    return;
  }
  auto lookup =
      source.use_empty() ? LookupOp() : cast<LookupOp>(*source.user_begin());
  Value derivative = lookup ? gradients.lookup(lookup) : Value();
  Value entry = lookup ? holdWithin(builder, lookup) : constant(0);
  yield.getValuesMutable().append(
      {derivative ? derivative : constant(0), entry});
  eraseUnused(block);
}

//===----------------------------------------------------------------------===//
// Finite numbers
//===----------------------------------------------------------------------===//

/// Whether an op gives finite numbers for all finite operands.
static bool isTotal(Operation *op) {
  if (isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SqrtOp,
          math::RsqrtOp, arith::FPToSIOp>(op))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<FloatAttr>(constant.getValue());
    return !number || number.getValue().isFinite();
  }
  FloatAttr divisor;
  return !isa<arith::DivFOp>(op) ||
         (matchPattern(op->getOperand(1), m_Constant(&divisor)) &&
          divisor.getValue().isFiniteNonZero());
}

bool evoformer::isScoreTotal(Operation *operation) {
  auto op = cast<AttentionFamilyOpInterface>(operation);
  Block &body = *op.getScoreBody();
  // What is the same for a whole head is no other behind the ends of a row.
  DenseSet<Value> varying;
  for (ScoreArgument argument : {ScoreArgument::Score, ScoreArgument::Row,
                                 ScoreArgument::Query, ScoreArgument::Key})
    varying.insert(body.getArgument(static_cast<unsigned>(argument)));
  // A capture may hold anything where keys are dropped.
  for (OpOperand &capture : op.getRoleOperands(AttentionOperand::Capture)) {
    unsigned number = op.getOperandRole(capture).second;
    // Integers are finite, and no index leaves a table.
    if (!body.getArgument(kNumScoreArguments + number).getType().isF32())
      continue;
    DimOrderAttr order = op.getOperandOrder(capture);
    for (char letter : {'n', 'q', 'k'})
      if (!op.isBroadcast(capture, order.getPosition(letter)) &&
          !body.getArgument(kNumScoreArguments + number).use_empty())
        return false;
  }
  for (Operation &op : body.without_terminator()) {
    bool varies = llvm::any_of(op.getOperands(), [&](Value operand) {
      return varying.contains(operand);
    });
    if (varies)
      varying.insert(op.result_begin(), op.result_end());
    if ((varies || isa<arith::ConstantOp>(op)) && !isTotal(&op))
      return false;
  }
  return true;
}
