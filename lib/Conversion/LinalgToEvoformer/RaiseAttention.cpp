//===- RaiseAttention.cpp - Decomposed attention becomes the op -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/LinalgToEvoformer/Passes.h"

#include "BuildAttention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_RAISEATTENTION
#include "Evoformer/Conversion/LinalgToEvoformer/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

static constexpr StringLiteral kPass = "evoformer-raise-attention";

/// How far after the second product a gate or a division is looked for.
static constexpr size_t kMaxChain = 32;

//===----------------------------------------------------------------------===//
// Where an attention may end
//===----------------------------------------------------------------------===//

/// Asking for a size is no use of what a tensor holds.
static bool usesElements(Operation *user) { return !isa<tensor::DimOp>(user); }

/// The only op that uses a tensor's elements.
static Operation *getOnlyUser(Value tensor) {
  Operation *only = nullptr;
  for (Operation *user : tensor.getUsers()) {
    if (!usesElements(user) || user == only)
      continue;
    if (only)
      return nullptr;
    only = user;
  }
  return only;
}

/// What is computed from a tensor alone, element by element or as a view.
static Value getFollowing(Value tensor) {
  Operation *user = getOnlyUser(tensor);
  if (!user || user->getBlock() != tensor.getParentBlock() ||
      user->getNumResults() != 1 ||
      !isa<RankedTensorType>(user->getResult(0).getType()))
    return {};
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(user))
    return user->getResult(0);
  auto structured = dyn_cast<linalg::LinalgOp>(user);
  bool isElementwise = structured ? structured.hasPureTensorSemantics() &&
                                        structured.getNumReductionLoops() == 0
                                  : OpTrait::hasElementwiseMappableTraits(user);
  return isElementwise ? user->getResult(0) : Value();
}

static bool mayBeSecondProduct(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op.getNumReductionLoops() != 0 && op.getNumDpsInputs() >= 2;
}

/// The product first, then what its result alone becomes.
static SmallVector<Value> getEnds(linalg::LinalgOp product) {
  SmallVector<Value> ends = {product->getResult(0)};
  while (ends.size() < kMaxChain) {
    Value next = getFollowing(ends.back());
    if (!next)
      break;
    ends.push_back(next);
  }
  return ends;
}

//===----------------------------------------------------------------------===//
// Other uses
//===----------------------------------------------------------------------===//

/// Whether the scores, or anything computed from them on the way to `root`, is
/// needed once `root` is gone.
static bool isNeededElsewhere(const AttentionForm &form) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Operation *> work = {form.scoreOp};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (op == form.root.getDefiningOp() || !seen.insert(op).second)
      continue;
    if (!isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>())
      return true;
    for (Operation *user : op->getUsers())
      if (usesElements(user))
        work.push_back(user);
  }
  return false;
}

/// Whether an operand of the new op is computed from what it replaces.
static bool dependsOn(AttentionOp op, Operation *replaced) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Value> work(op->getOperands());
  while (!work.empty()) {
    Operation *producer = work.pop_back_val().getDefiningOp();
    if (!producer || !seen.insert(producer).second)
      continue;
    if (producer == replaced)
      return true;
    // Nothing before it computes from it.
    if (producer->getBlock() == replaced->getBlock() &&
        producer->isBeforeInBlock(replaced))
      continue;
    producer->walk([&](Operation *inner) {
      llvm::append_range(work, inner->getOperands());
    });
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class RaiseAttention
    : public evoformer::impl::RaiseAttentionBase<RaiseAttention> {
public:
  using RaiseAttentionBase::RaiseAttentionBase;

protected:
  void runOnOperation() override;

private:
  /// Whether the product is gone, with what led to it.
  bool raise(linalg::LinalgOp product, const RaiseSettings &settings);
  std::optional<BuiltAttention> raiseAt(Value root,
                                        const RaiseSettings &settings,
                                        std::optional<Refused> &refused);
  void eraseUnused(Operation *op);

  llvm::SmallPtrSet<Operation *, 32> erased;
};
} // namespace

/// Erases an op that nothing uses and what nothing uses then.
void RaiseAttention::eraseUnused(Operation *op) {
  llvm::SmallSetVector<Operation *, 16> work;
  work.insert(op);
  while (!work.empty()) {
    Operation *unused = work.pop_back_val();
    if (!isOpTriviallyDead(unused))
      continue;
    for (Value operand : unused->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        work.insert(producer);
    unused->walk([&](Operation *inner) { erased.insert(inner); });
    unused->erase();
  }
}

std::optional<BuiltAttention>
RaiseAttention::raiseAt(Value root, const RaiseSettings &settings,
                        std::optional<Refused> &refused) {
  ExpressionReader reader;
  FailureOr<AttentionForm> form = recognise(reader, root, settings, refused);
  if (failed(form))
    return std::nullopt;
  FailureOr<Letters> letters = assignLetters(reader, *form, refused);
  if (failed(letters))
    return std::nullopt;
  if (isNeededElsewhere(*form)) {
    refused = Refused{Refusal::Used, form->scoreOp->getLoc()};
    return std::nullopt;
  }
  OpBuilder builder(root.getDefiningOp());
  FailureOr<BuiltAttention> built =
      buildAttention(reader, builder, *form, *letters, refused);
  if (failed(built))
    return std::nullopt;
  if (!dependsOn(built->op, form->scoreOp))
    return *built;
  refused = Refused{Refusal::Used, form->scoreOp->getLoc()};
  eraseUnused(built->result.getDefiningOp());
  return std::nullopt;
}

bool RaiseAttention::raise(linalg::LinalgOp product,
                           const RaiseSettings &settings) {
  std::optional<Refused> reported;
  SmallVector<Value> ends = getEnds(product);
  for (Value root : llvm::reverse(ends)) {
    std::optional<Refused> refused;
    std::optional<BuiltAttention> built = raiseAt(root, settings, refused);
    if (built) {
      AttentionOp op = built->op;
      remark::passed(op.getLoc(),
                     remark::RemarkOpts::name("raised").category(kPass))
          << remark::metric("biases",
                            static_cast<int64_t>(op.getBiases().size()))
          << remark::metric("gate", op.getGate() ? "yes" : "no");
      Operation *replaced = root.getDefiningOp();
      root.replaceAllUsesWith(built->result);
      eraseUnused(replaced);
      return true;
    }
    // Of several attempts that which came furthest.
    if (refused && (!reported || refused->refusal > reported->refusal))
      reported = refused;
  }
  if (reported)
    remark::missed(reported->loc,
                   remark::RemarkOpts::name(raising::getName(reported->refusal))
                       .category(kPass))
        << remark::metric("reason",
                          raising::getMessage(reported->refusal).str());
  return false;
}

void RaiseAttention::runOnOperation() {
  RaiseSettings settings{rowsWithoutKeys == "zero", dropBelow, roundWeights};
  if (!settings.zeroRowsWithoutKeys && rowsWithoutKeys != "same") {
    getOperation()->emitError("rows-without-keys must be 'same' or 'zero', "
                              "but is '")
        << rowsWithoutKeys << "'";
    return signalPassFailure();
  }
  SmallVector<linalg::LinalgOp> products;
  getOperation()->walk([&](linalg::LinalgOp op) {
    if (mayBeSecondProduct(op))
      products.push_back(op);
  });
  erased.clear();
  for (linalg::LinalgOp product : llvm::reverse(products))
    if (!erased.contains(product))
      raise(product, settings);
}
