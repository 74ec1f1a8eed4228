//===- LoweringFacts.h - What differs between vendors -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last conversion is one pass; a vendor is a row of these facts.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_GPUTOLLVM_LOWERINGFACTS_H
#define EVOFORMER_LIB_CONVERSION_GPUTOLLVM_LOWERINGFACTS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::evoformer {

struct LoweringFacts {
  /// The first component of the triples this row serves.
  StringLiteral arch;

  /// Intrinsics f32 -> f32 for 2^x, log2(x), 1/x and 1/sqrt(x).
  StringLiteral exp2, log2, reciprocal, reciprocalSqrt;

  /// Alignment that LDS variables get: the widest access to LDS, at least.
  int64_t ldsAlignment;

  /// Whether LDS above the static limit can be asked for at launch.
  bool dynamicLDS;

  /// Rewrites within the lanes level: shuffles and reductions over lanes.
  LogicalResult (*populateRewrites)(RewritePatternSet &patterns,
                                    tile::TargetAttr target, Location loc);

  /// Address spaces, and the conversions of gpu and vendor ops.
  LogicalResult (*populateConversions)(LLVMTypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       ConversionTarget &legality,
                                       tile::TargetAttr target, Location loc);

  /// Whether `bit` is set in any lane of a subgroup of so many lanes.
  Value (*buildVote)(OpBuilder &builder, Location loc, Value bit,
                     int64_t lanes);

  /// Completes a kernel's attributes. `blockSize` is empty where unknown.
  void (*finishKernel)(LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                       ArrayRef<int32_t> blockSize);
};

const LoweringFacts &getAMDFacts();
const LoweringFacts &getNVIDIAFacts();

/// The row for a target, or null where there is none.
const LoweringFacts *getLoweringFacts(tile::TargetAttr target);

/// Conversions of math ops and quotients to the row's intrinsics.
void populateMathPatterns(const LLVMTypeConverter &converter,
                          RewritePatternSet &patterns,
                          const LoweringFacts &facts);

/// Rewrites truncation of f32 to bf16 as integer arithmetic; with
/// `nativeNearest` only in the rounding modes that no instruction has.
void populateIntegerTruncatePatterns(RewritePatternSet &patterns,
                                     bool nativeNearest);

/// Rewrites extension of pairs of bf16 to f32 as integer arithmetic.
void populateExtendPatterns(RewritePatternSet &patterns);

/// Makes `or` of bits over a subgroup one vote.
void populateVotePatterns(RewritePatternSet &patterns,
                          const LoweringFacts &facts, int64_t lanes);

/// Splits long vectors into pairs where the target has an instruction for
/// pairs that the code generator would not find.
void populatePairwisePatterns(RewritePatternSet &patterns,
                              tile::TargetAttr target);

/// Checks a kernel's workgroup memory against the target, aligns it, and
/// moves what does not fit statically into dynamic LDS.
LogicalResult lowerWorkgroupMemory(gpu::GPUFuncOp kernel,
                                   tile::TargetAttr target,
                                   const LoweringFacts &facts);

/// The step of loads that run ahead stays apart from the rest of an address.
void populateStepPatterns(RewritePatternSet &patterns);

/// The conversion of `gpu.dynamic_shared_memory` to an external variable.
void populateDynamicLDSPatterns(const LLVMTypeConverter &converter,
                                RewritePatternSet &patterns);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_GPUTOLLVM_LOWERINGFACTS_H
