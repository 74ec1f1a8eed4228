//===- Arc4Random.cpp - A function of younger C libraries -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's archives take names of temporary files from arc4random, which glibc
// has since 2.36. This one lets the library load with older ones.
//
//===----------------------------------------------------------------------===//

#include <chrono>
#include <cstdint>
#include <sys/random.h>

extern "C" uint32_t arc4random(void) noexcept {
  uint32_t number = 0;
  if (getrandom(&number, sizeof(number), 0) == sizeof(number))
    return number;
  return static_cast<uint32_t>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}
