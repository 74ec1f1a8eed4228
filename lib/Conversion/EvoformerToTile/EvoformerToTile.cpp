//===- EvoformerToTile.cpp - From attention to tiles ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/EvoformerToTile/Passes.h"

#include "Evoformer/Dialect/Tile/IR/AddressableBytes.h"
#include "Host/EqualOps.h"
#include "Host/GradientHost.h"
#include "Host/HeadGradientHost.h"
#include "Host/HostBuilder.h"
#include "Host/HostProgram.h"
#include "Host/JointGradients.h"
#include "Host/OffsetCheck.h"
#include "Host/OverwrittenArguments.h"
#include "Host/SlabGradientHost.h"
#include "Kernels/ScoreProgram.h"
#include "Schedules/AttentionSchedule.h"
#include "Schedules/GradientSchedule.h"
#include "Schedules/HeadSchedule.h"
#include "Schedules/SizedCuts.h"
#include "Schedules/SlabSchedule.h"
#include "Schedules/TileDepths.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "Evoformer/Target/Targets.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

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
  llvm::replace(shape, int64_t(0), ShapedType::kDynamic);
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

/// The range of keys as kernels have it. Where sizes are known and no query
/// sees a key, loops would fold away, and what is left of their sums would be
/// constants that no layout is known for: then bounds are said to move with the
/// query, by steps that none of them makes.
static KeyRange getKernelRange(AttentionFamilyOpInterface op) {
  AttentionSizes sizes = op.getSizes();
  KeyRange range = op.getNarrowKeyRange();
  if (range.isWhole() || ShapedType::isDynamic(sizes.queries) ||
      ShapedType::isDynamic(sizes.keys) ||
      countPairs(range, sizes.queries, sizes.keys) != 0)
    return range;
  for (std::optional<KeyBound> *bound : {&range.from, &range.to}) {
    if (!*bound || (*bound)->coefficient != 0)
      continue;
    (*bound)->coefficient = 1;
    (*bound)->granule = KeyBound::kMaxConstant;
  }
  return range;
}

namespace {
/// The operands of an op as views with dimensions in canonical order.
class OperandViews {
public:
  OperandViews(TileBuilder &builder, AttentionFamilyOpInterface op)
      : builder(builder), op(op) {}

  /// Null where there is none.
  Value get(AttentionOperand role, unsigned index = 0) {
    MutableArrayRef<OpOperand> operands = op.getRoleOperands(role);
    if (index >= operands.size())
      return {};
    OpOperand &operand = operands[index];
    if (!hasOrder(role))
      return hideEmptySizes(builder, operand.get());
    Value view =
        transposeTo(builder, operand.get(), op.getOperandOrder(operand),
                    isOfPairs(role) ? "bnhqk" : "bnhsd");
    // The op promises that the depth of what it reads has stride 1.
    return isOfPairs(role) || op.isDpsInit(&operand)
               ? view
               : castToUnitStride(builder, view);
  }

  RowLengths getLengths() {
    return {get(AttentionOperand::QueryLengths),
            get(AttentionOperand::KeyLengths),
            get(AttentionOperand::QueryStarts),
            get(AttentionOperand::KeyStarts),
            getMost(AttentionOperand::MostQueries),
            getMost(AttentionOperand::MostKeys)};
  }

  KeyOffsets getKeyOffsets() {
    KeyRange range = op.getKeyRange();
    return {getOffset(range.from, AttentionOperand::KeysFrom),
            getOffset(range.to, AttentionOperand::KeysTo)};
  }

  /// The state of random numbers, where any weight is dropped.
  Value getDropout() {
    return family::getDropoutThreshold(op) != 0 ? get(AttentionOperand::Dropout)
                                                : Value();
  }

