//===- CarryAddresses.cpp - Addresses from one iteration to the next ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToGPU/Passes.h"

#include "Evoformer/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_CARRYADDRESSES
#include "Evoformer/Conversion/TileToGPU/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
/// Whether all lanes of a subgroup compute the same.
class SharedValues {
public:
  bool isShared(Value value);
  /// Whether all lanes come to an op together.
  bool reachTogether(Operation *op);

private:
  bool isSharedArgument(BlockArgument argument);

  /// What is being looked at counts as shared: what a loop carries is, unless
  /// something else than itself says otherwise.
  DenseMap<Value, bool> known;
};

/// The addresses that a loop computes from its variable.
class AddressCarrier : private OpBuilder::Listener {
public:
  AddressCarrier(scf::ForOp loop, SharedValues &shared, int64_t subgroupSize)
      : loop(loop), outside(loop.getLoc(), loop), shared(shared),
        subgroupSize(subgroupSize) {
    outside.setListener(this);
  }

  void run() {
    carry();
    // Steps of what is not carried after all.
    for (Operation *op : llvm::reverse(made))
      if (isOpTriviallyDead(op))
        op->erase();
  }

private:
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    made.push_back(op);
  }

  void carry();
  /// By how much a value grows in each iteration, null if it stays the same;
  /// none where it does not always grow by as much.
  std::optional<Value> getStep(Value value);
  std::optional<Value> findStep(Value value);
  std::optional<Value> getOffsetStep(memref::SubViewOp view);
  bool isFixed(Value value) {
    std::optional<Value> step = getStep(value);
    return step && !*step;
  }
  /// What a value is in the first iteration, where it follows from the loop's
  /// variable and from what lies before the loop.
  bool hasStart(Value value);
  Value getStart(Value value);
  /// The same number, which the code generator can tell to be shared.
  Value broadcast(Value number);
  Value add(Value x, Value y) {
    return !x ? y : !y ? x : arith::AddIOp::create(outside, x, y).getResult();
  }

  scf::ForOp loop;
  ImplicitLocOpBuilder outside;
  SharedValues &shared;
  int64_t subgroupSize;
  /// Before the loop.
  SmallVector<Operation *> made;
  DenseMap<Value, std::optional<Value>> steps;
  IRMapping starts;
};
} // namespace

//===----------------------------------------------------------------------===//
// SharedValues
//===----------------------------------------------------------------------===//

bool SharedValues::isSharedArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<gpu::GPUFuncOp>(parent))
    return true;
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || !isShared(loop.getLowerBound()) || !isShared(loop.getStep()))
    return false;
  if (argument == loop.getInductionVar())
    return true;
  return isShared(loop.getTiedLoopInit(argument)->get()) &&
         isShared(loop.getTiedLoopYieldedValue(argument)->get()) &&
         isShared(loop.getUpperBound());
}

bool SharedValues::isShared(Value value) {
  auto [it, isNew] = known.try_emplace(value, true);
  if (!isNew)
    return it->second;
  bool result = false;
  Operation *op = value.getDefiningOp();
  if (!op)
    result = isSharedArgument(cast<BlockArgument>(value));
  else if (auto loop = dyn_cast<scf::ForOp>(op))
    result = isShared(loop.getTiedLoopRegionIterArg(cast<OpResult>(value)));
  else if (auto reduction = dyn_cast<gpu::SubgroupReduceOp>(op))
    result = !reduction.getClusterSize();
  else if (isa<arith::ArithDialect>(op->getDialect()) ||
           isa<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp,
               memref::DimOp, memref::ExtractStridedMetadataOp,
               memref::ExtractAlignedPointerAsIndexOp, memref::LoadOp,
               gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp, LLVM::ExpectOp>(
               op))
    result = op->getNumRegions() == 0 &&
             llvm::all_of(op->getOperands(),
                          [&](Value operand) { return isShared(operand); });
  // What was found while it counted as shared may rest on that.
  if (!result && !op)
    for (auto &entry : llvm::make_early_inc_range(known))
      if (entry.second)
        known.erase(entry.first);
  return known[value] = result;
}

bool SharedValues::reachTogether(Operation *op) {
  Operation *parent = op->getParentOp();
  if (isa<gpu::GPUFuncOp>(parent))
    return true;
  bool together = false;
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    together = isShared(loop.getLowerBound()) &&
               isShared(loop.getUpperBound()) && isShared(loop.getStep());
  else if (auto branch = dyn_cast<scf::IfOp>(parent))
    together = isShared(branch.getCondition());
  return together && reachTogether(parent);
}

//===----------------------------------------------------------------------===//
// AddressCarrier
//===----------------------------------------------------------------------===//

std::optional<Value> AddressCarrier::getStep(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return Value();
  auto it = steps.find(value);
  if (it == steps.end())
    it = steps.insert({value, findStep(value)}).first;
  return it->second;
}

/// Of the offset of a view in the memory that it is of.
std::optional<Value> AddressCarrier::getOffsetStep(memref::SubViewOp view) {
  if (!loop.isDefinedOutsideOfLoop(view.getSource()))
    return std::nullopt;
  Value sum;
  memref::ExtractStridedMetadataOp metadata;
  for (auto [dim, offset] : llvm::enumerate(view.getMixedOffsets())) {
    auto moving = dyn_cast<Value>(offset);
    if (!moving)
      continue;
    std::optional<Value> step = getStep(moving);
    if (!step)
      return std::nullopt;
    if (!*step)
      continue;
    if (!metadata)
      metadata =
          memref::ExtractStridedMetadataOp::create(outside, view.getSource());
    sum = add(
        sum, arith::MulIOp::create(outside, *step, metadata.getStrides()[dim]));
  }
  return sum;
}

