//===- DeferLaneSums.cpp - Sums over lanes after a loop -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToGPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_DEFERLANESUMS
#include "Evoformer/Conversion/TileToGPU/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;

namespace {
/// x + the same of another lane.
struct Exchange {
  /// From the one that reads x to the sum.
  SmallVector<Operation *> ops;
  Value x;
};

/// The sums that the elements of one carried value of a loop are.
class LaneSums {
public:
  /// Of the loop's carried value `index`.
  LaneSums(scf::ForOp loop, unsigned index) : loop(loop), index(index) {}

  /// Whether all that the loop does with it is to add what lanes exchange.
  bool match();
  void defer();

private:
  /// A number that is added.
  struct Element {
    /// Where it becomes part of what is added.
    OpOperand *use;
    /// From the last to the first.
    SmallVector<Exchange> exchanges;
  };

  bool isInvariant(Value value) {
    return loop.isDefinedOutsideOfLoop(value) ||
           matchPattern(value, m_Constant());
  }
  bool findElements(OpOperand &use, SmallVectorImpl<OpOperand *> &found);
  std::optional<Exchange> matchExchange(Value sum);
  /// What is made after the loop of what a lane has.
  Value exchange(OpBuilder &builder, const Element &element, Value own);

  scf::ForOp loop;
  unsigned index;
  arith::AddFOp add;
  SmallVector<Element> elements;
};
} // namespace

/// Whether an op does to each lane's operand the same as to any other's, or
/// exchanges them.
static bool movesNumber(Operation *op) {
  return isa<gpu::ShuffleOp, LLVM::CallIntrinsicOp, vector::BroadcastOp,
             vector::FromElementsOp, vector::BitCastOp, vector::ExtractOp,
             arith::BitcastOp>(op);
}

static bool isExchange(Operation *op) {
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin().starts_with("llvm.amdgcn.permlane");
  return isa<gpu::ShuffleOp>(op);
}

/// The uses that the elements of a vector, or a lone number, come from.
bool LaneSums::findElements(OpOperand &use,
                            SmallVectorImpl<OpOperand *> &found) {
  Value value = use.get();
  auto type = dyn_cast<VectorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!value.hasOneUse() || !op || op->getBlock() != loop.getBody())
    return false;
  if (!type) {
    found.push_back(&use);
    return true;
  }
  if (type.getRank() != 1)
    return false;
  if (isa<vector::FromElementsOp>(op) ||
      (isa<vector::BroadcastOp>(op) && type.getNumElements() == 1 &&
       !isa<VectorType>(op->getOperand(0).getType())))
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      return findElements(operand, found);
    });
  if (!isa<vector::InterleaveOp>(op))
    return false;
  SmallVector<OpOperand *> even, odd;
  if (!findElements(op->getOpOperand(0), even) ||
      !findElements(op->getOpOperand(1), odd))
    return false;
  for (auto [one, other] : llvm::zip_equal(even, odd))
    found.append({one, other});
  return true;
}

/// Whether `sum`, which only what follows reads, is an exchange.
std::optional<Exchange> LaneSums::matchExchange(Value sum) {
  auto add = sum.getDefiningOp<arith::AddFOp>();
  if (!add || add->getBlock() != loop.getBody())
    return std::nullopt;
  for (auto [x, moved] : {std::pair(add.getLhs(), add.getRhs()),
                          std::pair(add.getRhs(), add.getLhs())}) {
    Exchange result{{add}, x};
    bool isExchanged = false;
    Value value = moved;
    while (value != x) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != loop.getBody() || !movesNumber(op) ||
          !value.hasOneUse())
        break;
      // One operand is the number, or what is made of it, maybe twice.
      Value next;
      bool isOne = true;
      for (Value operand : op->getOperands()) {
        if (isInvariant(operand))
          continue;
        isOne &= !next || next == operand;
        next = operand;
      }
      if (!next || !isOne)
        break;
      isExchanged |= isExchange(op);
      result.ops.push_back(op);
      value = next;
    }
    if (value != x || !isExchanged)
      continue;
    // Nobody else reads x.
    Operation *first = result.ops.back();
    if (!llvm::all_of(x.getUsers(), [&](Operation *user) {
          return user == first || user == add;
        }))
      continue;
    std::reverse(result.ops.begin(), result.ops.end());
    return result;
  }
  return std::nullopt;
}

bool LaneSums::match() {
  BlockArgument carried = loop.getRegionIterArg(index);
  Value next = loop.getYieldedValues()[index];
  add = next.getDefiningOp<arith::AddFOp>();
  if (!add || !next.hasOneUse() || !carried.hasOneUse() ||
      *carried.user_begin() != add)
    return false;
  OpOperand &added = add->getOpOperand(add.getLhs() == carried ? 1 : 0);
  SmallVector<OpOperand *> uses;
  if (!findElements(added, uses))
    return false;
  for (OpOperand *use : uses) {
    Element element{use, {}};
    Value number = use->get();
    while (std::optional<Exchange> exchange = matchExchange(number)) {
      number = exchange->x;
      element.exchanges.push_back(*exchange);
    }
    if (element.exchanges.empty())
      return false;
    elements.push_back(element);
  }
  return true;
}

Value LaneSums::exchange(OpBuilder &builder, const Element &element,
                         Value own) {
  for (const Exchange &exchange : llvm::reverse(element.exchanges)) {
    IRMapping mapping;
    mapping.map(exchange.x, own);
    for (Operation *op : exchange.ops) {
      for (Value operand : op->getOperands())
        if (!mapping.contains(operand) && !loop.isDefinedOutsideOfLoop(operand))
          builder.clone(*operand.getDefiningOp(), mapping);
      own = builder.clone(*op, mapping)->getResult(0);
    }
  }
  return own;
}

void LaneSums::defer() {
  Value start = loop.getInitArgs()[index], result = loop.getResult(index);
  OpBuilder builder(loop);
  Location loc = add.getLoc();
  bool startsAtZero = matchPattern(start, m_AnyZeroFloat());
  if (!startsAtZero)
    loop.getInitArgsMutable()[index].assign(arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(start.getType())));
  SmallVector<OpOperand *> uses = llvm::map_to_vector(
      result.getUses(), [](OpOperand &use) { return &use; });

  builder.setInsertionPointAfter(loop);
  auto type = dyn_cast<VectorType>(result.getType());
  SmallVector<Value> sums;
  for (auto [number, element] : llvm::enumerate(elements)) {
    Value own = type ? vector::ExtractOp::create(builder, loc, result, number)
                           .getResult()
                     : result;
    sums.push_back(exchange(builder, element, own));
  }
  Value sum =
      type
          ? vector::FromElementsOp::create(builder, loc, type, sums).getResult()
          : sums.front();
  if (!startsAtZero)
    sum = arith::AddFOp::create(builder, loc, start, sum);
  for (OpOperand *use : uses)
    use->set(sum);

  // In the loop, what each lane has.
  for (const Element &element : elements) {
    element.use->set(element.exchanges.back().x);
    for (const Exchange &exchange : element.exchanges)
      for (Operation *op : llvm::reverse(exchange.ops))
        op->erase();
  }
}

namespace {
struct DeferLaneSumsPass
    : mlir::evoformer::tile::impl::DeferLaneSumsBase<DeferLaneSumsPass> {
protected:
  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index) {
        LaneSums sums(loop, index);
        if (sums.match())
          sums.defer();
      }
    });
  }
};
} // namespace
