//===- StructuredOp.cpp - A linalg op as blocks of loops ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Elements of a loop that a tile holds: at most so many.
static int64_t getBlock(int64_t size, int64_t most) {
  if (ShapedType::isDynamic(size))
    return most;
  return std::min<int64_t>(most,
                           llvm::PowerOf2Ceil(std::max<int64_t>(size, 1)));
}

LogicalResult StructuredOp::checkMaps() {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type) {
      if (operand.get().getType().isIntOrFloat())
        continue;
      return op->emitOpError("operand ")
             << operand.getOperandNumber() << " is " << operand.get().getType()
             << "; a kernel takes memrefs and numbers";
    }
    if (!type.getElementType().isIntOrFloat())
      return op->emitOpError("operand ")
             << operand.getOperandNumber() << " holds " << type.getElementType()
             << "; a kernel takes integers and floats";
    llvm::SmallDenseSet<unsigned> seen;
    for (AffineExpr expr : getMap(operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      if ((constant && constant.getValue() == 0) ||
          (dim && seen.insert(dim.getPosition()).second))
        continue;
      return op->emitOpError("operand ")
             << operand.getOperandNumber()
             << " is indexed by something else than different loops and zeros: "
             << AffineMapAttr::get(getMap(operand));
    }
    if (op.isDpsInit(&operand) &&
        llvm::any_of(seen, [&](unsigned loop) { return isReduction(loop); }))
      return op->emitOpError("operand ")
             << operand.getOperandNumber()
             << " is an output with a dimension that is reduced: "
             << AffineMapAttr::get(getMap(operand));
  }
  return success();
}

LogicalResult StructuredOp::checkBody() {
  llvm::SmallSetVector<Value, 4> outside;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    bool known =
        isa<arith::ConstantOp>(inner) ||
        (isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
         OpTrait::hasElementwiseMappableTraits(&inner));
    if (!known || inner.getNumResults() != 1 ||
        !inner.getResult(0).getType().isIntOrFloat())
      return inner.emitOpError(
          "is in the body of a linalg op that shall become a kernel, which "
          "does elementwise arith and math on integers and floats, with one "
          "result each");
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != op.getBlock())
        outside.insert(operand);
  }
  for (Value value : op.getBlock()->getTerminator()->getOperands())
    if (value.getParentBlock() != op.getBlock())
      outside.insert(value);
  captured = outside.takeVector();
  return success();
}

static std::optional<ReduceKind> getKind(Operation *combiner) {
  if (isa<arith::AddFOp>(combiner))
    return ReduceKind::Add;
  if (isa<arith::MaxNumFOp>(combiner))
    return ReduceKind::Max;
  if (isa<arith::MinNumFOp>(combiner))
    return ReduceKind::Min;
  return std::nullopt;
}

LogicalResult StructuredOp::findUpdates() {
  Operation *end = op.getBlock()->getTerminator();
  for (auto [value, argument] :
       llvm::zip_equal(end->getOperands(), op.getRegionOutputArgs())) {
    OutputUpdate update;
    update.value = value;
    if (hasReduction()) {
      Operation *combiner = value.getDefiningOp();
      std::optional<ReduceKind> kind;
      if (combiner && combiner->getNumOperands() == 2 && argument.hasOneUse() &&
          llvm::is_contained(combiner->getOperands(), argument) &&
          value.hasOneUse())
        kind = getKind(combiner);
      if (!kind)
        return op->emitOpError("reduces otherwise than by a sum of floats, "
                               "arith.maxnumf or arith.minnumf of its output "
                               "and a value");
      update.combiner = combiner;
      update.kind = *kind;
      update.value = combiner->getOperand(0) == argument
                         ? combiner->getOperand(1)
                         : combiner->getOperand(0);
    }
    outputs.push_back(update);
  }
  return success();
}