  /// The biases, or what the score captures.
  SmallVector<Bias> getBiases(AttentionOperand role) {
    SmallVector<Bias> biases;
    for (OpOperand &operand : op.getRoleOperands(role)) {
      Bias &bias = biases.emplace_back();
      bias.memory = get(role, biases.size() - 1);
      bias.isMask = getElementTypeOrSelf(operand.get().getType()).isInteger(1);
      if (role == AttentionOperand::Capture)
        bias.entries = family::getTableEntries(op, biases.size() - 1);
      DimOrderAttr order = op.getOperandOrder(operand);
      for (auto [dim, position] : llvm::enumerate(order.getPositions()))
        bias.broadcast[dim] = op.isBroadcast(operand, position);
    }
    return biases;
  }

private:
  /// How many queries or keys a sequence has at most. What a program says may
  /// be more than all sequences have: no item is launched for those, unless a
  /// gradient has elements for them.
  Most getMost(AttentionOperand role) {
    MutableArrayRef<OpOperand> operands = op.getRoleOperands(role);
    if (operands.empty())
      return {};
    Value most = operands.front().get();
    std::optional<int64_t> known = getConstantIntValue(most);
    bool ofKeys = role == AttentionOperand::MostKeys;
    if (writesAlong(ofKeys ? kBiasK : kBiasQ))
      return known ? Most{{}, known} : Most{most, {}};
    OpOperand &rows = getOperandOfRows(ofKeys);
    OpFoldResult all =
        builder.dim(rows.get(), op.getOperandOrder(rows).getPosition('s'));
    std::optional<int64_t> numRows = getConstantIntValue(all);
    if (known && numRows)
      return {{}, std::min(*known, *numRows)};
    // One that stands for any number is worth more held than known.
    constexpr int64_t kMostKnown = 1 << 20;
    if (known && *known <= kMostKnown)
      return {{}, known};
    return {arith::MinUIOp::create(builder, most, builder.index(all)), {}};
  }

  /// Whether weights, or the gradient of a bias, have a dimension.
  bool writesAlong(int64_t dim) {
    if (isa<AttentionWeightsOp>(op.getOperation()))
      return true;
    auto gradient = dyn_cast<AttentionGradientOp>(op.getOperation());
    return gradient &&
           llvm::any_of(gradient.getBiasGradients(), [&](int64_t bias) {
             return !gradient.getSummedDims(bias)[dim];
           });
  }

  /// An operand that has all queries, or keys, there are.
  OpOperand &getOperandOfRows(bool ofKeys) {
    if (ofKeys)
      return op.getRoleOperands(AttentionOperand::Key).front();
    MutableArrayRef<OpOperand> queries =
        op.getRoleOperands(AttentionOperand::Query);
    return queries.empty()
               ? op.getRoleOperands(AttentionOperand::Output).front()
               : queries.front();
  }

  /// What the operands of a bound add to it, see KeyOffsets.
  Value getOffset(const std::optional<KeyBound> &bound, AttentionOperand role) {
    if (!bound || !bound->hasOperands())
      return {};
    Value low = builder.index(-KeyBound::kMaxOperand);
    Value high = builder.index(KeyBound::kMaxOperand);
    auto hold = [&](Value number) -> Value {
      number = arith::MaxSIOp::create(builder, number, low);
      return arith::MinSIOp::create(builder, number, high);
    };
    Value sum = builder.index(0);
    for (auto [operand, factor] :
         llvm::zip_equal(op.getRoleOperands(role), bound->ofOperands)) {
      Value term = hold(operand.get());
      if (factor != 0)
        sum = factor > 0 ? builder.add(sum, term) : builder.sub(sum, term);
    }
    return builder.add(hold(sum), builder.index(KeyOffsets::kZero));
  }

  TileBuilder &builder;
  AttentionFamilyOpInterface op;
};

} // namespace

using Role = AttentionOperand;

static bool hasLengths(AttentionFamilyOpInterface op) {
  return !op.getRoleOperands(Role::KeyLengths).empty() ||
         !op.getRoleOperands(Role::QueryLengths).empty() || op.isRagged();
}

