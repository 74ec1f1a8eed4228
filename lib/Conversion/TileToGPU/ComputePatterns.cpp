//===- ComputePatterns.cpp - Computation on lanes ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {

/// Any elementwise op: the same op on every register vector.
struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
      return failure();
    SmallVector<Type> types;
    if (failed(
            getTypeConverter()->convertType(op->getResult(0).getType(), types)))
      return failure();
    SmallVector<Value> results;
    for (auto [i, type] : llvm::enumerate(types)) {
      SmallVector<Value> inputs;
      for (auto [range, original] : llvm::zip(operands, op->getOperands()))
        inputs.push_back(isa<RankedTensorType>(original.getType())
                             ? range[i]
                             : range.front());
      OperationState state(op->getLoc(), op->getName(), inputs, type);
      state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
      state.propertiesAttr = op->getPropertiesAsAttribute();
      results.push_back(rewriter.create(state)->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

/// A choice between 16-bit elements by one condition for a whole vector: as
/// words, half as many selects.
struct NarrowSelectPattern : OpConversionPattern<arith::SelectOp> {
  NarrowSelectPattern(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    if (!tile || tile.getElementTypeBitWidth() != 16 ||
        !isa<RankedTensorType>(op.getCondition().getType()))
      return failure();
    Location loc = op.getLoc();
    SmallVector<Value> conditions;
    for (Value condition : adaptor.getCondition()) {
      auto splat = condition.getDefiningOp<vector::BroadcastOp>();
      if (!splat || !splat.getSource().getType().isInteger(1))
        return rewriter.notifyMatchFailure(op, "conditions differ");
      conditions.push_back(splat.getSource());
    }
    auto type = cast<VectorType>(adaptor.getTrueValue().front().getType());
    if (type.getNumElements() % 2 != 0)
      return failure();
    auto words =
        VectorType::get({type.getNumElements() / 2}, rewriter.getI32Type());
    auto toWords = [&](Value value) {
      return vector::BitCastOp::create(rewriter, loc, words, value);
    };
    SmallVector<Value> results;
    for (auto [condition, whenTrue, whenFalse] :
         llvm::zip(conditions, adaptor.getTrueValue(), adaptor.getFalseValue()))
      results.push_back(vector::BitCastOp::create(
          rewriter, loc, type,
          arith::SelectOp::create(rewriter, loc, condition, toWords(whenTrue),
                                  toWords(whenFalse))));
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct ConstantPattern : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op.getType()))
      return failure();
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat)
      return rewriter.notifyMatchFailure(op, "not a splat");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    auto type = cast<VectorType>(types.front());
    Value value = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
    rewriter.replaceOpWithMultiple(op,
                                   {SmallVector<Value>(types.size(), value)});
    return success();
  }
};

struct SplatPattern : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    Value value = vector::BroadcastOp::create(rewriter, op.getLoc(),
                                              types.front(), op.getInput());
    rewriter.replaceOpWithMultiple(op,
                                   {SmallVector<Value>(types.size(), value)});
    return success();
  }
};

struct IotaPattern : KernelPattern<IotaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(IotaOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    LaneMap map = mapOf(op.getResult());
    int64_t size = map.getVectorSize();
    auto type = VectorType::get({size}, rewriter.getI32Type());
    Value start = lane.add(lane.toI32(op.getOffset()),
                           lane.getPosition(map, op.getDim()));
    std::optional<uint64_t> minus = op.getMinus();
    if (minus)
      start = arith::SubIOp::create(rewriter, op.getLoc(), start,
                                    lane.getPosition(map, *minus));
    Value base =
        vector::BroadcastOp::create(rewriter, op.getLoc(), type, start);
    SmallVector<Value> results;
    for (int64_t v = 0, e = map.getNumVectors(); v < e; ++v) {
      SmallVector<int32_t> offsets;
      for (int64_t i = 0; i < size; ++i) {
        auto offset = map.registerOffset(v * size + i);
        offsets.push_back(offset[op.getDim()] - (minus ? offset[*minus] : 0));
      }
      Value step = arith::ConstantOp::create(
          rewriter, op.getLoc(), DenseIntElementsAttr::get(type, offsets));
      // Which lets a comparison take the step's place.
      results.push_back(arith::AddIOp::create(
          rewriter, op.getLoc(), base, step, arith::IntegerOverflowFlags::nsw));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct HoldsWithinPattern : KernelPattern<HoldsWithinOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(HoldsWithinOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    LaneMap map = *getLaneMap(cast<RankedTensorType>(op.getTile()));
    Value all;
    for (auto [extent, dim] : llvm::zip_equal(op.getExtents(), op.getDims())) {
      Value start = lane.getSubgroupPosition(map, dim);
      start = arith::IndexCastOp::create(rewriter, op.getLoc(),
                                         rewriter.getIndexType(),
                                         start ? start : lane.constant(0));
      Value isBefore = arith::CmpIOp::create(
          rewriter, op.getLoc(), arith::CmpIPredicate::slt, start, extent);
      all = lane.andI(all, isBefore);
    }
    // Code generators see that all lanes get the same.
    rewriter.replaceOpWithNewOp<gpu::SubgroupReduceOp>(
        op, all, gpu::AllReduceOperation::OR, /*uniform=*/true);
    return success();
  }
};

/// The registers of the first operand, under another name.
template <typename OpTy> struct RenamePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(OpTy op,
                  typename OpConversionPattern<OpTy>::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {adaptor.getOperands().front()});
    return success();
  }
};

