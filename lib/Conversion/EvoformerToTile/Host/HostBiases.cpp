//===- HostBiases.cpp - Biases as kernels read them -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Kernels/Logits.h"
#include "HostArithmetic.h"
#include "HostBuilder.h"

#include "Evoformer/Dialect/Tile/IR/AddressableBytes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// What is prepared has whole blocks of most kernels, so that those of one
/// gradient may share it.
static int64_t getSharedBlock(int64_t keyBlock) {
  return std::lcm(keyBlock, kKeySumBlock);
}

OpFoldResult HostBuilder::padded(OpFoldResult size, int64_t block) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return builder.getIndexAttr(llvm::alignTo(*constant, block));
  return builder.roundUp(size, block);
}

/// A bias that broadcasts over the keys as one that has them, with stride 0.
Value HostBuilder::expandKeys(const Bias &bias, OpFoldResult keys) {
  if (!bias.broadcast[kBiasK])
    return bias.memory;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, bias.memory);
  SmallVector<OpFoldResult> sizes = getAsOpFoldResult(metadata.getSizes());
  SmallVector<OpFoldResult> strides = getAsOpFoldResult(metadata.getStrides());
  auto type = cast<MemRefType>(bias.memory.getType());
  for (int64_t dim = 0; dim < kBiasK; ++dim)
    if (!type.isDynamicDim(dim))
      sizes[dim] = builder.getIndexAttr(type.getDimSize(dim));
  sizes[kBiasK] = keys;
  strides[kBiasK] = builder.getIndexAttr(0);
  return memref::ReinterpretCastOp::create(builder, metadata.getBaseBuffer(),
                                           OpFoldResult(metadata.getOffset()),
                                           sizes, strides);
}

KeySum HostBuilder::prepareKeySum(const AttentionFacts &facts,
                                  ArrayRef<Bias> biases,
                                  const LogitShape &shape, int64_t keyBlock) {
  OpFoldResult keys = shape.size(builder, kBiasK);
  SmallVector<Bias> parts;
  bool hasFloat = false;
  std::array<bool, 5> broadcast = {true, true, true, true, false};
  for (const Bias &bias : biases) {
    if (!bias.broadcast[kBiasQ])
      continue;
    parts.push_back(bias);
    parts.back().memory = expandKeys(bias, keys);
    hasFloat |= !bias.isMask;
    for (int64_t dim : {kBiasB, kBiasN, kBiasH})
      broadcast[dim] &= bias.broadcast[dim];
  }
  std::optional<int64_t> fixed = getConstantIntValue(keys);
  if (parts.empty() &&
      (shape.lengths.ofKeys() || (fixed && *fixed % keyBlock == 0)))
    return {};
  // What is relative to no maximum is the same for all rows.
  RowKeys rows;
  if (hasFloat) {
    rows.lengths = shape.lengths.keys;
    rows.starts = shape.lengths.keyStarts;
  }
  if (rows.lengths)
    for (int64_t dim : {kBiasB, kBiasN})
      broadcast[dim] &=
          cast<MemRefType>(rows.lengths.getType()).getDimSize(dim) == 1;
  if (rows.starts) {
    rows.allKeys = builder.index(builder.dim(shape.key, 3));
    broadcast[kBiasB] = false;
  }

  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : {kBiasB, kBiasN, kBiasH})
    sizes.push_back(broadcast[dim] ? builder.getIndexAttr(1)
                                   : shape.size(builder, dim));
  // What drops keys and adds nothing is the same in any unit.
  SmallVector<double, 2> units = {getLogitUnit(facts)};
  if (hasFloat && mayStartFromBiases(factory.getTarget(), facts))
    units.push_back(getProductUnit(facts.scale));
  SmallVector<OpFoldResult> sumSizes = sizes;
  sumSizes.insert(sumSizes.begin(), builder.getIndexAttr(units.size()));
  sumSizes.push_back(
      padded(keys, getSharedBlock(std::lcm(keyBlock, facts.keySumBlock))));
  Value sum = allocate(sumSizes, builder.getF32Type());
  Value maximum = hasFloat ? allocate(sizes, builder.getF32Type()) : Value();

  KernelOp kernel = createKeySumKernel(factory, builder.getLoc(), parts, sum,
                                       maximum, rows, units, keyBlock);
  SmallVector<Value> arguments;
  for (const Bias &bias : parts)
    arguments.push_back(bias.memory);
  arguments.push_back(sum);
  if (maximum)
    arguments.push_back(maximum);
  llvm::append_range(arguments, rows.present());
  arguments.push_back(builder.index(keys));
  launch(builder, kernel, sizesOf(sum, {1, 2, 3}), arguments);
  Bias result = {sum, broadcast, /*isMask=*/false};
  result.isTail = parts.empty();
  return {result, maximum};
}

