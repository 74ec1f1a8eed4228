//===- LaunchToGPU.cpp - Launches for upstream's host lowering ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Conversion/GPUToLLVM/PointersAttr.h"
#include "Evoformer/Conversion/TileToGPU/Passes.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_CONVERTTILELAUNCHTOGPU
#include "Evoformer/Conversion/TileToGPU/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

/// The kernel of a launch in one of the module's GPU modules. A function that
/// is lowered for one target and then for another has two of a name.
static FailureOr<LLVM::LLVMFuncOp> findLowered(ModuleOp module,
                                               LaunchOp launch) {
  LLVM::LLVMFuncOp found;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
    auto kernel = kernels.lookupSymbol<LLVM::LLVMFuncOp>(
        launch.getKernelAttr().getAttr());
    if (found && kernel)
      return launch.emitOpError("'")
             << launch.getKernel() << "' is a kernel of the GPU modules '"
             << found->getParentOfType<gpu::GPUModuleOp>().getName()
             << "' and '" << kernels.getName()
             << "'; accepted are functions that are lowered once";
    if (kernel)
      found = kernel;
  }
  if (!found)
    return launch.emitOpError("'")
           << launch.getKernel()
           << "' is not in the LLVM dialect of a GPU; run "
              "convert-gpu-lanes-to-llvm first";
  return found;
}

static LogicalResult convertLaunch(ModuleOp module, LaunchOp launch) {
  FailureOr<LLVM::LLVMFuncOp> lowered = findLowered(module, launch);
  if (failed(lowered))
    return failure();
  LLVM::LLVMFuncOp kernel = *lowered;
  if (kernel->hasAttr(evoformer::kTensorMapsAttrName))
    return launch.emitOpError("'")
           << launch.getKernel()
           << "' takes tensor maps, which upstream's launches cannot pass; "
              "leave out evo-tile-copy-boxes";
  int64_t threads = evoformer::getWorkgroupThreads(kernel);
  if (threads == 0)
    return kernel.emitOpError("does not say how many threads a workgroup has");

  Location loc = launch.getLoc();
  OpBuilder builder(launch);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value blocks = one;
  bool mayBeEmpty = false;
  for (Value extent : launch.getSpace()) {
    blocks = builder.createOrFold<arith::MulIOp>(loc, blocks, extent);
    std::optional<int64_t> known = getConstantIntValue(extent);
    mayBeEmpty |= !known || *known == 0;
  }
  Value block = arith::ConstantIndexOp::create(builder, loc, threads);
  Value shared;
  if (int64_t bytes = evoformer::getDynamicLDSBytes(kernel))
    shared = arith::ConstantIntOp::create(builder, loc, bytes, 32);
  SmallVector<Value> arguments(launch.getArgs());
  if (!launch->hasAttr(evoformer::kPointersAttrName))
    llvm::append_range(arguments, launch.getSpace());
  auto symbol = SymbolRefAttr::get(
      kernel->getParentOfType<gpu::GPUModuleOp>().getSymNameAttr(),
      {FlatSymbolRefAttr::get(kernel.getSymNameAttr())});
  if (mayBeEmpty) {
    // Drivers refuse grids without workgroups.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       blocks, zero);
    auto guard = scf::IfOp::create(builder, loc, some, /*withElse=*/false);
    builder.setInsertionPointToStart(guard.thenBlock());
  }
  gpu::LaunchFuncOp::create(
      builder, loc, symbol, gpu::KernelDim3{blocks, one, one},
      gpu::KernelDim3{block, one, one}, shared, arguments);
  launch.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult convertCopy(memref::CopyOp copy) {
  auto isPlain = [](Value memory) {
    auto type = dyn_cast<MemRefType>(memory.getType());
    return type && type.getLayout().isIdentity();
  };
  if (!isPlain(copy.getSource()) || !isPlain(copy.getTarget()))
    return copy.emitOpError("copies memory with strides, which no copy between "
                            "devices does; make it a linalg.copy and run "
                            "convert-linalg-to-tile first");
  OpBuilder builder(copy);
  gpu::MemcpyOp::create(builder, copy.getLoc(), TypeRange(), ValueRange(),
                        copy.getTarget(), copy.getSource());
  copy.erase();
  return success();
}

/// Whether the host would touch memory.
static bool accessesMemory(Operation *op) {
  if (isa<gpu::GPUDialect>(op->getDialect()) || isa<CallOpInterface>(op) ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>) &&
           !isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>();
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [](const MemoryEffects::EffectInstance &one) {
    return isa<MemoryEffects::Read, MemoryEffects::Write>(one.getEffect()) &&
           one.getValue() && isa<BaseMemRefType>(one.getValue().getType());
  });
}

/// The last op of its block that uses the memory, through whichever view; null
/// where the memory leaves the block or is freed.
static Operation *findLastUse(Value memory) {
  Operation *last = memory.getDefiningOp();
  Block *block = last->getBlock();
  SmallVector<Value> views = {memory};
  for (size_t next = 0; next < views.size(); ++next) {
    for (Operation *user : views[next].getUsers()) {
      bool givesMemory =
          llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
      if (isa<memref::DeallocOp, RegionBranchOpInterface>(user) ||
          user->hasTrait<OpTrait::IsTerminator>() ||
          (givesMemory && isa<CallOpInterface>(user)))
        return nullptr;
      if (givesMemory)
        llvm::append_range(views, user->getResults());
      Operation *top = block->findAncestorOpInBlock(*user);
      if (!top)
        return nullptr;
      if (last->isBeforeInBlock(top))
        last = top;
    }
  }
  return last;
}

