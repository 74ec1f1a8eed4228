//===- KernelReport.cpp - What a kernel became ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/KernelReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"
#include <numeric>

using namespace llvm;
using namespace mlir::evoformer;
using Class = InstructionClass;

StringRef mlir::evoformer::stringifyInstructionClass(InstructionClass kind) {
  static constexpr std::array<StringLiteral, kNumInstructionClasses> names = {
      "matrix",       "transcendental", "packed",       "vector",
      "exchange",     "lds_read",       "lds_write",    "global_read",
      "global_write", "async_copy",     "scratch_read", "scratch_write",
      "scalar",       "scalar_memory",  "wait",         "barrier",
      "branch"};
  return names[unsigned(kind)];
}

std::optional<std::array<int64_t, 3>>
mlir::evoformer::parseMatrixExtents(StringRef mnemonic) {
  static const Regex form("m?([0-9]+)[xn]([0-9]+)[xk]([0-9]+)");
  SmallVector<StringRef> found;
  std::array<int64_t, 3> extents;
  if (!form.match(mnemonic, &found))
    return std::nullopt;
  for (unsigned i = 0; i < extents.size(); ++i)
    if (found[i + 1].getAsInteger(10, extents[i]))
      return std::nullopt;
  return extents;
}

int64_t InstructionCounts::getMatrixWork() const {
  int64_t work = 0;
  for (const auto &[mnemonic, count] : matrixByName) {
    auto extents = parseMatrixExtents(mnemonic);
    work +=
        extents ? count * (*extents)[0] * (*extents)[1] * (*extents)[2] : count;
  }
  return work;
}

int64_t InstructionCounts::getTotal() const {
  return std::accumulate(byClass.begin(), byClass.end(), int64_t(0));
}

int64_t InstructionCounts::getNarrowAccesses() const {
  int64_t narrow = 0;
  for (Class kind : {Class::LDSRead, Class::LDSWrite, Class::GlobalRead,
                     Class::GlobalWrite, Class::AsyncCopy})
    for (auto [width, count] : byWidth[unsigned(kind)])
      if (width <= 2)
        narrow += count;
  return narrow;
}

int64_t KernelReport::getPassLogits() const {
  return steadyPass ? steadyPass->get(Class::Transcendental) * subgroupSize : 0;
}

/// Compares a count with the ideal of one pass; the loop may be unrolled.
static void compare(std::vector<std::string> &findings, StringRef what,
                    int64_t count, std::optional<int64_t> ideal) {
  if (ideal && *ideal > 0 && (count == 0 || count % *ideal != 0))
    findings.push_back(formatv("the hot loop holds {0} {1} instructions, no "
                               "multiple of the ideal {2}",
                               count, what, *ideal));
}

std::vector<std::string> KernelReport::getFindings() const {
  std::vector<std::string> findings;
  if (scratchBytes.value_or(0) > 0)
    findings.push_back(formatv("{0} bytes of scratch a lane", *scratchBytes));
  if (spilledRegisters.value_or(0) > 0)
    findings.push_back(formatv("{0} registers spilled", *spilledRegisters));
  if (spillBytes.value_or(0) > 0)
    findings.push_back(formatv("{0} bytes of spills", *spillBytes));
  if (!hotLoop)
    return findings;
  if (int64_t narrow = hotLoop->getNarrowAccesses())
    findings.push_back(
        formatv("{0} accesses of at most 2 bytes in the hot loop", narrow));
  bool copies =
      hotLoop->get(Class::GlobalRead) || hotLoop->get(Class::AsyncCopy);
  if (copies && stages.value_or(2) > 1 && hotLoop->drainingWaits)
    findings.push_back(formatv("{0} waits in the hot loop drain all "
                               "outstanding loads",
                               hotLoop->drainingWaits));
  compare(findings, "matrix", hotLoop->get(Class::Matrix), idealMatrix);
  compare(findings, "transcendental", hotLoop->get(Class::Transcendental),
          idealTranscendental);
  return findings;
}

static json::Object toJSON(const InstructionCounts &counts) {
  json::Object object;
  for (unsigned i = 0; i < kNumInstructionClasses; ++i) {
    if (!counts.byClass[i])
      continue;
    StringRef name = stringifyInstructionClass(Class(i));
    object[name] = counts.byClass[i];
    if (counts.byWidth[i].empty())
      continue;
    json::Object widths;
    for (auto [width, count] : counts.byWidth[i])
      widths[std::to_string(width)] = count;
    object[(name + "_by_bytes").str()] = std::move(widths);
  }
  object["total"] = counts.getTotal();
  object["draining_waits"] = counts.drainingWaits;
  object["narrow_accesses"] = counts.getNarrowAccesses();
  return object;
}

