//===- HostResources.h - Files and memory of this machine -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_SUPPORT_HOSTRESOURCES_H
#define EVOFORMER_SUPPORT_HOSTRESOURCES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
class Twine;
} // namespace llvm

namespace mlir::evoformer {

/// Writes a file whole or not at all: where anything fails, `path` is as it
/// was. Devices and pipes are written to, not replaced; "-" is standard output.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> write);

/// An error that names `what` and both sizes, if this machine has less memory
/// than `bytes`.
llvm::Error checkMemory(uint64_t bytes, const llvm::Twine &what);

} // namespace mlir::evoformer

#endif // EVOFORMER_SUPPORT_HOSTRESOURCES_H
