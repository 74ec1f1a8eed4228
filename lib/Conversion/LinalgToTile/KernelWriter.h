//===- KernelWriter.h - The kernel of a structured op -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOTILE_KERNELWRITER_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOTILE_KERNELWRITER_H

#include "StructuredOp.h"

namespace mlir::evoformer::tile {

/// The kernel of an op, where `builder` stands. Its arguments are the op's
/// operands, masks as bytes, then what the body uses of the function; its space
/// has an extent for each parallel loop.
KernelOp writeKernel(OpBuilder &builder, StringRef name, StructuredOp &op);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOTILE_KERNELWRITER_H
