//===- SoftwarePipeline.cpp - Copies run ahead of compute -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelMemory.h"
#include "../PromoteToLDS/LDSPlan.h"
#include "LoopPipeliner.h"

#include "Evoformer/Dialect/Tile/IR/LDSPlacement.h"
#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/IR/LoopCounts.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_SOFTWAREPIPELINE
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-software-pipeline";

/// Analyses a loop with the default share of registers for prefetched tiles. A
/// loop that copies through registers waits for all its loads in one order: a
/// tile that a product waits for in the iteration that issues it leaves nothing
/// under way, so that such tiles may take what the loop's tiles leave. Where
/// nothing is prefetched, the last wait of all leaves nothing either: then
/// twice the share is tried.
static FailureOr<StagedLoop>
analyseByDefault(scf::ForOp loop, TargetAttr target, std::string &reason) {
  int64_t registers = target.getRegisters(), share = getPrefetchShare(target);
  FailureOr<StagedLoop> staged = analyseLoop(loop, share, reason);
  if (failed(staged) || staged->stores.empty())
    return staged;
  int64_t room = registers * 3 / 4 - estimatePressure(loop);
  if (room <= share)
    return staged;
  staged = analyseLoop(loop, {share, room}, reason);
  if (succeeded(staged) && staged->prefetches.empty())
    staged = analyseLoop(loop, {std::min(2 * share, room), room}, reason);
  return staged;
}

/// Bytes of workgroup memory that the kernel takes.
static int64_t getKernelBytes(KernelOp kernel) {
  return placeLDS(getLDSBuffers(kernel)).bytes;
}

/// The same with rings in place of a loop's buffers, which live as long as it.
static int64_t getKernelBytes(KernelOp kernel, const StagedLoop &staged,
                              const PipelineShape &shape) {
  SmallVector<LDSBuffer> buffers = getLDSBuffers(kernel);
  for (LDSBuffer &buffer : buffers) {
    auto enlarge = [&](ArrayRef<AllocLDSOp> allocs, int64_t slots) {
      if (!llvm::is_contained(allocs, buffer.alloc))
        return;
      buffer.bytes = getLDSBytes(
          getRingType(cast<MemRefType>(buffer.alloc.getType()), slots));
      buffer.users.push_back(staged.loop);
    };
    enlarge(staged.asyncBuffers, shape.asyncSlots);
    enlarge(staged.registerBuffers, shape.registerSlots);
  }
  return placeLDS(buffers).bytes;
}

/// Loads of global memory that a lane issues in an iteration, about: narrow
/// pieces, as of rows that are no whole words, are many.
static int64_t countLoads(scf::ForOp loop) {
  constexpr int64_t kWidest = 16;
  int64_t count = 0;
  loop.getBody()->walk([&](LoadOp load) {
    RankedTensorType tile = load.getTileType();
    FailureOr<LaneMap> map = getLaneMap(tile);
    if (isWorkgroupMemory(load.getSourceType()) || failed(map))
      return;
    int64_t bytes = std::max<int64_t>(tile.getElementTypeBitWidth() / 8, 1);
    int64_t known = std::min<int64_t>(load.getAlignment().value_or(1), kWidest);
    count += llvm::divideCeil(map->getNumRegisters(),
                              std::max<int64_t>(known / bytes, 1));
  });
  return count;
}

/// Slots of tiles that pass through registers. A second one saves a barrier and
/// costs addresses in each iteration: it is for targets with an engine for
/// other copies, and for more loads than the 63 that waits can tell apart,
/// between which and their use a barrier would count on that.
static int64_t getRegisterSlots(KernelOp kernel, const StagedLoop &staged) {
  constexpr int64_t kMostLoads = 48;
  return copiesPastRegisters(*kernel.getTarget()) ||
                 countLoads(staged.loop) > kMostLoads
             ? 2
             : 1;
}

