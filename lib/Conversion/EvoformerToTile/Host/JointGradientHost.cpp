//===- JointGradientHost.cpp - When gradients are computed jointly --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientHost.h"

#include "../Kernels/WorkItem.h"
#include "HostBuilder.h"
#include "JointCut.h"
#include "SumMemory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// Whether the innermost strides of what is written are 1; null: always.
static Value hasUnitStrides(TileBuilder &builder, HostBuilder &host,
                            const GradientOperands &operands) {
  SmallVector<Value> written = {operands.queryGrad, operands.keyGrad,
                                operands.valueGrad, operands.biasGrad.memory};
  for (const Bias &gradient : operands.logitGrads)
    written.push_back(gradient.memory);
  Value all;
  for (Value memory : written) {
    if (!memory || hasUnitStride(memory))
      continue;
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
    all = host.both(
        all, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                   metadata.getStrides()[4], builder.index(1)));
  }
  return all;
}

static void writeLaunches(TileBuilder &builder, KernelFactory &factory,
                          const AttentionFacts &facts,
                          const GradientOperands &given, const JointCut &cut) {
  HostBuilder host(builder, factory);
  LogitShape shape = given.getShape();
  OpFoldResult keys = shape.size(builder, kBiasK);
  GradientOperands operands = given;
  operands.keySum =
      host.prepareKeySum(facts, given.biases, shape, kJointBlocks.keys).sum;
  operands.biases.clear();
  for (const Bias &bias : given.biases)
    if (!bias.broadcast[kBiasQ])
      operands.biases.push_back(
          host.prepareBias(bias, keys, kJointBlocks.keys));
  for (Bias &capture : operands.captures)
    capture = host.prepareBias(capture, keys, kJointBlocks.keys);
  for (Value *memory : {&operands.keyGrad, &operands.valueGrad})
    if (*memory)
      *memory = castToUnitStride(builder, *memory);
  for (Bias &gradient : operands.logitGrads)
    gradient.memory = castToUnitStride(builder, gradient.memory);
  operands.stepsOfPart = cut.rowsOfPart;
  operands.keysOfItem = cut.keysOfRange;
  constexpr SpaceOrder order;
  SmallVector<Value> space(4);
  space[order.batch] = builder.index(builder.dim(given.query, 0));
  space[order.rows] = cut.rowParts;
  space[order.head] = builder.index(builder.dim(given.query, 2));
  space[order.blocks] = cut.keyRanges;
  GradientSchedule schedule;
  schedule.blocks = kJointBlocks;
  schedule.attr = ScheduleAttr::get(
      builder.getContext(),
      {kJointBlocks.rows, kJointBlocks.keys, kJointBlocks.queries}, {1, 1, 1},
      1);
  SumMemory ofQuery =
      prepareSums(builder, host, given.queryGrad, cut.queryCopies);
  SumMemory ofBias =
      prepareSums(builder, host, given.biasGrad.memory, cut.biasCopies);
  operands.queryGrad = ofQuery.memory;
  operands.biasGrad.memory = ofBias.memory;
  KernelOp kernel =
      createGradientKernel(factory, builder.getLoc(), facts, operands, schedule,
                           /*alignedRows=*/false);
  host.launch(builder, kernel, space, getPresent(operands));
  finishSums(builder, host, factory, given.queryGrad, ofQuery);
  finishSums(builder, host, factory, given.biasGrad.memory, ofBias);
  host.freeAll();
}

bool evoformer::mayBeJoint(TargetAttr target) {
  // What one lane stores it reads back without a fence.
  return target.getSubgroupSize() == 1 && target.getMemorySumItems() > 0;
}

void evoformer::writeJointProgram(TileBuilder &builder, KernelFactory &factory,
                                  const AttentionFacts &facts,
                                  const GradientOperands &operands,
                                  int64_t partialSumBytes,
                                  function_ref<void(TileBuilder &)> apart) {
  TargetAttr target = factory.getTarget();
  HostBuilder host(builder, factory);
  JointCut cut = chooseJointCut(builder, operands, target, partialSumBytes);
  Value enough =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, cut.items,
                            builder.index(target.getMemorySumItems()));
  Value isJoint = host.both(host.both(enough, cut.fits),
                            hasUnitStrides(builder, host, operands));
  host.writeVariants(builder, isJoint, [&](TileBuilder &at, bool isJoint) {
    isJoint ? writeLaunches(at, factory, facts, operands, cut) : apart(at);
  });
}
