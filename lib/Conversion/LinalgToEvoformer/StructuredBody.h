//===- StructuredBody.h - The body of a structured op --------- -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured op where one of its results is read: which element of each
// operand its body sees, and the body's expression.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_STRUCTUREDBODY_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_STRUCTUREDBODY_H

#include "Expression.h"

namespace mlir::evoformer::raising {

/// What an op computes, Other where the recogniser does not compute with it.
Symbol getSymbol(Operation *op);

class StructuredBody {
public:
  StructuredBody(ExpressionReader &reader, linalg::LinalgOp op,
                 unsigned result);

  /// Fails where the loops do not follow from where the result is read.
  LogicalResult setResultCoordinates(ArrayRef<Coordinate> coordinates);

  bool hasReductionLoops() const { return !reductionLoops.empty(); }
  SmallVector<int64_t, 2> getReductionSizes() const;

  /// The input whose elements the result holds, if there is one.
  OpOperand *getCopiedOperand();

  /// Where the body reads an operand, if that is a plain element.
  std::optional<Coordinates> getOperandCoordinates(OpOperand &operand) const;

  /// The result's expression, null where the body cannot be expressed.
  Expr *evaluateResult();

  /// How a body with reduction loops combines what it has with what it adds.
  std::optional<Reduction> getReduction();
  Expr *readInitial();
  bool canEvaluateReduced();
  Expr *evaluateReduced(ArrayRef<Coordinate> loops);

private:
  Expr *evaluate(Value value);
  Expr *evaluateOp(Operation *op, OpResult result);
  Value getYielded();
  BlockArgument getAccumulator();

  ExpressionReader &reader;
  linalg::LinalgOp op;
  unsigned result;
  /// By loop; none yet for those of a reduction.
  SmallVector<std::optional<Coordinate>, 6> loops;
  SmallVector<unsigned, 2> reductionLoops;
  SmallVector<int64_t, 6> sizes;
  llvm::DenseMap<Value, Expr *> evaluated;
};

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_STRUCTUREDBODY_H
