//===- AMDShuffles.h - Lane exchange in registers ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_GPUTOLLVM_AMDSHUFFLES_H
#define EVOFORMER_LIB_CONVERSION_GPUTOLLVM_AMDSHUFFLES_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::evoformer {

/// Rewrites `gpu.shuffle xor` by a constant to exchanges that stay within the
/// vector unit (DPP, permlane), where the chip has one for that constant.
void populateAMDShufflePatterns(RewritePatternSet &patterns,
                                tile::TargetAttr target,
                                amdgpu::Chipset chipset);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_GPUTOLLVM_AMDSHUFFLES_H
