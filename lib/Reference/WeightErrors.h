//===- WeightErrors.h - What roundings make of weights ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the bounds of outputs and of gradients: sums of errors, and those
// of one query's logits.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_WEIGHTERRORS_H
#define EVOFORMER_LIB_REFERENCE_WEIGHTERRORS_H

#include "Evoformer/Reference/ErrorBound.h"
#include "Roundings.h"
#include "Weights.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mlir::evoformer::reference {

/// The unit roundoff of f32.
inline constexpr double kSingle = 0x1p-24;

/// Errors of a logit that first order does not describe.
inline constexpr double kLargeError = 0.25;

/// Whether logits are scores and what is added to these, which products may
/// start from.
inline bool addsToScores(const AttentionProblem &problem) {
  return !problem.score || isSum(problem.score->kind);
}

/// A sum of independent errors, in units of the quantity that they change.
struct ErrorSum {
  double square = 0, most = 0;
  /// What is not independent: of either sign, and of each Alike of this pass
  /// and of an earlier one, whose draws may be others.
  double shared = 0;
  /// The part of it that operands leave which a product takes for 0.
  double flushed = 0;
  std::array<double, 2 * kNumAlike> alike = {};

  /// `isExact`: whether that is the quantity, and no bound on it.
  void add(const Rounding &rounding, double quantity, double unit = kSingle,
           bool isExact = true) {
    double size = std::fabs(quantity) * unit;
    square += rounding.meanSquare * size * size;
    most += rounding.most * size;
    if (rounding.alike == Alike::None || !isExact)
      shared += rounding.shared * size;
    else
      alike[static_cast<size_t>(rounding.alike)] +=
          rounding.shared * quantity * unit;
  }
  /// Of another quantity that changes by `factor` of this.
  void add(const ErrorSum &other, double factor) {
    square += other.square * factor * factor;
    most += other.most * std::fabs(factor);
    shared += other.shared * std::fabs(factor);
    flushed += other.flushed * std::fabs(factor);
    for (size_t k = 0; k < alike.size(); ++k)
      alike[k] += other.alike[k] * factor;
  }
  /// A term that a product takes for 0.
  void addFlushed(double term) {
    shared += std::fabs(term);
    flushed += std::fabs(term);
  }
  /// The same as made by an earlier pass.
  ErrorSum ofEarlier() const {
    ErrorSum earlier = *this;
    for (size_t k = 0; k < kNumAlike; ++k) {
      earlier.shared += std::fabs(earlier.alike[kNumAlike + k]);
      earlier.alike[kNumAlike + k] = alike[k];
      earlier.alike[k] = 0;
    }
    return earlier;
  }
  double getShared() const {
    double sum = shared;
    for (double some : alike)
      sum += std::fabs(some);
    // Infinite ones of both signs.
    return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
  }
  double getBound() const {
    return std::min(most, kDeviations * std::sqrt(square)) + getShared();
  }
};

/// Terms that are added one after the other, or parts of `length` terms; with
/// `ofTerm` the terms are rounded themselves.
class PartialSums {
public:
  explicit PartialSums(const Rounding &rounding, int64_t length = 0,
                       double start = 0, const Rounding *ofTerm = nullptr)
      : rounding(&rounding), ofTerm(ofTerm), length(length), part(start) {}

  /// The same from another start.
  PartialSums(const PartialSums &other, double start) : PartialSums(other) {
    part = start;
  }

  void add(double term) {
    if (ofTerm)
      error.add(*ofTerm, term);
    part += term;
    error.add(*rounding, part);
    if (length == 0 || ++count % length)
      return;
    sum += part;
    part = 0;
    error.add(*rounding, sum);
  }

  double getTotal() const { return sum + part; }

  ErrorSum error;

private:
  const Rounding *rounding, *ofTerm;
  int64_t length, count = 0;
  double part = 0, sum = 0;
};

/// Partial sums from `start` on of terms in the order that a matrix unit adds
/// them, which need not be ascending: their mean square over all orders.
ErrorSum boundAnyOrder(const Rounding &rounding, double start, double total,
                       double squares, int64_t count);

