//===- TensorMap.h - What kernels are told of memory ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may copy boxes of a memref that it is passed. Behind its other
// arguments it then takes a description of that memory, by value, which is made
// of these when it is launched.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_TENSORMAP_H
#define EVOFORMER_RUNTIME_TENSORMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>

namespace mlir::evoformer::runtime {

/// Bytes of a tensor map as the argument of a kernel, and what its place is a
/// multiple of ("CUDA Driver API", CUtensorMap).
constexpr unsigned tensorMapBytes = 128, tensorMapAlignment = 64;
/// Dimensions at most, and elements of a box along one.
constexpr unsigned maxTensorMapRank = 5, maxBoxSize = 256;

/// Memory, as cuTensorMapEncodeTiled takes it: the fastest dimension, of stride
/// one element, comes first.
struct TensorMap {
  uint64_t address = 0;
  unsigned elementBytes = 2;
  /// Sizes in elements, strides in bytes.
  llvm::SmallVector<uint64_t, maxTensorMapRank> sizes, strides;
  /// Elements of a box along each dimension.
  llvm::SmallVector<uint32_t, maxTensorMapRank> box;
  /// Bytes of a row of a box whose pieces of 16 bytes change places; 0: none.
  unsigned swizzle = 0;
};

/// Says what of the map a driver would not take.
llvm::Error checkTensorMap(const TensorMap &map);

/// How a launch makes a tensor map. Dimensions are in the order of the memref.
struct TensorMapArgument {
  /// Of the memref: the first of the arguments that it expands to.
  unsigned slot = 0;
  unsigned elementBytes = 2, swizzle = 0;
  llvm::SmallVector<uint32_t, maxTensorMapRank> box;
  /// Where a dimension ends, if that is before the memref's own end: at an
  /// argument, or, where that is -1, at a number.
  llvm::SmallVector<int64_t, maxTensorMapRank> endSlots, ends;

  /// The tensor map of a launch with these arguments, of which `isValidFor` is
  /// true.
  TensorMap make(llvm::ArrayRef<uint64_t> arguments) const;
  bool isValidFor(size_t numArguments) const;
};

llvm::json::Value toJSON(const TensorMapArgument &map);
bool fromJSON(const llvm::json::Value &value, TensorMapArgument &map,
              llvm::json::Path path);

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_TENSORMAP_H
