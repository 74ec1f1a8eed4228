//===- KernelOps.cpp - Kernels and launches ---------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError("must not return values");
  for (Type type : getFunctionType().getInputs()) {
    if (!isa<MemRefType>(type) && !type.isIntOrIndexOrFloat())
      return emitOpError("argument type ")
             << type << " is neither a memref nor a scalar";
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && isWorkgroupMemory(memref))
      return emitOpError("argument ") << type << " is in workgroup memory";
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

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

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
  ArrayRef<Type> wanted = kernel.getArgumentTypes();
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
