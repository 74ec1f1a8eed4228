//===- KernelOps.cpp - Kernels and launches ---------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Boxes.h"
#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Region *body = state.addRegion();
  Block *entry = new Block();
  body->push_back(entry);
  for (Type input : type.getInputs())
    entry->addArgument(input, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildFuncType =
      [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag,
         std::string &) { return builder.getFunctionType(args, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildFuncType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t,
                      ArrayRef<int64_t> box, ArrayRef<int64_t> ends,
                      int64_t swizzle) {
  if (box.empty() || static_cast<int64_t>(box.size()) > kMaxMapRank ||
      ends.size() != 2 * box.size())
    return emitError() << "a tensor map has 1 to " << kMaxMapRank
                       << " dimensions and two numbers for the end of each, "
                          "got "
                       << box.size() << " and " << ends.size() << " numbers";
  for (int64_t size : box)
    if (size < 1 || size > kMaxBoxSize)
      return emitError() << "a box has 1 to " << kMaxBoxSize
                         << " elements along each dimension, got " << size;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "'swizzle' is 32, 64 or 128 bytes, got " << swizzle;
  return success();
}

/// A dimension of one of the kernel's arguments.
static bool isDimension(KernelOp kernel, int64_t argument, int64_t dim) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (argument < 0 || argument >= static_cast<int64_t>(types.size()))
    return false;
  auto memory = dyn_cast<MemRefType>(types[argument]);
  return memory && dim >= 0 && dim < memory.getRank();
}

static LogicalResult verifyMap(KernelOp kernel, TensorMapType map) {
  int64_t rank = map.getBox().size();
  if (!isDimension(kernel, map.getOf(), rank - 1) ||
      isDimension(kernel, map.getOf(), rank))
    return kernel.emitOpError("has no memory of ")
           << rank << " dimensions as argument " << map.getOf() << " for "
           << map;
  auto memory = cast<MemRefType>(kernel.getArgumentTypes()[map.getOf()]);
  Type element = memory.getElementType();
  if (!isBoxElement(element))
    return kernel.emitOpError("tensor maps are of f16, bf16 and f32, not of ")
           << memory;
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(memory.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return kernel.emitOpError("tensor maps need memory whose last dimension is "
                              "contiguous, got ")
           << memory;
  int64_t rowBytes = map.getBox().back() * element.getIntOrFloatBitWidth() / 8;
  if (rowBytes % kMapAlignment != 0 ||
      (map.getSwizzle() != 0 && map.getSwizzle() != rowBytes))
    return kernel.emitOpError("a box has rows of a multiple of ")
           << kMapAlignment << " bytes, and as many as 'swizzle' says, got "
           << rowBytes << " in " << map;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t argument = map.getEnds()[2 * d], number = map.getEnds()[2 * d + 1];
    if (argument == -1 ? number < 0 || number > kMaxMemoryExtent
                       : !isDimension(kernel, argument, number))
      return kernel.emitOpError("dimension ")
             << d << " of " << map << " has no end: argument " << argument
             << " has no dimension " << number;
  }
  return success();
}

LogicalResult KernelOp::verify() {
  if (!getBody().hasOneBlock())
    return emitOpError("needs a body of one block; its control flow is scf's");
  Block &body = getBody().front();
  if (body.empty() || !isa<ReturnOp>(body.back()))
    return emitOpError("must end with 'evo_tile.return'");
  if (!getFunctionType().getResults().empty())
    return emitOpError("must not return values");
  bool hasMaps = false;
  for (Type type : getFunctionType().getInputs()) {
    if (auto map = dyn_cast<TensorMapType>(type)) {
      hasMaps = true;
      if (failed(verifyMap(*this, map)))
        return failure();
      continue;
    }
    if (hasMaps)
      return emitOpError("has ")
             << type << " behind tensor maps, which come last";
    if (!isa<MemRefType>(type) && !type.isIntOrIndexOrFloat())
      return emitOpError("argument type ")
             << type << " is neither a memref nor a scalar";
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && memref.getMemorySpace())
      return emitOpError("argument ")
             << type
             << " must be in the default memory space, that of the device's "
                "global memory";
  }
  if (getTarget() && getSchedule() && !getTarget()->isCPU()) {
    int64_t lanes =
        getTarget()->getSubgroupSize() * getSchedule()->getNumSubgroups();
    if (lanes > getTarget()->getMaxWorkgroup())
      return emitOpError("needs workgroups of ")
             << lanes << " lanes, " << getTarget()->getChip() << " has at most "
             << getTarget()->getMaxWorkgroup();
  }
  return success();
}