struct BroadcastPattern : KernelPattern<BroadcastOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    LaneMap from = mapOf(op.getSource()), to = mapOf(op.getResult());
    SmallVector<LaneElement> held = lane.elementsOf(adaptor.getSource());
    std::map<SmallVector<int64_t>, LaneElement> byOffset;
    for (auto [r, element] : llvm::enumerate(held))
      byOffset.try_emplace(from.registerOffset(r), element);
    SmallVector<LaneElement> elements;
    for (int64_t r = 0, e = to.getNumRegisters(); r < e; ++r) {
      SmallVector<int64_t> offset = to.registerOffset(r);
      offset.erase(offset.begin() + op.getDim());
      auto it = byOffset.find(offset);
      if (it == byOffset.end())
        return rewriter.notifyMatchFailure(op, "layouts do not correspond");
      elements.push_back(it->second);
    }
    rewriter.replaceOpWithMultiple(op,
                                   {lane.pack(elements, to.getVectorSize())});
    return success();
  }
};

} // namespace

/// x op y for a reduction's kind.
static Value combine(OpBuilder &builder, Location loc, ReduceKind kind, Value x,
                     Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (kind) {
  case ReduceKind::Add:
    return isFloat ? arith::AddFOp::create(builder, loc, x, y).getResult()
                   : arith::AddIOp::create(builder, loc, x, y).getResult();
  case ReduceKind::Max:
    return isFloat ? arith::MaxNumFOp::create(builder, loc, x, y).getResult()
                   : arith::MaxSIOp::create(builder, loc, x, y).getResult();
  case ReduceKind::Min:
    return isFloat ? arith::MinNumFOp::create(builder, loc, x, y).getResult()
                   : arith::MinSIOp::create(builder, loc, x, y).getResult();
  }
  return x;
}

static TypedAttr getIdentity(ReduceKind kind, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (kind == ReduceKind::Add)
      return FloatAttr::get(type, APFloat::getZero(semantics, true));
    return FloatAttr::get(type,
                          APFloat::getInf(semantics, kind == ReduceKind::Max));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = kind == ReduceKind::Add   ? APInt::getZero(width)
                : kind == ReduceKind::Max ? APInt::getSignedMinValue(width)
                                          : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(type, value);
}

static bool isOverSubgroups(const LaneMap &map, int64_t dim) {
  return llvm::any_of(map.subgroups, [&](const LayoutAxis &axis) {
    return axis.size > 1 && axis.strides[dim] != 0;
  });
}

/// What all lanes along a dimension of a tile have together.
static Value acrossLanes(LaneBuilder &lane, Location loc, ReduceKind kind,
                         int64_t dim, const LaneMap &map, Value value) {
  int64_t base = 1;
  for (const LayoutAxis &axis : map.lanes) {
    if (axis.strides[dim] != 0)
      for (int64_t step = 1; step < axis.size; step *= 2)
        value = combine(lane.builder, loc, kind, value,
                        lane.exchange(value, base * step));
    base *= axis.size;
  }
  return value;
}