/// Whether whole vectors of whole key blocks can be read from a bias.
Value HostBuilder::isReadable(const Bias &bias, OpFoldResult keys,
                              int64_t keyBlock) {
  auto type = cast<MemRefType>(bias.memory.getType());
  int64_t rowBytes = keyBlock * getElementBytes(type.getElementType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, bias.memory);
  Value isRow = both(divides(keyBlock, builder.index(keys)),
                     equals(metadata.getStrides()[kBiasK], 1));
  return both(isRow, hasAlignedRows(bias.memory, getVectorBytes(rowBytes),
                                    bias.broadcast));
}

/// Whether the types tell that a bias must be copied.
static bool isNeverReadable(const Bias &bias, OpFoldResult keys,
                            int64_t keyBlock) {
  auto type = cast<MemRefType>(bias.memory.getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return true;
  std::optional<int64_t> fixed = getConstantIntValue(keys);
  return (fixed && *fixed % keyBlock != 0) ||
         (!ShapedType::isDynamic(strides[kBiasK]) && strides[kBiasK] != 1);
}

/// Whether rows share a bias that each of them would widen.
static bool mayWiden(const Bias &bias) {
  Type element = cast<MemRefType>(bias.memory.getType()).getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 &&
         bias.broadcast[kBiasN] && !bias.broadcast[kBiasQ] &&
         !bias.broadcast[kBiasK] && !bias.entries;
}

Value HostBuilder::shouldWiden(ArrayRef<Bias> biases, const LogitShape &shape,
                               const AttentionFacts &facts, Value output,
                               int64_t keyBlock) {
  constexpr int64_t kMostDepth = 32, kMostBytes = int64_t(1) << 31;
  int64_t leastRows = factory.getTarget().getWideningRows();
  int64_t depth = std::max(facts.depth, facts.valueDepth);
  const Bias *bias = llvm::find_if(biases, mayWiden);
  // A row that sees some keys reads less than what is copied; more biases, what
  // else is computed for a logit and deeper operands take the registers.
  if (leastRows == 0 || bias == biases.end() || !facts.keys.isWhole() ||
      facts.biasBytes != getElementBytes(getElementTypeOrSelf(bias->memory)) ||
      facts.score || facts.dropThreshold != 0 || !holdsWideBiases(depth) ||
      depth > kMostDepth)
    return {};
  Value copied =
      builder.mul(builder.index(padded(builder.dim(bias->memory, kBiasK),
                                       getSharedBlock(keyBlock))),
                  builder.index(sizeof(float)));
  for (int64_t dim = 0; dim < kBiasK; ++dim)
    copied = builder.mul(copied, builder.index(builder.dim(bias->memory, dim)));
  Value ofOutput =
      builder.mul(countElements(builder, output),
                  builder.index(getElementBytes(getElementTypeOrSelf(output))));
  Value all;
  for (auto [value, limit] :
       {std::pair(builder.index(leastRows),
                  builder.index(shape.size(builder, kBiasN))),
        std::pair(copied, ofOutput),
        std::pair(copied, builder.index(kMostBytes))}) {
    Value isAtMost =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ule, value, limit);
    std::optional<bool> known = evaluate(isAtMost);
    if (known == false)
      return {};
    if (!known)
      all = both(all, isAtMost);
  }
  return all ? all : arith::ConstantIntOp::create(builder, 1, 1).getResult();
}

