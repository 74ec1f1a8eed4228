//===- Targets.cpp - Chips by name ------------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/Targets.h"
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

FailureOr<tile::TargetAttr> tile::getTarget(Location loc, StringRef chip) {
  for (const Chip &known : getChips())
    if (known.name == chip)
      return parseTarget(loc.getContext(), known.text, chip);
  InFlightDiagnostic diag = emitError(loc) << "unknown target '" << chip
                                           << "'; known targets: ";
  llvm::interleaveComma(getKnownChips(), diag);
  return diag;
}
