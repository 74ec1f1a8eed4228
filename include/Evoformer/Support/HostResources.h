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
#include <memory>

namespace llvm {
class MemoryBuffer;
class raw_ostream;
class Twine;
} // namespace llvm

namespace mlir::evoformer {

/// The contents of a regular file, followed by a null byte: nothing that never
/// ends, like a pipe or a device, and nothing larger than this machine's
/// memory. Errors name the file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path);

/// Writes a file whole or not at all: where anything fails, `path` is as it
/// was. Devices and pipes that somebody reads are written to, not replaced; "-"
/// is standard output.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> write);

/// An error that names `what` and both sizes, if this machine has less memory
/// than `bytes`.
llvm::Error checkMemory(uint64_t bytes, const llvm::Twine &what);

} // namespace mlir::evoformer

#endif // EVOFORMER_SUPPORT_HOSTRESOURCES_H
