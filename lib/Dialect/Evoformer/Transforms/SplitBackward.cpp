//===- SplitBackward.cpp - The steps of a gradient ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/Transforms/Passes.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "Evoformer/Dialect/Evoformer/Transforms/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;

using Role = AttentionOperand;

namespace {
/// An operand of a step: a value with its order (null: the default or none).
struct StepOperand {
  Role role;
  Value value;
  DimOrderAttr order;
  /// Of a bias's gradient.
  int64_t bias = 0;
};

/// Where gradients of biases are computed: each from a recomputation of its
/// own; from that for the query's where that is expected to be faster; or
/// wherever possible.
enum class BiasPlaces { Apart, Auto, WithQuery };

/// Splits one op.
class Splitter {
public:
  Splitter(RewriterBase &rewriter, AttentionBackwardOp op, BiasPlaces places)
      : rewriter(rewriter), op(op), places(places),
        onTensors(op.hasPureTensorSemantics()) {}

  void run() {
    rewriter.setInsertionPoint(op);
    results.assign(op->getNumResults(), Value());
    createDelta();
    SmallVector<OpOperand *> withQuery, apart;
    bool hasSummed = false;
    for (OpOperand &init : op.getRoleOperands(Role::BiasGradient)) {
      bool joins = joinsQuery(init);
      // One of those that are summed.
      if (!joins && !hasSummed)
        joins = hasSummed = mayJoinQuery(init);
      (joins ? withQuery : apart).push_back(&init);
    }
    // First, so that parts of their sums may lie where the others are not yet.
    // Those of captures have other derivatives: what shares a recomputation
    // follows them.
    for (bool ofCaptures : {true, false})
      for (OpOperand *init : apart)
        if (op.isCapture(getBias(*init)) == ofCaptures)
          createGradient({}, init);
    createGradient({Role::QueryGradient}, withQuery);
    createGradient({Role::KeyGradient, Role::ValueGradient});
    for (Value buffer : buffers)
      memref::DeallocOp::create(rewriter, op.getLoc(), buffer);
    if (onTensors)
      rewriter.replaceOp(op, results);
    else
      rewriter.eraseOp(op);
  }

private:
  bool wants(Role role) { return !op.getRoleOperands(role).empty(); }

  int64_t getBias(OpOperand &biasGradient) {
    return op.getBiasGradients()[op.getOperandRole(biasGradient).second];
  }

  /// Whether a bias's gradient comes from the recomputation for the query's.
  bool joinsQuery(OpOperand &biasGradient) {
    return places != BiasPlaces::Apart && wants(Role::QueryGradient) &&
           !op.isCapture(getBias(biasGradient)) &&
           op.isLogitGradient(getBias(biasGradient));
  }

  /// Whether a bias's gradient, which is summed, may come from there: its
  /// kernel has all keys in a tile.
  bool mayJoinQuery(OpOperand &biasGradient) {
    std::array<bool, 5> summed = op.getSummedDims(getBias(biasGradient));
    return places == BiasPlaces::WithQuery && wants(Role::QueryGradient) &&
           !op.isCapture(getBias(biasGradient)) && !summed[3] && !summed[4] &&
           ShapedType::isStatic(op.getSizes().keys);
  }

  /// A destination for an intermediate.
  Value allocate(ArrayRef<OpFoldResult> sizes, Type element) {
    if (onTensors)
      return tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, element);
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResults(sizes, dynamic, shape);
    Value buffer = memref::AllocOp::create(
        rewriter, op.getLoc(), MemRefType::get(shape, element), dynamic,
        rewriter.getI64IntegerAttr(64));
    buffers.push_back(buffer);
    return buffer;
  }

  StepOperand forward(OpOperand &operand) {
    return {op.getOperandRole(operand).first, operand.get(),
            op.getOperandOrder(operand)};
  }
  void forwardAll(Role role, SmallVectorImpl<StepOperand> &step) {
    for (OpOperand &operand : op.getRoleOperands(role))
      step.push_back(forward(operand));
  }

