//===- SlabGradientHost.cpp - Gradients by slabs of logits' ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlabGradientHost.h"

#include "GradientLaunch.h"
#include "HostArithmetic.h"
#include "SumMemory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <numeric>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// Each kernel of a slab has at least one in so many of the items that fill a
/// chip well: one wave of workgroups.
static constexpr int64_t kItemShare = 4;

/// Slabs take at most one in so many bytes of the gradients of query, key and
/// value.
static constexpr int64_t kSlabShare = 3;

namespace {
/// Rows of one b: what a slab is of.
struct SlabRows {
  TileBuilder &b;
  Value batch, first, count;

  /// These of a memory whose dimensions `leading`, which broadcasts where it
  /// says, and the next are b and n.
  Value of(Value memory, int64_t leading = 0,
           std::array<bool, 2> broadcast = {false, false}) const {
    if (!memory)
      return {};
    int64_t rank = cast<MemRefType>(memory.getType()).getRank();
    SmallVector<SliceDim> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      dims.push_back({b.getIndexAttr(0), b.dim(memory, dim)});
    if (!broadcast[0])
      dims[leading] = {batch, b.getIndexAttr(1)};
    if (!broadcast[1])
      dims[leading + 1] = {first, count};
    return b.slice(memory, dims);
  }
  Bias of(Bias bias, int64_t leading = 0) const {
    bias.memory = of(bias.memory, leading,
                     {bias.broadcast[kBiasB], bias.broadcast[kBiasN]});
    return bias;
  }
  GradientOperands of(GradientOperands operands) const {
    for (Value *memory :
         {&operands.query, &operands.key, &operands.value,
          &operands.weightedGrad, &operands.delta, &operands.queryGrad,
          &operands.keyGrad, &operands.valueGrad})
      *memory = of(*memory);
    operands.stats = of(operands.stats, /*leading=*/1);
    operands.keySum = of(operands.keySum, /*leading=*/1);
    for (Bias &bias : operands.biases)
      bias = of(bias);
    return operands;
  }
};

/// Writes the launches.
class SlabProgram {
public:
  SlabProgram(TileBuilder &builder, KernelFactory &factory,
              const AttentionFacts &facts, const SlabGradients &gradients)
      : builder(builder), factory(factory), facts(facts), gradients(gradients) {
    LogitShape shape = gradients.ofKeyValue.getShape();
    batch = builder.index(shape.size(builder, kBiasB));
    rows = builder.index(shape.size(builder, kBiasN));
    heads = builder.index(shape.size(builder, kBiasH));
    numKeys = shape.size(builder, kBiasK);
    const AttentionBlocks &first = gradients.keyValueSchedule.blocks,
                          &second = gradients.querySchedule.blocks;
    slabKeys = builder.roundUp(numKeys, std::lcm(first.keys, second.keys));
    slabQueries = builder.roundUp(shape.size(builder, kBiasQ),
                                  std::lcm(first.queries, second.queries));
    sumBatch = gradients.ofBias.broadcast[kBiasB] ? builder.index(1) : batch;
  }

