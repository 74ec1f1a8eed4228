//===- HostProgram.cpp - The host side of an attention ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostProgram.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {
class HostProgram {
public:
  HostProgram(TileBuilder &builder, KernelFactory &factory,
              const HostAttention &attention, const AttentionSchedule &schedule)
      : builder(builder), factory(factory), attention(attention),
        schedule(schedule) {}

  void write() {
    operands.query = attention.query;
    operands.key = attention.key;
    operands.value = attention.value;
    operands.gate = attention.gate;
    operands.output = attention.output;
    operands.lse = attention.lse;
    operands.stats = attention.stats;
    keys = builder.dim(attention.key, 3);
    prepareKeySum();
    for (const Bias &bias : attention.biases)
      if (!bias.broadcast[kBiasQ])
        operands.biases.push_back(prepareBias(bias));
    launchAttention();
    for (Value buffer : buffers)
      memref::DeallocOp::create(builder, buffer);
  }

private:
  /// A buffer for the program's life. Vectors of any target may read it whole.
  Value allocate(ArrayRef<OpFoldResult> sizes, Type element) {
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    for (OpFoldResult size : sizes) {
      std::optional<int64_t> constant = getConstantIntValue(size);
      shape.push_back(constant.value_or(ShapedType::kDynamic));
      if (!constant)
        dynamic.push_back(cast<Value>(size));
    }
    Value buffer =
        memref::AllocOp::create(builder, MemRefType::get(shape, element),
                                dynamic, builder.getI64IntegerAttr(64));
    buffers.push_back(buffer);
    return buffer;
  }

  OpFoldResult paddedKeys() {
    if (std::optional<int64_t> constant = getConstantIntValue(keys))
      return builder.getIndexAttr(
          llvm::alignTo(*constant, schedule.blocks.keys));
    return builder.roundUp(keys, schedule.blocks.keys);
  }