/// The types that decide how kernels round.
struct OperandType {
  explicit OperandType(ElementType type, const Arithmetic &arithmetic)
      : isSingle(type == ElementType::F32 || type == ElementType::F64),
        usesFMA(isSingle && !arithmetic.splitsProducts),
        startsFromBiases(!isSingle && arithmetic.startsFromBiases),
        cutsOffGradients(type == ElementType::BF16 &&
                         arithmetic.cutsOffGradients),
        sumsNarrowGradients(!isSingle && arithmetic.sumsNarrowGradients),
        ofProduct(isSingle && arithmetic.splitsProducts ? &kSplitProduct
                                                        : nullptr),
        unit(isSingle ? 0 : ulpOf(1, type) / 2),
        smallest(isSingle ? 0 : ulpOf(0, type) / 2),
        smallestNormal(isSingle || !arithmetic.flushesSubnormals
                           ? 0
                           : ulpOf(0, type) / ulpOf(1, type)) {}

  /// Whether a product takes an operand for 0.
  bool isFlushed(double operand) const {
    return std::fabs(operand) < smallestNormal;
  }

  /// Whether an operand is 0 once it is narrowed, whatever its error.
  bool vanishes(double operand, const ErrorSum &error) const {
    return std::fabs(operand) + error.getBound() < smallest;
  }

  bool isSingle;
  /// Multiply-adds round sums, which matrix units may cut off.
  bool usesFMA;
  /// Sums of products may start from the biases.
  bool startsFromBiases;
  /// Gradients of logits are cut off as operands.
  bool cutsOffGradients;
  /// And sums over rows may be of those.
  bool sumsNarrowGradients;
  /// What products are rounded by; null where they are exact.
  const Rounding *ofProduct;
  /// The unit roundoff, and half of the smallest number; 0 where f32 is not
  /// narrowed.
  double unit, smallest;
  /// Below this operands are taken for 0.
  double smallestNormal;
};

/// The errors of one head's logits and exponentials, query by query.
class WeightErrors {
public:
  WeightErrors(const AttentionProblem &problem, const Arithmetic &arithmetic,
               int64_t b, int64_t n, int64_t h)
      : problem(problem), head(problem, b, n, h),
        type(problem.query.type, arithmetic) {}

  /// Computes what is below for query i; false if it has no key left.
  bool compute(int64_t i);

  const AttentionProblem &problem;
  HeadWeights head;
  OperandType type;
  /// Of each key, the relative error of its exponential; the logit's where
  /// weights are logits.
  std::vector<ErrorSum> logits;
  /// The relative errors of derivatives of logits by scaled scores, times
  /// these; none where there is no score.
  std::vector<ErrorSum> derivatives;
  /// Those by what is captured.
  std::vector<ErrorSum> captureDerivatives;
  /// What weights may become, relative to the row's largest, that have no
  /// digits left; else 0.
  std::vector<double> lost;
  /// Whether those are negligible.
  bool hasDigits = true;
  /// The most that a logit may be off by, of any key that counts.
  double mostOfLogits = 0;
  /// By how much the largest logit may exceed what weights are relative to; 0:
  /// its weight is 1.
  double growth = 0;

  /// The error of the mean of the logits, each as often as its weight counts:
  /// that of their sum of exponentials. Where keys have the same term of a bias
  /// sums of f32, multiples of one unit, are rounded by the same: what takes
  /// nothing from the weights moves their mean.
  ErrorSum ofMean() const;

  /// The relative error that the row's statistics give all of its weights where
  /// these are made again, and the error that only the weight of key j has
  /// then.
  ErrorSum ofStatistics() const;
  ErrorSum ofWeightAgain(int64_t j) const;

  /// What a weight without digits is at most, relative to the row's largest.
  double getLargestWeight(int64_t j) const {
    return std::max(head.weights[j] * std::exp(kLargeError), lost[j]);
  }

private:
  /// In the logits' order of keys.
  std::vector<double> starts;
  /// A term of a bias that was added to a logit, and the sum.
  struct Addition {
    int64_t key;
    double term, sum;
  };
  /// What the errors of logits are made of, for one way to add the biases.
  struct Way {
    /// Without those of additions.
    std::vector<ErrorSum> others;
    /// Bias by bias.
    std::vector<std::vector<Addition>> additions;
  };
  std::vector<Way> ways;

  bool findStarts(int64_t i);
  void boundScores(int64_t i);
  void applyScore();
  void boundLogits(int64_t i);
  void boundLogitsOf(int64_t i, bool starting);
  ErrorSum ofMean(const Way &way) const;
  void findLost();
  double boundGrowth() const;
};

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_WEIGHTERRORS_H
