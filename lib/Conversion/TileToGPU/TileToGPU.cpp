//===- TileToGPU.cpp - Tiles to lanes ---------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToGPU/Passes.h"

#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"

#include "CopyEngine.h"
#include "Evoformer/Dialect/Tile/IR/Boxes.h"
#include "Evoformer/Dialect/Tile/IR/LDSPlacement.h"
#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/Pressure.h"
#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"
#include "HeldParts.h"
#include "IdealLoop.h"
#include "Patterns.h"
#include "TokenAges.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_CONVERTTILETOGPU
#include "Evoformer/Conversion/TileToGPU/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Whether some lanes have nothing to write in a loop's store to LDS: they are
/// second holders or hold the layout's padding.
static bool leavesLanesIdle(StoreOp store) {
  if (!isWorkgroupMemory(store.getDestType()) ||
      !store->getParentOfType<LoopLikeOpInterface>())
    return false;
  LaneMap map = mapOf(store.getValue());
  auto replicates = [](const LayoutAxis &axis) {
    return axis.size > 1 && axis.isReplicated();
  };
  return llvm::any_of(map.lanes, replicates) ||
         llvm::any_of(map.subgroups, replicates) ||
         ArrayRef(map.getBox()) != store.getTileType().getShape();
}

/// Whether behind the last barrier of its block before `op` nothing uses the
/// buffers whose memory `op` takes over.
static bool isBehindBarrier(Operation *op, ArrayRef<LDSBuffer> buffers,
                            ArrayRef<Takeover> takeovers) {
  Operation *barrier = op->getPrevNode();
  for (; barrier && !isa<BarrierOp>(barrier);
       barrier = barrier->getPrevNode()) {
    // A copy may arrive as late as that.
    WalkResult found = barrier->walk([](Operation *inner) {
      return isa<WaitOp, WaitSlotOp>(inner) ? WalkResult::interrupt()
                                            : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return false;
  }
  return barrier && llvm::all_of(takeovers, [&](const Takeover &takeover) {
           return llvm::none_of(
               buffers[takeover.old].users, [&](Operation *user) {
                 Operation *use = op->getBlock()->findAncestorOpInBlock(*user);
                 return use && barrier->isBeforeInBlock(use) &&
                        use->isBeforeInBlock(op);
               });
         });
}

/// Whether all iterations of a loop begin with a barrier, before they do what
/// is in `users` and in the loop.
static bool beginsWithBarrier(scf::ForOp loop, ArrayRef<Operation *> users) {
  if (loop.getBody()->getOps<BarrierOp>().empty())
    return false;
  Operation *barrier = *loop.getBody()->getOps<BarrierOp>().begin();
  return llvm::all_of(users, [&](Operation *user) {
    Operation *use = loop.getBody()->findAncestorOpInBlock(*user);
    return !use || barrier->isBeforeInBlock(use);
  });
}

/// Whether `op` is a loop whose iterations begin with a barrier, before they
/// use the buffers that take over memory, or branches between such loops.
/// Nothing else may use them: there may be no iteration.
static bool beginsWithBarrier(Operation *op, ArrayRef<LDSBuffer> buffers,
                              ArrayRef<Takeover> takeovers) {
  SmallVector<scf::ForOp, 2> loops;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    loops.push_back(loop);
  else if (isa<scf::IfOp>(op))
    for (Region &region : op->getRegions())
      llvm::append_range(loops, region.getOps<scf::ForOp>());
  return llvm::all_of(takeovers, [&](const Takeover &takeover) {
    ArrayRef<Operation *> users = buffers[takeover.next].users;
    return llvm::all_of(users,
                        [&](Operation *user) {
                          return llvm::any_of(loops, [&](scf::ForOp loop) {
                            return loop->isProperAncestor(user);
                          });
                        }) &&
           llvm::all_of(loops, [&](scf::ForOp loop) {
             return beginsWithBarrier(loop, users);
           });
  });
}

/// Places the kernel's LDS buffers, with barriers where one takes over the
/// memory of another.
static LogicalResult placeBuffers(KernelOp kernel, KernelContext &context) {
  SmallVector<LDSBuffer> buffers = getLDSBuffers(kernel);
  LDSPlacement placement = placeLDS(buffers);
  for (auto [buffer, offset] : llvm::zip_equal(buffers, placement.offsets))
    context.ldsOffsets[buffer.alloc] = offset;
  context.ldsBytes = placement.bytes;
  kernel.walk([&](CopySlotsOp op) {
    context.ldsAlignment = std::max(context.ldsAlignment, kBoxAlignment);
    context.ldsBytes = llvm::alignTo(context.ldsBytes, kBarrierBytes);
    context.ldsOffsets[op] = context.ldsBytes;
    context.ldsBytes += op.getNumResults() * getSlotBytes(op.getReleased());
  });
  // Instructions that read matrices and copies of boxes XOR whole addresses.
  auto align = [&](Value operand) {
    if (auto memory = dyn_cast<MemRefType>(operand.getType()))
      context.ldsAlignment =
          std::max({context.ldsAlignment, getSwizzle(memory).getXORPeriod()});
  };
  kernel.walk([&](GroupMmaOp op) {
    align(op.getA());
    align(op.getB());
  });
  kernel.walk([&](BoxCopyOp op) { align(op.getDest()); });
  // In the order of the program: each may be behind the barrier of another.
  SmallVector<Operation *> places;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (placement.takeovers.contains(op))
      places.push_back(op);
  });
  for (Operation *op : places) {
    ArrayRef<Takeover> takeovers = placement.takeovers[op];
    if (isBehindBarrier(op, buffers, takeovers) ||
        beginsWithBarrier(op, buffers, takeovers))
      continue;
    OpBuilder builder(op);
    BarrierOp::create(builder, op->getLoc());
  }
  if (context.ldsBytes > context.target.getLdsBytes())
    return kernel.emitOpError("needs ")
           << context.ldsBytes << " bytes of workgroup memory, "
           << context.target.getChip() << " has "
           << context.target.getLdsBytes();
  int64_t spare = kSpareBytes * kernel.getSchedule()->getNumSubgroups();
  WalkResult found = kernel.walk([](StoreOp store) {
    return leavesLanesIdle(store) ? WalkResult::interrupt()
                                  : WalkResult::advance();
  });
  if (found.wasInterrupted() &&
      context.ldsBytes + spare <= context.target.getLdsBytes()) {
    context.spareLDS = context.ldsBytes;
    context.ldsBytes += spare;
  }
  return success();
}

