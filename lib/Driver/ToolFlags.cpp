//===- ToolFlags.cpp - Flags that the running tools share -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/ToolFlags.h"

#include "Evoformer/Target/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir::evoformer;
namespace cl = llvm::cl;

struct ToolFlags::Flags {
  Flags(cl::OptionCategory &category, uint64_t zone)
      : device("device", cl::init("cpu"), cl::desc("cpu, cuda, hip or sim"),
               cl::cat(category)),
        ordinal("ordinal", cl::init(0), cl::desc("Which GPU"),
                cl::cat(category)),
        driverLibrary("driver-library", cl::desc("The GPU driver's library"),
                      cl::cat(category)),
        threads("cpu-threads", cl::init(0), cl::desc("Threads (0: one a core)"),
                cl::cat(category)),
        simSeed("sim-seed", cl::init(0),
                cl::desc("Order of subgroups in the simulator"),
                cl::cat(category)),
        target("target", cl::init("cpu"),
               cl::desc("Chip to compile for: cpu, gfx942, …, or the path of a "
                        "chip's .mlir file (default: cpu; of evoformer-check "
                        "and evoformer-tune the chip of a cuda or hip device)"),
               cl::cat(category)),
        level("level", cl::init("tiles"),
              cl::desc("On the CPU: run a chip's program as it is after this "
                       "level (tiles, fragments, staged, pipelined)"),
              cl::cat(category)),
        schedule("schedule", cl::desc("Force the schedule"), cl::cat(category)),
        biasGradients("bias-gradients", cl::init("auto"),
                      cl::desc("Where gradients of biases are computed: apart, "
                               "with-query or auto"),
                      cl::cat(category)),
        partialSumBytes(
            "partial-sum-bytes", cl::init(-1),
            cl::desc("The most memory for sums and gradients of logits "
                     "that gradients' kernels share (-1: the default)"),
            cl::cat(category)),
        f32Products("f32-products", cl::init("exact"),
                    cl::desc("Whether products of f32 may be made of narrower "
                             "ones: split or exact"),
                    cl::cat(category)),
        cubinChip("cubin",
                  cl::desc("Compile to a cubin for this chip (needs ptxas)"),
                  cl::cat(category)),
        guardBytes(
            "guard-bytes", cl::init(zone),
            cl::desc("Zone around every buffer that must stay untouched"),
            cl::cat(category)),
        repeat("repeat", cl::init(0), cl::desc("Time so many further runs"),
               cl::cat(category)),
        warmup("warmup", cl::init(2), cl::desc("Untimed runs before them"),
               cl::cat(category)),
        coldCache("cold-cache",
                  cl::desc("Evict the caches before each timed run"),
                  cl::cat(category)) {}

  cl::opt<std::string> device;
  cl::opt<int> ordinal;
  cl::opt<std::string> driverLibrary;
  cl::opt<unsigned> threads;
  cl::opt<uint64_t> simSeed;
  cl::opt<std::string> target, level, schedule, biasGradients;
  cl::opt<int64_t> partialSumBytes;
  cl::opt<std::string> f32Products;
  cl::opt<std::string> cubinChip;
  cl::opt<uint64_t> guardBytes;
  cl::opt<unsigned> repeat, warmup;
  cl::opt<bool> coldCache;
};

ToolFlags::ToolFlags(cl::OptionCategory &category, uint64_t guardBytes)
    : flags(std::make_unique<Flags>(category, guardBytes)) {}
ToolFlags::~ToolFlags() = default;

ToolSettings ToolFlags::getSettings() const {
  ToolSettings settings;
  settings.device.kind = flags->device;
  settings.device.ordinal = flags->ordinal;
  settings.device.threads = flags->threads;
  settings.device.driverLibrary = flags->driverLibrary;
  settings.device.simulation.seed = flags->simSeed;
  settings.compile.target = flags->target;
  settings.hasTarget = flags->target.getNumOccurrences() != 0;
  settings.compile.device = flags->device;
  settings.compile.level = flags->level;
  settings.compile.schedule = flags->schedule;
  settings.compile.biasGradients = flags->biasGradients;
  settings.compile.partialSumBytes = flags->partialSumBytes;
  settings.compile.f32Products = flags->f32Products;
  settings.compile.cubinChip = flags->cubinChip;
  settings.measure = {flags->repeat, flags->warmup, flags->coldCache};
  settings.isTimed = flags->repeat != 0;
  settings.guardBytes = flags->guardBytes;
  return settings;
}

llvm::Expected<std::unique_ptr<runtime::Device>>
mlir::evoformer::openDevice(ToolSettings &settings) {
  auto device = createDevice(settings.device);
  bool isGPU = settings.device.kind == "cuda" || settings.device.kind == "hip";
  if (!device || settings.hasTarget || !isGPU)
    return device;
  std::string chip = (*device)->getChip();
  if (chip.empty())
    return llvm::createStringError(
        "the device does not say which chip it is; --target does");
  if (!llvm::is_contained(tile::getChipNames(), chip))
    return llvm::createStringError(
        "the device is a " + chip + ", which is not built in; --target names " +
        llvm::join(tile::getChipNames(), ", ") + " or a chip's file");
  settings.compile.target = chip;
  settings.hasTarget = true;
  return device;
}