  /// Creates a step with these operands; remembers what replaces results of
  /// the whole. `OpTy` has its operands in the order of its groups.
  template <typename OpTy> OpTy create(ArrayRef<StepOperand> operands) {
    SmallVector<Value> values;
    SmallVector<Type> types;
    SmallVector<DimOrderAttr> orders;
    SmallVector<int64_t> biasGradients;
    ArrayRef<AttentionGroup> groups = OpTy::getGroups();
    SmallVector<int32_t> segments(groups.size(), 0);
    auto sequence = DimOrderAttr::getSequence(op.getContext());
    for (auto [group, entry] : llvm::enumerate(groups)) {
      for (const StepOperand &operand : operands) {
        if (operand.role != entry.role)
          continue;
        ++segments[group];
        values.push_back(operand.value);
        if (hasOrder(entry.role))
          orders.push_back(operand.order ? operand.order : sequence);
        if (entry.isInit() && onTensors)
          types.push_back(operand.value.getType());
        if (entry.role == Role::BiasGradient)
          biasGradients.push_back(operand.bias);
      }
    }
    OperationState state(op.getLoc(), OpTy::getOperationName(), values, types,
                         {});
    auto &properties = state.getOrAddProperties<typename OpTy::Properties>();
    properties.operand_orders = family::makeOrders(op.getContext(), orders);
    llvm::copy(segments, properties.operandSegmentSizes.begin());
    if constexpr (std::is_same_v<OpTy, AttentionGradientOp>) {
      properties.bias_gradients = rewriter.getDenseI64ArrayAttr(biasGradients);
      properties.scale = op.getScaleAttr();
      properties.group_size = op.getGroupSizeAttr();
      properties.keys_from = op.getKeysFromAttr();
      properties.keys_to = op.getKeysToAttr();
      properties.dropout_p = op.getDropoutPAttr();
      properties.weights = op.getWeightsAttr();
      if (Block *score = op.getScoreBody())
        writeScoreGradient(*score, *state.addRegion(),
                           getDifferentiated(biasGradients));
    }
    return cast<OpTy>(rewriter.create(state));
  }

  /// Which argument of the score a step's derivative is by: its capture's,
  /// which has a step of its own, or the first.
  unsigned getDifferentiated(ArrayRef<int64_t> biasGradients) {
    if (biasGradients.empty() || !op.isCapture(biasGradients.front()))
      return 0;
    return kNumScoreArguments + biasGradients.front() - op.getBiases().size();
  }

  /// The result of a step for one of its destinations; itself on memrefs.
  template <typename OpTy>
  Value getResult(OpTy step, Role role, unsigned number = 0) {
    OpOperand &init = step.getRoleOperands(role)[number];
    return onTensors ? Value(step.getTiedOpResult(&init)) : init.get();
  }
  template <typename OpTy>
  void replace(OpTy step, Role role, OpOperand &init, unsigned number = 0) {
    if (onTensors)
      results[op.getTiedOpResult(&init).getResultNumber()] =
          getResult(step, role, number);
  }

