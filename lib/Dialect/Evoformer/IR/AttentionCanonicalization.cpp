//===- AttentionCanonicalization.cpp - Folds of an attention --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transposes become orders, what is not used or does nothing goes away. Casts
// of tensors are folded by the tensor dialect for every op in destination
// style.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/KeyBoundMap.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

namespace {
/// A transposing op: dimension p of its result is dimension permutation[p] of
/// the source.
struct Transpose {
  Value source;
  SmallVector<int64_t> permutation;
};
} // namespace

static std::optional<Transpose> matchTranspose(Value value) {
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>())
    return Transpose{transpose.getInput(),
                     llvm::to_vector(transpose.getPermutation())};
  if (auto transpose = value.getDefiningOp<memref::TransposeOp>()) {
    Transpose result{transpose.getIn(), {}};
    AffineMap map = transpose.getPermutation();
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
      result.permutation.push_back(map.getDimPosition(dim));
    return result;
  }
  return std::nullopt;
}

/// On tensors, an order whose depth is not innermost costs a copy when it is
/// bufferized; the transpose is that copy, which other ops may share.
static bool isBeneficial(AttentionOp op, OpOperand &operand,
                         DimOrderAttr folded) {
  DimOrderAttr order = op.getOperandOrder(operand);
  if (!op.hasPureTensorSemantics() || !order.isSequenceOrder())
    return true;
  return folded.getPosition('d') == 4 || order.getPosition('d') != 4;
}

namespace {
/// query(transpose(x) as order) -> query(x as permuted order). Destinations
/// too, where they are views.
struct FoldTransposedOperand : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands()) {
      DimOrderAttr order = op.getOperandOrder(operand);
      if (!order || (op.isDpsInit(&operand) && op.hasPureTensorSemantics()))
        continue;
      std::optional<Transpose> transpose = matchTranspose(operand.get());
      if (!transpose)
        continue;
      DimOrderAttr folded = order.foldTranspose(transpose->permutation);
      if (!isBeneficial(op, operand, folded))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        operand.set(transpose->source);
        op.setOperandOrder(operand, folded);
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a transpose");
  }
};

/// transpose(attention(...)) -> attention(...) that writes the permuted order.
struct FoldTransposedResult : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Value result = op.getOutputResult();
    if (!result || !result.hasOneUse())
      return rewriter.notifyMatchFailure(op, "output has not one user");
    if (op.isRagged())
      return rewriter.notifyMatchFailure(
          op, "rows of no sequence stay as they are in the output");
    auto transpose = dyn_cast<linalg::TransposeOp>(*result.user_begin());
    if (!transpose || transpose.getInput() != result ||
        !transpose.getInit().getDefiningOp<tensor::EmptyOp>())
      return rewriter.notifyMatchFailure(
          op, "output is not transposed into a new tensor");

    StringRef letters = op.getOutputOrder().getLetters();
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, op.getLoc(), op.getOutput());
    std::string permutedLetters;
    SmallVector<OpFoldResult> permutedSizes;
    for (int64_t dim : transpose.getPermutation()) {
      permutedLetters.push_back(letters[dim]);
      permutedSizes.push_back(sizes[dim]);
    }
    auto type = cast<RankedTensorType>(transpose.getInit().getType());
    Value init = tensor::EmptyOp::create(rewriter, op.getLoc(), permutedSizes,
                                         type.getElementType());
    if (init.getType() != type)
      init = tensor::CastOp::create(rewriter, op.getLoc(), type, init);
    rewriter.modifyOpInPlace(op, [&] {
      op.getOutputMutable().set(init);
      op.setOutputOrderAttr(
          DimOrderAttr::get(op.getContext(), permutedLetters));
      result.setType(type);
    });
    rewriter.replaceOp(transpose, result);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Unused results and neutral biases
//===----------------------------------------------------------------------===//