namespace {
struct ReducePattern : KernelPattern<ReduceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LaneBuilder lane(rewriter, loc, kernel);
    auto type = cast<RankedTensorType>(op.getSource().getType());
    LaneMap from = mapOf(op.getSource()), to = mapOf(op.getResult());
    int64_t dim = op.getDim(), size = from.getVectorSize();
    if (isOverSubgroups(from, dim))
      return op.emitOpError("cannot reduce a dimension that is spread over "
                            "subgroups");

    SmallVector<Value> vectors(adaptor.getSource());
    if (from.getBox()[dim] > type.getDimSize(dim))
      maskPadding(lane, op, from, vectors);

    // Which result register each source register adds to.
    std::map<SmallVector<int64_t>, int64_t> resultOf;
    for (int64_t r = 0, e = to.getNumRegisters(); r < e; ++r)
      resultOf.try_emplace(to.registerOffset(r), r);
    auto target = [&](int64_t reg) {
      SmallVector<int64_t> offset = from.registerOffset(reg);
      offset.erase(offset.begin() + dim);
      return resultOf.at(offset);
    };
    // Whole vectors first: those whose elements go to the same places.
    std::map<SmallVector<int64_t>, SmallVector<Value>> groups;
    SmallVector<SmallVector<int64_t>> order;
    for (auto [v, vector] : llvm::enumerate(vectors)) {
      SmallVector<int64_t> targets;
      for (int64_t i = 0; i < size; ++i)
        targets.push_back(target(v * size + i));
      auto [it, isNew] = groups.try_emplace(targets);
      if (isNew)
        order.push_back(targets);
      it->second.push_back(vector);
    }
    SmallVector<SmallVector<Value>> partial(to.getNumRegisters());
    for (const SmallVector<int64_t> &targets : order) {
      // Sums are packed; maxima are not, but take three operands in a chain.
      if (op.getKind() != ReduceKind::Add) {
        for (Value vector : groups[targets])
          reduceVector(lane, op, vector, targets, partial);
        continue;
      }
      Value sum = tree(rewriter, op, groups[targets]);
      reduceVector(lane, op, sum, targets, partial);
    }
    SmallVector<LaneElement> elements;
    auto scalarVector = VectorType::get({1}, type.getElementType());
    for (SmallVector<Value> &parts : partial) {
      Value value = op.getKind() == ReduceKind::Add
                        ? tree(rewriter, op, parts)
                        : chains(rewriter, op, parts);
      if (!op.getHeld())
        value = acrossLanes(lane, loc, op.getKind(), op.getDim(), from, value);
      elements.emplace_back(
          vector::BroadcastOp::create(rewriter, loc, scalarVector, value), 0);
    }
    rewriter.replaceOpWithMultiple(op,
                                   {lane.pack(elements, to.getVectorSize())});
    return success();
  }

