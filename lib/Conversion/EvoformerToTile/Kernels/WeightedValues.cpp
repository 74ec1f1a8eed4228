//===- WeightedValues.cpp - What becomes of a sum of values ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WeightedValues.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;

Value evoformer::narrowSigned(TileBuilder &builder, Value tile, Type element,
                              bool fastRounding) {
  return element.isBF16() && !fastRounding ? builder.round(tile, element)
                                           : builder.convert(tile, element);
}

/// output * sigmoid(gate).
static Value applyGate(TileBuilder &builder, Value output, Value gate) {
  gate = builder.convert(gate, builder.getF32Type());
  // sigmoid(x) = 1 / (1 + 2^(-x log2 e)): 0, not NaN, for large negative x.
  Value power = builder.exp2(
      builder.mulf(gate, builder.splatLike(gate, -llvm::numbers::log2e)));
  return builder.divf(output, builder.addf(builder.splatLike(power, 1), power));
}

void evoformer::storeWeightedValues(const WorkItem &item,
                                    const AttentionOperands &operands,
                                    ArrayRef<DepthPart> parts,
                                    ArrayRef<Value> sums, Value inverse,
                                    Value empty) {
  TileBuilder &builder = item.builder;
  Value zero = builder.index(0);
  ItemRange written = item.queries.written();
  Value outputs = item.sliceSequence(operands.output, written);
  Value gates =
      operands.gate ? item.sliceSequence(operands.gate, item.queries) : Value();
  for (auto [sum, part] : llvm::zip_equal(sums, parts)) {
    ArrayRef<int64_t> shape = TileBuilder::typeOf(sum).getShape();
    Value output = builder.mulf(sum, builder.broadcast(inverse, {0, 1}, shape));
    output = builder.select(builder.broadcast(empty, {0, 1}, shape),
                            builder.splatLike(output, 0), output);
    if (gates)
      output = applyGate(builder, output,
                         item.load(builder, gates, zero, item.queries, part));
    item.store(output, outputs, written, part.start);
  }
}
