//===- Recognise.cpp - Finds the attention in an expression ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the second product backwards: a sum over keys of weights times values,
// where the weights are exponentials divided by their own sum over the same
// keys. A term of the exponent that does not depend on the key cancels,
// whatever it is, so that the maximum needs no recognising.
//
//===----------------------------------------------------------------------===//

#include "AttentionForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

StringRef raising::getName(Refusal refusal) {
  switch (refusal) {
#define REFUSAL(name, text, message)                                           \
  case Refusal::name:                                                          \
    return text;
#include "Refusals.def"
  }
  llvm_unreachable("every refusal is listed");
}

StringRef raising::getMessage(Refusal refusal) {
  switch (refusal) {
#define REFUSAL(name, text, message)                                           \
  case Refusal::name:                                                          \
    return message;
#include "Refusals.def"
  }
  llvm_unreachable("every refusal is listed");
}

namespace {
class Recogniser {
public:
  Recogniser(ExpressionReader &reader, const RaiseSettings &settings,
             std::optional<Refused> &refused)
      : reader(reader), settings(settings), refused(refused) {}

  FailureOr<AttentionForm> run(Value root);

private:
  LogicalResult refuse(Refusal refusal, Location loc) {
    refused = Refused{refusal, loc};
    return failure();
  }

  LogicalResult findWeightedSum(const Product &product);
  bool splitWeightedSum(Expr *reduce);
  LogicalResult matchSum(Product &product);
  LogicalResult matchGate(const Product &product);
  LogicalResult matchLogits();
  LogicalResult matchScore(const Term &score, double base);
  LogicalResult matchZeroed(const Product &product);
  LogicalResult checkRowsWithoutKeys();
  LogicalResult chooseTypes();

  bool isScore(Expr *reduce);
  bool dependsOnKeys(Expr *expr);
  bool isSumOfWeights(Expr *divisor, bool &looksLikeOne);
  bool isWhereAllDropped(Condition condition);
  /// `cancelling` takes the terms that all keys of a row have in common.
  Sum getLogits(Expr *exponent, SmallVectorImpl<Term> *cancelling = nullptr);

  ExpressionReader &reader;
  const RaiseSettings &settings;
  std::optional<Refused> &refused;

  AttentionForm form = {};
  /// The loops of the second product.
  SmallVector<Coordinate, 2> keyLoops;
  Expr *weightedSum = nullptr;
  Product weights;
  /// The power of a constant that the weights are.
  Expr *exponential = nullptr;
  Sum logits;
  /// Where weights are 0 in the sum as well.
  SmallVector<Condition, 2> leftOut;
  bool zeroesRows = false;
  Roundings roundings;
};
} // namespace

static void addAll(Roundings &set, const Roundings &types) {
  for (Type type : types)
    set.insert(type);
}

static bool isNearly(double a, double b) {
  return std::abs(a - b) <= std::abs(b) * 0x1p-22;
}

bool Recogniser::dependsOnKeys(Expr *expr) {
  AxisSet keys, used = reader.getAxes(expr);
  reader.getAxes().insertAll(keyLoops, keys);
  return llvm::any_of(keys, [&](AxisId axis) { return used.contains(axis); });
}

//===----------------------------------------------------------------------===//
// Weights and values
//===----------------------------------------------------------------------===//

/// Whether the reduced product is one of exponentials of the reduced index and
/// something else.
bool Recogniser::splitWeightedSum(Expr *reduce) {
  keyLoops = reader.createLoops(reduce);
  Expr *body = reader.look(reduce->body(keyLoops));
  Roundings passed;
  passed.insert(reduce->type);
  while (body->is(Symbol::FloatCast)) {
    passed.insert(body->type);
    body = reader.look(body->operands[0]);
  }
  if (!body->is(Symbol::Mul))
    return false;
  passed.insert(body->type);
  for (unsigned side : {0, 1}) {
    FailureOr<Product> product = getProduct(reader, body->operands[side]);
    if (failed(product))
      continue;
    for (Expr *&factor : product->factors) {
      Expr *seen = reader.lookThroughCasts(factor);
      if (!reader.getPower(seen) || !dependsOnKeys(seen))
        continue;
      exponential = seen;
      product->factors.erase(&factor);
      weights = *product;
      weights.roundings.insert(seen->type);
      weights.roundings.insert(body->operands[side]->type);
      weightedSum = reduce;
      form.value = takeExtensions(reader, body->operands[1 - side]);
      addAll(roundings, passed);
      addAll(roundings, weights.roundings);
      return true;
    }
  }
  return false;
}

