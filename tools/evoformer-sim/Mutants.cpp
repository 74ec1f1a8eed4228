//===- Mutants.cpp - Measures how many defects are reported ---------------===//

#include "Mutants.h"
#include "Evoformer/Simulator/Mutation.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <random>

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

namespace {
enum Outcome { Found, Wrong, Refused, Survived };
struct Tally {
  unsigned count[4] = {};
};
} // namespace

/// Kinds with many places would crowd out those with few, so kinds take turns.
static std::vector<Mutation> draw(std::vector<Mutation> all, unsigned count,
                                  uint64_t seed) {
  llvm::MapVector<llvm::StringRef, std::vector<Mutation>> kinds;
  for (const Mutation &m : all)
    kinds[m.kind].push_back(m);
  std::mt19937_64 random(seed);
  for (auto &[kind, list] : kinds)
    for (size_t k = list.size(); k > 1; --k)
      std::swap(list[k - 1], list[random() % k]);
  std::vector<Mutation> chosen;
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

llvm::Error runMutants(mlir::Operation *module, const Options &options,
                       Launch launch, unsigned count, uint64_t seed,
                       llvm::raw_ostream &os) {
  // A broken loop must end soon.
  launch.maxBlocksPerSubgroup = 100000;
  const Snapshot input = save(launch);
  auto run = [&](mlir::Operation *root) -> llvm::Expected<size_t> {
    restore(launch, input);
    auto simulator = Simulator::create(root, options);
    if (!simulator)
      return simulator.takeError();
    auto result = (*simulator)->launch(launch);
    if (!result)
      return result.takeError();
    return result->findings.size();
  };
  auto unbroken = run(module);
  if (!unbroken)
    return unbroken.takeError();
  if (*unbroken)
    return llvm::createStringError(
        "the unbroken kernel has findings; mutants would say nothing");
  const Snapshot expected = save(launch);

  llvm::MapVector<llvm::StringRef, Tally> tallies;
  Tally total;
  std::vector<std::string> survivors;
  for (const Mutation &mutation :
       draw(listMutations(module, launch.kernel), count, seed)) {
    mlir::OwningOpRef<mlir::Operation *> mutant(module->clone());
    std::string what = applyMutation(*mutant, launch.kernel, mutation);
    auto findings = run(*mutant);
    Outcome outcome = Survived;
    if (!findings) {
      llvm::consumeError(findings.takeError());
      outcome = Refused;
    } else if (*findings) {
      outcome = Found;
    } else if (save(launch) != expected) {
      outcome = Wrong;
    } else {
      survivors.push_back(what);
    }
    ++tallies[mutation.kind].count[outcome];
    ++total.count[outcome];
  }
  auto print = [&](llvm::StringRef name, const Tally &t) {
    os << llvm::formatv("{0,-24} {1,8} {2,8} {3,8} {4,8}\n", name,
                        t.count[Found], t.count[Wrong], t.count[Refused],
                        t.count[Survived]);
  };
  os << llvm::formatv("{0,-24} {1,8} {2,8} {3,8} {4,8}\n", "mutants", "finding",
                      "wrong", "refused", "survived");
  for (const auto &[kind, tally] : tallies)
    print(kind, tally);
  print("total", total);
  for (const std::string &survivor : survivors)
    os << "survived: " << survivor << "\n";
  return llvm::Error::success();
}
