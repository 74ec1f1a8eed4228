//===- EvoformerToTile.cpp - From attention to tiles ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/EvoformerToTile/Passes.h"

#include "AttentionSchedule.h"
#include "HostBuilder.h"
#include "HostProgram.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Target/Targets.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_CONVERTEVOFORMERTOTILE
#include "Evoformer/Conversion/EvoformerToTile/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// `memory` without static sizes of 0: no offset, not even 0, is within a
/// dimension that the type says is empty, and slices start at offsets.
static Value hideEmptySizes(TileBuilder &builder, Value memory) {
  if (!memory)
    return {};
  auto type = cast<MemRefType>(memory.getType());
  if (!llvm::is_contained(type.getShape(), 0))
    return memory;
  SmallVector<int64_t> shape(type.getShape());
  std::replace(shape.begin(), shape.end(), int64_t(0), ShapedType::kDynamic);
  auto [strides, offset] = type.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
  auto dynamic = MemRefType::get(shape, type.getElementType(), layout,
                                 type.getMemorySpace());
  return memref::CastOp::create(builder, dynamic, memory);
}

/// `memory`, whose dimensions `order` names, as a view with dimensions in the
/// order of `letters`.
static Value transposeTo(TileBuilder &builder, Value memory, DimOrderAttr order,
                         StringRef letters) {
  memory = hideEmptySizes(builder, memory);
  SmallVector<AffineExpr> results;
  for (char letter : letters)
    results.push_back(builder.getAffineDimExpr(order.getPosition(letter)));
  auto permutation =
      AffineMap::get(results.size(), 0, results, builder.getContext());
  if (permutation.isIdentity())
    return memory;
  return memref::TransposeOp::create(builder, memory,
                                     AffineMapAttr::get(permutation));
}

/// The view [b, n, h, s, d] of an operand; the depth, whose stride the op
/// promises to be 1, has it in the type.
static Value viewSequence(TileBuilder &builder, Value memory,
                          DimOrderAttr order) {
  if (!memory)
    return {};
  return castToUnitStride(builder,
                          transposeTo(builder, memory, order, "bnhsd"));
}

namespace {
struct ConvertEvoformerToTile
    : evoformer::impl::ConvertEvoformerToTileBase<ConvertEvoformerToTile> {
  using ConvertEvoformerToTileBase::ConvertEvoformerToTileBase;

  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    FailureOr<TargetAttr> chip = findTarget();
    FailureOr<ScheduleRequest> request =
        parseSchedule(getOperation().getLoc(), schedule);
    if (failed(chip) || failed(request))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (AttentionOp op : ops)
      if (failed(convert(op, symbols, *chip, *request)))
        return signalPassFailure();
  }

  FailureOr<TargetAttr> findTarget() {
    if (!target.empty())
      return getTarget(getOperation().getLoc(), target);
    auto attribute =
        getOperation()->getAttrOfType<TargetAttr>("evo_tile.target");
    if (attribute)
      return attribute;
    return getOperation().emitError("no target: give the option 'target' or "
                                    "the module an 'evo_tile.target'");
  }

  LogicalResult convert(AttentionOp op, SymbolTable &symbols, TargetAttr chip,
                        const ScheduleRequest &request) {
    auto host = op->getParentOfType<FunctionOpInterface>();
    if (!host || host->getParentOp() != getOperation())
      return op.emitOpError("must be in a function of the module that the "
                            "pass runs on");
    if (isa<TensorType>(op.getQuery().getType()))
      return op.emitOpError(
          "is on tensors, expected memrefs: run one-shot-bufferize first");

    HostAttention attention;
    attention.facts = {op.getInputElementType(), op.getSizes().depth,
                       op.getSizes().valueDepth, op.getScaleValue()};
    FailureOr<AttentionSchedule> cut =
        chooseSchedule(op.getLoc(), host.getName(), chip, attention.facts,
                       op.getSizes().queries, request);
    if (failed(cut))
      return failure();

    TileBuilder builder(op.getLoc(), op.getContext());
    builder.setInsertionPoint(op);
    attention.query = viewSequence(builder, op.getQuery(), op.getQueryOrder());
    attention.key = viewSequence(builder, op.getKey(), op.getKeyOrder());
    attention.value = viewSequence(builder, op.getValue(), op.getValueOrder());
    attention.gate = viewSequence(builder, op.getGate(), op.getGateOrder());
    // The output's depth may have any stride.
    attention.output =
        transposeTo(builder, op.getOutput(), op.getOutputOrder(), "bnhsd");
    attention.lse = hideEmptySizes(builder, op.getLse());
    attention.stats = hideEmptySizes(builder, op.getStats());
    for (auto [i, bias] : llvm::enumerate(op.getBiases()))
      attention.biases.push_back(
          {transposeTo(builder, bias, op.getBiasOrder(i), "bnhqk"),
           op.getBiasBroadcast(i), op.isMask(i)});

    KernelFactory factory(symbols, host, chip);
    writeHostProgram(builder, factory, attention, *cut);
    op.erase();
    return success();
  }
};
} // namespace
