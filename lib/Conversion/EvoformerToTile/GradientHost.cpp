//===- GradientHost.cpp - The host side of a gradient ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientHost.h"

#include "HostBuilder.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

template <typename OperandsTy>
static SmallVector<Value> getArguments(OperandsTy &operands) {
  return llvm::map_to_vector(operands.present(),
                             [](Value *operand) { return *operand; });
}

void evoformer::writeGradientProgram(TileBuilder &builder,
                                     KernelFactory &factory,
                                     const AttentionFacts &facts,
                                     const GradientOperands &given,
                                     const GradientSchedule &schedule) {
  HostBuilder host(builder, factory);
  int64_t keyBlock = schedule.blocks.keys;
  OpFoldResult keys = builder.dim(given.key, 3);
  GradientOperands operands = given;
  operands.keySum =
      host.prepareKeySum(given.biases, given.query, keys, keyBlock).sum;
  operands.biases.clear();
  for (const Bias &bias : given.biases)
    if (!bias.broadcast[kBiasQ])
      operands.biases.push_back(host.prepareBias(bias, keys, keyBlock));

  auto launchVariant = [&](TileBuilder &at, bool alignedRows) {
    GradientOperands variant = operands;
    if (alignedRows)
      for (Value *memory :
           {&variant.queryGrad, &variant.keyGrad, &variant.valueGrad})
        if (*memory)
          *memory = castToUnitStride(at, *memory);
    KernelOp kernel = createGradientKernel(factory, at.getLoc(), facts, variant,
                                           schedule, alignedRows);
    host.launch(at, kernel, getGradientSpace(at, variant, schedule.blocks),
                getArguments(variant));
  };
  host.writeVariants({operands.query, operands.key, operands.value,
                      operands.weighted, operands.queryGrad, operands.keyGrad,
                      operands.valueGrad},
                     launchVariant);
  host.freeAll();
}

void evoformer::writeDeltaProgram(TileBuilder &builder, KernelFactory &factory,
                                  const DeltaOperands &operands) {
  HostBuilder host(builder, factory);
  auto launchVariant = [&](TileBuilder &at, bool alignedRows) {
    DeltaOperands variant = operands;
    if (alignedRows)
      for (Value *memory : {&variant.weighted, &variant.gateGrad})
        if (*memory)
          *memory = castToUnitStride(at, *memory);
    KernelOp kernel =
        createDeltaKernel(factory, at.getLoc(), variant, alignedRows);
    host.launch(at, kernel, getDeltaSpace(at, variant, factory.getTarget()),
                getArguments(variant));
  };
  host.writeVariants({operands.gate, operands.output, operands.outputGrad,
                      operands.weighted, operands.gateGrad},
                     launchVariant);
}
