//===- HostProgram.cpp - The host side of an attention ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"

#include "HostBuilder.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

void evoformer::writeHostProgram(TileBuilder &builder, KernelFactory &factory,
                                 const HostAttention &attention,
                                 ArrayRef<AttentionSchedule> cuts) {
  HostBuilder host(builder, factory);
  int64_t keyBlock = cuts.front().blocks.keys;
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
  for (const Bias &capture : attention.captures)
    operands.captures.push_back(host.prepareBias(capture, keys, keyBlock));

  // Whether a block of the cut has all queries.
  auto haveAll = llvm::map_to_vector(
      cuts.drop_back(), [&](const AttentionSchedule &cut) -> Value {
        return arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                                     builder.index(shape.size(builder, kBiasQ)),
                                     builder.index(cut.blocks.queries));
      });
  // The kernels for rows that are `aligned` and for others.
  auto write = [&](TileBuilder &at, bool widens, Value aligned) {
    HostBuilder inside(at, factory);
    AttentionOperands prepared = operands;
    for (const Bias &bias : attention.biases)
      if (!bias.broadcast[kBiasQ])
        prepared.biases.push_back(
            inside.prepareBias(bias, keys, keyBlock, widens));
    auto launch = [&](TileBuilder &at, const AttentionSchedule &cut) {
      inside.writeVariants(at, aligned, [&](TileBuilder &at, bool alignedRows) {
        AttentionOperands variant = prepared;
        if (alignedRows)
          variant.output = castToUnitStride(at, operands.output);
        KernelOp kernel = createAttentionKernel(
            factory, at.getLoc(), attention.facts, variant, cut.blocks,
            alignedRows, cut.getAttr(at.getContext()));
        noteRegisters(kernel, cut.cost.registers);
        host.launch(
            at, kernel,
            getAttentionSpace(at, variant, cut.blocks, attention.facts.keys),
            getPresent(variant));
      });
    };
    inside.writeFirst(at, haveAll, [&](TileBuilder &at, size_t number) {
      launch(at, cuts[number]);
    });
    inside.freeAll();
  };
  Value aligned =
      host.hasAlignedDepths({operands.query, operands.key, operands.value,
                             operands.gate, operands.output});
  Value widens = host.shouldWiden(attention.biases, shape, attention.facts,
                                  operands.output, keyBlock);
  host.writeVariants(builder, widens, [&](TileBuilder &at, bool widens) {
    write(at, widens, aligned);
  });
  host.freeAll();
}
