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

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// `memory` [b, n, h, x, y] as [1, b, n, h, x, y] with a unit stride, or a
/// buffer of that rank, as a type that serves both.
static Value asParts(TileBuilder &builder, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides(6, ShapedType::kDynamic);
  strides.back() = 1;
  ArrayRef<int64_t> last = type.getShape().take_back(5);
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  llvm::append_range(shape, last);
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  auto result = MemRefType::get(shape, type.getElementType(), layout);
  if (type.getRank() == 6)
    return memref::CastOp::create(builder, result, memory);
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
  SmallVector<OpFoldResult> allSizes = {Value(builder.index(1))},
                            allStrides = {Value(builder.index(0))};
  for (int64_t dim = 0; dim < 5; ++dim) {
    if (type.isDynamicDim(dim))
      allSizes.push_back(metadata.getSizes()[dim]);
    else
      allSizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
    if (dim < 4)
      allStrides.push_back(metadata.getStrides()[dim]);
  }
  allStrides.push_back(builder.getIndexAttr(1));
  return memref::ReinterpretCastOp::create(builder, result, memory,
                                           OpFoldResult(metadata.getOffset()),
                                           allSizes, allStrides);
}

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

namespace {
/// Where items put the sums of a gradient.
struct SumMemory {
  /// [copies, b, n, h, x, y] of f32; null: there is no such gradient.
  Value memory;
  /// Whether that is not the gradient itself; null: it never is.
  Value isCopied;
};
} // namespace

/// The memory of `copies` sums of `sum`, 0 of them where it needs none.
static SumMemory prepareSums(TileBuilder &builder, HostBuilder &host, Value sum,
                             Value copies) {
  if (!sum)
    return {};
  SmallVector<OpFoldResult> sizes = {copies};
  for (int64_t dim = 0; dim < 5; ++dim)
    sizes.push_back(builder.dim(sum, dim));
  Value buffer = host.allocate(sizes, builder.getF32Type());
  if (!cast<MemRefType>(sum.getType()).getElementType().isF32())
    return {asParts(builder, buffer), {}};
  Value isCopied = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                                         copies, builder.index(0));
  auto yield = [](Value memory) {
    return [memory](OpBuilder &nested, Location loc) {
      TileBuilder inner(loc, nested);
      scf::YieldOp::create(inner, asParts(inner, memory));
    };
  };
  auto chosen = scf::IfOp::create(builder, isCopied, yield(buffer), yield(sum));
  return {chosen.getResult(0), isCopied};
}

/// Adds up copies.
static void finishSums(TileBuilder &builder, HostBuilder &host,
                       KernelFactory &factory, Value sum,
                       const SumMemory &sums) {
  if (!sum)
    return;
  auto launch = [&](TileBuilder &at) {
    Value dest = castToUnitStride(at, sum);
    KernelOp kernel =
        createPartSumKernel(factory, at.getLoc(), sums.memory, dest);
    host.launch(at, kernel, getPartSumSpace(at, dest),
                ValueRange{sums.memory, dest});
  };
  if (!sums.isCopied)
    return launch(builder);
  scf::IfOp::create(builder, sums.isCopied,
                    [&](OpBuilder &nested, Location loc) {
                      TileBuilder inner(loc, nested);
                      launch(inner);
                      scf::YieldOp::create(inner);
                    });
}

static void writeLaunches(TileBuilder &builder, KernelFactory &factory,
                          const AttentionFacts &facts,
                          const GradientOperands &given, const JointCut &cut) {
  HostBuilder host(builder, factory);
  OpFoldResult keys = builder.dim(given.key, 3);
  GradientOperands operands = given;
  operands.keySum =
      host.prepareKeySum(given.biases, given.query, keys, kJointBlocks.keys)
          .sum;
  operands.biases.clear();
  for (const Bias &bias : given.biases)
    if (!bias.broadcast[kBiasQ])
      operands.biases.push_back(
          host.prepareBias(bias, keys, kJointBlocks.keys));
  for (Value *memory : {&operands.keyGrad, &operands.valueGrad})
    if (*memory)
      *memory = castToUnitStride(builder, *memory);
  for (Bias &gradient : operands.logitGrads)
    gradient.memory = castToUnitStride(builder, gradient.memory);
  operands.stepsOfPart = cut.rowsOfPart;
  operands.keysOfItem = cut.keysOfRange;
  SmallVector<Value> space(4);
  space[kSpaceB] = builder.index(builder.dim(given.query, 0));
  space[kSpaceRows] = cut.rowParts;
  space[kSpaceH] = builder.index(builder.dim(given.query, 2));
  space[kSpaceBlocks] = cut.keyRanges;
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
  host.launch(builder, kernel, space,
              llvm::map_to_vector(operands.present(),
                                  [](Value *operand) { return *operand; }));
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
  scf::IfOp::create(
      builder, isJoint,
      [&](OpBuilder &nested, Location loc) {
        TileBuilder inner(loc, nested);
        writeLaunches(inner, factory, facts, operands, cut);
        scf::YieldOp::create(inner);
      },
      [&](OpBuilder &nested, Location loc) {
        TileBuilder inner(loc, nested);
        apart(inner);
        scf::YieldOp::create(inner);
      });
}