Bias HostBuilder::prepareBias(const Bias &bias, OpFoldResult keys,
                              int64_t keyBlock, bool widens) {
  // A table is read entry by entry.
  if (bias.broadcast[kBiasK] || bias.entries)
    return bias;
  auto type = cast<MemRefType>(bias.memory.getType());
  widens &= mayWiden(bias);
  Type element = widens ? builder.getF32Type() : type.getElementType();
  Value readable = widens || isNeverReadable(bias, keys, keyBlock)
                       ? Value()
                       : isReadable(bias, keys, keyBlock);

  // As long as the bias itself, where that has whole blocks.
  std::optional<int64_t> fixed = getConstantIntValue(keys);
  int64_t copyBlock =
      fixed && *fixed % keyBlock == 0 ? keyBlock : getSharedBlock(keyBlock);
  int64_t alignment = getVectorBytes(copyBlock * getElementBytes(element));
  CopyBlocks blocks = getCopyBlocks(/*queryBlock=*/1, copyBlock);
  // An unused copy has no elements: its buffer is freed like any other.
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < kBiasK; ++dim)
    sizes.push_back(builder.dim(bias.memory, dim));
  sizes.push_back(padded(keys, copyBlock));
  Bias result = bias;
  if (!readable) {
    result.memory = allocate(sizes, element);
    launchCopy(bias, result.memory, alignment, blocks);
    return result;
  }

  SmallVector<OpFoldResult> copySizes = sizes;
  copySizes[kBiasQ] = Value(
      builder.select(readable, builder.index(0), builder.index(sizes[kBiasQ])));
  // Nothing is launched for a copy without elements.
  Value copy = allocate(copySizes, type.getElementType());
  launchCopy(bias, copy, alignment, blocks);
  SmallVector<int64_t> shape(type.getShape());
  // A copy has whole blocks.
  if (!fixed)
    shape[kBiasK] = ShapedType::kDynamic;
  auto castTo = [&](ArrayRef<int64_t> shape, int64_t lastStride, Value memory) {
    SmallVector<int64_t> strides(5, ShapedType::kDynamic);
    strides[kBiasK] = lastStride;
    auto layout = StridedLayoutAttr::get(builder.getContext(),
                                         ShapedType::kDynamic, strides);
    auto castType = MemRefType::get(shape, type.getElementType(), layout);
    return memref::CastOp::create(builder, castType, memory).getResult();
  };
  auto forget = [&](Value memory) {
    const SmallVector<int64_t> any(5, ShapedType::kDynamic);
    return castTo(any, ShapedType::kDynamic, memory);
  };
  // Only the chosen one has the sizes and strides that the type knows. No
  // branch: in hosts of many attentions CSE compares each with all on one
  // condition.
  Value original = forget(bias.memory);
  result.memory =
      castTo(shape, 1, builder.select(readable, original, forget(copy)));
  return result;
}

Bias HostBuilder::transposeBias(const Bias &bias, OpFoldResult queries,
                                int64_t queryBlock, OpFoldResult keys,
                                int64_t keyBlock, bool widens) {
  Type element = cast<MemRefType>(bias.memory.getType()).getElementType();
  if (widens && isa<FloatType>(element))
    element = builder.getF32Type();
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : {kBiasB, kBiasN, kBiasH})
    sizes.push_back(builder.dim(bias.memory, dim));
  sizes.push_back(padded(keys, keyBlock));
  sizes.push_back(padded(queries, queryBlock));
  Bias result = bias;
  result.isTransposed = true;
  result.memory = memref::TransposeOp::create(
      builder, allocate(sizes, element),
      AffineMapAttr::get(AffineMap::getPermutationMap(
          ArrayRef<int64_t>{0, 1, 2, 4, 3}, builder.getContext())));
  launchCopy(bias, result.memory,
             getVectorBytes(queryBlock * getElementBytes(element)),
             getCopyBlocks(queryBlock, keyBlock));
  return result;
}

/// Copies of f32 are twice as large as what they are made of, see
/// OffsetCheck.h.
static void assertOffsets(TileBuilder &builder, Value copy, TargetAttr target) {
  if (target.isCPU())
    return;
  Type element = cast<MemRefType>(copy.getType()).getElementType();
  Value elements = builder.mul(builder.index(builder.dim(copy, kBiasQ)),
                               builder.index(builder.dim(copy, kBiasK)));
  Value isWithin = arith::CmpIOp::create(
      builder, arith::CmpIPredicate::ule, elements,
      builder.index(getAddressableBytes(target) / getElementBytes(element)));
  if (evaluate(isWithin).value_or(false))
    return;
  std::string message;
  llvm::raw_string_ostream(message)
      << "a bias: its aligned copy of " << element
      << " must lie within 4 GiB for one batch, row and head";
  cf::AssertOp::create(builder, isWithin, message);
}

void HostBuilder::launchCopy(const Bias &bias, Value dest, int64_t alignment,
                             const CopyBlocks &blocks) {
  assertOffsets(builder, dest, factory.getTarget());
  KernelOp kernel = createCopyKernel(factory, builder.getLoc(), bias, dest,
                                     alignment, blocks);
  launch(builder, kernel, getCopySpace(builder, dest, blocks),
         ValueRange{bias.memory, dest});
}
