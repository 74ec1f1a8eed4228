//===- AttentionOp.cpp - Building and interfaces of an attention ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::evoformer;

#define GET_OP_CLASSES
#include "Evoformer/Dialect/Evoformer/IR/EvoformerOps.cpp.inc"

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query,
                        Value key, Value value, ValueRange biases, Value gate,
                        Value output, Value lse, Value stats, FloatAttr scale,
                        Value keyLengths, Value queryLengths, ValueRange ragged,
                        bool hasScore, ValueRange captures, Value dropout,
                        ValueRange keysFromOperands,
                        ValueRange keysToOperands) {
  SmallVector<Type, 3> resultTypes;
  for (Value init : {output, lse, stats})
    if (init && isa<RankedTensorType>(init.getType()))
      resultTypes.push_back(init.getType());
  auto at = [&](size_t part) {
    return ragged.empty() ? Value() : ragged[part];
  };
  auto sequence = DimOrderAttr::getSequence(builder.getContext());
  build(builder, state, resultTypes, query, key, value, biases, captures, gate,
        keyLengths, queryLengths, at(0), at(1), at(2), at(3), dropout,
        keysFromOperands, keysToOperands, output, lse, stats, sequence,
        sequence, sequence, builder.getArrayAttr({}), builder.getArrayAttr({}),
        sequence, sequence, scale,
        /*group_size=*/1, /*keys_from=*/{},
        /*keys_to=*/{}, /*dropout_p=*/{}, /*weights=*/{},
        /*score_regionsCount=*/hasScore ? 1 : 0);
}
