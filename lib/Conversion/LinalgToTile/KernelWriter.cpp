//===- KernelWriter.cpp - The kernel of a structured op -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
class KernelWriter {
public:
  KernelWriter(ImplicitLocOpBuilder &builder, StructuredOp &op, Block &body)
      : b(builder), op(op), body(body), offsets(op.kinds.size()) {}

  void write();

private:
  /// Where a tile of an operand lies: the loops of the tile in the order of the
  /// memory's dimensions, and the memory without the others.
  struct Slice {
    Value memory;
    SmallVector<unsigned> loops;
    SmallVector<Value> indices;
    SmallVector<bool> inBounds;
  };
  Slice getSlice(OpOperand &operand);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value argument(OpOperand &operand) {
    return body.getArgument(operand.getOperandNumber());
  }
  SmallVector<int64_t> getShape(ArrayRef<unsigned> loops) {
    return llvm::map_to_vector(loops,
                               [&](unsigned loop) { return op.tile[loop]; });
  }
  RankedTensorType getType(ArrayRef<unsigned> loops, Type element) {
    return RankedTensorType::get(getShape(loops), element);
  }
  Value splat(Value number, ArrayRef<unsigned> loops) {
    return tensor::SplatOp::create(b, getType(loops, number.getType()), number);
  }
  Value constant(TypedAttr number, ArrayRef<unsigned> loops) {
    auto type = getType(loops, number.getType());
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, ArrayRef<Attribute>(number)));
  }
  Value retype(Value tile, Type element);
  /// The loop's size, where it runs.
  Value getSize(unsigned loop);

  Value load(OpOperand &operand, ArrayRef<unsigned> order);
  void store(Value tile, OpOperand &operand, ArrayRef<unsigned> order);

  /// Values of the body over tiles of these loops.
  void evaluate(ArrayRef<unsigned> order);
  Value evaluate(Operation &inner, ArrayRef<unsigned> order);
  Value mask(Value tile, ReduceKind kind, ArrayRef<unsigned> order);

  void writeElementwise();
  void writeReduction();
  void writeProduct();
  /// Runs `step` in loops over all that is reduced.
  SmallVector<Value>
  reduceOver(ValueRange start,
             function_ref<SmallVector<Value>(ValueRange)> step);

  ImplicitLocOpBuilder &b;
  StructuredOp &op;
  Block &body;
  /// The first element of this step, by loop.
  SmallVector<Value> offsets;
  IRMapping values;
};
} // namespace

Value KernelWriter::retype(Value tile, Type element) {
  auto type = cast<RankedTensorType>(tile.getType());
  Type from = type.getElementType();
  auto result = type.clone(element);
  if (from == element)
    return tile;
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, result, tile);
  return arith::TruncFOp::create(b, result, tile);
}

