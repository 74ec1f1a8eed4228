//===- GradientHost.cpp - The host side of a gradient ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientHost.h"

#include "../Schedules/FittedCosts.h"
#include "GradientLaunch.h"
#include "HostArithmetic.h"
#include "SumMemory.h"

#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {
/// Into how many parts sums are cut, and the steps of each; null where there is
/// one.
struct PartCount {
  Value parts, steps;
};
} // namespace

/// The gradients that an item may sum a part of: that of a bias, and those of
/// keys and values that queries share.
static SmallVector<Value *, 2> getSums(GradientOperands &operands,
                                       const AttentionFacts &facts) {
  SmallVector<Value *, 2> sums;
  if (operands.biasGrad.memory) {
    if (llvm::is_contained(operands.biasGrad.broadcast, true))
      sums.push_back(&operands.biasGrad.memory);
  } else if (facts.shared.any()) {
    for (Value *memory : {&operands.keyGrad, &operands.valueGrad})
      if (*memory)
        sums.push_back(memory);
  }
  return sums;
}

/// Where the kernel has fewer work items than fill a chip, its sums are cut.
/// The cut follows from sizes and the target alone, so that results do not
/// depend on a device's number of processors; parts take at most
/// `partialSumBytes`, or where that is -1 the memory of the gradients of query,
/// key and value.
static PartCount countParts(TileBuilder &builder,
                            const GradientOperands &operands,
                            const AttentionFacts &facts,
                            const GradientSchedule &schedule, TargetAttr target,
                            ArrayRef<Value *> sums, int64_t partialSumBytes) {
  if (sums.empty() || partialSumBytes == 0)
    return {};
  const AttentionBlocks &blocks = schedule.blocks;
  Value items = atLeastOne(
      builder,
      getProduct(builder, getGradientSpace(builder, operands, blocks, facts)));
  Value steps = atLeastOne(
      builder,
      getProduct(builder, operands.biasGrad.memory
                              ? countBiasSteps(builder, operands, blocks)
                              : countSharers(builder, operands.getShape(),
                                             facts.shared)));
  Value memory = getPartBudget(builder, operands, partialSumBytes);
  Value elements;
  for (Value *sum : sums) {
    Value count = countElements(builder, *sum);
    elements = elements ? builder.add(elements, count) : count;
  }
  Value ofPart = atLeastOne(builder, builder.mul(elements, builder.index(4)));
  constexpr int64_t kMostTurns = 3;
  int64_t atOnce = target.getProcessors() * schedule.attr.getResident();
  Value most =
      atMost(builder, arith::DivUIOp::create(builder, memory, ofPart), steps);
  Value parts =
      atOnce ? fillTurns(builder, items, atOnce, kMostTurns, Turns::Few, most)
             : ceilDiv(builder, builder.index(getWantedItems(target)), items);
  parts = atLeastOne(builder, atMost(builder, parts, most));
  // Whole parts, none of them empty.
  Value length = ceilDiv(builder, steps, parts);
  return {ceilDiv(builder, steps, length), length};
}

/// Where sequences have no query at all, a kernel that owns queries has no
/// items, though the gradients of biases that it stores have elements: then
/// these are sums of no parts, zeros.
static void clearWithoutQueries(TileBuilder &builder, HostBuilder &host,
                                KernelFactory &factory,
                                const GradientOperands &operands) {
  OpFoldResult queries = builder.dim(operands.query, 3);
  if (!operands.lengths.isRagged() ||
      getConstantIntValue(queries).value_or(0) != 0)
    return;
  Value zero = builder.index(0);
  Value isEmpty = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        builder.index(queries), zero);
  for (const Bias &gradient : operands.logitGrads) {
    SmallVector<OpFoldResult> sizes = {zero};
    for (int64_t dim = 0; dim < 5; ++dim)
      sizes.push_back(builder.dim(gradient.memory, dim));
    Value none = host.allocate(sizes, builder.getF32Type());
    PartSumOperands sum = {none, gradient.memory};
    KernelOp kernel = createPartSumKernel(factory, builder.getLoc(), sum);
    SmallVector<Value> space =
        getPartSumSpace(builder, sum, factory.getTarget());
    space.front() = builder.select(isEmpty, space.front(), zero);
    host.launch(builder, kernel, space, getPresent(sum));
  }
}

