//===- TileDialect.cpp - The evo_tile dialect -------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Support/BytecodeVersion.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

#include "Evoformer/Dialect/Tile/IR/LayoutInterface.cpp.inc"
#include "Evoformer/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "Evoformer/Dialect/Tile/IR/TileEnums.cpp.inc"

namespace mlir::evoformer::tile {
/// What a schedule says besides its cut, as text: in TargetAttrs.cpp.
ParseResult parseScheduleOptions(AsmParser &parser, int64_t &resident,
                                 OwnOperands &own, ProductScope &products);
void printScheduleOptions(AsmPrinter &printer, int64_t resident,
                          OwnOperands own, ProductScope products);
} // namespace mlir::evoformer::tile

#define GET_ATTRDEF_CLASSES
#include "Evoformer/Dialect/Tile/IR/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Evoformer/Dialect/Tile/IR/TileTypes.cpp.inc"

namespace {
/// Long layout and instruction attributes get aliases, so that types stay
/// readable.
struct TileAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (auto instr = dyn_cast<MatrixInstrAttr>(attr)) {
      os << instr.getName();
      return AliasResult::FinalAlias;
    }
    if (auto frag = dyn_cast<FragAttr>(attr)) {
      os << "frag_" << stringifyOperandRole(frag.getRole()).lower();
      return AliasResult::OverridableAlias;
    }
    if (isa<SliceAttr>(attr)) {
      os << "slice";
      return AliasResult::OverridableAlias;
    }
    if (isa<LaneMapAttr>(attr)) {
      os << "lanes";
      return AliasResult::OverridableAlias;
    }
    if (auto target = dyn_cast<TargetAttr>(attr)) {
      os << target.getChip();
      return AliasResult::FinalAlias;
    }
    return AliasResult::NoAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Evoformer/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Evoformer/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Evoformer/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  addInterfaces<TileAsmInterface, BytecodeVersionInterface>();
}

FailureOr<LaneMap> mlir::evoformer::tile::getLaneMap(RankedTensorType type) {
  auto layout = dyn_cast_if_present<LayoutAttrInterface>(type.getEncoding());
  if (!layout)
    return failure();
  return layout.getLaneMap(type.getShape(), nullptr);
}

RankedTensorType mlir::evoformer::tile::withLayout(RankedTensorType type,
                                                   Attribute layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

bool mlir::evoformer::tile::isWorkgroupMemory(MemRefType type) {
  if (isa_and_present<SwizzledLDSAttr>(type.getMemorySpace()))
    return true;
  auto space =
      dyn_cast_if_present<gpu::AddressSpaceAttr>(type.getMemorySpace());
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}
