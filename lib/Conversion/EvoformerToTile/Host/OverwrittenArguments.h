//===- OverwrittenArguments.h - Arguments that results go to ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_OVERWRITTENARGUMENTS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_OVERWRITTENARGUMENTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::evoformer {

/// Marks the arguments of a function on memrefs that it uses for results of
/// its only attention, or of the steps of its only gradient, and for nothing
/// else (kOverwrittenAttrName). Results of packed sequences are none of them:
/// rows that belong to no sequence stay as they are.
void markOverwrittenArguments(FunctionOpInterface function);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_OVERWRITTENARGUMENTS_H
