//===- HeadGradientHost.cpp - Gradients by heads --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeadGradientHost.h"

#include "GradientLaunch.h"
#include "HostArithmetic.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

void evoformer::writeHeadProgram(TileBuilder &builder, KernelFactory &factory,
                                 const AttentionFacts &facts,
                                 const GradientOperands &given,
                                 const GradientSchedule &schedule,
                                 int64_t partialSumBytes,
                                 function_ref<void(TileBuilder &)> apart) {
  HostBuilder host(builder, factory);
  TargetAttr target = factory.getTarget();
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < 5; ++dim)
    sizes.push_back(builder.dim(given.queryGrad, dim));
  auto sizeOf = [&](int64_t dim) { return builder.index(sizes[dim]); };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(builder, predicate, x, y).getResult();
  };
  Value items = getProduct(builder, {sizeOf(0), sizeOf(1), sizeOf(2)});
  Value isEnough = compare(arith::CmpIPredicate::uge, items,
                           builder.index(getWantedItems(target)));
  bool hasOneBlock = schedule.attr.getProducts() == ProductScope::Handed;
  Value queries = builder.roundUp(sizes[3], schedule.blocks.queries);
  // Each block of keys adds to what is stored behind the last one. One that has
  // all of them needs no memory, and should have most.
  Value keys = builder.index(builder.dim(given.key, 3)), fits, hasKeys;
  if (hasOneBlock) {
    constexpr int64_t kShare = 3;
    fits = compare(arith::CmpIPredicate::ule, keys,
                   builder.index(schedule.blocks.keys));
    hasKeys =
        compare(arith::CmpIPredicate::ugt, keys,
                builder.index(schedule.blocks.keys * (kShare - 1) / kShare));
  } else {
    Value bytes =
        getProduct(builder, {items, queries, sizeOf(4), builder.index(4)});
    fits = compare(arith::CmpIPredicate::ule, bytes,
                   getPartBudget(builder, given, partialSumBytes));
    hasKeys = compare(arith::CmpIPredicate::ne, keys, builder.index(0));
  }
  Value isByHeads = host.both(host.both(isEnough, fits), hasKeys);
  auto write = [&](TileBuilder &at, bool isByHeads) {
    if (!isByHeads)
      return apart(at);
    HostBuilder inside(at, factory);
    GradientOperands operands = given;
    // Whole blocks.
    SmallVector<OpFoldResult> ofSums = sizes;
    ofSums[3] = queries;
    if (!hasOneBlock)
      operands.querySums = inside.allocate(ofSums, at.getF32Type());
    operands =
        prepareOperands(at, inside, target, facts, operands, schedule.blocks);
    GradientLaunch(inside, factory, facts, operands, schedule)
        .write(at, operands);
    inside.freeAll();
  };
  host.writeVariants(builder, isByHeads, write);
}