  void createDelta() {
    bool needsLogits = wants(Role::QueryGradient) || wants(Role::KeyGradient) ||
                       wants(Role::BiasGradient);
    // A divisor that is no function of the logits has no gradient.
    bool needsDelta = needsLogits && !op.getWeightsAttr();
    bool needsWeighted = needsLogits || wants(Role::ValueGradient);
    // With neither gate nor another type the output's gradient serves.
    Type element = op.getInputElementType();
    bool makesWeighted =
        needsWeighted &&
        (op.getGate() ||
         getElementTypeOrSelf(op.getOutputGrad().getType()) != element);
    weighted = forward(op.getOutputGradMutable());
    weighted.role = Role::WeightedGradient;
    if (!needsDelta && !makesWeighted && !op.getGateGrad())
      return;

    SmallVector<StepOperand> step;
    SmallVector<OpFoldResult> sizes =
        op.getStatisticSizes(rewriter, op.getLoc());
    if (makesWeighted || op.getGateGrad())
      forwardAll(Role::Gate, step);
    for (Role role : {Role::QueryLengths, Role::QueryStarts, Role::MostQueries})
      forwardAll(role, step);
    forwardAll(Role::Output, step);
    forwardAll(Role::OutputGradient, step);
    if (needsDelta)
      step.push_back({Role::Delta, allocate(sizes, rewriter.getF32Type()), {}});
    if (makesWeighted)
      step.push_back(
          {Role::WeightedGradient,
           allocate({sizes[0], sizes[1], sizes[3], sizes[2],
                     rewriter.getIndexAttr(op.getSizes().valueDepth)},
                    element),
           {}});
    forwardAll(Role::GateGradient, step);
    auto created = create<AttentionDeltaOp>(step);
    if (needsDelta)
      delta = getResult(created, Role::Delta);
    if (makesWeighted)
      weighted = {Role::WeightedGradient,
                  getResult(created, Role::WeightedGradient),
                  {}};
    for (OpOperand &init : op.getRoleOperands(Role::GateGradient))
      replace(created, Role::GateGradient, init);
  }

  /// One recomputation for those of `roles` that are wanted and for these
  /// gradients of biases.
  void createGradient(ArrayRef<Role> roles,
                      ArrayRef<OpOperand *> biasGradients = {}) {
    SmallVector<OpOperand *> inits;
    for (Role role : roles)
      for (OpOperand &init : op.getRoleOperands(role))
        inits.push_back(&init);
    llvm::append_range(inits, biasGradients);
    if (inits.empty())
      return;
    SmallVector<StepOperand> step;
    for (Role role :
         {Role::Query, Role::Key, Role::Value, Role::Bias, Role::Capture,
          Role::KeyLengths, Role::QueryLengths, Role::QueryStarts,
          Role::KeyStarts, Role::MostQueries, Role::MostKeys, Role::Dropout,
          Role::KeysFrom, Role::KeysTo})
      forwardAll(role, step);
    step.push_back(weighted);
    forwardAll(Role::Stats, step);
    bool needsLogits = llvm::any_of(inits, [&](OpOperand *init) {
      return op.getOperandRole(*init).first != Role::ValueGradient;
    });
    if (needsLogits && !op.getWeightsAttr())
      step.push_back({Role::Delta, delta, {}});
    for (OpOperand *init : inits) {
      step.push_back(forward(*init));
      if (step.back().role == Role::BiasGradient)
        step.back().bias = getBias(*init);
    }
    auto created = create<AttentionGradientOp>(step);
    unsigned numBiases = 0;
    for (OpOperand *init : inits) {
      Role role = op.getOperandRole(*init).first;
      replace(created, role, *init,
              role == Role::BiasGradient ? numBiases++ : 0);
    }
  }

  RewriterBase &rewriter;
  AttentionBackwardOp op;
  BiasPlaces places;
  bool onTensors;
  StepOperand weighted;
  Value delta;
  SmallVector<Value> results, buffers;
};

struct SplitBackward : evoformer::impl::SplitBackwardBase<SplitBackward> {
  using SplitBackwardBase::SplitBackwardBase;

protected:
  void runOnOperation() override {
    auto places = llvm::StringSwitch<std::optional<BiasPlaces>>(biasGradients)
                      .Case("apart", BiasPlaces::Apart)
                      .Case("auto", BiasPlaces::Auto)
                      .Case("with-query", BiasPlaces::WithQuery)
                      .Default(std::nullopt);
    if (!places) {
      emitError(getOperation()->getLoc())
          << "bias-gradients is 'auto', 'apart' or 'with-query', not '"
          << biasGradients.getValue() << "'";
      return signalPassFailure();
    }
    SmallVector<AttentionBackwardOp> ops;
    getOperation()->walk([&](AttentionBackwardOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (AttentionBackwardOp op : ops)
      Splitter(rewriter, op, *places).run();
  }
};
} // namespace
