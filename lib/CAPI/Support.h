//===- Support.h - Errors of the C API --------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CAPI_SUPPORT_H
#define EVOFORMER_LIB_CAPI_SUPPORT_H

#include "evoformer-c/Support.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace mlir::evoformer::capi {

/// Keeps the message for evoformerGetLastError.
EvoformerStatus fail(const llvm::Twine &message);
EvoformerStatus fail(llvm::Error error);

/// A copy that evoformerFreeText releases.
char *copyText(llvm::StringRef text);

/// Words separated by spaces, each `key=value` or `key`; `handle` gets both.
llvm::Error forEachWord(
    llvm::StringRef text,
    llvm::function_ref<llvm::Error(llvm::StringRef key, llvm::StringRef value)>
        handle);

/// Tells this very library from others, earlier builds among them.
llvm::StringRef getBuildId();

} // namespace mlir::evoformer::capi

#endif // EVOFORMER_LIB_CAPI_SUPPORT_H
