//===- MmaLayouts.h - Instructions and orientations -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_MMALAYOUTS_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_MMALAYOUTS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// The layouts of one product: of its operands and its result.
struct MmaLayouts {
  FragAttr a, b, c;
};

/// A product in a kernel whose matrix instruction is chosen: `swapped` computes
/// the transposed product, its operands exchanged.
struct MmaChoice {
  /// Whose registers of a lane have consecutive elements along the result.
  enum class Runs {
    None,      ///< nobody's: all lies as the instruction has it
    OfResult,  ///< the result's
    OfOperand, ///< the second operand's
  };

  MmaOp op;
  MatrixInstrAttr instr;
  bool swapped = false;
  Runs runs = Runs::OfResult;
  /// Own operands in workgroup memory are read in runs along the depth, as the
  /// other one is best loaded, and not by instructions that read matrices.
  bool ownInRuns = false;
};

/// For an operand of a product: an earlier product whose result it carries
/// (through elementwise work and transposes), and which dimension of that
/// result each of its dimensions is.
struct CarriedResult {
  MmaOp producer;
  SmallVector<int64_t> dims;
};
SmallVector<CarriedResult> findCarriedResults(Value operand);

/// The order (of `FragAttr`) under which the registers along `dim` of an
/// operand are consecutive, lanes taking what remains. `atoms` is the number
/// of atoms of one subgroup along it; `column` says which of the operand's two
/// dimensions it is. With `turns` an atom out of so many continues the lanes of
/// the one before it.
SmallVector<int64_t> getContiguousOrder(MatrixInstrAttr instr, OperandRole role,
                                        bool column, int64_t atoms,
                                        int64_t turns = 1);

/// Whether subgroups may execute the product together, the operand that they
/// share in workgroup memory: it is loaded in each iteration of a loop.
bool isGroupProduct(const MmaChoice &choice, ScheduleAttr schedule);

/// Layouts for one choice; `known` holds those of the products before it.
FailureOr<MmaLayouts>
getMmaLayouts(const MmaChoice &choice, ScheduleAttr schedule,
              const llvm::MapVector<Operation *, MmaLayouts> &known);

/// The cheapest instruction of the target for all of a kernel's products, and
/// orientations so that chained products need the least exchange.
FailureOr<llvm::MapVector<Operation *, MmaLayouts>>
chooseMmaLayouts(KernelOp kernel);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_MMALAYOUTS_H
