//===- JSON.h - JSON from outside -------------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_SUPPORT_JSON_H
#define EVOFORMER_SUPPORT_JSON_H

#include "llvm/Support/JSON.h"

namespace mlir::evoformer {

/// llvm::json::parse of a text that may be anything. LLVM's parser recurses:
/// what is nested deeper than 800 values is an error before it sees the text.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

} // namespace mlir::evoformer

#endif // EVOFORMER_SUPPORT_JSON_H
