//===- LaunchModel.cpp - How long a launch should take --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Tuning/LaunchModel.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;

/// Cycles of a pass in which the units of a processor have nothing to do since
/// copies do not run ahead, whatever workgroups are on it. Fitted to an H200.
static constexpr double kIdleCyclesOfOneStage = 500;

/// Cycles of a processor a pass of a subgroup for a register that a lane lacks:
/// what is in it goes to memory and back. Fitted likewise.
static constexpr double kMissingRegister = 4;

namespace {
/// What a kernel's report says, as far as the model needs it.
struct ReportedLoop {
  double cycles = 0, serialCycles = 0, outsideCycles = 0, passLogits = 0;
  int64_t own = 1, other = 1, stages = 1, resident = 0, missingRegisters = 0;
};
} // namespace

static std::optional<ReportedLoop> readLoop(const KernelInfo &kernel,
                                            tile::TargetAttr target) {
  const llvm::json::Object *report = kernel.report.getAsObject();
  const auto *pass = report ? report->getObject("modelled_pass") : nullptr;
  const auto *block = report ? report->getArray("block") : nullptr;
  if (!pass || !block || block->size() != 3)
    return std::nullopt;
  ReportedLoop loop;
  loop.cycles = pass->getNumber("cycles").value_or(0);
  loop.passLogits = pass->getNumber("logits").value_or(0);
  loop.own = (*block)[1].getAsInteger().value_or(1);
  loop.other = (*block)[2].getAsInteger().value_or(1);
  loop.stages = report->getInteger("stages").value_or(1);
  loop.resident = report->getInteger("resident").value_or(0);
  if (const auto *outside = report->getObject("modelled_outside"))
    loop.outsideCycles = outside->getNumber("cycles").value_or(0);
  if (const auto *units = pass->getObject("units"))
    for (const auto &[unit, cycles] : *units)
      if (StringRef name = unit; name != "lds" && name != "cache")
        loop.serialCycles += cycles.getAsNumber().value_or(0);
  loop.serialCycles *= target.getRates().getSimds();
  // What resident workgroups leave a lane of the registers that they share.
  int64_t registers = report->getInteger("estimated_registers").value_or(0);
  if (target.getRegistersPerProcessor() > 0 && loop.resident > 0)
    loop.missingRegisters =
        std::max<int64_t>(0, registers - target.getRegistersPerProcessor() /
                                             (loop.resident * kernel.threads));
  if (loop.resident == 0)
    if (auto subgroups = report->getInteger("occupancy")) {
      // Of a SIMD, or of the processor.
      bool isOfSIMD =
          report->getString("occupancy_unit").value_or("").contains("SIMD");
      loop.resident =
          *subgroups * (isOfSIMD ? target.getRates().getSimds() : 1) /
          llvm::divideCeil(kernel.threads, target.getSubgroupSize());
    }
  return loop;
}

std::optional<double> mlir::evoformer::modelLaunch(const CaseLaunch &launch,
                                                   const ProblemShape &shape,
                                                   tile::TargetAttr target) {
  if (!target.getRates())
    return std::nullopt;
  const KernelInfo &kernel = *launch.kernel;
  std::optional<ReportedLoop> loop = readLoop(kernel, target);
  if (!loop)
    return 0;
  if (loop->passLogits == 0)
    return std::nullopt;
  bool ownsKeys = StringRef(kernel.name).contains("key_value") ||
                  StringRef(kernel.name).contains("head");
  auto [q, k] = ownsKeys ? std::pair(loop->other, loop->own)
                         : std::pair(loop->own, loop->other);
  double logits = double(shape.items) * llvm::alignTo(shape.queries, q) *
                  llvm::alignTo(shape.keys, k);
  double subgroups = llvm::divideCeil(kernel.threads, target.getSubgroupSize());
  double workgroups = launch.workItems;
  double passes = logits / workgroups / subgroups / loop->passLogits;
  // Of one workgroup: how long it keeps units busy, how long they wait, and how
  // long its subgroups take, each instruction behind the other.
  double pass = loop->cycles + kMissingRegister * loop->missingRegisters;
  double busy = subgroups * (passes * pass + loop->outsideCycles);
  double idle = loop->stages > 1 ? 0 : passes * kIdleCyclesOfOneStage;
  double serial = passes * loop->serialCycles +
                  loop->outsideCycles * target.getRates().getSimds();

  constexpr double kUsualProcessors = 256;
  double processors =
      target.getProcessors() ? target.getProcessors() : kUsualProcessors;
  double resident = std::max<int64_t>(loop->resident, 1);
  auto takes = [&](double together) {
    return std::max(together * busy, serial) + idle;
  };
  double turns = std::floor(workgroups / (processors * resident));
  double left = workgroups - turns * processors * resident;
  double cycles = turns * takes(resident);
  if (left > 0)
    cycles += takes(std::ceil(left / processors));
  return cycles;
}