/// The work item's coordinates from the linear block number, last extent
/// fastest.
static SmallVector<Value> delinearize(LaneBuilder &lane,
                                      ArrayRef<Value> extents) {
  OpBuilder &builder = lane.builder;
  Value left =
      lane.toI32(gpu::BlockIdOp::create(builder, lane.loc, gpu::Dimension::x));
  SmallVector<Value> ids(extents.size());
  for (int64_t d = extents.size() - 1; d >= 0; --d) {
    Value id = left;
    if (d > 0) {
      Value extent = lane.toI32(extents[d]);
      id = arith::RemUIOp::create(builder, lane.loc, left, extent);
      left = arith::DivUIOp::create(builder, lane.loc, left, extent);
    }
    ids[d] = arith::IndexCastUIOp::create(builder, lane.loc,
                                          builder.getIndexType(), id);
  }
  return ids;
}

/// Chooses what lowers the kernel's asynchronous copies, and finds what each
/// wait may leave under way.
static LogicalResult prepareCopies(KernelOp kernel, KernelContext &context) {
  context.copyEngine = makeCopyEngine(context.target);
  if (!context.copyEngine) {
    WalkResult found = kernel.walk([&](Operation *op) {
      if (!isa<AsyncCopyOp, AsyncGroupOp, WaitOp>(op))
        return WalkResult::advance();
      return WalkResult(op->emitOpError("target ")
                        << context.target.getChip()
                        << " has no asynchronous copies");
    });
    return failure(found.wasInterrupted());
  }
  context.underWayAtWaits = getAgesAtWaits(
      kernel, [&](Operation *op) { return context.copyEngine->getWeight(op); });
  return success();
}

