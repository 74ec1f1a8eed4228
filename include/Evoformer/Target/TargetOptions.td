//===- TargetOptions.td - How passes adapt a target --------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_TARGETOPTIONS_TD
#define EVOFORMER_TARGET_TARGETOPTIONS_TD

include "mlir/Pass/PassBase.td"

// The options of each pass that looks a chip up (`tile::adaptTarget`).

class F32ProductsOption
    : Option<"f32Products", "f32-products", "std::string",
             /*default=*/"\"exact\"",
             "split: products of f32 are made of products of narrower terms "
             "where the target has such an instruction; exact: they are not">;

class BoxesOption
    : Option<"boxes", "boxes", "bool", /*default=*/"true",
             "whether evo-tile-copy-boxes runs later, where the target has "
             "tensor maps: who launches has to make these">;

#endif // EVOFORMER_TARGET_TARGETOPTIONS_TD
