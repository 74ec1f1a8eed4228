//===- GradientLaunch.cpp - The launches of a gradient's kernel -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientLaunch.h"

#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include <numeric>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// Where the tile of logits has its keys first, a lane holds some queries of a
/// key, and so of a bias. A bias that rows share is transposed once for all of
/// them; reads that transpose (ldmatrix) need no copy.
static bool isBetterTransposed(const Bias &bias,
                               const GradientOperands &operands,
                               TargetAttr target) {
  if (target.isCPU() || getOwnedDim(operands) != OwnedDim::Keys ||
      !bias.broadcast[kBiasN] || bias.broadcast[kBiasK])
    return false;
  Type element = cast<MemRefType>(bias.memory.getType()).getElementType();
  return !readsMatrices(target, element);
}

static bool widensTransposed(const GradientOperands &operands) {
  return holdsWideBiases(
      cast<MemRefType>(operands.query.getType()).getDimSize(4));
}

GradientOperands
evoformer::prepareOperands(TileBuilder &builder, HostBuilder &host,
                           TargetAttr target, const AttentionFacts &facts,
                           const GradientOperands &given,
                           const AttentionBlocks &blocks, bool widens) {
  LogitShape shape = given.getShape();
  OpFoldResult keys = shape.size(builder, kBiasK);
  // Kernels of shorter blocks share the copies that those of longer ones need.
  constexpr int64_t kKeysOfMost = 64;
  int64_t keyBlock = std::lcm(blocks.keys, kKeysOfMost);
  GradientOperands operands = given;
  if (!given.keySum.memory)
    operands.keySum =
        host.prepareKeySum(facts, given.biases, shape, blocks.keys).sum;
  operands.biases.clear();
  for (const Bias &bias : given.biases) {
    if (bias.broadcast[kBiasQ])
      continue;
    operands.biases.push_back(
        isBetterTransposed(bias, given, target)
            ? host.transposeBias(bias, shape.size(builder, kBiasQ),
                                 blocks.queries, keys, blocks.keys,
                                 widensTransposed(given))
            : host.prepareBias(bias, keys, keyBlock, widens));
  }
  for (Bias &capture : operands.captures)
    capture = host.prepareBias(capture, keys, keyBlock);
  return operands;
}

GradientLaunch::GradientLaunch(HostBuilder &host, KernelFactory &factory,
                               const AttentionFacts &facts,
                               const GradientOperands &operands,
                               const GradientSchedule &schedule)
    : host(host), factory(factory), facts(facts), schedule(schedule) {
  aligned = host.hasAlignedDepths({operands.query, operands.key, operands.value,
                                   operands.weightedGrad, operands.queryGrad,
                                   operands.keyGrad, operands.valueGrad});
  for (const Bias &gradient : operands.logitGrads) {
    Type element = cast<MemRefType>(gradient.memory.getType()).getElementType();
    alignedGrads = host.both(
        alignedGrads,
        host.hasWholeVectors(gradient,
                             getKeyAlignment(element, schedule.blocks.keys)));
  }
}

void GradientLaunch::write(TileBuilder &at, const GradientOperands &chosen) {
  host.writeVariants(at, aligned, [&](TileBuilder &at, bool alignedRows) {
    host.writeVariants(at, alignedRows ? alignedGrads : Value(),
                       [&](TileBuilder &at, bool alignedGrads) {
                         writeVariant(at, chosen, alignedRows, alignedGrads);
                       });
  });
}

void GradientLaunch::writeVariant(TileBuilder &at, GradientOperands variant,
                                  bool alignedRows, bool alignedGrads) {
  if (alignedRows)
    for (Value *memory :
         {&variant.queryGrad, &variant.keyGrad, &variant.valueGrad})
      if (*memory)
        *memory = castToUnitStride(at, *memory);
  variant.alignedLogitGrads = alignedGrads;
  if (alignedGrads)
    for (Bias &gradient : variant.logitGrads)
      gradient.memory = castToUnitStride(at, gradient.memory);
  KernelOp kernel = createGradientKernel(factory, at.getLoc(), facts, variant,
                                         schedule, alignedRows);
  host.launch(at, kernel, getGradientSpace(at, variant, schedule.blocks, facts),
              getPresent(variant));
}
