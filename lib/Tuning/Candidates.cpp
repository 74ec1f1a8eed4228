//===- Candidates.cpp - Schedules that are worth a try --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Tuning/Candidates.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace mlir::evoformer;
using tile::MatrixInstrAttr;
using tile::TargetAttr;

ArrayRef<StringRef> mlir::evoformer::getTunedKernels() {
  static constexpr StringRef kernels[] = {"attention", "query_grad",
                                          "key_value_grad", "bias_grad"};
  return kernels;
}

namespace {
/// Writes the schedules of one kernel.
class Lister {
public:
  Lister(StringRef kernel, TargetAttr target, int64_t atom,
         const ProblemShape &shape)
      : ownsKeys(kernel == "key_value_grad"), sumsBias(kernel == "bias_grad"),
        target(target), atom(atom),
        ownLength(ownsKeys ? shape.keys : shape.queries),
        otherLength(ownsKeys ? shape.queries : shape.keys), depth(shape.depth) {
  }

  std::vector<std::string> list();

private:
  /// Subgroups along the own side and along the other one.
  using Subgroups = std::pair<int64_t, int64_t>;

  void listSteps(Subgroups subgroups, int64_t own);
  void add(Subgroups subgroups, int64_t own, int64_t other, int64_t stages,
           StringRef more);
  /// Of a size, whether half of it would hold the length as well.
  static bool isTooLong(int64_t size, int64_t length) {
    return size / 2 >= length;
  }

  bool ownsKeys, sumsBias;
  TargetAttr target;
  int64_t atom, ownLength, otherLength, depth;
  std::vector<std::string> schedules;
};
} // namespace

void Lister::add(Subgroups subgroups, int64_t own, int64_t other,
                 int64_t stages, StringRef more) {
  std::string text = llvm::formatv(
      "q={0},k={1},subgroups={2}x{3},stages={4}{5}", ownsKeys ? other : own,
      ownsKeys ? own : other, subgroups.first, subgroups.second, stages, more);
  if (target.getRegistersPerProcessor() == 0) {
    schedules.push_back(std::move(text));
    return;
  }
  // As many workgroups as leave lanes from all registers that they can name to
  // half of them.
  constexpr int64_t kLeastLanes = 256, kMostLanes = 512, kMostResident = 8;
  int64_t lanes = subgroups.first * subgroups.second * target.getSubgroupSize();
  for (int64_t resident = 1; resident <= kMostResident; ++resident)
    if (resident * lanes >= kLeastLanes && resident * lanes <= kMostLanes)
      schedules.push_back(text + ",resident=" + std::to_string(resident));
}

void Lister::listSteps(Subgroups subgroups, int64_t own) {
  bool hasGroups = bool(target.getGroupMatrix());
  constexpr int64_t kLeastGroupDepth = 33;
  int64_t mostStages = target.getCopyEngine() ? 3 : 2;
  constexpr int64_t kLeastOther = 32, kMostOther = 128;
  int64_t least = std::max(kLeastOther, atom * subgroups.second);
  for (int64_t other = least; other <= kMostOther; other *= 2) {
    if (other > least && isTooLong(other, otherLength))
      break;
    for (int64_t stages = 1; stages <= mostStages; ++stages) {
      if (!hasGroups || depth < kLeastGroupDepth) {
        add(subgroups, own, other, stages, "");
      } else {
        add(subgroups, own, other, stages, ",products=subgroup");
        if (subgroups.first % 4 == 0 && subgroups.second == 1)
          add(subgroups, own, other, stages, ",products=group");
      }
      // Sums over queries take a block in parts, or keys in pieces.
      if (!ownsKeys)
        continue;
      if (target.getCopyEngine() && other >= 64)
        add(subgroups, own, other, stages,
            llvm::formatv(",steps={0}", other / 16).str());
      if (tile::hasManyRegisters(target) &&
          own % (2 * atom * subgroups.first) == 0)
        add(subgroups, own, other, stages, ",pieces=2");
    }
  }
}

std::vector<std::string> Lister::list() {
  SmallVector<Subgroups> shapes = {{1, 1}, {2, 1}, {4, 1}, {8, 1}};
  if (sumsBias)
    shapes.append({{2, 2}, {2, 4}, {4, 2}});
  for (Subgroups subgroups : shapes)
    for (int64_t atoms : {1, 2}) {
      int64_t own = subgroups.first * atoms * atom;
      constexpr int64_t kMostOwn = 256;
      if (own <= kMostOwn && (own == atom || !isTooLong(own, ownLength)))
        listSteps(subgroups, own);
    }
  return std::move(schedules);
}

std::vector<std::string>
mlir::evoformer::listCandidates(StringRef kernel, TargetAttr target,
                                Type elementType, const ProblemShape &shape) {
  for (auto instr : target.getMatrix().getAsRange<MatrixInstrAttr>())
    if (!target.isCPU() && instr.multiplies(elementType))
      return Lister(kernel, target, std::lcm(instr.getM(), instr.getN()), shape)
          .list();
  return {};
}
