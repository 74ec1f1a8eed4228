//===- Dialects.cpp - The dialects of lowered kernels ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Alone in its file: the headers of these dialects are slow to compile.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Simulator/Simulator.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinDialect.h"

void mlir::evoformer::sim::registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, BuiltinDialect, cf::ControlFlowDialect,
                  func::FuncDialect, memref::MemRefDialect, scf::SCFDialect,
                  DLTIDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  NVVM::NVVMDialect, ROCDL::ROCDLDialect>();
}