static LogicalResult verifyMemory(Operation *op, MemRefType memory) {
  SmallVector<int64_t> extents(memory.getShape()), strides;
  int64_t offset;
  if (succeeded(memory.getStridesAndOffset(strides, offset)))
    llvm::append_range(extents, strides);
  for (int64_t extent : extents)
    if (ShapedType::isStatic(extent) &&
        (extent > kMaxMemoryExtent || extent < -kMaxMemoryExtent))
      return op->emitOpError("memory ")
             << memory << " has a size or stride above " << kMaxMemoryExtent;
  return success();
}

/// Tiles of passes' own ops are checked where they are made, those of arith and
/// scf only here.
LogicalResult KernelOp::verifyRegions() {
  auto check = [](Operation *op, Type type) -> LogicalResult {
    if (auto memory = dyn_cast<MemRefType>(type))
      return verifyMemory(op, memory);
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile)
      return success();
    if (!tile.hasStaticShape())
      return op->emitOpError("tile ") << tile << " has no static shape";
    if (!tile.getElementType().isIntOrIndexOrFloat())
      return op->emitOpError("tile ") << tile << " is not of numbers";
    if (tile.getRank() > kMaxRank)
      return op->emitOpError("tile ")
             << tile << " has rank " << tile.getRank() << ", at most "
             << kMaxRank << " is possible";
    if (llvm::is_contained(tile.getShape(), 0))
      return op->emitOpError("tile ") << tile << " is empty";
    if (boundedProduct(tile.getShape(), kMaxTileElements) > kMaxTileElements)
      return op->emitOpError("tile ")
             << tile << " has more than " << kMaxTileElements << " elements";
    return success();
  };
  for (Type type : getFunctionType().getInputs())
    if (failed(check(*this, type)))
      return failure();
  WalkResult result = getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (failed(check(op, type)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

/// The extents of its space that a kernel asks for.
static int64_t countUsedExtents(KernelOp kernel) {
  int64_t used = 0;
  kernel.walk([&](WorkItemIdOp id) {
    used = std::max<int64_t>(used, id.getDimension() + 1);
  });
  return used;
}

FailureOr<int64_t>
mlir::evoformer::tile::countExtents(KernelOp kernel,
                                    ArrayRef<LaunchOp> launches) {
  if (launches.empty()) {
    int64_t used = std::max<int64_t>(1, countUsedExtents(kernel));
    auto given = kernel->getAttrOfType<IntegerAttr>(kNumExtentsAttr);
    if (!given)
      return used;
    if (given.getInt() < 0 || given.getInt() > kMaxRank)
      return kernel.emitOpError()
             << "'" << kNumExtentsAttr << "' must be from 0 to " << kMaxRank
             << ", got " << given.getInt();
    return std::max(used, given.getInt());
  }
  LaunchOp first = launches.front();
  for (LaunchOp launch : launches)
    if (launch.getSpace().size() != first.getSpace().size()) {
      InFlightDiagnostic error = launch.emitOpError()
                                 << "has " << launch.getSpace().size()
                                 << " extents, another launch of '"
                                 << kernel.getSymName() << "' has "
                                 << first.getSpace().size();
      error.attachNote(first.getLoc()) << "the other launch";
      return error;
    }
  return first.getSpace().size();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel =
      symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel) {
    // Below the tile levels kernels are functions, on GPUs in a GPU module.
    if (symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this,
                                                             getKernelAttr()))
      return success();
    if (auto module = (*this)->getParentOfType<ModuleOp>())
      for (auto gpuModule : module.getOps<gpu::GPUModuleOp>())
        if (gpuModule.lookupSymbol<FunctionOpInterface>(getKernelAttr()))
          return success();
    return emitOpError("'") << getKernel() << "' does not name a kernel";
  }
  if (getSpace().size() > kMaxRank)
    return emitOpError("has ") << getSpace().size() << " extents, at most "
                               << kMaxRank << " are possible";
  if (int64_t used = countUsedExtents(kernel);
      used > (int64_t)getSpace().size())
    return emitOpError("has ") << getSpace().size() << " extents, '"
                               << getKernel() << "' uses " << used;
  // Tensor maps are made of what is passed.
  ArrayRef<Type> wanted = getPassedTypes(kernel);
  if (wanted.size() != getArgs().size())
    return emitOpError("passes ") << getArgs().size() << " arguments, '"
                                  << getKernel() << "' takes " << wanted.size();
  // A mask's elements take one byte each in memory: kernels may take bytes.
  auto isMaskAsBytes = [](Type given, Type taken) {
    auto mask = dyn_cast<MemRefType>(given);
    return mask && mask.getElementType().isInteger(1) &&
           taken == MemRefType(MemRefType::Builder(mask).setElementType(
                        IntegerType::get(given.getContext(), 8)));
  };
  for (auto [i, arg] : llvm::enumerate(getArgs()))
    if (arg.getType() != wanted[i] && !isMaskAsBytes(arg.getType(), wanted[i]))
      return emitOpError("argument ")
             << i << " has type " << arg.getType() << ", '" << getKernel()
             << "' takes " << wanted[i];
  return success();
}
