//===- Npy.h - Reading and writing .npy files -------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NumPy's array file format, versions 1.0 to 3.0
// (numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_NPY_H
#define EVOFORMER_RUNTIME_NPY_H

#include "Evoformer/Runtime/ElementType.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace mlir::evoformer::runtime {

/// A dense row-major tensor in host memory.
struct HostTensor {
  ElementType elementType = ElementType::F32;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> data;

  int64_t getNumElements() const;
};

/// Parses the contents of a .npy file. NumPy has no bfloat16: two-byte void
/// elements (what ml_dtypes stores) and a `bfloat16` description read as bf16;
/// so do two-byte integers when `wanted` says bf16. Column-major files are
/// brought into row-major order.
llvm::Expected<HostTensor>
parseNpy(llvm::StringRef contents,
         std::optional<ElementType> wanted = std::nullopt);

/// Reads a file; errors name it.
llvm::Expected<HostTensor>
readNpy(llvm::StringRef path, std::optional<ElementType> wanted = std::nullopt);

/// Writes version 1.0. The file appears complete or not at all.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_NPY_H