namespace {
struct ConvertEvoformerToTile
    : evoformer::impl::ConvertEvoformerToTileBase<ConvertEvoformerToTile> {
  using ConvertEvoformerToTileBase::ConvertEvoformerToTileBase;

protected:
  void runOnOperation() override {
    SmallVector<AttentionFamilyOpInterface> ops;
    getOperation().walk(
        [&](AttentionFamilyOpInterface op) { ops.push_back(op); });
    if (ops.empty())
      return;
    FailureOr<TargetAttr> target = findTarget();
    FailureOr<ScheduleRequests> forced =
        parseSchedules(getOperation().getLoc(), schedule);
    if (failed(target) || failed(forced))
      return signalPassFailure();
    if (partialSumBytes < -1) {
      emitError(getOperation().getLoc())
          << "partial-sum-bytes is -1 or a number of bytes, not "
          << partialSumBytes.getValue();
      return signalPassFailure();
    }
    chip = *target;
    requests = *forced;
    prepareScores(ops);
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal())
        markOverwrittenArguments(function);
    checked.clear();
    equalOps.clear();
    SymbolTable symbols(getOperation());
    llvm::SmallDenseSet<Operation *> done;
    for (AttentionFamilyOpInterface op : ops)
      if (!done.contains(op) && failed(convert(op, symbols, done)))
        return signalPassFailure();
  }

  FailureOr<TargetAttr> findTarget() {
    FailureOr<TargetAttr> found = tile::findTarget(getOperation(), target);
    if (failed(found))
      return failure();
    if (*found)
      return adaptTarget(getOperation().getLoc(), *found, f32Products, boxes);
    return getOperation().emitError("no target: give the option 'target' or "
                                    "the module an 'evo_tile.target'");
  }

  void prepareScores(ArrayRef<AttentionFamilyOpInterface> ops) {
    totalScores.clear();
    for (AttentionFamilyOpInterface op : ops) {
      Block *score = op.getScoreBody();
      if (!score)
        continue;
      // What functions become does not show it.
      if (isScoreTotal(op))
        totalScores.insert(op);
      expandScore(op);
    }
  }

  /// `done`: ops that are converted along with another one.
  LogicalResult convert(AttentionFamilyOpInterface op, SymbolTable &symbols,
                        llvm::SmallDenseSet<Operation *> &done) {
    auto host = op->getParentOfType<FunctionOpInterface>();
    if (!host || host->getParentOp() != getOperation())
      return op->emitOpError("must be in a function of the module that the "
                             "pass runs on");
    if (op.hasPureTensorSemantics())
      return op->emitOpError(
          "is on tensors, expected memrefs: run one-shot-bufferize first");
    if (family::getSharedKeyDims(op)[1] && requests.getMostRows() != 1)
      return emitError(op.getLoc())
             << "schedule: rows=" << requests.getMostRows()
             << ", but rows that share keys and values are taken one at a time";
    if (hasLengths(op) && requests.getMostRows() != 1)
      return emitError(op.getLoc())
             << "schedule: rows=" << requests.getMostRows()
             << ", but rows that have lengths are taken one at a time";
    if (!op.getRoleOperands(Role::Dropout).empty() &&
        requests.getMostRows() != 1)
      return emitError(op.getLoc())
             << "schedule: rows=" << requests.getMostRows()
             << ", but rows that drop weights are taken one at a time";
    TileBuilder builder(op->getLoc(), op->getContext());
    builder.setInsertionPoint(op);
    // What becomes of steps that share a recomputation depends on all of them;
    // it stands where the last one did.
    SmallVector<AttentionGradientOp> shared = findSharing(op);
    SmallVector<Operation *> ops(shared.begin(), shared.end());
    if (ops.empty())
      ops.push_back(op);
    done.insert(ops.begin(), ops.end());
    // The CPU's offsets have 64 bits.
    if (!chip.isCPU())
      for (Operation *each : ops)
        if (failed(checkOffsets(builder, cast<AttentionFamilyOpInterface>(each),
                                tile::getAddressableBytes(chip), checked)))
          return failure();
    Attribute key = EqualOps::getKey(ops);
    if (equalOps.copyFor(ops, key)) {
      for (Operation *each : ops)
        each->erase();
      return success();
    }
    Operation *before = ops.back()->getPrevNode();
    builder.setInsertionPoint(ops.back());
    KernelFactory factory(symbols, host, chip);
    LogicalResult converted =
        TypeSwitch<Operation *, LogicalResult>(op)
            .Case<AttentionOp>([&](auto attention) {
              return write(attention, host, builder, factory);
            })
            .Case<AttentionGradientOp>([&](auto gradient) {
              if (shared.empty())
                return write(gradient, host, builder, factory);
              return mayBeJoint(chip)
                         ? writeJoint(shared, host, builder, factory)
                         : writeTogether(shared, host, builder, factory);
            })
            .Case<AttentionDeltaOp>(
                [&](auto delta) { return write(delta, builder, factory); })
            .Case<AttentionWeightsOp>([&](auto weights) {
              return write(weights, host, builder, factory);
            })
            .Default([](Operation *other) {
              return other->emitOpError("must be split into its steps: run "
                                        "evoformer-split-backward first");
            });
    if (failed(converted))
      return converted;
    equalOps.remember(ops, key, before);
    for (Operation *each : ops)
      each->erase();
    return success();
  }

