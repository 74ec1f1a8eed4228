//===- AMDBarriers.h - Barriers that wait for workgroup memory --*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_GPUTOLLVM_AMDBARRIERS_H
#define EVOFORMER_LIB_CONVERSION_GPUTOLLVM_AMDBARRIERS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::evoformer {

/// Conversions of barriers, before upstream's: with a wait for workgroup memory
/// that the code generator keeps.
void populateAMDBarrierPatterns(const LLVMTypeConverter &converter,
                                RewritePatternSet &patterns,
                                amdgpu::Chipset chipset);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_GPUTOLLVM_AMDBARRIERS_H