namespace {
/// lse and stats that nobody reads are not computed.
struct DropUnusedStatistics : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    auto isUnused = [](Value result) { return result && result.use_empty(); };
    bool dropLse = isUnused(op.getLseResult());
    bool dropStats = isUnused(op.getStatsResult());
    if (!dropLse && !dropStats)
      return rewriter.notifyMatchFailure(op, "every result is used");
    auto smaller = AttentionOp::create(
        rewriter, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
        op.getBiases(), op.getGate(), op.getOutput(),
        dropLse ? Value() : op.getLse(), dropStats ? Value() : op.getStats(),
        op.getScaleAttr(), op.getKeyLengths(), op.getQueryLengths(),
        op.getRagged(), op.getScoreBody() != nullptr, op.getCaptures(),
        op.getDropout(), op.getKeysFromOperands(), op.getKeysToOperands());
    smaller.copyFacts(op);
    smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    SmallVector<Value> results = {smaller.getOutputResult()};
    if (op.getLse())
      results.push_back(smaller.getLseResult());
    if (op.getStats())
      results.push_back(smaller.getStatsResult());
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

/// Whether a bias keeps every key and adds nothing.
static bool isNeutral(Value bias) {
  if (auto splat = bias.getDefiningOp<tensor::SplatOp>())
    bias = splat.getInput();
  else if (auto fill = bias.getDefiningOp<linalg::FillOp>())
    bias = fill.value();
  Attribute constant;
  if (!matchPattern(bias, m_Constant(&constant)))
    return false;
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return integer.getValue().isAllOnes();
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValue().isZero();
  auto elements = dyn_cast<DenseElementsAttr>(constant);
  if (!elements)
    return false;
  if (elements.getElementType().isInteger(1))
    return llvm::all_of(elements.getValues<bool>(),
                        [](bool keep) { return keep; });
  return llvm::all_of(elements.getValues<APFloat>(),
                      [](const APFloat &value) { return value.isZero(); });
}

namespace {
/// A bias of zeros, or a mask that is true everywhere, goes away.
struct DropNeutralBias : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<DimOrderAttr> orders = op.getAllBiasOrders();
    SmallVector<Value> keptBiases;
    SmallVector<Attribute> keptOrders;
    for (auto [bias, order] : llvm::zip_equal(op.getBiases(), orders)) {
      if (isNeutral(bias))
        continue;
      keptBiases.push_back(bias);
      keptOrders.push_back(order);
    }
    if (keptBiases.size() == orders.size())
      return rewriter.notifyMatchFailure(op, "every bias matters");
    rewriter.modifyOpInPlace(op, [&] {
      op.getBiasesMutable().assign(keptBiases);
      op.setBiasOrdersAttr(rewriter.getArrayAttr(keptOrders));
    });
    return success();
  }
};
} // namespace

/// Runs `edit` on an op as its own class, which has accessors of its operands.
template <typename EditT> static void editOperands(Operation *op, EditT edit) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<AttentionOp, AttentionBackwardOp, AttentionGradientOp,
            AttentionWeightsOp>(edit);
}

//===----------------------------------------------------------------------===//
// Ranges of keys
//===----------------------------------------------------------------------===//

/// Takes what constant operands add into a bound; false where that may give
/// another one. What operands add is held to less than 2^30 in size together:
/// beside others a constant stays among them, unless it and the map's are so
/// small that a bound beyond the keys, where sums are held, stays beyond them.
static bool addConstant(KeyBound &bound, int64_t constant, bool isAlone) {
  constexpr int64_t kSmall = KeyBound::kMaxConstant >> 10;
  int64_t added = isAlone ? KeyBound::hold(constant) : constant;
  int64_t sum = bound.constant + added;
  int64_t limit = isAlone ? KeyBound::kMaxConstant : kSmall;
  if (std::abs(sum) > limit || std::abs(added) > limit)
    return false;
  bound.constant = sum;
  return true;
}

namespace {
/// Operands of a bound that are constants become a part of its map; equal ones
/// become one, or none, and those that it does not depend on go away.
struct FoldBoundOperands : RewritePattern {
  FoldBoundOperands(StringRef name, MLIRContext *context)
      : RewritePattern(name, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *operation,
                                PatternRewriter &rewriter) const override {
    auto op = cast<AttentionFamilyOpInterface>(operation);
    KeyRange range = op.getKeyRange();
    bool changesFrom = fold(op, rewriter, range.from, Role::KeysFrom);
    bool changesTo = fold(op, rewriter, range.to, Role::KeysTo);
    return success(changesFrom || changesTo);
  }

private:
  using Role = AttentionOperand;

  /// A bound's operands that matter, each once, with how often it is added.
  struct Terms {
    SmallVector<std::pair<Value, int64_t>> constants, others;
    /// The sum of `constants`.
    int64_t constant = 0;
  };

  static Terms getTerms(MutableArrayRef<OpOperand> operands,
                        ArrayRef<int64_t> ofOperands) {
    llvm::MapVector<Value, int64_t> factors;
    for (auto [operand, factor] : llvm::zip_equal(operands, ofOperands))
      factors[operand.get()] += factor;
    Terms terms;
    for (auto [operand, factor] : factors) {
      if (factor == 0)
        continue;
      std::optional<int64_t> constant = getConstantIntValue(operand);
      (constant ? terms.constants : terms.others).push_back({operand, factor});
      terms.constant += factor * (constant ? KeyBound::hold(*constant) : 0);
    }
    return terms;
  }

