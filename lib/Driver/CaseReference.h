//===- CaseReference.h - The reference results of a case --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DRIVER_CASEREFERENCE_H
#define EVOFORMER_LIB_DRIVER_CASEREFERENCE_H

#include "Evoformer/Driver/CaseRunner.h"
#include "Evoformer/Reference/ErrorBound.h"

namespace mlir::evoformer {

/// Compares the outputs among `arrays` (in the order of getOperands) with the
/// reference of the inputs.
llvm::Error compareCase(const AttentionCase &problem,
                        llvm::ArrayRef<HostArray> arrays,
                        const reference::Arithmetic &arithmetic,
                        unsigned threads, CaseReport &report);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_DRIVER_CASEREFERENCE_H