/// Whether a kernel of another cut is to run in the usual one's place.
static Value isCutBetter(TileBuilder &builder, KernelFactory &factory,
                         const AttentionFacts &facts,
                         const GradientOperands &operands,
                         const AttentionBlocks &usual, const SizedCut &cut) {
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, predicate, a, b);
  };
  auto countBlocks = [&](int64_t queries) {
    return builder.ceilDiv(operands.getShape().size(builder, kBiasQ), queries);
  };
  auto countItems = [&](const AttentionBlocks &blocks) {
    return getProduct(builder,
                      getGradientSpace(builder, operands, blocks, facts));
  };
  const AttentionBlocks &blocks = cut.schedule.blocks;
  Value processors = builder.index(factory.getTarget().getProcessors());
  switch (cut.use) {
  case CutUse::FewItems:
    return compare(arith::CmpIPredicate::ult, countItems(usual), processors);
  case CutUse::ShortEnds: {
    // An odd number of halves leaves half of a whole block empty. Of long rows
    // that is less than what it costs to read keys for half the queries.
    Value halves = countBlocks(blocks.queries);
    Value isOdd =
        compare(arith::CmpIPredicate::ne,
                arith::RemUIOp::create(builder, halves, builder.index(2)),
                builder.index(0));
    return arith::AndIOp::create(builder, isOdd,
                                 compare(arith::CmpIPredicate::ule, halves,
                                         builder.index(fitted::kMostHalves)));
  }
  case CutUse::FullBlocks: {
    // What blocks of all groups and blocks of one hold, in queries of one.
    int64_t groups = fitted::kSharedKeysGroups;
    Value count = countBlocks(blocks.queries);
    Value held = builder.mul(count, builder.index(groups));
    Value ofOne = countBlocks(blocks.queries / groups);
    Value areFull = compare(arith::CmpIPredicate::eq, held, ofOne);
    Value areMany = compare(arith::CmpIPredicate::uge, count,
                            builder.index(fitted::kManyBlocks));
    Value areNearlyFull =
        compare(arith::CmpIPredicate::ule,
                builder.mul(held, builder.index(fitted::kMostHeldOf)),
                builder.mul(ofOne, builder.index(fitted::kMostHeld)));
    // There are never more items than parts of a single step make.
    Value most = builder.mul(
        countItems(blocks),
        getProduct(builder, countBiasSteps(builder, operands, blocks)));
    Value holdEnough = arith::OrIOp::create(
        builder, areFull,
        arith::AndIOp::create(builder, areMany, areNearlyFull));
    return arith::AndIOp::create(
        builder, holdEnough,
        compare(arith::CmpIPredicate::uge, most, processors));
  }
  }
  return {};
}

/// Of a kernel of one cut, whose sums items may share.
static void writeCut(TileBuilder &builder, KernelFactory &factory,
                     const AttentionFacts &facts,
                     const GradientOperands &operands, GradientLaunch &kernel,
                     int64_t partialSumBytes) {
  GradientOperands ofParts = operands;
  SmallVector<Value *, 2> sums = getSums(ofParts, facts);
  PartCount parts = countParts(builder, operands, facts, kernel.getSchedule(),
                               factory.getTarget(), sums, partialSumBytes);
  if (!parts.parts)
    return kernel.write(builder, operands);
  HostBuilder host(builder, factory);
  // An unused buffer has no elements: it is freed like any other.
  Value isOne = arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                                      parts.parts, builder.index(1));
  Value count = builder.select(isOne, builder.index(0), parts.parts);
  SmallVector<PartSumOperands, 2> added;
  for (Value *sum : sums) {
    SmallVector<OpFoldResult> sizes = {count};
    for (int64_t dim = 0; dim < 5; ++dim)
      sizes.push_back(builder.dim(*sum, dim));
    PartSumOperands &one = added.emplace_back();
    one.sum = *sum;
    one.parts = *sum = host.allocate(sizes, builder.getF32Type());
    if (!operands.biasGrad.memory && operands.lengths.isRagged()) {
      one.keyStarts = operands.lengths.keyStarts;
      one.mostKeys = operands.lengths.mostKeys;
    }
  }
  ofParts.stepsOfPart = parts.steps;
  scf::IfOp::create(
      builder, isOne,
      [&](OpBuilder &nested, Location loc) {
        TileBuilder inner(loc, nested);
        kernel.write(inner, operands);
        scf::YieldOp::create(inner);
      },
      [&](OpBuilder &nested, Location loc) {
        TileBuilder inner(loc, nested);
        kernel.write(inner, ofParts);
        for (const PartSumOperands &sum : added)
          launchPartSum(inner, host, factory, sum);
        scf::YieldOp::create(inner);
      });
  host.freeAll();
}