LogicalResult Recogniser::findWeightedSum(const Product &product) {
  for (Expr *factor : product.factors) {
    Expr *seen = reader.look(factor);
    if (seen->kind == ExprKind::Reduce && seen->reduction == Reduction::Sum &&
        splitWeightedSum(seen))
      return success();
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// The sum of the weights
//===----------------------------------------------------------------------===//

bool Recogniser::isSumOfWeights(Expr *divisor, bool &looksLikeOne) {
  Expr *sum = reader.lookThroughCasts(divisor);
  if (sum->kind != ExprKind::Reduce || sum->reduction != Reduction::Sum)
    return false;
  looksLikeOne = true;
  // The same loops, be they cut or not.
  SmallVector<Coordinate, 2> loops = keyLoops;
  if (sum->sizes.size() != loops.size()) {
    if (sum->sizes.size() != 1)
      return false;
    Coordinate joined;
    for (const Coordinate &loop : loops)
      llvm::append_range(joined, loop);
    loops = {joined};
  }
  auto hasSize = [&](const Coordinate &coordinate, int64_t size) {
    int64_t product = 1;
    for (AxisId axis : reader.getAxes().resolve(coordinate)) {
      int64_t known = reader.getAxes().getSize(axis);
      // What is not known must be one unknown.
      if (ShapedType::isDynamic(known) || ShapedType::isDynamic(size))
        return known == size && coordinate.size() == 1;
      product *= known;
    }
    return product == size;
  };
  for (auto [loop, size] : llvm::zip_equal(loops, sum->sizes))
    if (!hasSize(loop, size))
      return false;
  FailureOr<Product> product = getProduct(reader, sum->body(loops));
  if (failed(product) || product->coefficient != 1 ||
      product->factors.size() != 1 || !product->divisors.empty() ||
      !reader.areSame(product->factors.front(), exponential))
    return false;
  for (const Condition &zero : product->zeroWhere) {
    auto same = llvm::find_if(weights.zeroWhere, [&](const Condition &other) {
      return other.when == zero.when && reader.areSame(other.expr, zero.expr);
    });
    if (same == weights.zeroWhere.end())
      return false;
    leftOut.push_back(zero);
    weights.zeroWhere.erase(same);
  }
  addAll(roundings, product->roundings);
  roundings.insert(sum->type);
  return true;
}

LogicalResult Recogniser::matchSum(Product &product) {
  bool looksLikeOne = false;
  for (Product *part : {&weights, &product}) {
    for (Expr *&divisor : part->divisors) {
      if (!isSumOfWeights(divisor, looksLikeOne))
        continue;
      part->divisors.erase(&divisor);
      return success();
    }
  }
  return refuse(looksLikeOne ? Refusal::DifferentSum : Refusal::NoSum,
                weightedSum->loc);
}

//===----------------------------------------------------------------------===//
// The gate
//===----------------------------------------------------------------------===//

/// What is negated, null if nothing is.
static Expr *getNegated(ExpressionReader &reader, Expr *expr) {
  Expr *seen = reader.lookThroughCasts(expr);
  if (seen->is(Symbol::Neg))
    return seen->operands[0];
  if (seen->is(Symbol::Sub)) {
    std::optional<double> zero = reader.getConstant(seen->operands[0]);
    if (zero && *zero == 0)
      return seen->operands[1];
  }
  return nullptr;
}

/// 1 / (1 + exp(-g)), or exp(g) / (1 + exp(g)).
LogicalResult Recogniser::matchGate(const Product &product) {
  SmallVector<Expr *, 2> factors;
  for (Expr *factor : product.factors)
    if (reader.look(factor) != weightedSum)
      factors.push_back(factor);
  if (!weights.factors.empty() || !weights.divisors.empty())
    return refuse(Refusal::Factor, weightedSum->loc);
  if (factors.empty() && product.divisors.empty())
    return success();
  if (factors.size() > 1 || product.divisors.size() != 1)
    return refuse(Refusal::Factor, weightedSum->loc);
  Expr *divisor = reader.lookThroughCasts(product.divisors.front());
  if (!divisor->is(Symbol::Add))
    return refuse(Refusal::Factor, divisor->loc);
  for (unsigned side : {0, 1}) {
    std::optional<double> one = reader.getConstant(divisor->operands[side]);
    Expr *power = reader.lookThroughCasts(divisor->operands[1 - side]);
    if (!one || *one != 1 || !power->is(Symbol::Exp))
      continue;
    roundings.insert(divisor->type);
    roundings.insert(power->type);
    Expr *exponent = power->operands[0];
    if (!factors.empty()) {
      if (!reader.areSame(factors.front(), power))
        continue;
      form.gate = exponent;
    } else if (Expr *negated = getNegated(reader, exponent)) {
      form.gate = negated;
    } else {
      form.gate = exponent;
      form.gateCoefficient = -1;
    }
    form.gate = takeExtensions(reader, form.gate);
    return success();
  }
  return refuse(Refusal::Factor, divisor->loc);
}

//===----------------------------------------------------------------------===//
// Logits
//===----------------------------------------------------------------------===//

/// A product of something without keys and of something that has keys but
/// nothing that values do not have.
bool Recogniser::isScore(Expr *reduce) {
  if (reduce->reduction != Reduction::Sum)
    return false;
  SmallVector<Coordinate, 2> loops = reader.createLoops(reduce);
  Expr *body = reader.lookThroughCasts(reduce->body(loops));
  if (!body->is(Symbol::Mul))
    return false;
  double ignored = 1;
  Roundings unused;
  AxisSet operands[2];
  for (unsigned side : {0, 1})
    operands[side] = reader.getAxes(
        takeConstants(reader, body->operands[side], ignored, unused), 0);
  AxisSet allowed = reader.getAxes(form.value), keys;
  reader.getAxes().insertAll(loops, allowed);
  reader.getAxes().insertAll(keyLoops, keys);
  bool found = false;
  for (unsigned side : {0, 1}) {
    AxisSet query = reader.getAxes().resolveSet(operands[side]);
    AxisSet key = reader.getAxes().resolveSet(operands[1 - side]);
    auto isOfKeys = [&](AxisId axis) { return keys.contains(axis); };
    found |= llvm::none_of(query, isOfKeys) && llvm::any_of(key, isOfKeys) &&
             llvm::all_of(key, [&](AxisId axis) {
               return allowed.contains(axis) || isOfKeys(axis);
             });
  }
  return found;
}

Sum Recogniser::getLogits(Expr *exponent, SmallVectorImpl<Term> *cancelling) {
  SumOptions options{settings.dropBelow,
                     [&](Expr *reduce) { return isScore(reduce); }};
  Sum sum = getSum(reader, exponent, options);
  // What all keys of a row have in common cancels.
  llvm::erase_if(sum.terms, [&](const Term &term) {
    if (dependsOnKeys(term.expr))
      return false;
    if (cancelling)
      cancelling->push_back(term);
    return true;
  });
  return sum;
}

LogicalResult Recogniser::matchScore(const Term &score, double base) {
  Expr *reduce = score.expr;
  form.scoreOp = reduce->operation;
  SmallVector<Coordinate, 2> loops = reader.createLoops(reduce);
  roundings.insert(reduce->type);
  Expr *product = reader.look(reduce->body(loops));
  while (product->is(Symbol::FloatCast)) {
    roundings.insert(product->type);
    product = reader.look(product->operands[0]);
  }
  roundings.insert(product->type);
  double ignored = 1;
  Roundings unused;
  bool firstHasKeys = dependsOnKeys(
      takeConstants(reader, product->operands[0], ignored, unused));
  double scale = score.coefficient * base;
  form.query = takeConstants(reader, product->operands[firstHasKeys ? 1 : 0],
                             scale, roundings);
  form.key = takeConstants(reader, product->operands[firstHasKeys ? 0 : 1],
                           scale, roundings);
  form.scale = scale;
  if (!std::isfinite(static_cast<float>(scale)))
    return refuse(Refusal::Scale, reduce->loc);
  for (const Coordinate &loop : loops)
    llvm::append_range(form.depth, loop);
  return success();
}

LogicalResult Recogniser::matchLogits() {
  auto [exponent, base] = *reader.getPower(exponential);
  logits = getLogits(exponent);
  addAll(roundings, logits.roundings);
  roundings.insert(exponent->type);
  if (!logits.finiteMasks.empty())
    return refuse(Refusal::FiniteMask, exponent->loc);
  if (logits.scores.empty())
    return refuse(Refusal::NoScore, exponent->loc);
  if (logits.scores.size() > 1)
    return refuse(Refusal::TwoScores, exponent->loc);
  if (failed(matchScore(logits.scores.front(), base)))
    return failure();
  for (const Term &term : logits.terms) {
    double coefficient = term.coefficient * base;
    if (isNearly(coefficient, 1))
      coefficient = 1;
    form.biases.push_back({term.expr, coefficient});
  }
  auto addMask = [&](const Condition &drop) {
    form.biases.push_back(
        {drop.expr, 1, /*isMask=*/true, /*keepWhen=*/!drop.when});
  };
  llvm::for_each(logits.dropWhere, addMask);
  llvm::for_each(leftOut, addMask);
  return success();
}

//===----------------------------------------------------------------------===//
// Rows without keys
//===----------------------------------------------------------------------===//

/// Whether a tensor may hold infinities that finite inputs do not have: those
/// that the program writes down, and logarithms. Products of matrices have
/// none.
static bool makesInfinities(Value value,
                            llvm::SmallPtrSetImpl<Operation *> &seen,
                            unsigned &budget) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return false;
  if (budget == 0)
    return true;
  --budget;
  auto isInfinite = [](Attribute attribute) {
    if (auto number = dyn_cast<FloatAttr>(attribute))
      return number.getValue().isInfinity();
    auto elements = dyn_cast<DenseFPElementsAttr>(attribute);
    if (!elements)
      return isa<ElementsAttr>(attribute) &&
             !isa<DenseElementsAttr>(attribute) &&
             isa<FloatType>(cast<ElementsAttr>(attribute).getElementType());
    if (elements.isSplat())
      return elements.getSplatValue<APFloat>().isInfinity();
    return llvm::any_of(
        elements.getValues<APFloat>(),
        [](const APFloat &number) { return number.isInfinity(); });
  };
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant)))
    return isInfinite(constant);
  auto isLogarithm = [](Operation *op) {
    return isa<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(op);
  };
  if (isLogarithm(op))
    return true;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (linalg::isaContractionOpInterface(structured))
      return false;
    // What a maximum starts from is no element of it.
    if (structured.getNumReductionLoops() != 0 &&
        llvm::none_of(structured.getDpsInputs(), [&](Value input) {
          return makesInfinities(input, seen, budget);
        }))
      return false;
  }
  // Of other ops with regions every number inside counts.
  WalkResult walk = op->walk([&](Operation *inner) {
    Attribute number;
    if (isLogarithm(inner) ||
        (matchPattern(inner, m_Constant(&number)) && isInfinite(number)))
      return WalkResult::interrupt();
    for (Value operand : inner->getOperands())
      if (makesInfinities(operand, seen, budget))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

static bool makesInfinities(ExpressionReader &reader, Expr *expr,
                            llvm::SmallPtrSetImpl<Operation *> &seen,
                            unsigned &budget) {
  switch (expr->kind) {
  case ExprKind::Read:
  case ExprKind::Scalar:
    return makesInfinities(expr->value, seen, budget);
  case ExprKind::Constant: {
    std::optional<double> number = reader.getConstant(expr);
    return number && std::isinf(*number);
  }
  case ExprKind::Index:
    return false;
  case ExprKind::Apply:
    if (expr->operation &&
        isa<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(
            expr->operation))
      return true;
    return llvm::any_of(expr->operands, [&](Expr *operand) {
      return makesInfinities(reader, operand, seen, budget);
    });
  case ExprKind::Reduce:
    return true;
  }
  llvm_unreachable("every kind is handled");
}

static bool makesInfinities(ExpressionReader &reader, Expr *expr) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  unsigned budget = 4096;
  return makesInfinities(reader, expr, seen, budget);
}

/// Whether a condition holds exactly where every logit of a row is minus
/// infinity, as torch's safe softmax asks.
bool Recogniser::isWhereAllDropped(Condition condition) {
  Expr *seen = reader.look(condition.expr);
  bool when = condition.when;
  // Not of a condition, here and below.
  auto skipNot = [&] {
    while (seen->is(Symbol::Xor)) {
      std::optional<double> first = reader.getConstant(seen->operands[0]);
      std::optional<double> second = reader.getConstant(seen->operands[1]);
      if (!(first && *first == 1) && !(second && *second == 1))
        return;
      seen = reader.look(seen->operands[second ? 0 : 1]);
      when = !when;
    }
  };
  skipNot();
  if (seen->kind != ExprKind::Reduce ||
      seen->reduction != (when ? Reduction::And : Reduction::Or) ||
      seen->sizes.size() != keyLoops.size())
    return false;
  seen = reader.look(seen->body(keyLoops));
  skipNot();
  if (!seen->is(Symbol::CompareFloat) || !seen->operation)
    return false;
  // A NaN makes the row NaN either way.
  arith::CmpFPredicate predicate =
      cast<arith::CmpFOp>(seen->operation).getPredicate();
  bool isEqual = predicate == arith::CmpFPredicate::OEQ;
  bool isUnequal = predicate == arith::CmpFPredicate::UNE;
  if (when ? !isEqual : !isUnequal)
    return false;
  for (unsigned side : {0, 1}) {
    std::optional<double> number = reader.getConstant(seen->operands[1 - side]);
    if (!number || !std::isinf(*number) || *number > 0)
      continue;
    SmallVector<Term> cancelling;
    Sum compared = getLogits(seen->operands[side], &cancelling);
    // An infinity that all keys of a row have zeroes the row here alone.
    if (llvm::any_of(cancelling, [&](const Term &term) {
          return makesInfinities(reader, term.expr);
        }))
      continue;
    auto areSameTerms = [&](ArrayRef<Term> a, ArrayRef<Term> b) {
      return a.size() == b.size() && llvm::all_of(a, [&](const Term &term) {
               return llvm::any_of(b, [&](const Term &other) {
                 return term.coefficient * other.coefficient > 0 &&
                        reader.areSame(term.expr, other.expr);
               });
             });
    };
    auto areSameConditions = [&](ArrayRef<Condition> a, ArrayRef<Condition> b) {
      return a.size() == b.size() && llvm::all_of(a, [&](const Condition &one) {
               return llvm::any_of(b, [&](const Condition &other) {
                 return one.when == other.when &&
                        reader.areSame(one.expr, other.expr);
               });
             });
    };
    if (leftOut.empty() && compared.finiteMasks.empty() &&
        areSameTerms(compared.terms, logits.terms) &&
        areSameTerms(compared.scores, logits.scores) &&
        areSameConditions(compared.dropWhere, logits.dropWhere))
      return true;
  }
  return false;
}

LogicalResult Recogniser::matchZeroed(const Product &product) {
  for (const Product *part : {&static_cast<const Product &>(weights), &product})
    for (const Condition &zero : part->zeroWhere) {
      if (!isWhereAllDropped(zero))
        return refuse(Refusal::ZeroedWeights, zero.expr->loc);
      zeroesRows = true;
    }
  return success();
}

LogicalResult Recogniser::checkRowsWithoutKeys() {
  if (zeroesRows || settings.zeroRowsWithoutKeys)
    return success();
  for (const BiasForm &bias : form.biases) {
    if (bias.isMask || makesInfinities(reader, bias.expr))
      return refuse(Refusal::RowsWithoutKeys, bias.expr->loc);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult Recogniser::chooseTypes() {
  auto isInput = [](Type type) {
    return type.isF16() || type.isBF16() || type.isF32();
  };
  Type query = form.query->type, key = form.key->type, value = form.value->type;
  for (Type type : {query, key, value})
    if (!isInput(type))
      return refuse(Refusal::ElementType, weightedSum->loc);
  Type f32 = Float32Type::get(query.getContext());
  Type common = query == key && query == value ? query : f32;
  addAll(roundings, reader.getRoundings());
  for (Type type : roundings)
    if (type != common && !type.isF32())
      return refuse(Refusal::Rounding, weightedSum->loc);
  // The op rounds weights to the type of the values.
  bool isRounded = weights.roundings.contains(common) || settings.roundWeights;
  form.inputType = isRounded ? common : f32;
  return success();
}

FailureOr<AttentionForm> Recogniser::run(Value root) {
  auto type = dyn_cast<RankedTensorType>(root.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || type.getEncoding())
    return failure();
  form.root = root;
  for (int64_t size : type.getShape())
    form.rootCoordinates.push_back(reader.getAxes().createLoop(size));
  Expr *element = reader.read(root, form.rootCoordinates, root.getLoc());
  FailureOr<Product> product = getProduct(reader, element);
  if (failed(product) || failed(findWeightedSum(*product)))
    return failure();
  addAll(roundings, product->roundings);
  if (failed(matchSum(*product)) || failed(matchGate(*product)))
    return failure();
  if (!isNearly(product->coefficient * weights.coefficient, 1))
    return refuse(Refusal::Coefficient, weightedSum->loc);
  if (failed(matchLogits()) || failed(matchZeroed(*product)) ||
      failed(checkRowsWithoutKeys()) || failed(chooseTypes()))
    return failure();
  for (const Coordinate &loop : keyLoops)
    llvm::append_range(form.keys, loop);
  return form;
}

FailureOr<AttentionForm> raising::recognise(ExpressionReader &reader,
                                            Value root,
                                            const RaiseSettings &settings,
                                            std::optional<Refused> &refused) {
  return Recogniser(reader, settings, refused).run(root);
}