private:
  static Value tree(OpBuilder &builder, ReduceOp op, ArrayRef<Value> values) {
    SmallVector<Value> level(values);
    while (level.size() > 1) {
      SmallVector<Value> next;
      for (size_t i = 0; i + 1 < level.size(); i += 2)
        next.push_back(combine(builder, op.getLoc(), op.getKind(), level[i],
                               level[i + 1]));
      if (level.size() % 2)
        next.push_back(level.back());
      level = next;
    }
    return level.front();
  }

  /// A few independent chains: each pair of steps is one instruction of three
  /// operands where the target has it, and no chain is long.
  static Value chains(OpBuilder &builder, ReduceOp op, ArrayRef<Value> values) {
    constexpr size_t count = 4;
    SmallVector<Value> heads(values.take_front(count));
    for (size_t i = heads.size(); i < values.size(); ++i) {
      Value &head = heads[(i - count) / 2 % count];
      head = combine(builder, op.getLoc(), op.getKind(), head, values[i]);
    }
    Value result = heads.front();
    for (Value head : llvm::drop_begin(heads))
      result = combine(builder, op.getLoc(), op.getKind(), result, head);
    return result;
  }

  /// Reduces one vector's elements by target: by halves where all go to the
  /// same one (so that packed instructions apply), else one by one.
  static void reduceVector(LaneBuilder &lane, ReduceOp op, Value vector,
                           ArrayRef<int64_t> targets,
                           SmallVectorImpl<SmallVector<Value>> &partial) {
    OpBuilder &builder = lane.builder;
    Location loc = op.getLoc();
    int64_t size = targets.size();
    if (llvm::all_equal(targets) && op.getKind() == ReduceKind::Add) {
      while (size > 1 && size % 2 == 0) {
        size /= 2;
        auto low = llvm::to_vector(llvm::seq<int64_t>(0, size));
        auto high = llvm::to_vector(llvm::seq<int64_t>(size, 2 * size));
        vector = combine(
            builder, loc, op.getKind(),
            vector::ShuffleOp::create(builder, loc, vector, vector, low),
            vector::ShuffleOp::create(builder, loc, vector, vector, high));
      }
    }
    for (int64_t i = 0; i < size; ++i)
      partial[targets[i]].push_back(
          vector::ExtractOp::create(builder, loc, vector, i));
  }

  /// Replaces what lies beyond the tile along the reduced dimension by the
  /// identity.
  static void maskPadding(LaneBuilder &lane, ReduceOp op, const LaneMap &map,
                          SmallVectorImpl<Value> &vectors) {
    OpBuilder &builder = lane.builder;
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getSource().getType());
    int64_t size = map.getVectorSize(), dim = op.getDim();
    auto indexType = VectorType::get({size}, builder.getI32Type());
    Value position = lane.getPosition(map, dim);
    if (!position)
      position = lane.constant(0);
    position = vector::BroadcastOp::create(builder, loc, indexType, position);
    auto valueType = VectorType::get({size}, type.getElementType());
    Value identity = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            valueType,
            Attribute(getIdentity(op.getKind(), type.getElementType()))));
    for (auto [v, vector] : llvm::enumerate(vectors)) {
      // lane position + register offset < extent
      SmallVector<int32_t> room;
      for (int64_t i = 0; i < size; ++i)
        room.push_back(type.getDimSize(dim) -
                       map.registerOffset(v * size + i)[dim]);
      Value limit = arith::ConstantOp::create(
          builder, loc, DenseIntElementsAttr::get(indexType, room));
      Value inside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, position, limit);
      vector = arith::SelectOp::create(builder, loc, inside, vector, identity);
    }
  }
};

struct CombinePattern : KernelPattern<CombineOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(CombineOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LaneBuilder lane(rewriter, loc, kernel);
    LaneMap from = *getLaneMap(cast<RankedTensorType>(op.getSource()));
    if (isOverSubgroups(from, op.getDim()))
      return op.emitOpError("cannot add up along a dimension that is spread "
                            "over subgroups");
    SmallVector<LaneElement> elements;
    for (auto [vector, i] : lane.elementsOf(adaptor.getOwn())) {
      Value own = vector::ExtractOp::create(rewriter, loc, vector, i);
      Value sum =
          acrossLanes(lane, loc, ReduceKind::Add, op.getDim(), from, own);
      auto type = VectorType::get({1}, sum.getType());
      elements.emplace_back(
          vector::BroadcastOp::create(rewriter, loc, type, sum), 0);
    }
    int64_t size = mapOf(op.getResult()).getVectorSize();
    rewriter.replaceOpWithMultiple(op, {lane.pack(elements, size)});
    return success();
  }
};

struct MmaPattern : KernelPattern<MmaOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto cType = cast<RankedTensorType>(op.getC().getType());
    auto frag = dyn_cast_if_present<FragAttr>(cType.getEncoding());
    if (!frag)
      return rewriter.notifyMatchFailure(op, "no fragment layout");
    MatrixInstrAttr instr = frag.getInstr();
    if (op.getMultipliedType() != instr.getAType())
      return op.emitOpError("multiplies ")
             << op.getMultipliedType() << ", but " << instr.getName()
             << " multiplies " << instr.getAType()
             << "; evo-tile-split-products makes one of the other";
    // In the instruction's terms; our a and b exchange roles where the
    // orientation is transposed.
    bool swapped = frag.getDims()[0] == cType.getRank() - 1;
    ValueRange a = swapped ? adaptor.getB() : adaptor.getA();
    ValueRange b = swapped ? adaptor.getA() : adaptor.getB();
    SmallVector<Value> c(adaptor.getC());

    auto atoms = [&](Value tile, int64_t dim, int64_t atom) {
      auto type = cast<RankedTensorType>(tile.getType());
      auto layout = cast<FragAttr>(type.getEncoding());
      return llvm::divideCeil(type.getDimSize(dim),
                              atom * countSubgroups(layout, dim));
    };
    int64_t rows = frag.getDims()[0], columns = frag.getDims()[1];
    int64_t m = atoms(op.getC(), rows, instr.getM());
    int64_t n = atoms(op.getC(), columns, instr.getN());
    int64_t k = atoms(op.getA(), cType.getRank() - 1, instr.getK());
    int64_t batch = c.size() / (m * n);
    // Contraction outermost: neighbouring instructions are independent.
    for (int64_t i = 0; i < batch; ++i)
      for (int64_t kk = 0; kk < k; ++kk)
        for (int64_t nn = 0; nn < n; ++nn)
          for (int64_t mm = 0; mm < m; ++mm) {
            Value &acc = c[mm + m * (nn + n * i)];
            acc = emit(rewriter, op.getLoc(), instr, a[kk + k * (mm + m * i)],
                       b[kk + k * (nn + n * i)], acc);
          }
    rewriter.replaceOpWithMultiple(op, {c});
    return success();
  }