/// Whether the body adds the product of the two inputs, as they are or
/// extended: contractions of upstream's may do more to either.
static bool isPlainProduct(linalg::LinalgOp op) {
  auto skipExtension = [](Value value) {
    while (auto extension = value.getDefiningOp<arith::ExtFOp>())
      value = extension.getIn();
    return value;
  };
  Block *body = op.getBlock();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || body->getNumArguments() != 3)
    return false;
  Value output = body->getArgument(2);
  bool isFirst = sum.getLhs() == output;
  if (!isFirst && sum.getRhs() != output)
    return false;
  auto product = skipExtension(isFirst ? sum.getRhs() : sum.getLhs())
                     .getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  Value a = skipExtension(product.getLhs()),
        b = skipExtension(product.getRhs());
  if (a == body->getArgument(1))
    std::swap(a, b);
  return a == body->getArgument(0) && b == body->getArgument(1);
}

void StructuredOp::findProduct() {
  if (!linalg::isaContractionOpInterface(op) || !isPlainProduct(op))
    return;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return;
  Type a = getElementTypeOrSelf(op->getOperand(0)),
       b = getElementTypeOrSelf(op->getOperand(1)),
       c = getElementTypeOrSelf(op->getOperand(2));
  auto isKnown = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16();
  };
  if (a == b && isKnown(a) && isKnown(c))
    product = Product{dims->m.back(), dims->n.back(), dims->k.back()};
}

LogicalResult StructuredOp::chooseTile() {
  tile.assign(kinds.size(), 0);
  if (product) {
    tile[product->m] = std::max<int64_t>(16, getBlock(sizes[product->m], 64));
    tile[product->n] = std::max<int64_t>(16, getBlock(sizes[product->n], 64));
    tile[product->k] = std::max<int64_t>(16, getBlock(sizes[product->k], 32));
    return success();
  }
  // The innermost loops of what is written, those of a row first.
  AffineMap written = getMap(*op.getDpsInitOperand(0));
  int64_t numTiled = 0;
  for (AffineExpr expr : llvm::reverse(written.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || numTiled == 2)
      continue;
    int64_t most = numTiled == 0 && !hasReduction() ? 64 : 16;
    tile[dim.getPosition()] = getBlock(sizes[dim.getPosition()], most);
    ++numTiled;
    if (hasReduction())
      break;
  }
  if (numTiled == 0)
    return op->emitOpError(
        "gives a single number; a kernel writes the elements "
        "of a dimension");
  for (OpOperand &output : op.getDpsInitsMutable())
    for (auto [dim, block] : llvm::enumerate(tile))
      if (block && !llvm::is_contained(getMap(output).getResults(),
                                       getAffineDimExpr(dim, op->getContext())))
        return op->emitOpError("has outputs of different dimensions");
  for (int64_t dim = kinds.size() - 1; dim >= 0; --dim) {
    if (!isReduction(dim))
      continue;
    tile[dim] = getBlock(sizes[dim], 64);
    break;
  }
  return success();
}

ScheduleAttr StructuredOp::getSchedule() const {
  MLIRContext *context = op->getContext();
  if (!product)
    return ScheduleAttr::get(context, {1, 16, 64}, {1, 1, 1}, /*stages=*/1);
  int64_t m = tile[product->m], n = tile[product->n];
  int64_t subgroups = m == 64 && n == 64 ? 2 : 1;
  return ScheduleAttr::get(context, {1, m, n}, {1, subgroups, subgroups},
                           /*stages=*/1);
}

FailureOr<StructuredOp> StructuredOp::analyze(linalg::LinalgOp op) {
  StructuredOp result;
  result.op = op;
  if (!op.hasPureBufferSemantics())
    return op->emitOpError(
        "is on tensors, expected memrefs: run one-shot-bufferize first");
  result.kinds = op.getIteratorTypesArray();
  result.sizes = op.getStaticLoopRanges();
  if (failed(result.checkMaps()) || failed(result.checkBody()) ||
      failed(result.findUpdates()))
    return failure();
  result.findProduct();
  if (failed(result.chooseTile()))
    return failure();
  return result;
}
