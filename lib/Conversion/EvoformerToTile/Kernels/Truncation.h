//===- Truncation.h - What cutting off digits takes away ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_TRUNCATION_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_TRUNCATION_H

#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace mlir::evoformer {

/// Cutting an f32 to bf16 takes away half a unit of the last of 8 digits on
/// average: of a mantissa m in [1, 2), which powers of 2 distribute with the
/// density 1 / (m ln 2), the share E[2^-8 / m] = 2^-8 / (2 ln 2).
inline constexpr double kTruncationShare = 0x1p-9 * llvm::numbers::log2e;

/// Exponents raised by this much make up for it.
inline double getTruncationExponent() {
  return std::log2(1 + kTruncationShare);
}

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_TRUNCATION_H
