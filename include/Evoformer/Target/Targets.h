//===- Targets.h - Chips by name --------------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_TARGETS_H
#define EVOFORMER_TARGET_TARGETS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// The names of the chips that are built in as files.
SmallVector<StringRef> getKnownChips();

/// A chip, or a family of chips with one code, that is like another one in all
/// that the other's file says.
struct OtherChip {
  StringRef name, same;
};
ArrayRef<OtherChip> getOtherChips();

/// All names that getTarget takes, sorted.
SmallVector<StringRef> getChipNames();

/// The target of a built-in chip, or one from a file if the name ends in
/// `.mlir`. An unknown name is an error at `loc` that lists the known ones.
FailureOr<TargetAttr> getTarget(Location loc, StringRef chip);

/// The target that `chip` names or, where that is empty, the module's
/// `evo_tile.target`; null where there is neither.
FailureOr<TargetAttr> findTarget(ModuleOp module, StringRef chip);

/// The target as products of f32 ask for it: `split` leaves it as it is,
/// `exact` takes the instructions away that serve f32 by narrower terms.
/// Another word is an error at `loc`.
FailureOr<TargetAttr> chooseProducts(Location loc, TargetAttr target,
                                     StringRef f32Products);

/// The target as passes are told to use it: with products of f32 as
/// chooseProducts says, and without tensor maps unless who launches makes them.
FailureOr<TargetAttr> adaptTarget(Location loc, TargetAttr target,
                                  StringRef f32Products, bool boxes);

/// A chip from text: a module with an `evo_tile.target` attribute.
FailureOr<TargetAttr> parseTarget(MLIRContext *context, StringRef text,
                                  StringRef name);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_TARGET_TARGETS_H