  /// The steps, `op` the first of them, that are converted together; none: it
  /// is alone.
  SmallVector<AttentionGradientOp> findSharing(AttentionFamilyOpInterface op) {
    auto gradient = dyn_cast<AttentionGradientOp>(op.getOperation());
    bool mayShare =
        mayBeJoint(chip) || mayStoreSlabs(chip) || mayTakeHeads(chip);
    if (!gradient || !mayShare || op.isRagged())
      return {};
    // What is forced of kernels that would be one.
    bool joinsBias = mayBeJoint(chip) || mayStoreSlabs(chip);
    if (requests.queryGrad.isForced() || requests.keyValueGrad.isForced() ||
        (joinsBias && requests.biasGrad.isForced()))
      return {};
    SmallVector<AttentionGradientOp> equal = findJointGradients(gradient);
    // Only slabs and joint kernels are for the gradient of a bias as well.
    if (!joinsBias)
      llvm::erase_if(equal, [](AttentionGradientOp op) {
        return !op.getQueryGrad() && !op.getKeyGrad() && !op.getValueGrad();
      });
    if (equal.size() < 2 || equal.front() != gradient)
      return {};
    return equal;
  }

  AttentionFacts getFacts(AttentionFamilyOpInterface op) {
    AttentionSizes sizes = op.getSizes();
    Type element = op.getInputElementType();
    auto [depth, valueDepth] =
        chooseTileDepths(chip, element, {sizes.depth, sizes.valueDepth});
    AttentionFacts facts = {element,           depth,
                            valueDepth,        op.getScaleValue(),
                            sizes.queries,     {op.getGroupSizeOrOne()},
                            getKernelRange(op)};
    // Of rows that lie one behind the other, as most do.
    constexpr int64_t kLineBytes = 128;
    facts.straddlesLines =
        depth > sizes.depth &&
        depth * element.getIntOrFloatBitWidth() / 8 % kLineBytes == 0;
    std::array<bool, 2> shared = family::getSharedKeyDims(op);
    facts.shared.batch = shared[0];
    facts.shared.rows = shared[1];
    facts.hasLengths = hasLengths(op);
    for (auto [index, bias] :
         llvm::enumerate(op.getRoleOperands(AttentionOperand::Bias)))
      if (!op.isQueryIndependent(index))
        facts.biasBytes +=
            getElementBytes(getElementTypeOrSelf(bias.get().getType()));
    if (Block *score = op.getScoreBody()) {
      bool isTotal = totalScores.contains(op);
      facts.score = {
          score, isTotal, isTotal && isScoreSum(*score),
          !score->getArgument(static_cast<unsigned>(ScoreArgument::Key))
               .use_empty()};
      auto biases =
          static_cast<unsigned>(op.getRoleOperands(Role::Bias).size());
      for (auto [index, capture] : llvm::enumerate(
               score->getArguments().drop_front(kNumScoreArguments))) {
        std::array<bool, 5> isShared = op.getBiasBroadcast(biases + index);
        if (!isShared[3] && !isShared[4])
          facts.score.pairCaptures.push_back(capture);
      }
    }
    facts.dropThreshold = family::getDropoutThreshold(op);
    facts.keySumBlock = keySumBlock;
    if (WeightsAttr weights = family::getWeights(op)) {
      facts.weights.areLogits = true;
      if (weights.isNormalized())
        facts.weights.least = weights.getLeast().getValue().convertToFloat();
    }
    return facts;
  }