private:
  /// The registers of one operand, as the intrinsic takes them.
  static void appendRegisters(OpBuilder &builder, Location loc, Value vector,
                              ArrayAttr types, SmallVectorImpl<Value> &args) {
    auto vectorType = cast<VectorType>(vector.getType());
    Type first = cast<TypeAttr>(types[0]).getValue();
    if (types.size() == 1 && isa<VectorType>(first)) {
      args.push_back(first == vectorType ? vector
                                         : vector::BitCastOp::create(
                                               builder, loc, first, vector)
                                               .getResult());
      return;
    }
    // Several equal registers: cut the vector.
    auto part = dyn_cast<VectorType>(first);
    Type element = part ? part.getElementType() : first;
    int64_t width = part ? part.getNumElements() : 1;
    auto whole = VectorType::get({width * (int64_t)types.size()}, element);
    if (whole != vectorType)
      vector = vector::BitCastOp::create(builder, loc, whole, vector);
    for (int64_t i = 0, e = types.size(); i < e; ++i) {
      if (!part) {
        args.push_back(vector::ExtractOp::create(builder, loc, vector, i));
        continue;
      }
      auto mask = llvm::to_vector(llvm::seq(i * width, (i + 1) * width));
      args.push_back(
          vector::ShuffleOp::create(builder, loc, vector, vector, mask));
    }
  }

  static Value emit(OpBuilder &builder, Location loc, MatrixInstrAttr instr,
                    Value a, Value b, Value c) {
    SmallVector<Value> args;
    appendRegisters(builder, loc, a, instr.getARegs(), args);
    appendRegisters(builder, loc, b, instr.getBRegs(), args);
    appendRegisters(builder, loc, c, instr.getCRegs(), args);
    for (Attribute immediate : instr.getImmediates())
      args.push_back(
          arith::ConstantOp::create(builder, loc, cast<TypedAttr>(immediate)));
    SmallVector<Type> types;
    for (Attribute type : instr.getCRegs())
      types.push_back(cast<TypeAttr>(type).getValue());
    Type resultType =
        types.size() == 1
            ? types.front()
            : LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
    Value result = LLVM::CallIntrinsicOp::create(
                       builder, loc, resultType,
                       builder.getStringAttr(instr.getIntrinsic()), args)
                       ->getResult(0);
    if (types.size() == 1) {
      if (resultType == c.getType())
        return result;
      if (!isa<VectorType>(resultType))
        return vector::BroadcastOp::create(builder, loc, c.getType(), result);
      return vector::BitCastOp::create(builder, loc, c.getType(), result);
    }
    SmallVector<Value> parts;
    for (int64_t i = 0, e = types.size(); i < e; ++i)
      parts.push_back(LLVM::ExtractValueOp::create(builder, loc, result, i));
    return vector::FromElementsOp::create(builder, loc, c.getType(), parts);
  }
};

} // namespace

void mlir::evoformer::tile::populateComputePatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    const KernelContext &kernel) {
  MLIRContext *context = patterns.getContext();
  patterns
      .add<ElementwisePattern, NarrowSelectPattern, ConstantPattern,
           RenamePattern<SkipIdleOp>, RenamePattern<TransposeOp>, SplatPattern>(
          converter, context);
  patterns.add<IotaPattern, HoldsWithinPattern, BroadcastPattern, ReducePattern,
               CombinePattern, MmaPattern>(converter, context, kernel);
}
