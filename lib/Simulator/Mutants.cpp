//===- Mutants.cpp - Draws defects and counts what is reported ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Simulator/Mutation.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace mlir::evoformer::sim;

std::vector<Mutant> mlir::evoformer::sim::drawMutants(
    llvm::ArrayRef<std::vector<Mutation>> mutationsOfKernels,
    const MutantDraw &draw) {
  llvm::MapVector<llvm::StringRef, std::vector<Mutant>> kinds;
  for (unsigned kernel = 0; kernel < mutationsOfKernels.size(); ++kernel)
    for (const Mutation &m : mutationsOfKernels[kernel])
      kinds[m.kind].push_back({kernel, m});
  // Not std::shuffle, whose result depends on the library.
  std::mt19937_64 random(draw.seed);
  for (auto &[kind, list] : kinds)
    for (size_t k = list.size(); k > 1; --k)
      std::swap(list[k - 1], list[random() % k]);
  std::vector<Mutant> chosen;
  for (bool any = true; any && chosen.size() < draw.count;) {
    any = false;
    for (auto &[kind, list] : kinds) {
      if (list.empty() || chosen.size() == draw.count)
        continue;
      any = true;
      chosen.push_back(list.back());
      chosen.back().number = chosen.size() - 1;
      list.pop_back();
    }
  }
  if (!draw.only.empty())
    llvm::erase_if(chosen, [&](const Mutant &mutant) {
      return !llvm::is_contained(draw.only, mutant.number);
    });
  return chosen;
}

/// Writes `module` to a file of the folder.
static llvm::Error keep(mlir::Operation *module, const MutantDraw &draw,
                        const llvm::Twine &name) {
  llvm::SmallString<128> path(draw.folder);
  llvm::sys::path::append(path, name);
  std::error_code code = llvm::sys::fs::create_directories(draw.folder);
  if (code)
    return llvm::createFileError(draw.folder, code);
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return llvm::createFileError(path, code);
  module->print(os, mlir::OpPrintingFlags().useLocalScope());
  return llvm::Error::success();
}

llvm::Expected<mlir::OwningOpRef<mlir::Operation *>>
mlir::evoformer::sim::makeMutant(mlir::Operation *module,
                                 llvm::StringRef kernel, const Mutant &mutant,
                                 const MutantDraw &draw, std::string &what) {
  mlir::OwningOpRef<mlir::Operation *> broken(module->clone());
  what = applyMutation(*broken, kernel, mutant.mutation);
  if (!draw.folder.empty()) {
    std::string number = std::to_string(mutant.number);
    if (llvm::Error error = keep(module, draw, number + ".mlir"))
      return std::move(error);
    if (llvm::Error error = keep(*broken, draw, number + ".broken.mlir"))
      return std::move(error);
  }
  return broken;
}

void MutantTable::add(const Mutant &mutant, llvm::StringRef what,
                      MutantOutcome outcome) {
  ++rows[mutant.mutation.kind][unsigned(outcome)];
  list.push_back({mutant.number, outcome, what.str()});
}

void MutantTable::print(llvm::raw_ostream &os, bool verbose) const {
  const char *names[] = {"finding", "wrong", "differs", "refused", "survived"};
  const char *format = "{0,-24} {1,8} {2,8} {3,8} {4,8} {5,8}\n";
  os << llvm::formatv(format, "mutants", names[0], names[1], names[2], names[3],
                      names[4]);
  Row total = {};
  for (const auto &[kind, row] : rows) {
    os << llvm::formatv(format, kind, row[0], row[1], row[2], row[3], row[4]);
    for (unsigned k = 0; k < row.size(); ++k)
      total[k] += row[k];
  }
  os << llvm::formatv(format, "total", total[0], total[1], total[2], total[3],
                      total[4]);
  for (const auto &[number, outcome, what] : list)
    if (verbose || outcome >= MutantOutcome::Differs)
      os << names[unsigned(outcome)] << ": " << number << ": " << what << "\n";
}
