//===- ProductOptions.td - What passes are told of f32 -----*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_PRODUCTOPTIONS_TD
#define EVOFORMER_TARGET_PRODUCTOPTIONS_TD

include "mlir/Pass/PassBase.td"

/// The option of each pass that looks a chip up (`tile::chooseProducts`).
class F32ProductsOption
    : Option<"f32Products", "f32-products", "std::string",
             /*default=*/"\"exact\"",
             "split: products of f32 are made of products of narrower terms "
             "where the target has such an instruction; exact: they are not">;

#endif // EVOFORMER_TARGET_PRODUCTOPTIONS_TD