  LogicalResult write(AttentionOp op, FunctionOpInterface host,
                      TileBuilder &builder, KernelFactory &factory) {
    HostAttention attention;
    attention.facts = getFacts(op);
    FailureOr<AttentionSchedule> cut =
        chooseSchedule(op.getLoc(), host.getName(), chip, attention.facts,
                       op.getSizes().queries, requests.attention);
    if (failed(cut))
      return failure();
    SmallVector<AttentionSchedule, 3> cuts =
        chooseByQueries(op.getLoc(), host.getName(), chip, attention.facts,
                        op.getSizes().queries, requests.attention, *cut);
    OperandViews views(builder, op);
    attention.query = views.get(Role::Query);
    attention.key = views.get(Role::Key);
    attention.value = views.get(Role::Value);
    attention.gate = views.get(Role::Gate);
    attention.output = views.get(Role::Output);
    attention.lse = views.get(Role::Lse);
    attention.stats = views.get(Role::Stats);
    attention.lengths = views.getLengths();
    attention.keyOffsets = views.getKeyOffsets();
    attention.dropout = views.getDropout();
    attention.biases = views.getBiases(Role::Bias);
    attention.captures = views.getBiases(Role::Capture);
    writeHostProgram(builder, factory, attention, cuts);
    return success();
  }

  /// What a step recomputes logits from, and what it makes of these.
  static GradientOperands getInputs(OperandViews &views) {
    GradientOperands operands;
    operands.query = views.get(Role::Query);
    operands.key = views.get(Role::Key);
    operands.value = views.get(Role::Value);
    operands.weightedGrad = views.get(Role::WeightedGradient);
    operands.stats = views.get(Role::Stats);
    operands.delta = views.get(Role::Delta);
    operands.lengths = views.getLengths();
    operands.keyOffsets = views.getKeyOffsets();
    operands.dropout = views.getDropout();
    operands.biases = views.getBiases(Role::Bias);
    operands.captures = views.getBiases(Role::Capture);
    return operands;
  }

  /// The operands of a step, or null where it asks for what no kernel does.
  FailureOr<GradientOperands> getOperands(TileBuilder &builder,
                                          AttentionGradientOp op) {
    // Biases whose gradient is that of the logits come with the query, and one
    // that has queries and keys may.
    SmallVector<int64_t> ofLogits, ofBias;
    bool mayJoin = false;
    for (int64_t bias : op.getBiasGradients()) {
      bool isOfLogits = op.getQueryGrad() && op.isLogitGradient(bias);
      (isOfLogits ? ofLogits : ofBias).push_back(bias);
      std::array<bool, 5> summed = op.getSummedDims(bias);
      if (!isOfLogits)
        mayJoin = op.getQueryGrad() && !summed[kBiasQ] && !summed[kBiasK] &&
                  ofBias.size() == 1;
    }
    int kinds = (op.getQueryGrad() ? 1 : 0) +
                (op.getKeyGrad() || op.getValueGrad() ? 1 : 0) +
                static_cast<int>(ofBias.size()) - (mayJoin ? 1 : 0);
    if (kinds != 1)
      return op.emitOpError("must ask for the gradient of the query, for those "
                            "of key and value, or for that of one bias, but "
                            "asks for ")
             << kinds << " of these: run evoformer-split-backward";
    OperandViews views(builder, op);
    GradientOperands operands = getInputs(views);
    operands.queryGrad = views.get(Role::QueryGradient);
    operands.keyGrad = views.get(Role::KeyGradient);
    operands.valueGrad = views.get(Role::ValueGradient);
    for (auto [number, bias] : llvm::enumerate(op.getBiasGradients())) {
      Value memory = views.get(Role::BiasGradient, number);
      if (llvm::is_contained(ofLogits, bias))
        operands.logitGrads.push_back(
            {memory, op.getBiasBroadcast(bias), /*isMask=*/false});
      else
        operands.biasGrad = {memory, op.getSummedDims(bias), /*isMask=*/false};
      operands.ofCapture |= op.isCapture(bias);
      if (op.isCapture(bias))
        operands.biasGrad.entries =
            family::getTableEntries(op, bias - op.getBiases().size());
    }
    return operands;
  }