json::Object KernelReport::toJSON() const {
  json::Object object{{"name", json::fixUTF8(name)},
                      {"chip", json::fixUTF8(chip)},
                      {"threads", threads},
                      {"subgroup_size", subgroupSize},
                      {"static_lds_bytes", staticLDSBytes},
                      {"dynamic_lds_bytes", dynamicLDSBytes},
                      {"instructions", ::toJSON(whole)}};
  auto add = [&](StringRef key, std::optional<int64_t> value) {
    if (value)
      object[key] = *value;
  };
  add("vector_registers", vectorRegisters);
  add("accumulator_registers", accumulatorRegisters);
  add("scalar_registers", scalarRegisters);
  add("spilled_registers", spilledRegisters);
  add("spill_bytes", spillBytes);
  add("scratch_bytes", scratchBytes);
  add("code_bytes", codeBytes);
  add("occupancy", occupancy);
  if (occupancy)
    object["occupancy_unit"] = occupancyUnit;
  add("ideal_matrix", idealMatrix);
  add("ideal_transcendental", idealTranscendental);
  add("stages", stages);
  add("estimated_registers", estimatedRegisters);
  if (!block.empty()) {
    object["block"] = json::Array(block);
    object["resident"] = resident;
  }
  if (hotLoop)
    object["hot_loop"] = ::toJSON(*hotLoop);
  if (!passCycles.units.empty()) {
    json::Object pass = passCycles.toJSON();
    pass["logits"] = getPassLogits();
    if (int64_t logits = getPassLogits())
      pass["cycles_a_logit"] = passCycles.getBound().second / logits;
    object["modelled_pass"] = std::move(pass);
  }
  if (!outsideCycles.units.empty())
    object["modelled_outside"] = outsideCycles.toJSON();
  object["findings"] = json::Array(getFindings());
  return object;
}

static void print(raw_ostream &os, StringRef title,
                  const InstructionCounts &counts) {
  os << "  " << title << ": " << counts.getTotal() << " instructions\n";
  for (unsigned i = 0; i < kNumInstructionClasses; ++i) {
    if (!counts.byClass[i])
      continue;
    os << formatv("    {0,-15}{1,6}", stringifyInstructionClass(Class(i)),
                  counts.byClass[i]);
    ListSeparator separator(", ");
    if (!counts.byWidth[i].empty())
      os << "   ";
    for (auto [width, count] : counts.byWidth[i])
      os << separator << count << " x " << width << " B";
    os << "\n";
  }
}

/// A line: the unit that is busy longest, then each.
static void printModel(raw_ostream &os, StringRef title,
                       const UnitCycles &cycles) {
  if (cycles.units.empty())
    return;
  auto [unit, busy] = cycles.getBound();
  os << formatv("  {0,-22}{1:f1} cycles of a processor, of {2} (", title, busy,
                unit);
  ListSeparator separator(", ");
  for (auto [name, one] : cycles.units)
    os << separator << formatv("{0} {1:f1}", name, one);
  os << ")\n";
}

void KernelReport::print(raw_ostream &os) const {
  os << "kernel " << name << " for " << chip << "\n";
  auto line = [&](StringRef key, std::optional<int64_t> value,
                  StringRef unit = "") {
    if (value)
      os << formatv("  {0,-22}{1}{2}\n", key, *value, unit);
  };
  line("lanes a workgroup",
       threads ? std::optional<int64_t>(threads) : std::nullopt);
  line("vector registers", vectorRegisters);
  line("accumulator registers", accumulatorRegisters);
  line("scalar registers", scalarRegisters);
  line("spilled registers", spilledRegisters);
  line("spills", spillBytes, " bytes");
  line("scratch", scratchBytes, " bytes a lane");
  line("LDS, static", staticLDSBytes, " bytes");
  if (dynamicLDSBytes)
    line("LDS, dynamic", dynamicLDSBytes, " bytes");
  line("occupancy", occupancy, " " + occupancyUnit);
  line("code size", codeBytes, " bytes");
  ::print(os, "whole kernel", whole);
  if (hotLoop) {
    ::print(os, "hot loop", *hotLoop);
    line("ideal matrix", idealMatrix, " a pass");
    line("ideal transcendental", idealTranscendental, " a pass");
    line("stages", stages);
  }
  printModel(os, "modelled pass", passCycles);
  if (int64_t logits = passCycles.units.empty() ? 0 : getPassLogits())
    os << formatv("  {0,-22}{1:f4} cycles of a processor, {2} logits a pass of "
                  "a subgroup\n",
                  "modelled logit", passCycles.getBound().second / logits,
                  logits);
  printModel(os, "modelled outside", outsideCycles);
  for (const std::string &finding : getFindings())
    os << "  finding: " << finding << "\n";
}