static void writeLaunches(TileBuilder &builder, KernelFactory &factory,
                          const AttentionFacts &facts,
                          const GradientOperands &given,
                          const GradientSchedules &schedules,
                          int64_t partialSumBytes, bool widens) {
  HostBuilder host(builder, factory);
  const AttentionBlocks &usual = schedules.usual.blocks;
  GradientOperands operands = prepareOperands(
      builder, host, factory.getTarget(), facts, given, usual, widens);
  SmallVector<Value> conditions;
  std::vector<GradientLaunch> launches;
  for (const SizedCut &cut : schedules.cuts) {
    launches.emplace_back(host, factory, facts, operands, cut.schedule);
    Value isBetter = isCutBetter(builder, factory, facts, operands, usual, cut);
    // Blocks of many queries are for boxes.
    if (cut.use == CutUse::FullBlocks && evaluate(isBetter).value_or(true))
      isBetter = host.both(isBetter, launches.back().hasAlignedDepths());
    conditions.push_back(isBetter);
  }
  launches.emplace_back(host, factory, facts, operands, schedules.usual);
  host.writeFirst(builder, conditions, [&](TileBuilder &at, size_t number) {
    writeCut(at, factory, facts, operands, launches[number], partialSumBytes);
  });
  clearWithoutQueries(builder, host, factory, operands);
  host.freeAll();
}

void evoformer::writeGradientProgram(TileBuilder &builder,
                                     KernelFactory &factory,
                                     const AttentionFacts &facts,
                                     const GradientOperands &given,
                                     const GradientSchedules &schedules,
                                     int64_t partialSumBytes) {
  HostBuilder host(builder, factory);
  GradientOperands operands = given;
  // Other kernels read a bias once for many rows, or transposed.
  Value widens;
  if (getGradientKind(given) == GradientKind::Query)
    widens = host.shouldWiden(given.biases, given.getShape(), facts,
                              given.queryGrad, schedules.usual.blocks.keys);
  // Both ways read one key sum.
  if (widens)
    operands.keySum = host.prepareKeySum(facts, given.biases, given.getShape(),
                                         schedules.usual.blocks.keys)
                          .sum;
  host.writeVariants(builder, widens, [&](TileBuilder &at, bool widens) {
    writeLaunches(at, factory, facts, operands, schedules, partialSumBytes,
                  widens);
  });
  host.freeAll();
}

void evoformer::writeDeltaProgram(TileBuilder &builder, KernelFactory &factory,
                                  const DeltaOperands &operands) {
  HostBuilder host(builder, factory);
  auto launchVariant = [&](TileBuilder &at, bool alignedRows) {
    DeltaOperands variant = operands;
    if (alignedRows)
      for (Value *memory : {&variant.weightedGrad, &variant.gateGrad})
        if (*memory)
          *memory = castToUnitStride(at, *memory);
    KernelOp kernel =
        createDeltaKernel(factory, at.getLoc(), variant, alignedRows);
    host.launch(at, kernel, getDeltaSpace(at, variant, factory.getTarget()),
                getPresent(variant));
  };
  Value aligned = host.hasAlignedDepths(
      {operands.gate, operands.output, operands.outputGrad,
       operands.weightedGrad, operands.gateGrad});
  host.writeVariants(builder, aligned, launchVariant);
}