/// Constant data, on the device where it is used.
static LogicalResult copyToDevice(ModuleOp module, memref::GetGlobalOp data) {
  auto global = module.lookupSymbol<memref::GlobalOp>(data.getNameAttr());
  if (!global || !global.getConstant() || global.isExternal())
    return data.emitOpError("'") << data.getName()
                                 << "' is no constant with a value: the host's "
                                    "memory is no kernel's, and what one "
                                    "writes would be lost";
  Operation *last = findLastUse(data.getResult());
  OpBuilder builder(data);
  builder.setInsertionPointAfter(data);
  Location loc = data.getLoc();
  auto alloc = gpu::AllocOp::create(builder, loc, TypeRange{data.getType()},
                                    ValueRange(), ValueRange(), ValueRange(),
                                    /*hostShared=*/false);
  data.getResult().replaceAllUsesWith(alloc.getMemref());
  auto copy = gpu::MemcpyOp::create(builder, loc, TypeRange(), ValueRange(),
                                    alloc.getMemref(), data.getResult());
  if (!last)
    return success();
  builder.setInsertionPointAfter(last == data ? copy.getOperation() : last);
  gpu::DeallocOp::create(builder, loc, TypeRange(), ValueRange(),
                         alloc.getMemref());
  return success();
}

/// Frees what the function allocates after its last use, where nobody else
/// does: bufferization leaves that to later passes.
static void freeUnowned(func::FuncOp function) {
  function.walk([&](memref::AllocOp alloc) {
    Operation *last = findLastUse(alloc);
    if (!last)
      return;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfter(last);
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
  });
}

/// The memory of a function with launches is the device's.
static LogicalResult convertMemory(ModuleOp module, Operation *op) {
  OpBuilder builder(op);
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    auto converted = gpu::AllocOp::create(
        builder, op->getLoc(), TypeRange{alloc.getType()}, ValueRange(),
        alloc.getDynamicSizes(), alloc.getSymbolOperands(),
        /*hostShared=*/false);
    alloc.getResult().replaceAllUsesWith(converted.getMemref());
    op->erase();
    return success();
  }
  if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
    gpu::DeallocOp::create(builder, op->getLoc(), TypeRange(), ValueRange(),
                           dealloc.getMemref());
    op->erase();
    return success();
  }
  if (auto data = dyn_cast<memref::GetGlobalOp>(op))
    return copyToDevice(module, data);
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return convertCopy(copy);
  if (isa<memref::AllocaOp, memref::ReallocOp>(op) || accessesMemory(op))
    return op->emitOpError("uses memory on the host in a function that "
                           "launches kernels or shares memory with one that "
                           "does: it is the device's; run "
                           "convert-linalg-to-tile first, or do it in the "
                           "caller");
  return success();
}

/// The functions that launch kernels, and those that pass memory to them or get
/// it from them, by calls.
static SmallVector<func::FuncOp> findDeviceFunctions(ModuleOp module) {
  llvm::SetVector<func::FuncOp> found;
  llvm::MapVector<func::FuncOp, SmallVector<func::FuncOp>> neighbours;
  for (auto function : module.getOps<func::FuncOp>()) {
    function.walk([&](Operation *op) {
      if (isa<LaunchOp>(op))
        found.insert(function);
      auto call = dyn_cast<func::CallOp>(op);
      auto callee =
          call ? module.lookupSymbol<func::FuncOp>(call.getCalleeAttr())
               : func::FuncOp();
      bool passesMemory =
          call &&
          (llvm::any_of(call->getOperandTypes(),
                        llvm::IsaPred<BaseMemRefType>) ||
           llvm::any_of(call->getResultTypes(), llvm::IsaPred<BaseMemRefType>));
      if (!callee || callee.isExternal() || !passesMemory)
        return;
      neighbours[function].push_back(callee);
      neighbours[callee].push_back(function);
    });
  }
  for (size_t next = 0; next < found.size(); ++next) {
    func::FuncOp function = found[next];
    found.insert_range(neighbours.lookup(function));
  }
  return found.takeVector();
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// What upstream calls the target of a module of kernels.
static Attribute getUpstreamTarget(TargetAttr target) {
  MLIRContext *context = target.getContext();
  constexpr int optimization = 3;
  if (target.getTriple().starts_with("nvptx64"))
    return NVVM::NVVMTargetAttr::get(context, optimization, target.getTriple(),
                                     target.getCodeChip(),
                                     target.getFeatures());
  return ROCDL::ROCDLTargetAttr::get(context, optimization, target.getTriple(),
                                     target.getChip(), target.getFeatures());
}

namespace {
struct ConvertTileLaunchToGPU
    : mlir::evoformer::tile::impl::ConvertTileLaunchToGPUBase<
          ConvertTileLaunchToGPU> {
protected:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp function : findDeviceFunctions(module))
      if (failed(convert(module, function)))
        return signalPassFailure();
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      if (auto target = kernels->getAttrOfType<TargetAttr>("evo_tile.target");
          target && !kernels.getTargets())
        kernels.setTargetsAttr(
            ArrayAttr::get(&getContext(), getUpstreamTarget(target)));
  }

  static LogicalResult convert(ModuleOp module, func::FuncOp function) {
    SmallVector<LaunchOp> launches;
    function.walk([&](LaunchOp launch) { launches.push_back(launch); });
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(module.getContext()));
    for (LaunchOp launch : launches)
      if (failed(convertLaunch(module, launch)))
        return failure();
    freeUnowned(function);
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (op != function && failed(convertMemory(module, op)))
        return failure();
    return success();
  }
};
} // namespace