Value KernelWriter::getSize(unsigned loop) {
  if (ShapedType::isStatic(op.sizes[loop]))
    return index(op.sizes[loop]);
  for (OpOperand &operand : op.op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    for (auto [position, expr] :
         llvm::enumerate(op.getMap(operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && dim.getPosition() == loop)
        return memref::DimOp::create(b, argument(operand),
                                     index(static_cast<int64_t>(position)));
  }
  llvm_unreachable("a loop that no operand gives a size");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

KernelWriter::Slice KernelWriter::getSlice(OpOperand &operand) {
  Value memory = argument(operand);
  auto type = cast<MemRefType>(memory.getType());
  Slice slice;
  SmallVector<OpFoldResult> starts, sizes;
  SmallVector<int64_t> kept;
  for (auto [position, expr] :
       llvm::enumerate(op.getMap(operand).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && op.tile[dim.getPosition()]) {
      unsigned loop = dim.getPosition();
      int64_t size = type.getDimSize(position), block = op.tile[loop];
      bool isWhole = ShapedType::isStatic(size) && size % block == 0;
      slice.loops.push_back(loop);
      slice.inBounds.push_back(isWhole);
      int64_t number = position;
      auto getExtent = [&]() -> Value {
        return memref::DimOp::create(b, memory, index(number));
      };
      if (op.isReduction(loop)) {
        slice.indices.push_back(offsets[loop]);
        starts.push_back(b.getIndexAttr(0));
        sizes.push_back(ShapedType::isStatic(size)
                            ? OpFoldResult(b.getIndexAttr(size))
                            : OpFoldResult(getExtent()));
        kept.push_back(size);
        continue;
      }
      // From the item's own first element: what lies beyond an end is read
      // from there, which no other item writes.
      slice.indices.push_back(index(0));
      starts.push_back(offsets[loop]);
      sizes.push_back(isWhole ? OpFoldResult(b.getIndexAttr(block))
                              : OpFoldResult(arith::SubIOp::create(
                                                 b, getExtent(), offsets[loop])
                                                 .getResult()));
      kept.push_back(isWhole ? block : ShapedType::kDynamic);
      continue;
    }
    starts.push_back(dim ? OpFoldResult(offsets[dim.getPosition()])
                         : OpFoldResult(b.getIndexAttr(0)));
    sizes.push_back(b.getIndexAttr(1));
  }
  slice.memory = memory;
  if (slice.loops.empty()) {
    for (OpFoldResult start : starts)
      slice.indices.push_back(
          getValueOrCreateConstantIndexOp(b, b.getLoc(), start));
    return slice;
  }
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      kept, type, starts, sizes, ones);
  slice.memory =
      memref::SubViewOp::create(b, reduced, memory, starts, sizes, ones);
  return slice;
}

Value KernelWriter::load(OpOperand &operand, ArrayRef<unsigned> order) {
  Type wanted = getElementTypeOrSelf(operand.get().getType());
  Value memory = argument(operand);
  if (!isa<MemRefType>(memory.getType()))
    return splat(memory, order);
  Slice slice = getSlice(operand);
  Type element = cast<MemRefType>(slice.memory.getType()).getElementType();
  Value tile;
  if (slice.loops.empty()) {
    tile = splat(memref::LoadOp::create(b, slice.memory, slice.indices), order);
  } else {
    tile = LoadOp::create(b, getType(slice.loops, element), slice.memory,
                          slice.indices, slice.inBounds, b.getZeroAttr(element),
                          IntegerAttr());
    // In the wanted order, then repeated along what is missing.
    SmallVector<unsigned> present;
    SmallVector<int64_t> permutation;
    for (unsigned loop : order) {
      auto *found = llvm::find(slice.loops, loop);
      if (found == slice.loops.end())
        continue;
      present.push_back(loop);
      permutation.push_back(found - slice.loops.begin());
    }
    if (!llvm::is_sorted(permutation))
      tile =
          TransposeOp::create(b, getType(present, element), tile, permutation);
    for (auto [position, loop] : llvm::enumerate(order)) {
      if (llvm::is_contained(present, loop))
        continue;
      present.insert(present.begin() + position, loop);
      tile = BroadcastOp::create(b, getType(present, element), tile, position);
    }
  }
  if (element == wanted)
    return tile;
  // A mask, held in bytes.
  Value zero = constant(b.getZeroAttr(element), order);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, tile, zero);
}

void KernelWriter::store(Value tile, OpOperand &operand,
                         ArrayRef<unsigned> order) {
  Slice slice = getSlice(operand);
  Type element = cast<MemRefType>(slice.memory.getType()).getElementType();
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType().isInteger(1))
    tile = arith::ExtUIOp::create(b, type.clone(element), tile);
  else if (isa<FloatType>(element))
    tile = retype(tile, element);
  SmallVector<int64_t> permutation;
  for (unsigned loop : slice.loops)
    permutation.push_back(llvm::find(order, loop) - order.begin());
  if (!llvm::is_sorted(permutation))
    tile = TransposeOp::create(b, getType(slice.loops, element), tile,
                               permutation);
  StoreOp::create(b, tile, slice.memory, slice.indices, slice.inBounds,
                  IntegerAttr());
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

Value KernelWriter::evaluate(Operation &inner, ArrayRef<unsigned> order) {
  if (auto number = dyn_cast<arith::ConstantOp>(inner))
    return constant(cast<TypedAttr>(number.getValue()), order);
  SmallVector<Value> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(values.lookup(operand));
  Type element = inner.getResult(0).getType();
  // Chips have functions of f32.
  bool isNarrow = isa<math::MathDialect>(inner.getDialect()) &&
                  isa<FloatType>(element) &&
                  element.getIntOrFloatBitWidth() < 32;
  if (isNarrow)
    for (Value &operand : operands)
      if (isa<FloatType>(getElementTypeOrSelf(operand.getType())))
        operand = retype(operand, b.getF32Type());
  Type computed = isNarrow ? b.getF32Type() : element;
  RankedTensorType type = getType(order, computed);
  auto times = [&](Value value, double factor) -> Value {
    return arith::MulFOp::create(
        b, value, constant(b.getFloatAttr(computed, factor), order));
  };
  Value result;
  if (isa<math::ExpOp>(inner)) {
    result = math::Exp2Op::create(b, times(operands[0], llvm::numbers::log2e));
  } else if (isa<math::LogOp>(inner)) {
    result = times(math::Log2Op::create(b, operands[0]), llvm::numbers::ln2);
  } else {
    // Named ops make their bodies without locations.
    Location loc =
        isa<UnknownLoc>(inner.getLoc()) ? b.getLoc() : inner.getLoc();
    OperationState state(loc, inner.getName(), operands, type,
                         inner.getAttrs());
    state.propertiesAttr = inner.getPropertiesAsAttribute();
    result = b.create(state)->getResult(0);
  }
  return isNarrow ? retype(result, element) : result;
}

void KernelWriter::evaluate(ArrayRef<unsigned> order) {
  for (OpOperand &operand : op.op->getOpOperands()) {
    BlockArgument argument = op.op.getMatchingBlockArgument(&operand);
    if (argument.use_empty() ||
        (op.hasReduction() && op.op.isDpsInit(&operand)))
      continue;
    values.map(argument, load(operand, order));
  }
  for (auto [number, value] : llvm::enumerate(op.captured))
    values.map(value, splat(body.getArgument(op.op->getNumOperands() + number),
                            order));
  for (Operation &inner : op.op.getBlock()->without_terminator())
    if (llvm::none_of(op.outputs, [&](const OutputUpdate &update) {
          return update.combiner == &inner;
        }))
      values.map(inner.getResult(0), evaluate(inner, order));
}

/// What lies beyond a loop's end counts for nothing.
Value KernelWriter::mask(Value tile, ReduceKind kind,
                         ArrayRef<unsigned> order) {
  Type element = getElementTypeOrSelf(tile.getType());
  double nothing = kind == ReduceKind::Add   ? 0
                   : kind == ReduceKind::Max ? -INFINITY
                                             : INFINITY;
  for (auto [position, loop] : llvm::enumerate(order)) {
    if (!op.isReduction(loop) || (ShapedType::isStatic(op.sizes[loop]) &&
                                  op.sizes[loop] % op.tile[loop] == 0))
      continue;
    Value place = IotaOp::create(b, getType(order, b.getI32Type()),
                                 offsets[loop], position);
    Value size = arith::IndexCastOp::create(b, b.getI32Type(), getSize(loop));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place,
                                         splat(size, order));
    tile = arith::SelectOp::create(
        b, inside, tile, constant(b.getFloatAttr(element, nothing), order));
  }
  return tile;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void KernelWriter::writeElementwise() {
  SmallVector<unsigned> order;
  for (auto [loop, block] : llvm::enumerate(op.tile))
    if (block)
      order.push_back(loop);
  evaluate(order);
  for (auto [update, output] :
       llvm::zip_equal(op.outputs, op.op.getDpsInitsMutable()))
    store(values.lookup(update.value), output, order);
}

SmallVector<Value>
KernelWriter::reduceOver(ValueRange start,
                         function_ref<SmallVector<Value>(ValueRange)> step) {
  SmallVector<Value> carried(start);
  SmallVector<scf::ForOp> loops;
  Value zero = index(0);
  for (unsigned loop = 0; loop < op.kinds.size(); ++loop) {
    if (!op.isReduction(loop))
      continue;
    Value width = index(std::max<int64_t>(op.tile[loop], 1));
    auto created = scf::ForOp::create(b, zero, getSize(loop), width, carried);
    offsets[loop] = created.getInductionVar();
    carried.assign(created.getRegionIterArgs().begin(),
                   created.getRegionIterArgs().end());
    b.setInsertionPointToStart(created.getBody());
    loops.push_back(created);
  }
  SmallVector<Value> next = step(carried);
  for (scf::ForOp created : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(created.getBody());
    scf::YieldOp::create(b, next);
    next.assign(created.result_begin(), created.result_end());
    b.setInsertionPointAfter(created);
  }
  return next;
}

void KernelWriter::writeReduction() {
  SmallVector<unsigned> order, written;
  for (auto [loop, block] : llvm::enumerate(op.tile)) {
    if (!block)
      continue;
    order.push_back(loop);
    if (!op.isReduction(loop))
      written.push_back(loop);
  }
  SmallVector<Value> start;
  auto wide = [&](Value tile) {
    Type element = getElementTypeOrSelf(tile.getType());
    return retype(tile, element.getIntOrFloatBitWidth() < 32
                            ? Type(b.getF32Type())
                            : element);
  };
  for (OpOperand &output : op.op.getDpsInitsMutable())
    start.push_back(wide(load(output, written)));
  SmallVector<Value> sums = reduceOver(start, [&](ValueRange before) {
    evaluate(order);
    SmallVector<Value> after;
    for (auto [update, old] : llvm::zip_equal(op.outputs, before)) {
      Value tile = mask(wide(values.lookup(update.value)), update.kind, order);
      SmallVector<unsigned> left(order);
      for (int64_t at = order.size() - 1; at >= 0; --at) {
        if (!op.isReduction(order[at]))
          continue;
        left.erase(left.begin() + at);
        tile = ReduceOp::create(
            b, getType(left, getElementTypeOrSelf(tile.getType())), update.kind,
            tile, at);
      }
      Operation *combined = nullptr;
      if (update.kind == ReduceKind::Add)
        combined = arith::AddFOp::create(b, old, tile);
      else if (update.kind == ReduceKind::Max)
        combined = arith::MaxNumFOp::create(b, old, tile);
      else
        combined = arith::MinNumFOp::create(b, old, tile);
      after.push_back(combined->getResult(0));
    }
    return after;
  });
  for (auto [sum, output] : llvm::zip_equal(sums, op.op.getDpsInitsMutable()))
    store(sum, output, written);
}

void KernelWriter::writeProduct() {
  unsigned m = op.product->m, n = op.product->n, k = op.product->k;
  OpOperand &a = op.op->getOpOperand(0), &factor = op.op->getOpOperand(1),
            &output = op.op->getOpOperand(2);
  SmallVector<Value> start = {retype(load(output, {m, n}), b.getF32Type())};
  SmallVector<Value> sums = reduceOver(start, [&](ValueRange before) {
    Value next =
        MmaOp::create(b, load(a, {m, k}), load(factor, {k, n}), before.front());
    return SmallVector<Value>{next};
  });
  // Lanes beyond an end have read the item's first element, which another
  // subgroup writes.
  bool isWhole = llvm::all_of(ArrayRef<unsigned>{m, n}, [&](unsigned loop) {
    return ShapedType::isStatic(op.sizes[loop]) &&
           op.sizes[loop] % op.tile[loop] == 0;
  });
  if (!isWhole && op.getSchedule().getNumSubgroups() > 1)
    BarrierOp::create(b);
  store(sums.front(), output, {m, n});
}

void KernelWriter::write() {
  int64_t extent = 0;
  for (unsigned loop = 0; loop < op.kinds.size(); ++loop) {
    if (op.isReduction(loop))
      continue;
    Value item = WorkItemIdOp::create(b, b.getIndexType(), extent++);
    offsets[loop] =
        op.tile[loop] > 1
            ? arith::MulIOp::create(b, item, index(op.tile[loop])).getResult()
            : item;
  }
  if (op.product)
    writeProduct();
  else if (op.hasReduction())
    writeReduction();
  else
    writeElementwise();
  ReturnOp::create(b);
}

KernelOp mlir::evoformer::tile::writeKernel(OpBuilder &builder, StringRef name,
                                            StructuredOp &op) {
  SmallVector<Type> types;
  for (Value operand : op.op->getOperands()) {
    Type type = operand.getType();
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && memref.getElementType().isInteger(1))
      type = MemRefType::Builder(memref).setElementType(builder.getI8Type());
    types.push_back(type);
  }
  llvm::append_range(types, ValueRange(op.captured).getTypes());
  Location loc = op.op.getLoc();
  auto kernel =
      KernelOp::create(builder, loc, name, builder.getFunctionType(types, {}));
  kernel.setScheduleAttr(op.getSchedule());
  Block &body = kernel.getBody().front();
  ImplicitLocOpBuilder inside = ImplicitLocOpBuilder::atBlockBegin(loc, &body);
  KernelWriter(inside, op, body).write();
  return kernel;
}
