//===- LayoutInterface.td - What an encoding must tell -----*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_LAYOUTINTERFACE_TD
#define EVOFORMER_DIALECT_TILE_IR_LAYOUTINTERFACE_TD

include "mlir/IR/OpBase.td"

def LayoutAttrInterface : AttrInterface<"LayoutAttrInterface"> {
  let cppNamespace = "::mlir::evoformer::tile";
  let description = [{
    A layout says which (subgroup, lane, register) holds which element of a
    tile. Every layout expands to a LaneMap, from which loads, stores,
    reductions and conversions are derived.
  }];
  let methods = [
    InterfaceMethod<[{
      The axes of this layout for a tile of the given shape. Fails, with an
      error through `emitError` if it is given, where the layout cannot cover
      such a tile.
    }], "::mlir::FailureOr<::mlir::evoformer::tile::LaneMap>", "getLaneMap",
    (ins "::llvm::ArrayRef<int64_t>":$shape,
         "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>
  ];
}

#endif
