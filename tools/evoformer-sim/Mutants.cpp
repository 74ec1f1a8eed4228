//===- Mutants.cpp - Measures how many defects are reported ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mutants.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace mlir::evoformer::sim;

namespace {
/// The contents of every buffer of a launch.
using Snapshot = std::vector<std::vector<char>>;
} // namespace

static Snapshot save(const Launch &launch) {
  Snapshot s;
  for (const Buffer &b : launch.buffers) {
    auto *data = static_cast<const char *>(b.base);
    s.emplace_back(data, data + b.size);
  }
  return s;
}

static void restore(const Launch &launch, const Snapshot &s) {
  for (auto [buffer, bytes] : llvm::zip(launch.buffers, s))
    std::memcpy(buffer.base, bytes.data(), bytes.size());
}

/// Whether the outputs are as they were; with a tolerance, as arrays of f32.
static MutantOutcome compare(const Launch &launch, const Snapshot &expected,
                             double tolerance) {
  Snapshot now = save(launch);
  if (now == expected)
    return MutantOutcome::Survived;
  for (auto [buffer, a, b] : llvm::zip(launch.buffers, now, expected)) {
    if (buffer.readOnly)
      continue;
    for (size_t at = 0; at + sizeof(float) <= a.size(); at += sizeof(float)) {
      float x, y;
      std::memcpy(&x, &a[at], sizeof(x));
      std::memcpy(&y, &b[at], sizeof(y));
      bool same = std::memcmp(&x, &y, sizeof(x)) == 0;
      // Written so that a NaN is a difference.
      if (!same &&
          !(std::fabs(x - y) <= tolerance * std::max(1.0f, std::fabs(y))))
        return MutantOutcome::Wrong;
    }
  }
  return MutantOutcome::Differs;
}

llvm::Error runMutants(mlir::Operation *module, const Options &options,
                       Launch launch, const MutantOptions &mutants,
                       llvm::raw_ostream &os) {
  const Snapshot input = save(launch);
  uint64_t longest = 0;
  auto run = [&](mlir::Operation *root) -> llvm::Expected<size_t> {
    restore(launch, input);
    auto simulator = Simulator::create(root, options);
    if (!simulator)
      return simulator.takeError();
    auto result = (*simulator)->launch(launch);
    if (!result)
      return result.takeError();
    longest = result->longestSubgroup;
    return result->findings.size();
  };
  auto unbroken = run(module);
  if (!unbroken)
    return unbroken.takeError();
  if (*unbroken)
    return llvm::createStringError(
        "the unbroken kernel has findings; mutants would say nothing");
  const Snapshot expected = save(launch);
  // A broken loop must end soon.
  launch.maxBlocksPerSubgroup = 20 * longest + 1000;

  MutantTable table;
  for (const Mutant &mutant :
       drawMutants(listMutations(module, launch.kernel), mutants.draw)) {
    std::string what;
    auto broken = makeMutant(module, launch.kernel, mutant, mutants.draw, what);
    if (!broken)
      return broken.takeError();
    MutantOutcome outcome = MutantOutcome::Survived;
    for (launch.seed = 0; launch.seed < 3 && outcome == MutantOutcome::Survived;
         ++launch.seed) {
      auto findings = run(**broken);
      if (!findings) {
        llvm::consumeError(findings.takeError());
        outcome = MutantOutcome::Refused;
      } else if (*findings) {
        outcome = MutantOutcome::Found;
      } else {
        outcome = compare(launch, expected, mutants.tolerance);
      }
    }
    table.add(mutant, what, outcome);
  }
  table.print(os, mutants.verbose);
  return llvm::Error::success();
}
