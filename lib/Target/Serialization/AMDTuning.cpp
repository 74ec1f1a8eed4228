//===- AMDTuning.cpp - Choices of AMD's instruction scheduler -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's schedulers trade registers for latency by heuristics; which one fits
// a kernel shows only in the result. A kernel without a problem is compiled
// once. One with a problem is compiled with each of a few choices, and the
// choice with the fewest problems is kept. Fences that keep arithmetic behind
// loads cost instructions in most kernels and save waits in a few: they are
// such a choice. Source of the attributes and of llvm.amdgcn.sched.barrier:
// LLVM's "User Guide for AMDGPU Backend", "Function Attributes" and "LLVM IR
// Intrinsics".
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// Values of two function attributes; empty ones are not set. And whether
/// fences hold.
struct Tuning {
  StringLiteral strategy, waves;
  bool fences = false;

  bool operator==(const Tuning &other) const {
    return strategy == other.strategy && waves == other.waves &&
           fences == other.fences;
  }
};

/// A call of llvm.amdgcn.sched.barrier, and what it lets through.
struct Fence {
  llvm::CallInst *call;
  llvm::Constant *mask;
};

/// A kernel, the best choice so far and what came of it.
struct Candidate {
  llvm::Function *function;
  /// What the optimizer inferred for the number of waves.
  llvm::Attribute inferredWaves;
  SmallVector<Fence> fences;
  Tuning best;
  KernelReport report;
};
} // namespace

static constexpr StringLiteral kStrategyAttr("amdgpu-sched-strategy");
static constexpr StringLiteral kWavesAttr("amdgpu-waves-per-eu");
static constexpr Tuning kDefault{"", ""};
static constexpr Tuning kAlternatives[] = {
    {"", "", /*fences=*/true},  {"iterative-ilp", ""},
    {"max-memory-clause", ""},  {"", "2"},
    {"", "2", /*fences=*/true}, {"iterative-minreg", "2"},
    {"iterative-minreg", ""}};
/// Each bit lets one kind of instruction through.
static constexpr uint64_t kEverything = 0x7ff;

/// Whether a second wave would fit on each SIMD if the kernel took fewer
/// registers: a lone wave cannot hide its latencies.
static bool isLoneWave(const KernelReport &report, tile::TargetAttr target) {
  constexpr int64_t simds = 4;
  if (report.occupancy != 1 || report.threads == 0)
    return false;
  int64_t waves = llvm::divideCeil(report.threads, report.subgroupSize);
  int64_t workgroups = llvm::divideCeil(2 * simds, waves);
  return workgroups * report.staticLDSBytes <= target.getLdsBytes();
}

/// The problems, the worst first, then the work of a pass.
static auto weigh(const KernelReport &report, tile::TargetAttr target) {
  int64_t drains = 0, work = report.whole.getTotal();
  if (report.hotLoop) {
    // With one stage, waiting for all loads is what the loop is meant to do.
    if (report.stages.value_or(2) > 1)
      drains = report.hotLoop->drainingWaits;
    work = report.hotLoop->getTotal() -
           report.hotLoop->get(InstructionClass::Wait);
  }
  return std::make_tuple(report.scratchBytes.value_or(0),
                         isLoneWave(report, target), drains, work);
}

/// Kernels that spill to memory or whose loop of products has a problem are
/// worth another try.
static bool hasProblem(const KernelReport &report, tile::TargetAttr target) {
  auto [scratch, lone, drains, work] = weigh(report, target);
  bool hasProducts =
      report.hotLoop && (report.hotLoop->get(InstructionClass::Matrix) > 0 ||
                         report.stages.value_or(1) > 1);
  return scratch > 0 || (hasProducts && (lone || drains > 0));
}

/// Whether a choice may mend what is wrong with a kernel's best code so far.
static bool isWorthTrying(const Tuning &tuning, const Candidate &candidate,
                          tile::TargetAttr target) {
  if (!hasProblem(candidate.report, target))
    return false;
  if (tuning.fences)
    return !candidate.fences.empty();
  // Without a second wave in exchange it takes latencies for fewer registers.
  if (tuning.strategy == "iterative-minreg" && tuning.waves.empty())
    return candidate.report.scratchBytes.value_or(0) > 0;
  return tuning.waves.empty() || isLoneWave(candidate.report, target);
}

/// Without those that let nothing through: they are no choice (RareWork.cpp).
static SmallVector<Fence> collectFences(llvm::Function &function) {
  SmallVector<Fence> fences;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction))
        if (call->getIntrinsicID() == llvm::Intrinsic::amdgcn_sched_barrier &&
            !cast<llvm::Constant>(call->getArgOperand(0))->isNullValue())
          fences.push_back(
              {call, cast<llvm::Constant>(call->getArgOperand(0))});
  return fences;
}

