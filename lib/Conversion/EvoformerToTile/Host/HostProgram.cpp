//===- HostProgram.cpp - The host side of an attention ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"

#include "HostArithmetic.h"
#include "HostBuilder.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static Value hasAlignedRows(HostBuilder &host, const HostAttention &attention) {
  return host.hasAlignedDepths({attention.query, attention.key, attention.value,
                                attention.gate, attention.output});
}

/// With biases as they are or as f32; `isAligned`: what hasAlignedRows is,
/// where that is known.
static void writeLaunches(TileBuilder &builder, KernelFactory &factory,
                          const HostAttention &attention,
                          const AttentionSchedule &schedule, bool widens,
                          std::optional<bool> isAligned) {
  HostBuilder host(builder, factory);
  int64_t keyBlock = schedule.blocks.keys;
  AttentionOperands operands;
  operands.query = attention.query;
  operands.key = attention.key;
  operands.value = attention.value;
  operands.gate = attention.gate;
  operands.output = attention.output;
  operands.lse = attention.lse;
  operands.stats = attention.stats;
  operands.lengths = attention.lengths;
  operands.keyOffsets = attention.keyOffsets;
  operands.dropout = attention.dropout;
  LogitShape shape = operands.getShape();
  OpFoldResult keys = shape.size(builder, kBiasK);
  KeySum keySum =
      host.prepareKeySum(attention.facts, attention.biases, shape, keyBlock);
  operands.keySum = keySum.sum;
  operands.keyMax = keySum.maximum;
  for (const Bias &bias : attention.biases)
    if (!bias.broadcast[kBiasQ])
      operands.biases.push_back(host.prepareBias(bias, keys, keyBlock, widens));
  for (const Bias &capture : attention.captures)
    operands.captures.push_back(host.prepareBias(capture, keys, keyBlock));

  auto launchVariant = [&](TileBuilder &at, bool alignedRows) {
    AttentionOperands variant = operands;
    if (alignedRows)
      variant.output = castToUnitStride(at, operands.output);
    KernelOp kernel = createAttentionKernel(
        factory, at.getLoc(), attention.facts, variant, schedule.blocks,
        alignedRows, schedule.getAttr(at.getContext()));
    host.launch(
        at, kernel,
        getAttentionSpace(at, variant, schedule.blocks, attention.facts.keys),
        getPresent(variant));
  };
  if (isAligned)
    launchVariant(builder, *isAligned);
  else
    host.writeVariants(builder, hasAlignedRows(host, attention), launchVariant);
  host.freeAll();
}

void evoformer::writeHostProgram(TileBuilder &builder, KernelFactory &factory,
                                 const HostAttention &attention,
                                 const AttentionSchedule &schedule) {
  HostBuilder host(builder, factory);
  AttentionOperands operands;
  operands.query = attention.query;
  operands.key = attention.key;
  operands.lengths = attention.lengths;
  Value widens = host.shouldWiden(attention.biases, operands.getShape(),
                                  attention.facts, attention.output);
  std::optional<bool> enough = widens ? evaluate(widens) : false;
  if (enough == false)
    return writeLaunches(builder, factory, attention, schedule,
                         /*widens=*/false, /*isAligned=*/std::nullopt);
  // Rows that are not aligned are rare: one kernel less.
  Value aligned = hasAlignedRows(host, attention);
  auto write = [&](TileBuilder &at, bool widens) {
    std::optional<bool> isAligned;
    if (widens)
      isAligned = aligned != nullptr;
    else if (enough)
      isAligned = false;
    writeLaunches(at, factory, attention, schedule, widens, isAligned);
  };
  if (enough && !aligned)
    return write(builder, /*widens=*/true);
  host.writeVariants(builder, enough ? aligned : host.both(widens, aligned),
                     write);
}
