//===- Pipelines.h - From attention to machine code -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_PIPELINES_PIPELINES_H
#define EVOFORMER_PIPELINES_PIPELINES_H

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::evoformer {

#define GEN_PASS_DECL
#include "Evoformer/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Evoformer/Pipelines/Passes.h.inc"

/// The levels below the graph, in order (docs/design.md, "The staircase").
enum class Level {
  Buffers,
  Tiles,
  Fragments,
  Staged,
  Pipelined,
  Lanes,
  Machine
};

/// What the host program becomes.
enum class Host {
  /// Ops that a launch plan is made of.
  Plan,
  /// Upstream's GPU ops, which `gpu-to-llvm` lowers.
  GPU
};

/// What kernels take.
enum class ABI {
  /// Upstream's memref descriptors, then the extents of the space.
  Descriptor,
  /// A pointer a memref, then what else the kernel has to know, as i32.
  Pointers
};

/// Options of the pipeline `evoformer-lower`.
struct LowerOptions : PassPipelineOptions<LowerOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("chip to compile for, by name or by the path of a .mlir "
                     "file; default: the module's evo_tile.target")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("forces the cut of kernels, v1:rows=<n>,q=<n>,k=<n>,"
                     "subgroups=<n>x<n>,stages=<n>,resident=<n>,steps=<n>,"
                     "own=registers|lds, any subset, for all kernels or "
                     "<kernel>:v1:...;<kernel>:v1:...")};
  Option<std::string> biasGradients{
      *this, "bias-gradients",
      llvm::cl::desc("where gradients of biases are computed: 'apart', "
                     "'with-query' or 'auto', see evoformer-split-backward"),
      llvm::cl::init("auto")};
  Option<int64_t> partialSumBytes{
      *this, "partial-sum-bytes",
      llvm::cl::desc(
          "the most memory for partial sums and for what kernels of "
          "gradients leave to each other; -1: that of the gradients of "
          "query, key and value"),
      llvm::cl::init(-1)};
  Option<std::string> f32Products{
      *this, "f32-products",
      llvm::cl::desc("'split': products of f32 are made of products of "
                     "narrower terms where the target has such an "
                     "instruction; 'exact': they are not"),
      llvm::cl::init("exact")};
  Option<Level> stopAfter{
      *this, "stop-after", llvm::cl::desc("the last level to go to"),
      llvm::cl::init(Level::Machine),
      llvm::cl::values(
          clEnumValN(Level::Buffers, "buffers", "attention on memrefs"),
          clEnumValN(Level::Tiles, "tiles", "kernels over tiles"),
          clEnumValN(Level::Fragments, "fragments", "tiles with layouts"),
          clEnumValN(Level::Staged, "staged", "tiles in workgroup memory"),
          clEnumValN(Level::Pipelined, "pipelined", "copies ahead of compute"),
          clEnumValN(Level::Lanes, "lanes", "the program of one lane"),
          clEnumValN(Level::Machine, "machine", "the LLVM dialect"))};
  Option<Host> host{
      *this, "host", llvm::cl::desc("what the host program becomes"),
      llvm::cl::init(Host::Plan),
      llvm::cl::values(
          clEnumValN(Host::Plan, "plan", "what a launch plan is made of"),
          clEnumValN(Host::GPU, "gpu",
                     "upstream's gpu dialect, after the level 'machine'"))};
  Option<ABI> abi{
      *this, "abi", llvm::cl::desc("what kernels for GPUs take"),
      llvm::cl::init(ABI::Descriptor),
      llvm::cl::values(
          clEnumValN(ABI::Descriptor, "descriptor",
                     "upstream's memref descriptors"),
          clEnumValN(ABI::Pointers, "pointers",
                     "pointers, then i32: evo-tile-pass-pointers"))};
  Option<bool> linalgKernels{
      *this, "linalg-kernels",
      llvm::cl::desc("linalg, arith on tensors and copies become kernels, too "
                     "(convert-linalg-to-tile); always with host=gpu"),
      llvm::cl::init(false)};
  Option<bool> checkSizes{
      *this, "check-sizes",
      llvm::cl::desc("host functions check, when they run, that dynamic sizes "
                     "agree and depths have stride 1"),
      llvm::cl::init(false)};
  Option<bool> runOnCPU{
      *this, "run-on-cpu",
      llvm::cl::desc("after the last level (at most 'pipelined') turn the "
                     "kernels into LLVM functions for this machine"),
      llvm::cl::init(false)};
};

/// Fills `pm`, which runs on modules.
void buildLowerPipeline(OpPassManager &pm, const LowerOptions &options);

/// The part of it from `Level::Buffers` on: for modules without tensors.
void buildLowerBuffersPipeline(OpPassManager &pm, const LowerOptions &options);

/// The part of it from `Level::Tiles` on: only kernels are left to lower.
void buildLowerKernelsPipeline(OpPassManager &pm, const LowerOptions &options);

/// Registers `evoformer-lower`.
void registerPipelines();

} // namespace mlir::evoformer

#endif // EVOFORMER_PIPELINES_PIPELINES_H
