//===- OverwrittenAttr.h - Arguments that results go to ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_HOSTTOPLAN_OVERWRITTENATTR_H
#define EVOFORMER_CONVERSION_HOSTTOPLAN_OVERWRITTENATTR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::evoformer {

/// On an argument of a host function, a memref (unit): where any launch takes
/// it, every element is written and none is read before, and nothing that the
/// function reads overlaps it. Until the first launch that takes it, other
/// buffers may lie there.
inline constexpr llvm::StringLiteral
    kOverwrittenAttrName("evoformer.overwritten");

} // namespace mlir::evoformer

#endif // EVOFORMER_CONVERSION_HOSTTOPLAN_OVERWRITTENATTR_H
