//===- CycleModel.cpp - How long final code keeps units busy --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/CycleModel.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Target/KernelReport.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir::evoformer;
using Class = InstructionClass;
using tile::GroupMatrixInstrAttr;
using tile::MatrixInstrAttr;
using tile::UnitOverlap;

std::pair<StringRef, double> UnitCycles::getBound() const {
  auto longest = llvm::max_element(units, llvm::less_second());
  return longest == units.end() ? std::pair<StringRef, double>("none", 0)
                                : *longest;
}

json::Object UnitCycles::toJSON() const {
  auto [unit, cycles] = getBound();
  json::Object object{{"unit", unit}, {"cycles", cycles}}, each;
  for (auto [name, busy] : units)
    each[name] = busy;
  object["units"] = std::move(each);
  return object;
}

/// Cycles of the matrix unit for an instruction with this mnemonic; 0 for one
/// that the target has not.
static double getMatrixCycles(StringRef mnemonic, tile::TargetAttr target) {
  auto extents = parseMatrixExtents(mnemonic);
  if (!extents)
    return 0;
  auto [m, n, k] = *extents;
  for (auto instr : target.getMatrix().getAsRange<MatrixInstrAttr>())
    if (instr.getM() == m && instr.getN() == n && instr.getK() == k)
      return instr.getCycles();
  // Each of several subgroups has its rows and all columns.
  if (mlir::ArrayAttr group = target.getGroupMatrix())
    for (auto instr : group.getAsRange<GroupMatrixInstrAttr>()) {
      MatrixInstrAttr each = instr.getEach();
      int64_t cycles = instr.getCycles() ? instr.getCycles() : each.getCycles();
      if (each.getM() * instr.getSubgroups() == m && each.getK() == k)
        return double(cycles) * n / each.getN();
    }
  return 0;
}

/// Cycles of memory that gives `bytes` a cycle, and takes `least` for any
/// access.
static double getMemoryCycles(const InstructionCounts &counts, Class kind,
                              int64_t lanes, double bytes, double least) {
  double cycles = 0;
  for (auto [width, count] : counts.byWidth[unsigned(kind)])
    cycles += count * std::max(width * lanes / bytes, least);
  return cycles;
}

UnitCycles mlir::evoformer::modelCycles(const InstructionCounts &counts,
                                        tile::TargetAttr target) {
  tile::UnitRatesAttr rates = target.getRates();
  if (!rates)
    return {};
  auto count = [&](Class kind) { return double(counts.get(kind)); };
  int64_t lanes = target.getSubgroupSize();
  double transcendentals = count(Class::Transcendental);
  double matrix = 0;
  for (const auto &[mnemonic, number] : counts.matrixByName)
    matrix += number * getMatrixCycles(mnemonic, target);
  double transcendental = transcendentals * rates.getTranscendental();
  double plain = count(Class::Vector) + count(Class::Packed) +
                 count(Class::Exchange) - counts.ldsExchanges;
  double vector =
      plain * rates.getVector() +
      counts.integerProducts * double(rates.getMultiply() - rates.getVector());
  double lds =
      getMemoryCycles(counts, Class::LDSRead, lanes, rates.getLdsBytes(), 1) +
      getMemoryCycles(counts, Class::LDSWrite, lanes, rates.getLdsBytes(), 1);
  // A word of each lane.
  constexpr double kWord = 4;
  lds +=
      counts.ldsExchanges * std::max(kWord * lanes / rates.getLdsBytes(), 1.0);
  double cache = 0;
  for (Class kind : {Class::GlobalRead, Class::GlobalWrite, Class::AsyncCopy,
                     Class::ScratchRead, Class::ScratchWrite})
    cache += getMemoryCycles(counts, kind, lanes, rates.getCacheBytes(),
                             rates.getCacheAccess());
  double scalar = count(Class::Scalar) + count(Class::Branch);
  double simds = rates.getSimds();

  UnitCycles cycles;
  auto add = [&](StringRef unit, double busy) {
    cycles.units.push_back({unit, busy});
  };
  switch (rates.getOverlap()) {
  case UnitOverlap::Matrix:
    add("matrix", matrix / simds);
    add("vector",
        (vector + transcendental + count(Class::Matrix) * rates.getVector()) /
            simds);
    break;
  case UnitOverlap::Transcendental:
    add("vector and matrix",
        (vector + matrix +
         (transcendentals + count(Class::Matrix)) * rates.getVector()) /
            simds);
    add("transcendental", transcendental / simds);
    break;
  case UnitOverlap::Issue:
    add("matrix", matrix / simds);
    add("vector", vector / simds);
    add("transcendental", transcendental / simds);
    add("issue", counts.getTotal() / simds);
    break;
  }
  add("lds", lds);
  add("cache", cache);
  // Of its own unit only where the vector unit does not issue it.
  if (rates.getOverlap() != UnitOverlap::Issue)
    add("scalar", scalar);
  return cycles;
}