  /// One kernel that recomputes logits.
  LogicalResult writeRecomputation(Location loc, const AttentionFacts &facts,
                                   const GradientOperands &operands,
                                   FunctionOpInterface host,
                                   TileBuilder &builder,
                                   KernelFactory &factory) {
    const ScheduleRequest &request = requests.of(getGradientKind(operands));
    FailureOr<GradientSchedule> cut = chooseGradientSchedule(
        loc, host.getName(), chip, operands, facts, request);
    if (failed(cut))
      return failure();
    SmallVector<SizedCut, 2> cuts = chooseSizedCuts(
        loc, host.getName(), chip, operands, facts, request, *cut);
    writeGradientProgram(builder, factory, facts, operands, {*cut, cuts},
                         partialSumBytes);
    return success();
  }

  LogicalResult write(AttentionWeightsOp op, FunctionOpInterface host,
                      TileBuilder &builder, KernelFactory &factory) {
    OperandViews views(builder, op);
    GradientOperands operands = getInputs(views);
    operands.logitGrads = {
        {views.get(Role::Weights), /*broadcast=*/{}, /*isMask=*/false}};
    operands.ofWeights = true;
    return writeRecomputation(op.getLoc(), getFacts(op), operands, host,
                              builder, factory);
  }

  LogicalResult write(AttentionGradientOp op, FunctionOpInterface host,
                      TileBuilder &builder, KernelFactory &factory) {
    FailureOr<GradientOperands> found = getOperands(builder, op);
    if (failed(found))
      return failure();
    GradientOperands &operands = *found;
    AttentionFacts facts = getFacts(op);
    auto writeOne = [&](const GradientOperands &some) {
      return writeRecomputation(op.getLoc(), facts, some, host, builder,
                                factory);
    };
    if (sumsKeysAndValuesApart(op.getLoc(), chip, operands, facts,
                               requests.of(getGradientKind(operands)))) {
      GradientOperands ofKey = operands, ofValue = operands;
      ofKey.valueGrad = {};
      ofValue.keyGrad = ofValue.delta = {};
      return failure(failed(writeOne(ofKey)) || failed(writeOne(ofValue)));
    }
    // The kernel of both has all keys in a tile: it skips none.
    if (!operands.queryGrad || !operands.biasGrad.memory ||
        (facts.keys.isWhole() && !operands.lengths.any() &&
         fitsWithQuery(op.getLoc(), chip, operands, facts, requests.queryGrad)))
      return writeOne(operands);
    GradientOperands ofQuery = operands, ofBiasAlone = operands;
    ofQuery.biasGrad = {};
    ofBiasAlone.queryGrad = {};
    ofBiasAlone.logitGrads.clear();
    return failure(failed(writeOne(ofQuery)) || failed(writeOne(ofBiasAlone)));
  }

