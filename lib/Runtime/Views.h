//===- Views.h - Views of memrefs in host programs --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_VIEWS_H
#define EVOFORMER_LIB_RUNTIME_VIEWS_H

#include "Evoformer/Runtime/Interpreter.h"

namespace mlir::evoformer::runtime {

llvm::SmallVector<int64_t, 6> rowMajorStrides(llvm::ArrayRef<int64_t> sizes);

/// Fails unless every static size, stride and offset of `type` is what the
/// descriptor holds. Strides of dimensions of size 1 or of empty memrefs do not
/// matter.
llvm::Error checkDescriptor(const PlanType &type,
                            const MemRefDescriptor &descriptor);

/// The result of subview, reinterpret_cast, cast or transpose.
llvm::Expected<MemRefDescriptor> computeView(const PlanOp &op,
                                             const MemRefDescriptor &source,
                                             llvm::ArrayRef<int64_t> offsets,
                                             llvm::ArrayRef<int64_t> sizes,
                                             llvm::ArrayRef<int64_t> strides);

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_VIEWS_H
