//===- Patterns.h - Patterns of one kernel ----------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_PATTERNS_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_PATTERNS_H

#include "LaneBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::evoformer::tile {

/// A pattern that knows its kernel. Tiles become several vectors each (1:N).
template <typename OpTy> struct KernelPattern : OpConversionPattern<OpTy> {
  KernelPattern(const TypeConverter &converter, MLIRContext *context,
                const KernelContext &kernel)
      : OpConversionPattern<OpTy>(converter, context), kernel(kernel) {}

  const KernelContext &kernel;
};

/// The map of a tile whose layout the verifier has checked.
inline LaneMap mapOf(Value tile) {
  return *getLaneMap(cast<RankedTensorType>(tile.getType()));
}

/// Elementwise work, constants, products, reductions, broadcasts.
void populateComputePatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             const KernelContext &kernel);
/// evo_tile.group_mma, evo_tile.proxy_fence.
void populateGroupPatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns,
                           const KernelContext &kernel);
/// evo_tile.random.
void populateRandomPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            const KernelContext &kernel);
/// evo_tile.convert_layout.
void populateLayoutPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            const KernelContext &kernel);
/// Loads and stores, global and LDS; asynchronous copies, waits, barriers.
void populateMemoryPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            const KernelContext &kernel);
/// Copies of boxes and their slots.
void populateBoxPatterns(const TypeConverter &converter,
                         RewritePatternSet &patterns,
                         const KernelContext &kernel);
/// Says what the last arguments of the kernel are tensor maps of, which is
/// launched with arguments of these types before them.
void setMapAttributes(gpu::GPUFuncOp kernel, ArrayRef<Type> arguments,
                      ArrayRef<Type> maps);
/// Moves what is computed of loaded values before a fence behind it, to where
/// it is used: a choice between a loaded value and padding, for one, waits for
/// it.
void sinkLoaded(Operation *fence);
/// Subgroups must ask the condition of every evo_tile.where for all elements
/// that they have results of.
LogicalResult checkVotes(KernelOp kernel);
/// evo_tile.where.
void populateWherePattern(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          const KernelContext &kernel);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_PATTERNS_H