  /// Steps with equal logits, from slabs of these or by heads where it pays.
  LogicalResult writeTogether(ArrayRef<AttentionGradientOp> ops,
                              FunctionOpInterface host, TileBuilder &builder,
                              KernelFactory &factory) {
    bool failedApart = false;
    auto writeSome = [&](TileBuilder &at, ArrayRef<AttentionGradientOp> ops) {
      for (AttentionGradientOp op : ops)
        failedApart |= failed(write(op, host, at, factory));
    };
    auto writeApart = [&](TileBuilder &at) { writeSome(at, ops); };
    AttentionGradientOp last = ops.back();
    AttentionFacts facts = getFacts(last);
    SlabGradients gradients;
    SmallVector<AttentionGradientOp> ofBiases, others;
    for (AttentionGradientOp op : ops) {
      FailureOr<GradientOperands> some = getOperands(builder, op);
      if (failed(some))
        return failure();
      (some->biasGrad.memory ? ofBiases : others).push_back(op);
      if (some->biasGrad.memory)
        gradients.ofBias = some->biasGrad;
      else
        (some->queryGrad ? gradients.ofQuery : gradients.ofKeyValue) = *some;
    }
    if (chooseSlabSchedules(last.getLoc(), host.getName(), chip, facts,
                            gradients)) {
      writeSlabProgram(builder, factory, facts, gradients, partialSumBytes,
                       writeApart);
      return failure(failedApart);
    }
    GradientOperands ofHead = gradients.ofKeyValue;
    ofHead.queryGrad = gradients.ofQuery.queryGrad;
    ofHead.logitGrads = gradients.ofQuery.logitGrads;
    std::optional<GradientSchedule> byHeads;
    if (ofHead.query && partialSumBytes != 0)
      byHeads = chooseHeadSchedule(last.getLoc(), host.getName(), chip, facts,
                                   ofHead);
    if (!byHeads) {
      writeApart(builder);
      return failure(failedApart);
    }
    // Where more keys are known it does not run, and nobody shares its sums.
    int64_t numKeys = last.getSizes().keys;
    bool mayRun =
        ShapedType::isDynamic(numKeys) || numKeys <= byHeads->blocks.keys;
    llvm::SaveAndRestore sharing(keySumBlock,
                                 mayRun ? byHeads->blocks.keys : keySumBlock);
    facts.keySumBlock = keySumBlock;
    // Biases first, as everywhere.
    writeSome(builder, ofBiases);
    writeHeadProgram(builder, factory, facts, ofHead, *byHeads, partialSumBytes,
                     [&](TileBuilder &at) { writeSome(at, others); });
    return failure(failedApart);
  }

  /// Steps with equal logits, in one kernel where it pays.
  LogicalResult writeJoint(ArrayRef<AttentionGradientOp> ops,
                           FunctionOpInterface host, TileBuilder &builder,
                           KernelFactory &factory) {
    AttentionGradientOp last = ops.back();
    FailureOr<GradientOperands> all = getOperands(builder, ops.front());
    if (failed(all))
      return failure();
    for (AttentionGradientOp op : ops.drop_front()) {
      FailureOr<GradientOperands> some = getOperands(builder, op);
      if (failed(some))
        return failure();
      auto take = [](Value &mine, Value other) {
        if (other)
          mine = other;
      };
      take(all->delta, some->delta);
      take(all->queryGrad, some->queryGrad);
      take(all->keyGrad, some->keyGrad);
      take(all->valueGrad, some->valueGrad);
      if (some->biasGrad.memory)
        all->biasGrad = some->biasGrad;
      llvm::append_range(all->logitGrads, some->logitGrads);
    }
    bool failedApart = false;
    writeJointProgram(builder, factory, getFacts(last), *all, partialSumBytes,
                      [&](TileBuilder &at) {
                        for (AttentionGradientOp op : ops)
                          failedApart |= failed(write(op, host, at, factory));
                      });
    return failure(failedApart);
  }

  LogicalResult write(AttentionDeltaOp op, TileBuilder &builder,
                      KernelFactory &factory) {
    OperandViews views(builder, op);
    DeltaOperands operands;
    operands.gate = views.get(Role::Gate);
    operands.output = views.get(Role::Output);
    operands.outputGrad = views.get(Role::OutputGradient);
    operands.delta = views.get(Role::Delta);
    operands.weightedGrad = views.get(Role::WeightedGradient);
    operands.gateGrad = views.get(Role::GateGradient);
    operands.lengths = views.getLengths();
    writeDeltaProgram(builder, factory, operands);
    return success();
  }

  TargetAttr chip;
  ScheduleRequests requests;
  /// Ops whose scores are finite for finite numbers.
  llvm::SmallDenseSet<Operation *> totalScores;
  CheckedOperands checked;
  EqualOps equalOps;
  /// See AttentionFacts.
  int64_t keySumBlock = 1;
};
} // namespace
