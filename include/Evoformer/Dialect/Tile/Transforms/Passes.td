//===- Passes.td - Passes on tiles -------------------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define EVOFORMER_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"evo-tile-assign-layouts"> {
  let summary = "Give every tile of a kernel a layout";
  let description = [{
    Leaves the level of tiles for that of fragments. Matrix products are the
    anchors: for each one a row of the target's table and an orientation are
    chosen so that what one product yields feeds the next with as little lane
    exchange as possible (the dimension that the next product contracts lies in
    registers), and so that every lane owns consecutive elements of that
    dimension. From there layouts spread through elementwise work, reductions,
    broadcasts and loops; where two meet, `evo_tile.convert_layout` mends it.
    Kernels without products get rows over lanes.

    ```mlir
    %s = evo_tile.mma %q, %k, %z : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    ```
    becomes, for mfma,
    ```mlir
    %s = evo_tile.mma %q, %k, %z : tensor<64x32xbf16, #frag_b>,
           tensor<32x64xbf16, #frag_a>, tensor<64x64xf32, #frag_c>
    ```

    Kernels need a target and a schedule; kernels for the CPU are left alone.
    Remarks name the instruction, the orientation, and each conversion with its
    cost.
  }];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect"];
}

#endif