std::optional<Value> AddressCarrier::findStep(Value value) {
  if (value == loop.getInductionVar())
    return loop.getStep();
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return std::nullopt;
  if (auto sum = dyn_cast<arith::AddIOp>(op)) {
    std::optional<Value> x = getStep(sum.getLhs()), y = getStep(sum.getRhs());
    return x && y ? std::optional(add(*x, *y)) : std::nullopt;
  }
  if (auto product = dyn_cast<arith::MulIOp>(op)) {
    for (auto [x, factor] : {std::pair(product.getLhs(), product.getRhs()),
                             std::pair(product.getRhs(), product.getLhs())}) {
      std::optional<Value> step = getStep(x);
      if (!step || !loop.isDefinedOutsideOfLoop(factor))
        continue;
      if (*step)
        step = arith::MulIOp::create(outside, *step, factor);
      return step;
    }
    return std::nullopt;
  }
  // Where both have 64 bits.
  if (auto cast = dyn_cast<arith::IndexCastOp>(op);
      cast &&
      (cast.getType().isInteger(64) || cast.getIn().getType().isInteger(64))) {
    std::optional<Value> step = getStep(cast.getIn());
    if (step && *step)
      step = arith::IndexCastOp::create(outside, cast.getType(), *step);
    return step;
  }
  if (auto pointer = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op)) {
    auto view = pointer.getSource().getDefiningOp<memref::SubViewOp>();
    if (view && loop.isDefinedOutsideOfLoop(view.getSource()))
      return Value();
    return std::nullopt;
  }
  auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op);
  auto view = metadata ? metadata.getSource().getDefiningOp<memref::SubViewOp>()
                       : memref::SubViewOp();
  if (view && value == metadata.getOffset())
    return getOffsetStep(view);
  return std::nullopt;
}

bool AddressCarrier::hasStart(Value value) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
         isPure(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return hasStart(operand);
         });
}

Value AddressCarrier::getStart(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  if (value == loop.getInductionVar())
    return loop.getLowerBound();
  if (Value known = starts.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    if (Value start = getStart(operand); start != operand)
      starts.map(operand, start);
  outside.clone(*op, starts);
  return starts.lookup(value);
}

Value AddressCarrier::broadcast(Value number) {
  if (getConstantIntValue(number))
    return number;
  Type type = number.getType();
  Type i32 = outside.getI32Type(), i64 = outside.getI64Type();
  if (type != i64)
    number = arith::IndexCastOp::create(outside, i64, number);
  Value half = arith::ConstantIntOp::create(outside, i64, 32);
  auto ofFirstLane = [&](Value word) -> Value {
    word = arith::TruncIOp::create(outside, i32, word);
    word = gpu::ShuffleOp::create(outside, word, /*offset=*/0, subgroupSize,
                                  gpu::ShuffleMode::IDX)
               .getShuffleResult();
    return arith::ExtUIOp::create(outside, i64, word);
  };
  Value low = ofFirstLane(number);
  Value high = ofFirstLane(arith::ShRUIOp::create(outside, number, half));
  number = arith::OrIOp::create(outside, low,
                                arith::ShLIOp::create(outside, high, half));
  return type == i64 ? number
                     : arith::IndexCastOp::create(outside, type, number);
}

void AddressCarrier::carry() {
  SmallVector<LLVM::IntToPtrOp> pointers;
  SmallVector<Value> first, growth;
  for (auto pointer : loop.getBody()->getOps<LLVM::IntToPtrOp>()) {
    Value address = pointer.getArg();
    if (!address.getType().isInteger(64) || !shared.isShared(address))
      continue;
    std::optional<Value> step = getStep(address);
    if (!step || !*step || !hasStart(address))
      continue;
    pointers.push_back(pointer);
    first.push_back(broadcast(getStart(address)));
    growth.push_back(*step);
  }
  if (pointers.empty())
    return;
  loop.setLowerBound(broadcast(loop.getLowerBound()));
  if (shared.isShared(loop.getUpperBound()))
    loop.setUpperBound(broadcast(loop.getUpperBound()));
  IRRewriter rewriter(loop.getContext());
  auto addSteps = [&](OpBuilder &builder, Location loc,
                      ArrayRef<BlockArgument> arguments) {
    SmallVector<Value> next;
    for (auto [argument, step] : llvm::zip_equal(arguments, growth))
      next.push_back(arith::AddIOp::create(builder, loc, argument, step));
    return next;
  };
  auto whole = cast<scf::ForOp>(
      *cast<LoopLikeOpInterface>(*loop).replaceWithAdditionalYields(
          rewriter, first, /*replaceInitOperandUsesInLoop=*/false, addSteps));
  for (auto [pointer, address] : llvm::zip_equal(
           pointers, whole.getRegionIterArgs().take_back(pointers.size())))
    pointer.getArgMutable().assign(address);
}

namespace {
struct CarryAddressesPass
    : mlir::evoformer::tile::impl::CarryAddressesBase<CarryAddressesPass> {
protected:
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>("evo_tile.target");
    if (!target || !target.hasUniformRegisters())
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      SharedValues shared;
      if (shared.reachTogether(loop))
        AddressCarrier(loop, shared, target.getSubgroupSize()).run();
    }
  }
};
} // namespace