static void setFences(ArrayRef<Fence> fences, bool hold) {
  for (const Fence &fence : fences)
    fence.call->setArgOperand(
        0, hold ? fence.mask
                : llvm::ConstantInt::get(fence.mask->getType(), kEverything));
}

static void apply(const Candidate &candidate, const Tuning &tuning) {
  llvm::Function &function = *candidate.function;
  function.removeFnAttr(kStrategyAttr);
  if (!tuning.strategy.empty())
    function.addFnAttr(kStrategyAttr, tuning.strategy);
  function.removeFnAttr(kWavesAttr);
  if (!tuning.waves.empty())
    function.addFnAttr(kWavesAttr, tuning.waves);
  else if (candidate.inferredWaves.isValid())
    function.addFnAttr(candidate.inferredWaves);
  setFences(candidate.fences, tuning.fences);
}

namespace {
struct Generated {
  std::string assembly;
  std::vector<KernelReport> kernels;
};
} // namespace

/// Code of these kernels, and what it turned out to be.
static FailureOr<Generated> generate(CodeGenerator &generator,
                                     const llvm::Module &code,
                                     std::vector<KernelReport> kernels,
                                     const llvm::StringSet<> &others,
                                     Location loc) {
  FailureOr<std::string> isa = generator.emit(code, others);
  if (failed(isa))
    return failure();
  for (KernelReport &report : kernels)
    countAMDInstructions(*isa, report);
  if (!kernels.empty() && failed(readAMDMetadata(*isa, kernels, loc)))
    return failure();
  return Generated{std::move(*isa), std::move(kernels)};
}

/// Compiles with a choice those candidates that it may mend, without the other
/// kernels, and keeps it where it is better.
static LogicalResult tryTuning(CodeGenerator &generator, llvm::Module &code,
                               tile::TargetAttr target, const Tuning &tuning,
                               ArrayRef<KernelReport> blank,
                               MutableArrayRef<Candidate> candidates,
                               Location loc) {
  llvm::StringMap<Candidate *> tried;
  for (Candidate &candidate : candidates) {
    if (!isWorthTrying(tuning, candidate, target))
      continue;
    apply(candidate, tuning);
    tried[candidate.report.name] = &candidate;
  }
  if (tried.empty())
    return success();
  std::vector<KernelReport> kernels;
  llvm::StringSet<> others;
  for (const KernelReport &report : blank)
    if (tried.contains(report.name))
      kernels.push_back(report);
    else
      others.insert(report.name);
  FailureOr<Generated> generated =
      generate(generator, code, std::move(kernels), others, loc);
  if (failed(generated))
    return failure();
  for (KernelReport &measured : generated->kernels) {
    Candidate &candidate = *tried.lookup(measured.name);
    if (weigh(measured, target) >= weigh(candidate.report, target))
      continue;
    candidate.best = tuning;
    candidate.report = std::move(measured);
  }
  return success();
}

LogicalResult mlir::evoformer::generateTunedISA(
    CodeGenerator &generator, llvm::Module &code, tile::TargetAttr target,
    CompiledKernels &result, ArrayRef<std::string> pinned, Location loc) {
  const std::vector<KernelReport> blank = std::move(result.kernels);
  auto generateAll = [&]() -> LogicalResult {
    FailureOr<Generated> generated =
        generate(generator, code, blank, /*others=*/{}, loc);
    if (failed(generated))
      return failure();
    result.assembly = std::move(generated->assembly);
    result.kernels = std::move(generated->kernels);
    return success();
  };
  llvm::StringMap<SmallVector<Fence>> fences;
  for (const KernelReport &report : blank)
    if (llvm::Function *function = code.getFunction(report.name);
        function && !llvm::is_contained(pinned, report.name)) {
      fences[report.name] = collectFences(*function);
      setFences(fences[report.name], kDefault.fences);
    }
  if (failed(generateAll()))
    return failure();

  SmallVector<Candidate, 0> candidates;
  for (const KernelReport &report : result.kernels) {
    llvm::Function *function = code.getFunction(report.name);
    if (function && hasProblem(report, target) &&
        !llvm::is_contained(pinned, report.name))
      candidates.push_back({function, function->getFnAttribute(kWavesAttr),
                            fences.lookup(report.name), kDefault, report});
  }
  for (const Tuning &tuning : kAlternatives)
    if (failed(
            tryTuning(generator, code, target, tuning, blank, candidates, loc)))
      return failure();
  bool isAsBefore = true;
  for (const Candidate &candidate : candidates) {
    apply(candidate, candidate.best);
    isAsBefore &= candidate.best == kDefault;
  }
  return isAsBefore ? success() : generateAll();
}
