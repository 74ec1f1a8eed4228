//===- Score.cpp - Named scores in double precision -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors are sums of what each operation rounds, in unit roundoffs: one of its
// result for arithmetic; for functions kFunction, which is four ulp.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Score.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdlib>

using namespace mlir::evoformer::reference;

/// Of tanh, the exponential and the logarithm to base 2, relative.
static constexpr double kFunction = 8;

static ScoreResult softcap(double c, double x) {
  double tanh = std::tanh(x / c), slope = 1 - tanh * tanh;
  // The quotient, which is a product with the inverse, the function and the
  // product.
  double error =
      2 * std::fabs(x) * slope + (kFunction + 1) * std::fabs(c * tanh);
  // 1 - t^2 of such a t, and three factors.
  double ofSlope = (2 * kFunction + 1) * tanh * tanh + 4 * slope +
                   std::fabs(2 * tanh * slope * x / c);
  return {c * tanh, slope, -2 * tanh * slope / c, error, ofSlope};
}

/// tanh(z) as 1 - 2 / (1 + e^2z): of the exponential the rounded exponent and
/// the function, then a sum, an inverse and a difference.
static ScoreResult fastcap(double c, double x) {
  ScoreResult result = softcap(c, x);
  double z = x / c, tanh = std::tanh(z), rest = 1 - tanh;
  double ofPower = 4 * std::fabs(z) + kFunction;
  double ofTanh = rest * ((1 + tanh) / 2 * ofPower + 5) + std::fabs(tanh);
  result.error = c * ofTanh + 2 * std::fabs(result.value) +
                 std::fabs(x * result.derivative);
  result.derivativeError = 2 * std::fabs(tanh) * ofTanh + 5;
  return result;
}

/// Of a query and a key, the last of which are at one place.
static double getDistance(const ScorePlace &place) {
  return static_cast<double>(
      std::llabs(place.query + place.keys - place.queries - place.key));
}

static ScoreResult alibi(double heads, const ScorePlace &place, double x) {
  double exponent = -8 * static_cast<double>(place.head + 1) / heads;
  double term = std::exp2(exponent) * getDistance(place);
  // The exponent's roundings, a product with an inverse, the function, the
  // product, the difference.
  double error =
      term * (2 * std::fabs(exponent) + kFunction + 1) + std::fabs(x - term);
  return {x - term, 1, 0, error, 0};
}

static ScoreResult swish(double c, double x) {
  // No product of them is 0 times an infinity, as large as c may be.
  double share = 1 / (1 + std::exp(-c * x)), rest = 1 / (1 + std::exp(c * x));
  double logit = x * share;
  double slope = share + c * x * share * rest;
  double second = c * share * rest * (2 + c * x * (rest - share));
  // exp(x) is 2^(x log2(e)), whose argument is rounded thrice.
  double ofPower = 3 * std::fabs(c * x) + kFunction;
  double error = std::fabs(logit) * (rest * ofPower + 4);
  double ofSlope =
      (share + 3 * std::fabs(c * x) * share * rest) * (2 * ofPower + 8);
  return {logit, slope, second, error, ofSlope};
}

static ScoreResult distance(double c, const ScorePlace &place, double x) {
  double log =
      std::log1p(static_cast<double>(std::llabs(place.query - place.key)));
  double logit = x - c * log;
  // ln(x) is log2(x) ln(2).
  double error = std::fabs(c) * ((kFunction + 3) * log + 4) + std::fabs(logit);
  return {logit, 1, 0, error, 0};
}

ScoreResult mlir::evoformer::reference::evaluateScore(const Score &score,
                                                      const ScorePlace &given,
                                                      double x,
                                                      double captured) {
  ScorePlace place = given;
  place.batch += score.firstBatch;
  place.row += score.firstRow;
  place.head += score.firstHead;
  double c = score.parameter;
  switch (score.kind) {
  case ScoreKind::Softcap:
    return softcap(c, x);
  case ScoreKind::Fastcap:
    return fastcap(c, x);
  case ScoreKind::ALiBi:
    return alibi(c, place, x);
  case ScoreKind::Temperature: {
    double divisor = 1 + c * static_cast<double>(place.head);
    return {x / divisor, 1 / divisor, 0, 3 * std::fabs(x / divisor),
            3 / divisor};
  }
  case ScoreKind::Swish:
    return swish(c, x);
  case ScoreKind::Distance:
    return distance(c, place, x);
  case ScoreKind::Buckets: {
    int64_t bucket = std::llabs(place.query - place.key) / 4;
    double term = c * static_cast<double>(bucket);
    return {x + term, 1, 0, std::fabs(term) + std::fabs(x + term), 0};
  }
  case ScoreKind::Slopes: {
    double term = captured * getDistance(place);
    return {x - term,           1, 0, std::fabs(term) + std::fabs(x - term), 0,
            -getDistance(place)};
  }
  case ScoreKind::Matrix:
    return {x * captured, captured, 0, std::fabs(x * captured), 0, x, 1};
  case ScoreKind::Keywise: {
    double term = c * captured;
    return {x + term, 1, 0, std::fabs(term) + std::fabs(x + term), 0, c};
  }
  case ScoreKind::Querywise: {
    double factor = c * std::exp2(captured), logit = x * factor;
    // Of 2^m, with x, c and the natural logarithm of 2.
    double slope = logit * llvm::numbers::ln2;
    return {logit,
            factor,
            0,
            (kFunction + 2) * std::fabs(logit),
            (kFunction + 2) * std::fabs(factor),
            slope,
            factor * llvm::numbers::ln2,
            (kFunction + 4) * std::fabs(slope)};
  }
  case ScoreKind::Table: {
    double term = c * captured;
    return {x + term, 1, 0, std::fabs(term) + std::fabs(x + term), 0, c};
  }
  case ScoreKind::Leaky:
    return {std::fmax(x, c * x), x >= c * x ? 1.0 : c, 0, std::fabs(c * x), 0};
  }
  return {x};
}
