//===- KeySumKernel.cpp - Sum of query-independent biases -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkItem.h"

#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// The kernel's program. Tiles are [1, keys]: one row of biases.
class KeySumProgram {
public:
  KeySumProgram(TileBuilder &builder, ArrayRef<Bias> biases,
                ValueRange arguments, bool hasMaximum, const RowKeys &rowKeys,
                ArrayRef<double> units, int64_t block, int64_t alignment)
      : builder(builder), biases(biases), shape({1, block}), units(units),
        alignment(alignment), keys(arguments.back()),
        sum(arguments[biases.size()]) {
    if (hasMaximum)
      maximum = arguments[biases.size() + 1];
    for (int64_t dim : {kBiasB, kBiasN, kBiasH})
      item.push_back(WorkItemIdOp::create(builder, dim));
    size_t next = biases.size() + (hasMaximum ? 2 : 1);
    if (rowKeys.lengths)
      length = loadLength(builder, arguments[next], item[0], item[1], keys);
    if (rowKeys.starts)
      length = Span::load(builder, arguments[next], item[0],
                          arguments[next + 1], keys)
                   .length;
    for (auto [bias, memory] : llvm::zip(biases, arguments))
      rows.push_back(rowOf(bias, memory));
  }

  void write() {
    Value reference = maximum ? findMaximum() : Value();
    SmallVector<Value> results;
    for (size_t which = 0; which < units.size(); ++which) {
      SmallVector<SliceDim> dims = {
          {builder.getIndexAttr(which), {}},
          {item[0], {}},
          {item[1], builder.getIndexAttr(1)},
          {item[2], {}},
          {builder.getIndexAttr(0), builder.dim(sum, 4)}};
      results.push_back(builder.slice(sum, dims));
    }
    // From 0 to the padded size, which is more than the number of keys only by
    // part of a block; no key at all leaves nothing to do.
    Value end = builder.index(builder.dim(sum, 4));
    builder.loop(
        builder.index(0), end, builder.index(shape[1]), {},
        [&](TileBuilder &inner, Value key, ValueRange) -> SmallVector<Value> {
          Terms terms = termsAt(inner, key);
          for (auto [result, unit] : llvm::zip_equal(results, units))
            inner.store(finish(inner, terms, reference, unit), result,
                        {inner.index(0), key}, {true}, alignment);
          return {};
        });
  }

private:
  struct Terms {
    /// Null: zero.
    Value sum;
    Value dropped;
  };

  /// [1, keys] of a bias [b, n, h, 1, keys].
  Value rowOf(const Bias &bias, Value memory) {
    SmallVector<SliceDim> dims;
    OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    for (int64_t dim : {kBiasB, kBiasN, kBiasH})
      dims.push_back(
          {bias.broadcast[dim] ? zero : OpFoldResult(item[dim]), {}});
    dims.push_back({zero, one});
    dims.push_back({zero, builder.dim(memory, kBiasK)});
    return builder.slice(memory, dims);
  }