  /// Finds the rows of a slab; gives whether slabs are worth while.
  Value findRows(int64_t partialSumBytes) {
    Value logits = getProduct(builder, {heads, slabKeys, slabQueries});
    Value budget =
        getPartBudget(builder, gradients.ofKeyValue, partialSumBytes);
    if (partialSumBytes < 0)
      budget =
          arith::DivUIOp::create(builder, budget, builder.index(kSlabShare));
    Value ofSum =
        builder.mul(getProduct(builder, {sumBatch, logits}), builder.index(4));
    budget = builder.sub(budget, atMost(builder, budget, ofSum));
    Value ofRow =
        builder.mul(logits, builder.index(getElementBytes(facts.elementType)));
    Value held =
        arith::DivUIOp::create(builder, budget, atLeastOne(builder, ofRow));
    Value itemsOfRow = builder.mul(
        heads,
        builder.ceilDiv(numKeys, gradients.keyValueSchedule.blocks.keys));
    int64_t atOnce =
        factory.getTarget().getProcessors() *
        std::max<int64_t>(gradients.keyValueSchedule.attr.getResident(), 1);
    Value most = atLeastOne(builder, atMost(builder, held, rows));
    slabRows = most;
    if (atOnce) {
      // Those whose workgroups take turns that are full; more gain nothing.
      constexpr int64_t kMostTurns = 4;
      Value full = fillTurns(builder, atLeastOne(builder, itemsOfRow), atOnce,
                             kMostTurns, Turns::Many, most);
      slabRows = atLeastOne(builder, atMost(builder, full, most));
    }
    // As many in each slab. The step of a loop that does not run is not 0.
    Value slabs = ceilDiv(builder, atLeastOne(builder, rows), slabRows);
    slabRows = atLeastOne(builder, ceilDiv(builder, rows, slabs));
    Value items = builder.mul(most, itemsOfRow);
    Value isEnough = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::uge, items,
        builder.index(getWantedItems(factory.getTarget()) / kItemShare));
    // An item's offsets within a slab have 32 bits.
    Value isNear = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::ule,
        getProduct(builder,
                   {slabKeys, slabQueries,
                    builder.index(getElementBytes(facts.elementType))}),
        builder.index(int64_t(1) << 31));
    Value isThere = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::ne,
        getProduct(builder, {batch, rows, held}), builder.index(0));
    HostBuilder host(builder, factory);
    return host.both(host.both(isEnough, isNear), isThere);
  }

  void write(TileBuilder &inner) {
    HostBuilder host(inner, factory);
    GradientOperands ofKeyValue = prepareOperands(
        inner, host, factory.getTarget(), facts, gradients.ofKeyValue,
        gradients.keyValueSchedule.blocks);
    // It reads the keys and the slab.
    GradientOperands ofQuery = ofKeyValue;
    ofQuery.keyGrad = ofQuery.valueGrad = ofQuery.delta = {};
    ofQuery.queryGrad = gradients.ofQuery.queryGrad;
    GradientLaunch keyValues(host, factory, facts, ofKeyValue,
                             gradients.keyValueSchedule);
    GradientLaunch queries(host, factory, facts, ofQuery,
                           gradients.querySchedule);
    OpFoldResult one = inner.getIndexAttr(1);
    slab = host.allocate({one, slabRows, heads, slabKeys, slabQueries},
                         facts.elementType);
    sum = host.allocate({sumBatch, one, heads, slabKeys, slabQueries},
                        inner.getF32Type());
    Value zero = inner.index(0);
    Value step = inner.index(1);
    inner.forEach(zero, batch, step, [&](TileBuilder &outer, Value at) {
      outer.forEach(zero, rows, slabRows, [&](TileBuilder &b, Value first) {
        Value count = atMost(b, b.sub(rows, first), slabRows);
        SlabRows chosen = {b, at, first, count};
        auto launch = [&](GradientLaunch &kernel, GradientOperands operands) {
          operands = chosen.of(operands);
          operands.slab = SlabRows{b, zero, zero, count}.of(slab);
          kernel.write(b, operands);
        };
        launch(keyValues, ofKeyValue);
        launch(queries, ofQuery);
        addSlab(b, host, chosen);
      });
    });
    finishBias(inner, host);
    host.freeAll();
  }

private:
  /// `memory` [.., h, k, q], contiguous, as [parts, b, 1, h, x, y].
  Value asParts(TileBuilder &b, Value memory, Value parts, Value batches,
                bool transposed) {
    Value ofHead = b.mul(slabKeys, slabQueries), ofPart = b.mul(heads, ofHead);
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    SmallVector<OpFoldResult> sizes = {parts, batches, one, heads};
    SmallVector<OpFoldResult> strides = {ofPart, ofPart, ofPart, ofHead};
    if (transposed) {
      sizes.append({slabQueries, slabKeys});
      strides.append({one, slabQueries});
    } else {
      sizes.append({slabKeys, slabQueries});
      strides.append({slabQueries, one});
    }
    return memref::ReinterpretCastOp::create(b, memory, zero, sizes, strides);
  }

  /// Adds a slab's rows to the sum that is theirs, which the first ones start.
  void addSlab(TileBuilder &b, HostBuilder &host, const SlabRows &chosen) {
    bool isShared = gradients.ofBias.broadcast[kBiasB];
    Value zero = b.index(0);
    PartSumOperands operands;
    operands.parts = asParts(b, slab, chosen.count, b.index(1),
                             /*transposed=*/false);
    operands.sum =
        SlabRows{b, isShared ? zero : chosen.batch, zero, b.index(1)}.of(sum);
    operands.areWhole = true;
    Value place = isShared ? b.add(chosen.batch, chosen.first) : chosen.first;
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place, zero);
    host.writeVariants(b, isFirst, [&](TileBuilder &at, bool isFirst) {
      operands.isAdded = !isFirst;
      launchPartSum(at, host, factory, operands);
    });
  }

  void finishBias(TileBuilder &b, HostBuilder &host) {
    PartSumOperands operands;
    operands.parts = asParts(b, sum, b.index(1), sumBatch, /*transposed=*/true);
    operands.sum = gradients.ofBias.memory;
    launchPartSum(b, host, factory, operands);
  }

  TileBuilder &builder;
  KernelFactory &factory;
  const AttentionFacts &facts;
  const SlabGradients &gradients;
  Value batch, rows, heads;
  OpFoldResult numKeys;
  /// Of a slab: in whole blocks of every kernel.
  Value slabKeys, slabQueries, slabRows;
  /// How many sums of the bias's gradient there are.
  Value sumBatch;
  Value slab, sum;
};
} // namespace

void evoformer::writeSlabProgram(TileBuilder &builder, KernelFactory &factory,
                                 const AttentionFacts &facts,
                                 const SlabGradients &gradients,
                                 int64_t partialSumBytes,
                                 function_ref<void(TileBuilder &)> apart) {
  SlabProgram program(builder, factory, facts, gradients);
  Value isWorth = program.findRows(partialSumBytes);
  HostBuilder(builder, factory)
      .writeVariants(builder, isWorth, [&](TileBuilder &at, bool bySlabs) {
        bySlabs ? program.write(at) : apart(at);
      });
}
