//===- Mutants.cpp - Draws defects and counts what is reported ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Simulator/Mutation.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace mlir::evoformer::sim;

std::vector<Mutant> mlir::evoformer::sim::drawMutants(
    llvm::ArrayRef<std::vector<Mutation>> mutationsOfKernels, unsigned count,
    uint64_t seed) {
  llvm::MapVector<llvm::StringRef, std::vector<Mutant>> kinds;
  for (unsigned kernel = 0; kernel < mutationsOfKernels.size(); ++kernel)
    for (const Mutation &m : mutationsOfKernels[kernel])
      kinds[m.kind].push_back({kernel, m});
  // Not std::shuffle, whose result depends on the library.
  std::mt19937_64 random(seed);
  for (auto &[kind, list] : kinds)
    for (size_t k = list.size(); k > 1; --k)
      std::swap(list[k - 1], list[random() % k]);
  std::vector<Mutant> chosen;
  for (bool any = true; any && chosen.size() < count;) {
    any = false;
    for (auto &[kind, list] : kinds) {
      if (list.empty() || chosen.size() == count)
        continue;
      any = true;
      chosen.push_back(list.back());
      list.pop_back();
    }
  }
  return chosen;
}

void MutantTable::add(llvm::StringRef kind, llvm::StringRef what,
                      MutantOutcome outcome) {
  ++rows[kind][unsigned(outcome)];
  list.push_back({outcome, what.str()});
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
  for (const auto &[outcome, what] : list)
    if (verbose || outcome >= MutantOutcome::Differs)
      os << names[unsigned(outcome)] << ": " << what << "\n";
}
