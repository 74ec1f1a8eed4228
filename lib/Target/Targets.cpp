//===- Targets.cpp - Chips by name ------------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/Targets.h"
#include "Evoformer/Support/HostResources.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
struct Chip {
  StringRef name, text;
};
} // namespace

static ArrayRef<Chip> getChips() {
  static const Chip chips[] = {
#include "Chips.inc"
  };
  return chips;
}

ArrayRef<tile::OtherChip> tile::getOtherChips() {
  static const OtherChip others[] = {
#include "OtherNames.inc"
  };
  return others;
}

SmallVector<StringRef> tile::getChipNames() {
  SmallVector<StringRef> names = getKnownChips();
  for (const OtherChip &other : getOtherChips())
    names.push_back(other.name);
  llvm::sort(names);
  return names;
}

SmallVector<StringRef> tile::getKnownChips() {
  SmallVector<StringRef> names;
  for (const Chip &chip : getChips())
    names.push_back(chip.name);
  llvm::sort(names);
  return names;
}

FailureOr<tile::TargetAttr> tile::parseTarget(MLIRContext *context,
                                              StringRef text, StringRef name) {
  context->getOrLoadDialect<TileDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                             SMLoc());
  SourceMgrDiagnosticHandler handler(sources, context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  if (!module)
    return failure();
  auto target = (*module)->getAttrOfType<TargetAttr>("evo_tile.target");
  if (!target)
    return module->emitError("a chip is a module with an 'evo_tile.target' "
                             "attribute of type #evo_tile.target");
  return target;
}

/// A chip in a file of the user's.
static FailureOr<tile::TargetAttr> readTarget(Location loc, StringRef path) {
  auto file = readFile(path);
  if (!file)
    return emitError(loc) << "cannot read the target "
                          << toString(file.takeError());
  FailureOr<tile::TargetAttr> target =
      tile::parseTarget(loc.getContext(), (*file)->getBuffer(), path);
  if (failed(target))
    return emitError(loc) << "'" << path << "' describes no target";
  return target;
}

/// The target with another name, other matrix instructions and properties.
static tile::TargetAttr copyWith(tile::TargetAttr target, StringRef chip,
                                 ArrayAttr matrix, DictionaryAttr properties) {
  return tile::TargetAttr::get(target.getContext(), chip, target.getTriple(),
                               target.getFeatures(), target.getSubgroupSize(),
                               target.getMaxWorkgroup(), target.getRegisters(),
                               target.getLdsBytes(), target.getLdsBanks(),
                               matrix, properties, target.getTuning());
}

/// A chip that is like another one.
static FailureOr<tile::TargetAttr> copyTarget(Location loc,
                                              const tile::OtherChip &other) {
  FailureOr<tile::TargetAttr> same = tile::getTarget(loc, other.same);
  if (failed(same))
    return failure();
  return copyWith(*same, other.name, same->getMatrix(), same->getProperties());
}

FailureOr<tile::TargetAttr> tile::getTarget(Location loc, StringRef chip) {
  for (const Chip &known : getChips())
    if (known.name == chip)
      return parseTarget(loc.getContext(), known.text, chip);
  for (const OtherChip &other : getOtherChips())
    if (other.name == chip)
      return copyTarget(loc, other);
  if (chip.ends_with(".mlir"))
    return readTarget(loc, chip);
  InFlightDiagnostic diag = emitError(loc) << "unknown target '" << chip
                                           << "'; known targets: ";
  llvm::interleaveComma(getChipNames(), diag);
  return diag << ", or the path of a file that ends in .mlir";
}

FailureOr<tile::TargetAttr> tile::findTarget(ModuleOp module, StringRef chip) {
  if (!chip.empty())
    return getTarget(module.getLoc(), chip);
  return module->getAttrOfType<TargetAttr>("evo_tile.target");
}

FailureOr<tile::TargetAttr>
tile::chooseProducts(Location loc, TargetAttr target, StringRef f32Products) {
  if (f32Products == "split")
    return target;
  if (f32Products != "exact")
    return emitError(loc) << "f32-products is split or exact, not '"
                          << f32Products << "'";
  SmallVector<Attribute> rows(target.getMatrix().getValue());
  llvm::erase_if(rows, [](Attribute row) {
    return cast<MatrixInstrAttr>(row).getTerms() > 1;
  });
  return copyWith(target, target.getChip(),
                  ArrayAttr::get(target.getContext(), rows),
                  target.getProperties());
}

FailureOr<tile::TargetAttr> tile::adaptTarget(Location loc, TargetAttr target,
                                              StringRef f32Products,
                                              bool boxes) {
  if (!boxes && target.hasTensorMaps()) {
    NamedAttrList properties(target.getProperties());
    properties.erase("tensor_maps");
    target = copyWith(target, target.getChip(), target.getMatrix(),
                      properties.getDictionary(target.getContext()));
  }
  return chooseProducts(loc, target, f32Products);
}
