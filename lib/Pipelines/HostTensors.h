//===- HostTensors.h - Which memory tensors of the host take ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_PIPELINES_HOSTTENSORS_H
#define EVOFORMER_LIB_PIPELINES_HOSTTENSORS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::evoformer {

/// Gives elementwise ops that name an operand as their destination, because
/// they have to name some, memory of their own. Written in place, all sums
/// along a model's residuals would be one tensor to bufferization's analysis,
/// which asks of each write whether it comes before each read of the same
/// tensor.
void leaveOperands(FunctionOpInterface function);

/// Says of the function's tensors which bufferization must not write to: those
/// that no op has as its destination are the caller's to keep.
void keepInputs(FunctionOpInterface function);

/// Has what a loop carries written to where the next iteration finds it.
/// Bufferization asks for that, or else leaves memory that nobody owns.
void writeCarriedInPlace(FunctionOpInterface function);

/// Lets loops use memory directly that they would carry unchanged.
void uncarryMemory(FunctionOpInterface function);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_PIPELINES_HOSTTENSORS_H
