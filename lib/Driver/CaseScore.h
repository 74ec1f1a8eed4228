//===- CaseScore.h - A case's score -----------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DRIVER_CASESCORE_H
#define EVOFORMER_LIB_DRIVER_CASESCORE_H

#include "Evoformer/Driver/AttentionCase.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::evoformer {

/// Reads the word `score`.
llvm::Error parseScore(llvm::StringRef text, AttentionCase &result);

/// The dimensions, of bnhqk, of what it captures.
llvm::ArrayRef<llvm::StringRef> getCaptures(const reference::Score &score);

/// How many the case has.
size_t countCaptures(const AttentionCase &problem);

/// Writes the region of an attention.
void writeScore(llvm::raw_ostream &os, const reference::Score &score);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_DRIVER_CASESCORE_H