/// The most stages up to `stages` whose rings fit beside the rest into what is
/// `available`.
static std::optional<PipelineShape>
chooseShape(KernelOp kernel, const StagedLoop &staged, int64_t stages,
            int64_t registerSlots, int64_t available) {
  auto fits = [&](const PipelineShape &shape) {
    return getKernelBytes(kernel, staged, shape) <= available;
  };
  for (; stages > 2; --stages)
    if (PipelineShape shape{stages, stages, registerSlots}; fits(shape))
      return shape;
  // The third slot saves a barrier.
  for (int64_t slots : {3, 2})
    if (PipelineShape shape{2, slots, registerSlots}; fits(shape))
      return shape;
  return std::nullopt;
}

static void pipelineKernel(KernelOp kernel, int64_t prefetchRegisters) {
  TargetAttr target = *kernel.getTarget();
  int64_t stages = kernel.getSchedule()->getStages();
  // In a pipelined loop the budget of prefetched tiles is spent, which the loop
  // itself does not show.
  if (stages < 2 || kernel->hasAttr(kPipelinedAttr))
    return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    // What is rarely run is better short than quick.
    if (!loop->getParentOfType<WhereOp>() && !hasOneIterationAtMost(loop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    Location loc = loop.getLoc();
    auto missed = [&](const Twine &reason) {
      remark::missed(loc,
                     remark::RemarkOpts::name("not-pipelined").category(kPass))
          << remark::metric("reason", reason.str());
    };
    std::string reason;
    FailureOr<StagedLoop> staged =
        prefetchRegisters < 0 ? analyseByDefault(loop, target, reason)
                              : analyseLoop(loop, {prefetchRegisters}, reason);
    if (failed(staged)) {
      missed(reason);
      continue;
    }
    if (!staged->hasBuffers() && staged->prefetches.empty())
      continue;
    int64_t registerSlots = getRegisterSlots(kernel, *staged);
    std::optional<PipelineShape> shape =
        chooseShape(kernel, *staged, stages, registerSlots,
                    getLDSShare(target, *kernel.getSchedule()));
    if (!shape)
      shape = chooseShape(kernel, *staged, stages, registerSlots,
                          target.getLdsBytes());
    if (!shape) {
      missed(Twine("two stages need ") +
             Twine(getKernelBytes(kernel, *staged,
                                  PipelineShape{2, 2, registerSlots})) +
             " bytes of workgroup memory, there are " +
             Twine(target.getLdsBytes()));
      continue;
    }
    // A third slot does without.
    shape->isLong = staged->hasBuffers() && shape->stages == 2 &&
                    shape->asyncSlots == 2 && handsTilesOver(loop);
    int64_t pressure = estimatePressure(loop);
    shape->loadsFirst = hasRoom(loop, target);
    shape->fences = target.hasSchedBarrier();
    shape->unfencedRegisters = getPrefetchShare(target);
    bool async = !staged->copies.empty();
    int64_t direct = staged->prefetches.size(), registers = 0;
    for (StagedLoop::Prefetch &prefetch : staged->prefetches)
      registers += getRegisterCount(prefetch.load.getTileType());
    pipelineLoop(*staged, *shape);
    kernel->setAttr(kPipelinedAttr, UnitAttr::get(kernel.getContext()));
    remark::passed(loc, remark::RemarkOpts::name("pipelined").category(kPass))
        << remark::metric("stages", async ? shape->stages : 2)
        << remark::metric("wanted_stages", stages)
        << remark::metric("slots",
                          async ? shape->asyncSlots : shape->registerSlots)
        << remark::metric("copies", StringRef(async ? "asynchronous"
                                                    : "through registers"))
        << remark::metric("prefetched_loads", direct)
        << remark::metric("prefetch_registers", registers)
        << remark::metric("estimated_registers", pressure)
        << remark::metric("loads",
                          StringRef(shape->loadsFirst ? "before the barrier"
                                                      : "after the barrier"))
        << remark::metric("lds_bytes", getKernelBytes(kernel));
  }
}

namespace {
struct SoftwarePipelinePass
    : evoformer::tile::impl::SoftwarePipelineBase<SoftwarePipelinePass> {
  using SoftwarePipelineBase::SoftwarePipelineBase;

protected:
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getTarget() && kernel.getTarget()->isCPU())
        return WalkResult::skip();
      if (failed(requireStaged(kernel, kPass)))
        return WalkResult::interrupt();
      pipelineKernel(kernel, prefetchRegisters);
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