  SmallVector<Value> sizesOf(Value memref, ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t dim) {
      return builder.index(builder.dim(memref, dim));
    });
  }

  void launch(KernelOp kernel, ValueRange space, ValueRange arguments) {
    LaunchOp::create(builder, kernel.getSymName(), space, arguments);
  }

  /// A bias that broadcasts over the keys as one that has them, with stride 0.
  Value expandKeys(const Bias &bias) {
    if (!bias.broadcast[kBiasK])
      return bias.memory;
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, bias.memory);
    SmallVector<OpFoldResult> sizes = getAsOpFoldResult(metadata.getSizes());
    SmallVector<OpFoldResult> strides =
        getAsOpFoldResult(metadata.getStrides());
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

  /// The sum of all query-independent biases, which also marks the keys beyond
  /// the last one; not needed where there is neither.
  void prepareKeySum() {
    SmallVector<Bias> parts;
    bool hasFloat = false;
    std::array<bool, 5> broadcast = {true, true, true, true, false};
    for (const Bias &bias : attention.biases) {
      if (!bias.broadcast[kBiasQ])
        continue;
      parts.push_back(bias);
      parts.back().memory = expandKeys(bias);
      hasFloat |= !bias.isMask;
      for (int64_t dim : {kBiasB, kBiasN, kBiasH})
        broadcast[dim] &= bias.broadcast[dim];
    }
    std::optional<int64_t> fixed = getConstantIntValue(keys);
    if (parts.empty() && fixed && *fixed % schedule.blocks.keys == 0)
      return;

    SmallVector<OpFoldResult> sizes;
    for (int64_t dim : {kBiasB, kBiasN, kBiasH})
      sizes.push_back(broadcast[dim] ? builder.getIndexAttr(1)
                                     : builder.dim(attention.query, dim));
    SmallVector<OpFoldResult> sumSizes = sizes;
    sumSizes.push_back(paddedKeys());
    Value sum = allocate(sumSizes, builder.getF32Type());
    Value maximum = hasFloat ? allocate(sizes, builder.getF32Type()) : Value();
    operands.keySum = {sum, broadcast, false};
    operands.keyMax = maximum;

    KernelOp kernel = createKeySumKernel(factory, builder.getLoc(), parts, sum,
                                         maximum, schedule.blocks.keys);
    SmallVector<Value> arguments;
    for (const Bias &bias : parts)
      arguments.push_back(bias.memory);
    arguments.push_back(sum);
    if (maximum)
      arguments.push_back(maximum);
    arguments.push_back(builder.index(keys));
    launch(kernel, sizesOf(sum, {0, 1, 2}), arguments);
  }

  Value equals(Value value, int64_t expected) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, value,
                                 builder.index(expected));
  }
  Value divides(int64_t factor, Value value) {
    return equals(arith::RemUIOp::create(builder, value, builder.index(factor)),
                  0);
  }
  Value both(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    return arith::AndIOp::create(builder, a, b);
  }

  /// Whether the rows of a memref along its innermost dimension start at
  /// multiples of `alignment` bytes. Strides of the dimensions in `ignored` are
  /// never used. Null: always.
  Value hasAlignedRows(Value memory, int64_t alignment,
                       ArrayRef<bool> ignored = {}) {
    auto type = cast<MemRefType>(memory.getType());
    int64_t bytes = getElementBytes(type.getElementType());
    if (alignment <= bytes)
      return {};
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, memory);
    address = builder.add(
        address, builder.mul(metadata.getOffset(), builder.index(bytes)));
    Value all = divides(alignment, address);
    for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
      if (ignored.empty() || !ignored[dim])
        all = both(all, divides(alignment / bytes, metadata.getStrides()[dim]));
    return all;
  }

  /// Whether whole vectors of whole key blocks can be read from a bias.
  Value isReadable(const Bias &bias) {
    auto type = cast<MemRefType>(bias.memory.getType());
    int64_t rowBytes =
        schedule.blocks.keys * getElementBytes(type.getElementType());
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, bias.memory);
    Value isRow = both(divides(schedule.blocks.keys, builder.index(keys)),
                       equals(metadata.getStrides()[kBiasK], 1));
    return both(isRow, hasAlignedRows(bias.memory, getVectorBytes(rowBytes),
                                      bias.broadcast));
  }

  /// Whether the types tell that a bias must be copied.
  bool isNeverReadable(const Bias &bias) {
    auto type = cast<MemRefType>(bias.memory.getType());
    int64_t offset;
    SmallVector<int64_t> strides;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return true;
    std::optional<int64_t> fixed = getConstantIntValue(keys);
    return (fixed && *fixed % schedule.blocks.keys != 0) ||
           (!ShapedType::isDynamic(strides[kBiasK]) && strides[kBiasK] != 1);
  }

  /// A bias with rows that whole vectors of whole key blocks can read: itself
  /// or, where a guard finds that it has none, a copy.
  Bias prepareBias(const Bias &bias) {
    if (bias.broadcast[kBiasK])
      return bias;
    auto type = cast<MemRefType>(bias.memory.getType());
    Value readable = isNeverReadable(bias) ? Value() : isReadable(bias);

    // An unused copy has no elements: its buffer is freed like any other.
    SmallVector<OpFoldResult> sizes;
    for (int64_t dim = 0; dim < kBiasK; ++dim)
      sizes.push_back(builder.dim(bias.memory, dim));
    sizes.push_back(paddedKeys());
    Bias result = bias;
    if (!readable) {
      result.memory = allocate(sizes, type.getElementType());
      launchCopy(builder, bias, result.memory);
      return result;
    }

    SmallVector<OpFoldResult> copySizes = sizes;
    copySizes[kBiasQ] = Value(builder.select(readable, builder.index(0),
                                             builder.index(sizes[kBiasQ])));
    Value copy = allocate(copySizes, type.getElementType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<int64_t> strides(5, ShapedType::kDynamic);
    strides[kBiasK] = 1;
    auto either =
        MemRefType::get(shape, type.getElementType(),
                        StridedLayoutAttr::get(builder.getContext(),
                                               ShapedType::kDynamic, strides));
    auto choice = scf::IfOp::create(
        builder, readable,
        [&](OpBuilder &nested, Location loc) {
          Value view = memref::CastOp::create(nested, loc, either, bias.memory);
          scf::YieldOp::create(nested, loc, view);
        },
        [&](OpBuilder &nested, Location loc) {
          TileBuilder inner(loc, nested);
          launchCopy(inner, bias, copy);
          Value view = memref::CastOp::create(inner, either, copy);
          scf::YieldOp::create(inner, view);
        });
    result.memory = choice.getResult(0);
    return result;
  }

  void launchCopy(TileBuilder &at, const Bias &bias, Value dest) {
    CopyBlocks blocks = getCopyBlocks(schedule.blocks.keys);
    KernelOp kernel = createCopyKernel(factory, builder.getLoc(), bias, dest,
                                       schedule.blocks.keys);
    SmallVector<Value> space;
    for (int64_t dim : {kBiasB, kBiasN, kBiasH})
      space.push_back(at.index(at.dim(bias.memory, dim)));
    space.push_back(at.ceilDiv(at.dim(bias.memory, kBiasQ), blocks.queries));
    space.push_back(at.ceilDiv(keys, blocks.keys));
    LaunchOp::create(at, kernel.getSymName(), space,
                     ValueRange{bias.memory, dest});
  }

  /// Whether all rows of depths are contiguous and start where whole vectors
  /// do. Null: always.
  Value hasAlignedDepths() {
    Value all;
    for (Value memory : {operands.query, operands.key, operands.value,
                         operands.gate, operands.output}) {
      if (!memory)
        continue;
      auto type = cast<MemRefType>(memory.getType());
      int64_t rowBytes =
          type.getDimSize(4) * getElementBytes(type.getElementType());
      all = both(all, hasAlignedRows(memory, getVectorBytes(rowBytes)));
    }
    // Only the output's depth may have any stride.
    if (all && !hasUnitStride(operands.output)) {
      auto metadata =
          memref::ExtractStridedMetadataOp::create(builder, operands.output);
      all = both(all, equals(metadata.getStrides()[4], 1));
    }
    return all;
  }

  void launchVariant(TileBuilder &at, AttentionOperands operands,
                     bool alignedRows) {
    if (alignedRows)
      operands.output = castToUnitStride(at, operands.output);
    KernelOp kernel = createAttentionKernel(
        factory, at.getLoc(), attention.facts, operands, schedule.blocks,
        alignedRows, schedule.getAttr(at.getContext()));
    auto arguments = llvm::map_to_vector(
        operands.present(), [](Value *operand) { return *operand; });
    LaunchOp::create(at, kernel.getSymName(),
                     getAttentionSpace(at, operands, schedule.blocks),
                     arguments);
  }

  /// Alignment is never assumed: a guard picks the variant. Where vectors may
  /// lie anywhere, as on the CPU, one serves all.
  void launchAttention() {
    bool matters = factory.getTarget().getSubgroupSize() > 1;
    Value aligned = matters ? hasAlignedDepths() : Value();
    if (!aligned)
      return launchVariant(builder, operands, /*alignedRows=*/false);
    scf::IfOp::create(
        builder, aligned,
        [&](OpBuilder &nested, Location loc) {
          TileBuilder inner(loc, nested);
          launchVariant(inner, operands, /*alignedRows=*/true);
          scf::YieldOp::create(inner);
        },
        [&](OpBuilder &nested, Location loc) {
          TileBuilder inner(loc, nested);
          launchVariant(inner, operands, /*alignedRows=*/false);
          scf::YieldOp::create(inner);
        });
  }

  TileBuilder &builder;
  KernelFactory &factory;
  const HostAttention &attention;
  const AttentionSchedule &schedule;
  AttentionOperands operands;
  OpFoldResult keys;
  SmallVector<Value> buffers;
};
} // namespace

bool evoformer::hasUnitStride(Value memory) {
  int64_t offset;
  SmallVector<int64_t> strides;
  auto type = cast<MemRefType>(memory.getType());
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

Value evoformer::castToUnitStride(TileBuilder &builder, Value memory) {
  int64_t offset;
  SmallVector<int64_t> strides;
  auto type = cast<MemRefType>(memory.getType());
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      !ShapedType::isDynamic(strides.back()))
    return memory;
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
  MemRefType result = MemRefType::Builder(type).setLayout(layout);
  return memref::CastOp::create(builder, result, memory);
}

void evoformer::writeHostProgram(TileBuilder &builder, KernelFactory &factory,
                                 const HostAttention &attention,
                                 const AttentionSchedule &schedule) {
  HostProgram(builder, factory, attention, schedule).write();
}
