//===- JointGradients.cpp - Steps that share a recomputation --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointGradients.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::evoformer;

using Role = AttentionOperand;

bool evoformer::readSame(AttentionGradientOp a, AttentionGradientOp b,
                         Role role) {
  return llvm::equal(a.getRoleOperands(role), b.getRoleOperands(role),
                     [&](OpOperand &x, OpOperand &y) {
                       return x.get() == y.get() &&
                              (!hasOrder(role) ||
                               a.getOperandOrder(x) == b.getOperandOrder(y));
                     });
}

/// Whether what they read is the same, delta aside, which only one may need.
static bool haveEqualInputs(AttentionGradientOp a, AttentionGradientOp b) {
  if (a.getScaleValue() != b.getScaleValue() ||
      a.getGroupSizeOrOne() != b.getGroupSizeOrOne() ||
      !(a.getKeyRange() == b.getKeyRange()) ||
      a.getDropoutPAttr() != b.getDropoutPAttr() ||
      a.getWeightsAttr() != b.getWeightsAttr() ||
      a->getNumRegions() != b->getNumRegions())
    return false;
  for (auto [x, y] : llvm::zip_equal(a->getRegions(), b->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &x, &y, OperationEquivalence::Flags::IgnoreLocations))
      return false;
  for (Role role :
       {Role::Query, Role::Key, Role::Value, Role::Bias, Role::Capture,
        Role::KeyLengths, Role::QueryLengths, Role::Dropout, Role::KeysFrom,
        Role::KeysTo, Role::WeightedGradient, Role::Stats, Role::Delta}) {
    if (role == Role::Delta && (!a.getDelta() || !b.getDelta()))
      continue;
    if (!readSame(a, b, role))
      return false;
  }
  return true;
}

namespace {
/// What a group of steps asks for.
struct Wanted {
  bool query = false, keys = false, summedBias = false;

  /// Takes a step in, if one kernel can do it with the others.
  bool add(AttentionGradientOp op) {
    Wanted next = *this;
    auto join = [](bool &has, bool more) {
      bool fits = !(has && more);
      has |= more;
      return fits;
    };
    if (!join(next.query, op.getQueryGrad() != nullptr) ||
        !join(next.keys, op.getKeyGrad() || op.getValueGrad()))
      return false;
    for (int64_t bias : op.getBiasGradients()) {
      // Another derivative.
      if (op.isCapture(bias))
        return false;
      if (op.getQueryGrad() && op.isLogitGradient(bias))
        continue;
      std::array<bool, 5> summed = op.getSummedDims(bias);
      if (summed[3] || summed[4] || !join(next.summedBias, true))
        return false;
    }
    *this = next;
    return true;
  }
};
} // namespace

SmallVector<AttentionGradientOp>
evoformer::findJointGradients(AttentionGradientOp first) {
  SmallVector<AttentionGradientOp> joint = {first};
  // An item has one head of one row, where all that share keys sum up.
  if (first.getGroupSize() != 1 ||
      llvm::is_contained(family::getSharedKeyDims(first), true))
    return joint;
  Wanted wanted;
  if (!wanted.add(first))
    return joint;
  for (Operation *next = first->getNextNode(); next;
       next = next->getNextNode()) {
    if (auto op = dyn_cast<AttentionGradientOp>(next)) {
      if (!op.hasPureBufferSemantics() || !haveEqualInputs(first, op))
        break;
      // Another step neither reads nor writes what these write.
      if (wanted.add(op))
        joint.push_back(op);
      continue;
    }
    // All are computed where the last one is, behind what checks its sizes.
    if (!isMemoryEffectFree(next) && !isa<memref::AllocOp, cf::AssertOp>(next))
      break;
  }
  // Without a gradient of values alone every kernel needs delta, if any does.
  bool hasDelta = llvm::any_of(joint, [](AttentionGradientOp op) {
    return op.getDelta() != nullptr || op.getWeightsAttr();
  });
  if (!wanted.keys || !hasDelta)
    joint.resize(1);
  return joint;
}