  /// The sum of the float biases at the keys from `key` on, in f64: sums of
  /// several lowest finite numbers do not overflow, and large masks do not
  /// swallow small terms.
  Terms termsAt(TileBuilder &inner, Value key) {
    Terms terms;
    auto drop = [&](Value isDropped) {
      terms.dropped =
          terms.dropped ? arith::OrIOp::create(inner, terms.dropped, isDropped)
                        : isDropped;
    };
    Value zero = inner.index(0);
    for (auto [bias, row] : llvm::zip(biases, rows)) {
      // Beyond the last key everything is dropped.
      Type element = cast<MemRefType>(row.getType()).getElementType();
      TypedAttr padding =
          bias.isMask ? inner.getZeroAttr(element)
                      : TypedAttr(inner.getFloatAttr(element, -kInfinity));
      Value tile =
          inner.load(row, {zero, key}, shape, /*inBounds=*/{true}, padding);
      if (bias.isMask) {
        drop(arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, tile,
                                   inner.splatLike(tile, 0)));
        continue;
      }
      // Through f32: no target widens 16 to 64 bits at once.
      tile = inner.convert(tile, inner.getF32Type());
      drop(inner.equals(tile, -kInfinity));
      tile = inner.convert(tile, inner.getF64Type());
      terms.sum = terms.sum ? inner.addf(terms.sum, tile) : tile;
    }
    if (!biases.empty() && !length)
      return terms;
    // No bias tells where the keys, or those of the row, end.
    Value past =
        IotaOp::create(inner, RankedTensorType::get(shape, inner.getI32Type()),
                       inner.sub(key, length ? length : keys), 1);
    drop(arith::CmpIOp::create(inner, arith::CmpIPredicate::sge, past,
                               inner.splatLike(past, 0)));
    return terms;
  }

  /// The maximum of the finite sums of kept keys, 0 if there is none, stored
  /// and returned as a tile [1] of f64.
  Value findMaximum() {
    Value start = builder.splat(shape, builder.getF64Type(), -kInfinity);
    SmallVector<Value> maxima = builder.loop(
        builder.index(0), keys, builder.index(shape[1]), start,
        [&](TileBuilder &inner, Value key,
            ValueRange carried) -> SmallVector<Value> {
          Terms terms = termsAt(inner, key);
          Value ignored = arith::OrIOp::create(
              inner, terms.dropped, inner.equals(terms.sum, kInfinity));
          Value kept = inner.select(
              ignored, inner.splatLike(terms.sum, -kInfinity), terms.sum);
          return {inner.maxnum(carried[0], kept)};
        });
    Value largest = builder.reduce(ReduceKind::Max, maxima[0], 1);
    largest = builder.select(builder.equals(largest, -kInfinity),
                             builder.splatLike(largest, 0), largest);
    Value place = builder.slice(
        maximum,
        {{item[0], {}}, {item[1], builder.getIndexAttr(1)}, {item[2], {}}});
    builder.store(
        builder.convert(builder.saturate(largest), builder.getF32Type()), place,
        {builder.index(0)});
    return largest;
  }

  /// sum - maximum in a unit and f32, -inf for dropped keys.
  Value finish(TileBuilder &inner, const Terms &terms, Value reference,
               double unit) {
    Value result = inner.splat(shape, inner.getF32Type(), 0);
    if (reference) {
      Value relative =
          inner.subf(terms.sum, inner.broadcast(reference, {0}, shape));
      relative = inner.mulf(
          relative, inner.splatLike(relative, llvm::numbers::log2e / unit));
      // A kept key stays kept: -inf would drop it. NaN and +inf pass.
      Value lowest =
          inner.splatLike(relative, -std::numeric_limits<float>::max());
      Value below = arith::CmpFOp::create(inner, arith::CmpFPredicate::OLT,
                                          relative, lowest);
      relative = inner.select(below, lowest, relative);
      result = inner.convert(relative, inner.getF32Type());
    }
    return inner.select(terms.dropped, inner.splatLike(result, -kInfinity),
                        result);
  }

  TileBuilder &builder;
  ArrayRef<Bias> biases;
  SmallVector<int64_t, 2> shape;
  /// Binary exponents in a unit of each result.
  ArrayRef<double> units;
  int64_t alignment;
  Value keys, sum, maximum;
  /// How many of the keys the row has; null: all.
  Value length;
  SmallVector<Value, 3> item;
  SmallVector<Value> rows;
};
} // namespace

KernelOp evoformer::createKeySumKernel(KernelFactory &factory, Location loc,
                                       ArrayRef<Bias> biases, Value sum,
                                       Value maximum, const RowKeys &rowKeys,
                                       ArrayRef<double> units,
                                       int64_t keyBlock) {
  // A row is one item: what it waits for memory is the time that this takes.
  // Four keys a lane; on the CPU some vectors.
  constexpr int64_t kKeysOfLane = 4, kKeys = 512, kKeysOnCPU = 64;
  int64_t lanes = factory.getTarget().getSubgroupSize();
  bool isCPU = factory.getTarget().isCPU();
  int64_t block = isCPU ? kKeysOnCPU : kKeys;
  int64_t subgroups = isCPU ? 1 : kKeys / (kKeysOfLane * lanes);
  auto schedule =
      ScheduleAttr::get(loc.getContext(), {1, 1, block}, {1, 1, subgroups}, 1);
  SmallVector<Type> types;
  for (const Bias &bias : biases)
    types.push_back(bias.memory.getType());
  types.push_back(sum.getType());
  if (maximum)
    types.push_back(maximum.getType());
  for (Value value : rowKeys.present())
    types.push_back(value.getType());
  types.push_back(IndexType::get(loc.getContext()));
  return factory.create(loc, "key_bias", types, schedule,
                        [&](TileBuilder &builder, ValueRange arguments) {
                          KeySumProgram(builder, biases, arguments,
                                        maximum != nullptr, rowKeys, units,
                                        block, getVectorBytes(4 * keyBlock))
                              .write();
                        });
}