  static bool fold(AttentionFamilyOpInterface op, PatternRewriter &rewriter,
                   const std::optional<KeyBound> &bound, Role role) {
    if (!bound || !bound->hasOperands())
      return false;
    KeyBound simpler = *bound;
    simpler.ofOperands.clear();
    Terms terms = getTerms(op.getRoleOperands(role), bound->ofOperands);
    if (!addConstant(simpler, terms.constant, terms.others.empty()))
      terms.others.append(terms.constants);
    SmallVector<Value> operands;
    for (auto [operand, factor] : terms.others) {
      // No term has another coefficient than 1 or -1.
      for (int64_t i = 0; i < std::abs(factor); ++i) {
        operands.push_back(operand);
        simpler.ofOperands.push_back(factor < 0 ? -1 : 1);
      }
    }
    if (operands.size() == bound->ofOperands.size())
      return false;
    rewriter.modifyOpInPlace(op, [&] {
      editOperands(op, [&](auto attention) {
        (role == Role::KeysFrom ? attention.getKeysFromOperandsMutable()
                                : attention.getKeysToOperandsMutable())
            .assign(operands);
      });
      op->setAttr(
          family::getBoundName(role),
          AffineMapAttr::get(makeKeyBoundMap(simpler, op->getContext())));
    });
    return true;
  }
};

/// A bound that every key keeps to goes away.
struct DropWideBounds : RewritePattern {
  DropWideBounds(StringRef name, MLIRContext *context)
      : RewritePattern(name, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *operation,
                                PatternRewriter &rewriter) const override {
    auto op = cast<AttentionFamilyOpInterface>(operation);
    KeyRange range = op.getKeyRange();
    KeyRange simpler = op.getNarrowKeyRange();
    bool dropsFrom = range.from && !simpler.from;
    bool dropsTo = range.to && !simpler.to;
    if (!dropsFrom && !dropsTo)
      return rewriter.notifyMatchFailure(op, "no bound holds for every key");
    rewriter.modifyOpInPlace(op, [&] {
      if (dropsFrom)
        op->removeAttr(family::kKeysFromName);
      if (dropsTo)
        op->removeAttr(family::kKeysToName);
    });
    return success();
  }
};
} // namespace

void family::addKeyRangePatterns(RewritePatternSet &patterns, StringRef op) {
  patterns.add<DropWideBounds, FoldBoundOperands>(op, patterns.getContext());
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

namespace {
/// Lengths that are nowhere less than the size go away.
struct DropFullLengths : RewritePattern {
  DropFullLengths(StringRef name, MLIRContext *context)
      : RewritePattern(name, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *operation,
                                PatternRewriter &rewriter) const override {
    auto op = cast<AttentionFamilyOpInterface>(operation);
    AttentionSizes sizes = op.getSizes();
    auto isFull = [&](AttentionOperand role, int64_t size) {
      MutableArrayRef<OpOperand> lengths = op.getRoleOperands(role);
      DenseIntElementsAttr values;
      return !lengths.empty() && ShapedType::isStatic(size) &&
             matchPattern(lengths.front().get(), m_Constant(&values)) &&
             llvm::all_of(values.getValues<APInt>(), [&](const APInt &value) {
               return value.getSExtValue() >= size;
             });
    };
    bool dropsKeys = isFull(AttentionOperand::KeyLengths, sizes.keys);
    bool dropsQueries = isFull(AttentionOperand::QueryLengths, sizes.queries);
    if (!dropsKeys && !dropsQueries)
      return rewriter.notifyMatchFailure(op, "some row may be shorter");
    rewriter.modifyOpInPlace(op, [&] {
      editOperands(op, [&](auto attention) {
        if (dropsKeys)
          attention.getKeyLengthsMutable().clear();
        if (dropsQueries)
          attention.getQueryLengthsMutable().clear();
      });
    });
    return success();
  }
};
} // namespace

void family::addLengthsPatterns(RewritePatternSet &patterns, StringRef op) {
  patterns.add<DropFullLengths>(op, patterns.getContext());
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

namespace {
/// Dropout that drops nothing goes away.
struct RemoveEmptyDropout : RewritePattern {
  RemoveEmptyDropout(StringRef name, MLIRContext *context)
      : RewritePattern(name, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!op->hasAttr(family::kDropoutName) ||
        family::getDropoutThreshold(op) != 0)
      return rewriter.notifyMatchFailure(op, "some weight may be dropped");
    rewriter.modifyOpInPlace(op, [&] {
      op->removeAttr(family::kDropoutName);
      editOperands(
          op, [](auto attention) { attention.getDropoutMutable().clear(); });
    });
    return success();
  }
};
} // namespace

void family::addDropoutPatterns(RewritePatternSet &patterns, StringRef op) {
  patterns.add<RemoveEmptyDropout>(op, patterns.getContext());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropNeutralBias, DropUnusedStatistics, FoldTransposedOperand,
               FoldTransposedResult>(context);
  addScorePatterns(patterns);
  family::addKeyRangePatterns(patterns, getOperationName());
  family::addLengthsPatterns(patterns, getOperationName());
  family::addDropoutPatterns(patterns, getOperationName());
}
