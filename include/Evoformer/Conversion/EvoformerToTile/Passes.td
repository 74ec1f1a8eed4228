//===- Passes.td - From attention to tiles -----------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_EVOFORMERTOTILE_PASSES_TD
#define EVOFORMER_CONVERSION_EVOFORMERTOTILE_PASSES_TD

include "Evoformer/Target/TargetOptions.td"
include "mlir/Pass/PassBase.td"

def ConvertEvoformerToTile
    : Pass<"convert-evoformer-to-tile", "::mlir::ModuleOp"> {
  let summary = "Cut attention on memrefs into kernels over tiles";
  let description = [{
    Leaves the level of buffers for that of tiles: every `evoformer.attention`,
    `.attention_delta`, `.attention_gradient` and `.attention_weights` becomes launches
    of `evo_tile.kernel`s in the function that held it.

    * A preparing kernel sums the biases that do not depend on the query in f64,
      subtracts their maximum over the kept keys, and stores the rest, times
      log2(e), as f32 padded with -inf to a multiple of the key block.
    * A bias that depends on the query is read where it lies if its strides,
      its pointer and Sk allow whole vectors; a guard in the host function
      decides, and copies it once otherwise.
    * The main kernel runs one work item per (batch, group of rows, head, query
      block) and loops over key blocks with a running sum of weights. These are
      relative to the maximum of the first block in which the row has a key (16-bit
      types on GPUs up to a depth of 128; rows whose sum does not fit are done
      again, and where a score knows the places of keys the reference follows
      its logits), elsewhere to a running maximum:
      docs/rationale/first-reference.md.
    * A gradient's kernel recomputes the logits from `stats`: that of a query
      loops over key blocks, that of key and value over query blocks, that of a
      bias over all that the bias broadcasts. Steps of one gradient that stand
      together share a kernel where the target's `memory_sum_items` and sizes allow.
    * The kernel of weights is that of a query without what it sums: each tile is
      stored instead.

    ```mlir
    evoformer.attention query(%q : memref<?x?x?x4x32xbf16>) key(..) value(..)
        bias(%mask : memref<?x?x1x1x?xi1>) outs(%out : ..)
    ```
    becomes
    ```mlir
    evo_tile.kernel @f_key_bias(%mask: .., %sum: .., %max: ..) { .. }
    evo_tile.kernel @f_attention(%q: .., %k: .., %v: .., %sum: .., %out: ..) { .. }
    func.func @f(..) {
      ..
      evo_tile.launch @f_key_bias space(%b, %n, %c1) args(%mask, %sum, %max : ..)
      evo_tile.launch @f_attention space(%b, %n, %c4, %blocks) args(..)
    ```

    Ops with equal attributes and operand types, of any function, share kernels: the
    host program of the first is copied for the others.

    `schedule` forces the cut of the main kernel and of those of gradients; what
    it leaves out keeps the default for the target. A schedule that does not fit the target's registers
    or LDS is an error. `partial-sum-bytes` caps what the parts take into which
    sums over many rows are cut; how many there are decides the last bits of a
    sum. Remarks say what was chosen and why.

    Kernels of GPUs have 32-bit offsets within a batch, row and head: what lies
    further apart than 4 GiB there, or runs backwards, is an error of this pass or,
    where sizes and strides are dynamic, of the host program.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "chip to compile for; default: the module's evo_tile.target">,
    Option<"schedule", "schedule", "std::string", /*default=*/"",
           "v1:rows=<n>,q=<n>,k=<n>,subgroups=<n>x<n>,stages=<n>,resident=<n>,steps=<n>,pieces=<n>,own=registers|lds, "
           "any subset, for all kernels or <kernel>:v1:...;<kernel>:v1:...">,
    BoxesOption<>,
    Option<"partialSumBytes", "partial-sum-bytes", "int64_t", /*default=*/"-1",
           "the most memory that partial sums of one step of the gradients take, or "
           "sums between blocks of keys, or logits' gradients of some rows; 0: none, "
           "sums are never cut, and gradients are made apart; -1: that of the "
           "gradients of query, key and value">,
    F32ProductsOption<>
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::evoformer::tile::TileDialect", "::mlir::gpu::GPUDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

#endif // EVOFORMER_CONVERSION_EVOFORMERTOTILE_PASSES_TD
