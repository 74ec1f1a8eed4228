//===- DeltaKernel.cpp - What the gradient reads of the output ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientKernels.h"
#include "WorkItem.h"

#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

SmallVector<Value *> DeltaOperands::present() {
  SmallVector<Value *> all = {&gate,  &output,       &outputGrad,
                              &delta, &weightedGrad, &gateGrad};
  llvm::append_range(all, lengths.all());
  llvm::erase_if(all, [](Value *operand) { return !*operand; });
  return all;
}

/// Of a workgroup: of one a processor holds fewer than its lanes can be.
static int64_t countSubgroups(TargetAttr target) {
  return target.isCPU() ? 1 : 4;
}

/// Queries of a tile: some vectors a lane, so that all that it holds of output,
/// gradient and gate fits into registers.
static int64_t getQueryBlock(TargetAttr target, Value output) {
  constexpr int64_t elementsOfLane = 16;
  if (target.isCPU())
    return 32;
  int64_t depth = cast<MemRefType>(output.getType()).getDimSize(4);
  int64_t rows = target.getSubgroupSize() * elementsOfLane /
                 static_cast<int64_t>(llvm::PowerOf2Ceil(depth));
  return countSubgroups(target) * std::clamp<int64_t>(rows, 4, 64);
}

SmallVector<Value> evoformer::getDeltaSpace(TileBuilder &builder,
                                            const DeltaOperands &operands,
                                            TargetAttr target) {
  LogitShape shape = operands.getShape();
  return {shape.countBatches(builder, /*ofKeys=*/false),
          builder.index(shape.size(builder, kBiasN)),
          builder.ceilDiv(shape.size(builder, kBiasQ),
                          getQueryBlock(target, operands.output)),
          builder.index(shape.size(builder, kBiasH))};
}

namespace {
/// The kernel's program. Tiles are [1, queries, depth].
class DeltaProgram {
public:
  DeltaProgram(TileBuilder &builder, const DeltaOperands &operands,
               int64_t queryBlock, bool alignedRows)
      : builder(builder), operands(operands),
        item(findItem(queryBlock, alignedRows)) {}

  void write() {
    Value output = load(operands.output);
    Value gradient = load(operands.outputGrad);
    // sigmoid(x) = 1 / (1 + 2^(-x log2 e)): 0, not NaN, for large negative x.
    Value gate = operands.gate ? load(operands.gate) : Value();
    Value inverse =
        gate ? inverseSigmoid(gate, -llvm::numbers::log2e) : Value();
    Value terms = builder.mulf(output, gradient);
    if (operands.weightedGrad) {
      Type element =
          cast<MemRefType>(operands.weightedGrad.getType()).getElementType();
      Value weighted = builder.convert(
          gate ? builder.divf(gradient, inverse) : gradient, element);
      store(weighted, operands.weightedGrad);
      // The products of the steps that follow see the rounded gradient: their
      // difference to delta is what counts, so delta sees it as well.
      terms = ungate(output, inverse,
                     builder.convert(weighted, builder.getF32Type()));
    }
    WorkItem written = item.withWritten();
    if (operands.delta)
      builder.store(builder.reduce(ReduceKind::Add, terms, 2),
                    written.sliceStatistic(operands.delta),
                    {builder.index(0), builder.index(0)},
                    {true, written.queries.fits});
    // 1 - sigmoid(x) = sigmoid(-x), without cancellation.
    if (operands.gateGrad)
      store(builder.divf(builder.mulf(output, gradient),
                         inverseSigmoid(gate, llvm::numbers::log2e)),
            operands.gateGrad);
  }

private:
  WorkItem findItem(int64_t queryBlock, bool alignedRows) {
    Value id[4];
    for (int64_t dim = 0; dim < 4; ++dim)
      id[dim] = WorkItemIdOp::create(builder, dim);
    Value query = builder.mul(id[2], builder.index(queryBlock));
    ItemRange rows =
        ItemRange::ofBlock(builder, builder.dim(operands.output, 1), id[1], 1);
    LogitShape shape = operands.getShape();
    ItemRange queries = ItemRange::ofBlock(builder, shape.size(builder, kBiasQ),
                                           query, queryBlock);
    if (operands.lengths.ofQueries()) {
      RowCounts counts = RowCounts::load(builder, shape, id[0], id[1]);
      queries = queries.upTo(builder, counts.queries, counts.queryStart);
    }
    return {builder, alignedRows, id[0], id[3], rows, queries, {}};
  }

  /// Behind a row's last query all that has been read is 0, and so is what
  /// comes of it.
  void store(Value tile, Value memory) {
    ItemRange written = item.queries.written();
    item.store(tile, item.sliceSequence(memory, written), written);
  }

  Value load(Value memory) {
    Value slice = item.sliceSequence(memory, item.queries);
    int64_t depth = cast<MemRefType>(memory.getType()).getDimSize(4);
    return builder.convert(
        item.load(builder, slice, builder.index(0), item.queries, {0, depth}),
        builder.getF32Type());
  }

  /// 1 + 2^(factor * gate).
  Value inverseSigmoid(Value gate, double factor) {
    Value power =
        builder.exp2(builder.mulf(gate, builder.splatLike(gate, factor)));
    return builder.addf(power, builder.splatLike(power, 1));
  }

  /// The output before the gate times its gradient; nothing where the gate
  /// lets nothing through.
  Value ungate(Value output, Value inverse, Value weighted) {
    if (!inverse)
      return builder.mulf(output, weighted);
    Value terms = builder.mulf(builder.mulf(output, inverse), weighted);
    return builder.select(
        builder.equals(inverse, std::numeric_limits<double>::infinity()),
        builder.splatLike(terms, 0), terms);
  }

  TileBuilder &builder;
  const DeltaOperands &operands;
  WorkItem item;
};
} // namespace

KernelOp evoformer::createDeltaKernel(KernelFactory &factory, Location loc,
                                      const DeltaOperands &operands,
                                      bool alignedRows) {
  DeltaOperands inside = operands;
  SmallVector<Type> types;
  for (Value *operand : inside.present())
    types.push_back(operand->getType());
  int64_t queryBlock = getQueryBlock(factory.getTarget(), operands.output);
  int64_t depth = cast<MemRefType>(operands.output.getType()).getDimSize(4);
  auto schedule =
      ScheduleAttr::get(loc.getContext(), {1, queryBlock, depth},
                        {1, countSubgroups(factory.getTarget()), 1}, 1);
  return factory.create(
      loc, "delta", types, schedule,
      [&](TileBuilder &builder, ValueRange arguments) {
        for (auto [operand, argument] : llvm::zip(inside.present(), arguments))
          *operand = argument;
        DeltaProgram(builder, inside, queryBlock, alignedRows).write();
      });
}
