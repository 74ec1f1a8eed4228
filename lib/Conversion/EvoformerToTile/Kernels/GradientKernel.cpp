//===- GradientKernel.cpp - Gradients from recomputed logits --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

SmallVector<Value *> GradientOperands::present() {
  SmallVector<Value *> all = {&query, &key, &value, &weightedGrad,
                              &keySum.memory};
  for (Bias &bias : biases)
    all.push_back(&bias.memory);
  for (Bias &capture : captures)
    all.push_back(&capture.memory);
  all.append({&stats, &delta});
  llvm::append_range(all, lengths.all());
  llvm::append_range(all, keyOffsets.all());
  all.push_back(&dropout);
  all.append({&queryGrad, &keyGrad, &valueGrad, &biasGrad.memory});
  for (Bias &gradient : logitGrads)
    all.push_back(&gradient.memory);
  all.append({&slab, &stepsOfPart, &querySums, &keysOfItem});
  llvm::erase_if(all, [](Value *operand) { return !*operand; });
  return all;
}

GradientKind evoformer::getGradientKind(const GradientOperands &operands) {
  if (operands.ofWeights)
    return GradientKind::Weights;
  if (operands.keysOfItem)
    return GradientKind::Joint;
  if (operands.querySums || operands.haveOneBlock())
    return GradientKind::Head;
  if (operands.biasGrad.memory)
    return operands.queryGrad ? GradientKind::QueryBias : GradientKind::Bias;
  return operands.queryGrad ? GradientKind::Query : GradientKind::KeyValue;
}

OwnedDim evoformer::getOwnedDim(const GradientOperands &operands) {
  switch (getGradientKind(operands)) {
  case GradientKind::Query:
  case GradientKind::QueryBias:
  case GradientKind::Weights:
    return OwnedDim::Queries;
  case GradientKind::KeyValue:
  case GradientKind::Head:
  case GradientKind::Joint:
    return OwnedDim::Keys;
  case GradientKind::Bias:
    break;
  }
  const std::array<bool, 5> &summed = operands.biasGrad.broadcast;
  if (!summed[kBiasQ])
    return OwnedDim::Queries;
  return summed[kBiasK] ? OwnedDim::None : OwnedDim::Keys;
}

SmallVector<Value> evoformer::getGradientSpace(TileBuilder &builder,
                                               const GradientOperands &operands,
                                               const AttentionBlocks &blocks,
                                               const AttentionFacts &facts) {
  BlockGrid grid = BlockGrid::of(builder, operands.getShape(), blocks);
  if (operands.biasGrad.memory) {
    SmallVector<Value> space;
    for (int64_t dim = 0; dim < 5; ++dim)
      space.push_back(operands.biasGrad.broadcast[dim]
                          ? builder.index(1)
                          : grid.count(builder, dim));
    // What an item owns of a table.
    if (operands.biasGrad.entries)
      space[kBiasK] = builder.index(
          llvm::divideCeil(operands.biasGrad.entries, kEntriesOfItem));
    if (operands.stepsOfPart)
      space.push_back(builder.index(builder.dim(operands.biasGrad.memory, 0)));
    return space;
  }
  SpaceOrder order = SpaceOrder::of(facts.keys);
  SmallVector<Value> space(4);
  // Where queries share keys and values, an item sums over all of them.
  bool ofQueries = operands.queryGrad || operands.ofWeights;
  SharedKeys shared = ofQueries ? SharedKeys() : facts.shared;
  space[order.batch] =
      shared.batch ? builder.index(1)
                   : operands.getShape().countBatches(builder,
                                                      /*ofKeys=*/!ofQueries);
  space[order.rows] =
      shared.rows ? builder.index(1) : grid.count(builder, kBiasN);
  space[order.head] = shared.groupSize != 1
                          ? builder.index(builder.dim(operands.key, 2))
                          : grid.count(builder, kBiasH);
  space[order.blocks] = getGradientKind(operands) == GradientKind::Head
                            ? builder.index(1)
                            : grid.count(builder, ofQueries ? kBiasQ : kBiasK);
  if (operands.stepsOfPart) {
    Value parts = operands.keyGrad ? operands.keyGrad : operands.valueGrad;
    space.push_back(builder.index(builder.dim(parts, 0)));
  }
  return space;
}

Value evoformer::slicePart(TileBuilder &builder, Value memory, Value index) {
  SmallVector<SliceDim> dims = {{index, {}}};
  for (int64_t dim = 1; dim < 6; ++dim)
    dims.push_back({builder.getIndexAttr(0), builder.dim(memory, dim)});
  return builder.slice(memory, dims);
}

KernelOp evoformer::createGradientKernel(KernelFactory &factory, Location loc,
                                         const AttentionFacts &facts,
                                         const GradientOperands &operands,
                                         const GradientSchedule &schedule,
                                         bool alignedRows) {
  GradientKind kind = getGradientKind(operands);
  StringRef suffix = kind == GradientKind::Joint     ? "all_grads"
                     : kind == GradientKind::Head    ? "head_grads"
                     : kind == GradientKind::Weights ? "weights"
                     : operands.queryGrad            ? "query_grad"
                     : kind == GradientKind::Bias    ? "bias_grad"
                                                     : "key_value_grad";
  KernelOp kernel = factory.create<GradientOperands>(
      loc, suffix, operands, schedule.attr,
      [&](TileBuilder &builder, const GradientOperands &inside) {
        LogitRecompute shared(builder, facts, inside, schedule.blocks,
                              alignedRows, factory.getTarget());
        switch (kind) {
        case GradientKind::Query:
          return inside.slab ? writeQueryGradientOfSlab(builder, shared)
                             : writeQueryGradient(builder, shared);
        case GradientKind::KeyValue:
          return writeKeyValueGradient(builder, shared);
        case GradientKind::Bias:
        case GradientKind::QueryBias:
          return writeBiasGradient(builder, shared);
        case GradientKind::Head:
          return writeHeadGradient(builder, shared);
        case GradientKind::Joint:
          return writeJointGradient(builder, shared);
        case GradientKind::Weights:
          return writeWeights(builder, shared);
        }
      });
  noteRegisters(kernel, schedule.registers);
  return kernel;
}
