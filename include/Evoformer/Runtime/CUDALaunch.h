//===- CUDALaunch.h - What CUDA is told of a launch -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structures of CUDA's driver ("CUDA Driver API", cuLaunchKernelEx).
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_CUDALAUNCH_H
#define EVOFORMER_RUNTIME_CUDALAUNCH_H

#include <cstdint>

namespace mlir::evoformer::runtime {

/// CUlaunchAttribute.
struct CUDALaunchAttribute {
  uint32_t id, unused;
  union {
    int32_t flag;
    uint64_t words[8];
  } value;
};

/// CUlaunchConfig.
struct CUDALaunch {
  uint32_t grid[3], block[3], sharedBytes;
  void *stream;
  CUDALaunchAttribute *attributes;
  uint32_t numAttributes;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_CUDALAUNCH_H