/// Where a slot was made; null where that does not show.
static CopySlotsOp findMaker(Value slot) {
  while (true) {
    if (auto closed = slot.getDefiningOp<CloseSlotOp>()) {
      slot = closed.getSlot();
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(slot);
    auto loop =
        argument
            ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
            : LoopLikeOpInterface();
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init)
      return slot.getDefiningOp<CopySlotsOp>();
    slot = init->get();
  }
}

/// Only slots with an object for it are claimed and released.
static LogicalResult checkReleases(KernelOp kernel) {
  WalkResult found = kernel.walk([&](Operation *op) {
    if (!isa<ReleaseSlotOp, ClaimSlotOp>(op))
      return WalkResult::advance();
    CopySlotsOp maker = findMaker(op->getOperand(0));
    if (maker && maker.getReleased())
      return WalkResult::advance();
    return WalkResult(
        op->emitOpError("needs a slot of 'evo_tile.copy_slots released'"));
  });
  return failure(found.wasInterrupted());
}

/// Copies of boxes are of chips that have them.
static LogicalResult checkBoxes(KernelOp kernel, TargetAttr target) {
  if (target.hasTensorMaps())
    return checkReleases(kernel);
  if (llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<TensorMapType>))
    return kernel.emitOpError("takes tensor maps, which target ")
           << target.getChip() << " does not have";
  WalkResult found = kernel.walk([&](Operation *op) {
    if (!isa<CopySlotsOp, BoxCopyOp>(op))
      return WalkResult::advance();
    return WalkResult(op->emitOpError("target ")
                      << target.getChip() << " has no tensor maps");
  });
  return failure(found.wasInterrupted());
}

static void setUpConverter(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](RankedTensorType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        if (!type.getEncoding())
          return std::nullopt;
        FailureOr<LaneMap> map = getLaneMap(type);
        if (failed(map))
          return failure();
        results.append(
            map->getNumVectors(),
            VectorType::get({map->getVectorSize()}, type.getElementType()));
        return success();
      });
  converter.addConversion(
      [](TokenType, SmallVectorImpl<Type> &) { return success(); });
  converter.addConversion([](SlotType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
}

/// How many workgroups are to be resident: what the schedule says. Else code
/// generators give a kernel the registers of its most demanding part; where
/// that may be one that is rarely run, what the rest needs decides. 0: the code
/// generator's choice.
static int64_t getMinWorkgroups(KernelOp kernel, TargetAttr target,
                                int64_t lanes) {
  // Addresses and scalars, in excess of the tiles.
  constexpr int64_t kOthers = 8;
  // Asked for less, code generators become more lavish than by themselves.
  constexpr int64_t kFewLanes = 512;
  if (int64_t resident = kernel.getSchedule()->getResident())
    return resident;
  int64_t file = target.getRegistersPerProcessor();
  bool hasRare = kernel.walk([](WhereOp) { return WalkResult::interrupt(); })
                     .wasInterrupted();
  if (file <= 0 || !hasRare)
    return 0;
  int64_t pressure = 0;
  kernel.walk([&](scf::ForOp loop) {
    if (!loop->getParentOfType<WhereOp>())
      pressure = std::max(pressure, estimatePressure(loop));
  });
  int64_t workgroups = file / (lanes * (pressure + kOthers));
  return workgroups * lanes < kFewLanes ? 0 : workgroups;
}

/// Copies that run ahead through registers take them twice once an optimizer
/// unrolls their loop, which it does where it knows that iterations are few.
/// Loops whose tiles take more than half of the registers stay as they are.
static void keepRolled(KernelOp kernel, TargetAttr target) {
  MLIRContext *context = kernel.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, BoolAttr::get(context, true), /*count=*/{},
      /*runtimeDisable=*/{}, /*full=*/{}, /*followupUnrolled=*/{},
      /*followupRemainder=*/{}, /*followupAll=*/{});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, /*disableNonforced=*/{}, /*vectorize=*/{}, /*interleave=*/{},
      unroll, /*unrollAndJam=*/{}, /*licm=*/{}, /*distribute=*/{},
      /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{}, /*mustProgress=*/{},
      /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
      /*parallelAccesses=*/{});
  kernel.walk([&](scf::ForOp loop) {
    bool copies = llvm::any_of(*loop.getBody(), [](Operation &op) {
      auto store = dyn_cast<StoreOp>(op);
      return store && isWorkgroupMemory(store.getDestType());
    });
    if (copies && estimatePressure(loop) > target.getRegisters() / 2)
      loop->setAttr("llvm.loop_annotation", annotation);
  });
}

