//===- LLVMOps.h - What ops of the LLVM dialect are -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_LLVMOPS_H
#define EVOFORMER_LIB_SIMULATOR_LLVMOPS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::evoformer::sim {

inline bool isLDSPointer(Value v) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(v.getType());
  return type && type.getAddressSpace() == 3;
}

/// Whether the op is assembly with `what` in its text.
inline bool isInAssembly(Operation *op, StringRef what) {
  auto assembly = dyn_cast<LLVM::InlineAsmOp>(op);
  return assembly && assembly.getAsmString().contains(what);
}

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_LLVMOPS_H
