//===- Roundings.h - The declared roundings of attention --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the kernels are known to round, as data: the one place to change where a
// kernel rounds more, less or otherwise. ErrorBound.cpp composes these to a
// bound on each element; docs/rationale/error-bound.md derives the numbers.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_ROUNDINGS_H
#define EVOFORMER_LIB_REFERENCE_ROUNDINGS_H

#include <cstddef>
#include <cstdint>

namespace mlir::evoformer::reference {

/// What is off by the same everywhere: constants that are rounded once, and
/// functions that are wrong on average.
enum class Alike : uint8_t {
  Scale,
  BiasUnit,
  Exponent,
  Exponential,
  AgainExponent,
  Logarithm,
  GateExponent,
  Gate,
  /// Nothing, or what has not one sign.
  None
};
inline constexpr size_t kNumAlike = static_cast<size_t>(Alike::None);

/// An error relative to a quantity, in unit roundoffs (half an ulp of 1) of a
/// type: its mean square and the most it can be. A constant that is rounded
/// once for all elements is off by the same everywhere, up to `shared`: where
/// `alike` says which, quantities add up with their signs.
struct Rounding {
  double meanSquare, most, shared;
  Alike alike = Alike::None;
};

/// A sum of independent errors is beyond so many root mean squares once in 1e9:
/// sqrt(2 ln(2 / 1e-9)), the tail of sums of bounded ones.
inline constexpr double kDeviations = 6.55;

/// To nearest: uniform within half an ulp, which is u / m of a number of
/// mantissa m in [1, 2). Powers of 2 distribute mantissas with the density 1 /
/// (m ln 2), so that the mean of (1 / m)^2 is 3 / (8 ln 2): a third of that.
inline constexpr double kNearest = 0.18034;

/// Cut off after exponents were raised by u / (2 ln 2): within an ulp, the mean
/// square about zero being that of rounding and of 1 / (2 ln 2) - 1 / m.
inline constexpr double kCutOff = kNearest + 0.02068;

/// log2(e) as a number of f32, times a power of two or not: it is off by 0.224
/// of a unit roundoff.
inline constexpr double kOfLog2E = 0.225;

// Of the logit, relative to its terms, in f32:

/// Matrix units may cut off, by a unit on average, once an instruction: of at
/// least eight products.
inline constexpr double kCutOffProduct = 1 / 8.0;
/// A partial sum of products of queries and keys.
inline constexpr Rounding kScoreSum = {4 * kNearest, 2, kCutOffProduct};
/// The same in f32 by multiply-adds, which cut nothing off.
inline constexpr Rounding kSingleScoreSum = {kNearest, 1, 0};
/// A product of f32 made of three of tf32, relative to it. What the second term
/// has beyond 11 digits is cut off, a unit of 2^-23 in a quarter of all cases:
/// 2u / m of either operand, of mean square E[1 / m^2] u^2 = 3 kNearest u^2,
/// with the signs of what is left after rounding. The product of both second
/// terms, each uniform within 2^-11 / m, is not added: at most 2^-22, of mean
/// square (4u E[1 / m^2] / 3)^2 = 16 kNearest^2 u^2.
inline constexpr Rounding kSplitProduct = {
    6 * kNearest + 16 * kNearest * kNearest, 8, 0};
/// There sums of more than so many elements are of parts.
inline constexpr int64_t kLongDepth = 64, kDepthOfPart = 32;
/// The factor scale * log2(e) / 16 of a score in 16-bit types. That of f32,
/// scale / 16, is exact.
inline constexpr Rounding kScale = {0, 0, 1, Alike::Scale};
/// What the operations of a score round, relative to the sum of the most that
/// each may; of either sign.
inline constexpr Rounding kScoreOps = {1 / 3.0, 1, 0};
/// 16-bit types on GPUs: sums start from the biases in units of products, made
/// by multiply-adds, and the factor scale * log2(e) is that of all of a logit.
/// Where a row's logits are larger it is done again without this; the factor
/// 1 / scale of a bias rounds as kBiasUnit does.
inline constexpr double kLargestStart = 0x1p11 * 0.6931471805599453;
/// There the weight of the reference itself is off by what the negative of its
/// exponent is rounded by, relative to that, which its narrowing takes away.
inline constexpr Rounding kReference = {kNearest, 1, 0};
/// The sum of the query-independent biases, in f64 up to here. Queries share
/// it.
inline constexpr Rounding kKeySum = {kNearest, 1, 1};
/// A logit after the score or a bias of the query has been added.
inline constexpr Rounding kLogit = {kNearest, 1, 0};
/// The factor log2(e) / 16 of a bias of the query; that of f32 is exact.
inline constexpr Rounding kBiasUnit = {0, 0, 1, Alike::BiasUnit};

// Of the exponent, relative to it:

/// 16-bit types: one multiply-add. The exponent is relative to a logit of the
/// first keys, which the largest may exceed by so much before rows are done
/// again.
inline constexpr Rounding kExponent = {kNearest, 1, 0};
inline constexpr double kGrowth = 45;
/// So many keys are in the first block that a kernel takes, and maybe more.
inline constexpr int64_t kFirstKeys = 16;
/// f32: a difference and its product with 16 log2(e), a rounded constant.
inline constexpr Rounding kSingleExponent = {2 * kNearest, 2, kOfLog2E,
                                             Alike::Exponent};

// Of a weight:

/// Its exponential: 2 ulp (PTX ISA, 'ex2'; 1 in the RDNA and CDNA manuals), as
/// a rule within one.
inline constexpr Rounding kExponential = {4 * kNearest, 4, 1,
                                          Alike::Exponential};
/// Exponentials below this, f32's smallest normal number, may be 0: the weights
/// that dropout leaves of a row may all be so small.
inline constexpr double kSmallestExponential = 0x1p-126;
/// To the operands' type, in its unit (the type's smallest numbers, see
/// ErrorBound.cpp, come on top). The row's largest is 1 and exact where it is
/// among the first keys, which weights are relative to.
inline constexpr Rounding kWeight = {kCutOff, 2, 0};
/// Outputs of so many elements or fewer add what this takes away, rounded once
/// more, in the square of its unit: that may be cut off again, which has a
/// mean.
inline constexpr Rounding kLostWeight = {0.53, 4, 1};
inline constexpr int64_t kFewElements = 16;
/// Cutting off a weight of mantissa m takes u / m away on average. Of weights
/// that are spread evenly over (0, 1), those of few keys, sums lose 7 / 9 u;
/// more keys that are small bring it nearer to the u / (2 ln 2) that is made up
/// for.
inline constexpr double kUncompensated = 7 / 9.0 - 0.72135;

// Of sums over keys, each partial sum, in f32:

inline constexpr Rounding kWeightSum = {kNearest, 1, 0};
inline constexpr Rounding kOutputSum = {4 * kNearest, 2, kCutOffProduct};
inline constexpr Rounding kSingleOutputSum = {kNearest, 1, 0};
/// f32 sums are of parts of at most so many keys, one key block.
inline constexpr int64_t kKeysOfPart = 32;

// Of the output, relative to it, in f32:

/// The reciprocal of the sum (1 ulp) and its product with the weighted sum.
inline constexpr Rounding kNormalization = {5 * kNearest, 3, 0};
/// The inverse of the least that weights which are logits are divided by: all
/// rows that have too small ones have the same.
inline constexpr Rounding kLeast = {kNearest, 1, 1};
/// The factor of weights that dropout keeps, a rounded constant, and the
/// product with it.
inline constexpr Rounding kDropFactor = {kNearest, 1, 1};
/// The exponent of the gate's sigmoid, times what the sigmoid makes of it: a
/// product with log2(e), a rounded constant.
inline constexpr Rounding kGateExponent = {kNearest, 1, kOfLog2E,
                                           Alike::GateExponent};
/// The rest of the sigmoid, 1 / (1 + 2^x), and the product with it.
inline constexpr Rounding kGate = {10 * kNearest, 9, 1, Alike::Gate};

// Of the statistics:

/// The logarithm of the sum (lg2.approx of the PTX ISA is within 2^-22 of it,
/// as much as AMD's), which the backward pass adds to and subtracts, relative
/// to itself or 1.
inline constexpr Rounding kLogarithm = {4 * kNearest, 6, 1, Alike::Logarithm};
/// lse: the product of the maximum with ln 2, a rounded constant, and the sums
/// with the logarithm and with the prepared maximum, itself rounded.
inline constexpr Rounding kMaximum = {2 * kNearest, 2, 1};
/// The result.
inline constexpr Rounding kStatistic = {kNearest, 1, 0};

// Of the backward pass. Weights are made again, with the errors of logits and
// those of the statistics:

/// The difference of logit and maximum, and its multiply-add with the
/// logarithm, relative to the weight's own logarithm. The unit of f32 is 16
/// log2(e), that of 16-bit types 16.
inline constexpr Rounding kAgainExponent = {2 * kNearest, 2, 0};
inline constexpr Rounding kSingleAgainExponent = {2 * kNearest, 2, kOfLog2E,
                                                  Alike::AgainExponent};
/// 16-bit types: the sum of the statistics as one number, relative to it; above
/// so much the two are subtracted apart.
inline constexpr Rounding kOneStatistic = {kNearest, 1, 0};
inline constexpr double kLargestStatistic = 0x1p11 * 0.6931471805599453;
/// A term of delta: the products of output, gate and gradient.
inline constexpr Rounding kDeltaTerm = {2 * kNearest, 2, 0};
/// The product of a weight and <w, v> - delta.
inline constexpr Rounding kProduct = {kNearest, 1, 0};
/// To the operands' type, to nearest: gradients of logits and of the weighted
/// sum.
inline constexpr Rounding kNarrowing = {kNearest, 1, 0};
/// Gradients of logits on chips that do not round to bf16 in an instruction.
inline constexpr Rounding kCutOffGradient = {kCutOff, 2, 0};
/// The same below its smallest normal number, in half of its smallest number.
inline constexpr Rounding kUnderflow = {1 / 3.0, 1, 0};
/// The factor of a sum: scale, and what cut off weights left, as constants.
/// Without weights that are cut off it is scale, which is a number of f32.
inline constexpr Rounding kGradientScale = {2 * kNearest, 2, 1};
inline constexpr Rounding kExactGradientScale = {2 * kNearest, 2, 0};

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_ROUNDINGS_H