/// What the first lane does, one thing behind the other, in one branch.
static void mergeOfFirstLane(gpu::GPUFuncOp func, Value isFirstLane) {
  func.walk<WalkOrder::PreOrder>(
      [&](Block *block) { mergeBranches(*block, isFirstLane); });
  func.walk([&](scf::IfOp branch) {
    if (branch.getCondition() == isFirstLane)
      mergeBranches(*branch.thenBlock());
  });
}

namespace {
struct ConvertTileToGPUPass
    : mlir::evoformer::tile::impl::ConvertTileToGPUBase<ConvertTileToGPUPass> {
protected:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> kernels;
    for (KernelOp kernel : module.getOps<KernelOp>())
      if (!kernel.getTarget() || !kernel.getTarget()->isCPU())
        kernels.push_back(kernel);
    for (KernelOp kernel : kernels)
      if (failed(convert(module, kernel)))
        return signalPassFailure();
  }

  gpu::GPUModuleOp getGPUModule(ModuleOp module, TargetAttr target) {
    for (gpu::GPUModuleOp known : module.getOps<gpu::GPUModuleOp>())
      if (known->getAttr("evo_tile.target") == target)
        return known;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    SymbolTable symbols(module);
    auto gpuModule =
        gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    symbols.insert(gpuModule);
    gpuModule->setAttr("evo_tile.target", target);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    builder.getUnitAttr());
    return gpuModule;
  }

  LogicalResult convert(ModuleOp module, KernelOp kernel) {
    if (failed(requireStaged(kernel, "convert-tile-to-gpu")) ||
        failed(checkVotes(kernel)))
      return failure();
    SmallVector<LaunchOp> launches;
    module.walk([&](LaunchOp launch) {
      if (launch.getKernel() == kernel.getSymName())
        launches.push_back(launch);
    });
    FailureOr<int64_t> rank = countExtents(kernel, launches);
    if (failed(rank))
      return failure();
    KernelContext context;
    context.numSubgroups = kernel.getSchedule()->getNumSubgroups();
    context.target = *kernel.getTarget();
    if (failed(checkBoxes(kernel, context.target)) ||
        failed(placeBuffers(kernel, context)) ||
        failed(prepareCopies(kernel, context)))
      return failure();
    keepRolled(kernel, context.target);
    makeWholeWhereRead(kernel);
    gpu::GPUModuleOp gpuModule = getGPUModule(module, context.target);
    int64_t lanes = context.target.getSubgroupSize() *
                    kernel.getSchedule()->getNumSubgroups();

    OpBuilder builder = OpBuilder::atBlockEnd(gpuModule.getBody());
    ArrayRef<Type> passed = getPassedTypes(kernel);
    size_t numPassed = passed.size();
    ArrayRef<Type> maps = kernel.getArgumentTypes().drop_front(numPassed);
    SmallVector<Type> inputs(passed);
    inputs.append(*rank, builder.getIndexType());
    // Behind what launches pass.
    inputs.append(maps.size(), LLVM::LLVMPointerType::get(&getContext()));
    auto func =
        gpu::GPUFuncOp::create(builder, kernel.getLoc(), kernel.getSymName(),
                               builder.getFunctionType(inputs, {}));
    func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
    setMapAttributes(func, passed, maps);
    func.setKnownBlockSizeAttr(
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(lanes), 1, 1}));
    if (DictionaryAttr ideal = getIdealLoop(kernel))
      func->setAttr(evoformer::kIdealLoopAttrName, ideal);
    if (int64_t resident = getMinWorkgroups(kernel, context.target, lanes))
      func->setAttr(evoformer::kMinWorkgroupsAttrName,
                    builder.getI64IntegerAttr(resident));
    if (addLDS(gpuModule, kernel, context))
      func->setAttr(evoformer::kDynamicLDSAttrName,
                    builder.getI64IntegerAttr(context.ldsBytes));

    // The kernel's body, after what every lane needs to know of itself.
    Location loc = kernel.getLoc();
    Block *entry = &func.getBody().front();
    builder.setInsertionPointToStart(entry);
    LaneBuilder lane(builder, loc, context);
    Value thread =
        lane.toI32(gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
    Value size = lane.constant(context.target.getSubgroupSize());
    context.lane = arith::RemUIOp::create(builder, loc, thread, size);
    context.subgroup = arith::DivUIOp::create(builder, loc, thread, size);
    if (StringRef uniform = context.target.getUniform(); !uniform.empty())
      context.subgroup =
          LLVM::CallIntrinsicOp::create(builder, loc, builder.getI32Type(),
                                        builder.getStringAttr(uniform),
                                        ValueRange{context.subgroup})
              ->getResult(0);
    bool copiesBoxes =
        kernel.walk([](CopySlotsOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (copiesBoxes)
      context.isFirstLane = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, thread, lane.constant(0));
    SmallVector<Value> extents(entry->getArguments().slice(numPassed, *rank));
    SmallVector<Value> ids = delinearize(lane, extents);
    Block &body = kernel.getBody().front();
    for (auto [number, from] : llvm::enumerate(body.getArguments()))
      from.replaceAllUsesWith(
          entry->getArgument(number < numPassed ? number : number + *rank));
    entry->getOperations().splice(entry->end(), body.getOperations());
    func.walk([&](WorkItemIdOp op) {
      op.replaceAllUsesWith(ids[op.getDimension()]);
      op.erase();
    });
    auto end = cast<ReturnOp>(entry->getTerminator());
    builder.setInsertionPoint(end);
    gpu::ReturnOp::create(builder, end.getLoc());
    end.erase();
    kernel.erase();
    return distribute(func, context);
  }

  /// Declares the kernel's LDS block; true if the launch must size it.
  static bool addLDS(gpu::GPUModuleOp module, KernelOp kernel,
                     KernelContext &context) {
    if (context.ldsBytes == 0)
      return false;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    int64_t limit = context.target.getMaxLDSStatic();
    // What is too large for a static variable is sized by the launch.
    bool dynamic = context.ldsBytes > limit;
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(),
                                         dynamic ? 0 : context.ldsBytes);
    context.ldsName =
        builder.getStringAttr(kernel.getSymName() + Twine("_lds"));
    LLVM::GlobalOp::create(
        builder, kernel.getLoc(), type, /*isConstant=*/false,
        dynamic ? LLVM::Linkage::External : LLVM::Linkage::Internal,
        context.ldsName, Attribute(), context.ldsAlignment, /*addrSpace=*/3);
    return dynamic;
  }

  LogicalResult distribute(gpu::GPUFuncOp func, const KernelContext &context) {
    MLIRContext *ctx = &getContext();
    TypeConverter converter;
    setUpConverter(converter);
    RewritePatternSet patterns(ctx);
    ConversionTarget target(*ctx);
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return converter.isLegal(op); });
    target.addIllegalDialect<TileDialect>();
    target.addLegalOp<AllocLDSOp>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    populateComputePatterns(converter, patterns, context);
    populateGroupPatterns(converter, patterns, context);
    populateRandomPatterns(converter, patterns, context);
    populateLayoutPatterns(converter, patterns, context);
    populateMemoryPatterns(converter, patterns, context);
    populateBoxPatterns(converter, patterns, context);
    populateWherePattern(converter, patterns, context);
    bool copies = func.walk([](AsyncCopyOp) { return WalkResult::interrupt(); })
                      .wasInterrupted();
    if (failed(applyPartialConversion(func, target, std::move(patterns))))
      return failure();
    if (copies)
      context.copyEngine->finish(func);
    if (context.isFirstLane)
      mergeOfFirstLane(func, context.isFirstLane);
    func.walk([](amdgpu::SchedBarrierOp fence) { sinkLoaded(fence); });
    // Views of LDS have become addresses.
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (op != func &&
          (isOpTriviallyDead(op) || (isa<AllocLDSOp>(op) && op->use_empty())))
        op->erase();
    return success();
  }
};
} // namespace
