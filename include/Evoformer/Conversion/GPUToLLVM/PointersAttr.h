//===- PointersAttr.h - Launches without descriptors ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_GPUTOLLVM_POINTERSATTR_H
#define EVOFORMER_CONVERSION_GPUTOLLVM_POINTERSATTR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::evoformer {

/// On a launch: the lowered kernel takes what the launch passes and nothing
/// else, extents of the space only where they are passed, too.
inline constexpr llvm::StringLiteral kPointersAttrName("evo_tile.pointers");

} // namespace mlir::evoformer

#endif // EVOFORMER_CONVERSION_GPUTOLLVM_POINTERSATTR_H
