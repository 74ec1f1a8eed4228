//===- GradientLaunch.h - The launches of a gradient's kernel ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_GRADIENTLAUNCH_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_GRADIENTLAUNCH_H

#include "../Kernels/GradientKernels.h"
#include "HostBuilder.h"

namespace mlir::evoformer {

/// `given`, which has all biases as they are, with what a kernel reads in their
/// place and a key sum, if it has none yet, prepared at the builder's place;
/// with `widens` a bias that rows share is of f32.
GradientOperands prepareOperands(TileBuilder &builder, HostBuilder &host,
                                 tile::TargetAttr target,
                                 const AttentionFacts &facts,
                                 const GradientOperands &given,
                                 const AttentionBlocks &blocks,
                                 bool widens = false);

/// Launches a gradient's kernel, once or for parts of what it reads and writes,
/// in the variant that memory allows.
class GradientLaunch {
public:
  /// Of prepared operands, with guards at the builder's place.
  GradientLaunch(HostBuilder &host, KernelFactory &factory,
                 const AttentionFacts &facts, const GradientOperands &operands,
                 const GradientSchedule &schedule);

  const GradientSchedule &getSchedule() const { return schedule; }
  /// Whether rows of depths start where whole vectors do; see
  /// HostBuilder::hasAlignedDepths.
  Value hasAlignedDepths() const { return aligned; }

  /// Writes a launch at `at`. `chosen` are the operands, or rows of them at
  /// their strides.
  void write(TileBuilder &at, const GradientOperands &chosen);

private:
  void writeVariant(TileBuilder &at, GradientOperands variant, bool alignedRows,
                    bool alignedGrads);

  HostBuilder &host;
  KernelFactory &factory;
  const AttentionFacts &facts;
  GradientSchedule schedule;
  /// Which variant serves; null: see HostBuilder::writeVariants.
  Value aligned, alignedGrads;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_GRADIENTLAUNCH_H
