//===- CaseRagged.h - Sequences one behind the other ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A ragged case is one whose rows have lengths, but for where these lie in
// memory: its numbers are drawn, and its results compared, as such a case's.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DRIVER_CASERAGGED_H
#define EVOFORMER_LIB_DRIVER_CASERAGGED_H

#include "Evoformer/Driver/AttentionCase.h"

namespace mlir::evoformer {

/// Where the queries, or keys, of the case's sequences lie.
struct RaggedPlaces {
  /// Of all sequences and the end of the last one, as the operand has them.
  std::vector<int64_t> starts;
  int64_t all = 0;
  /// Of each sequence, within what there is.
  std::vector<int64_t> firsts, lengths;
};

RaggedPlaces findPlaces(const AttentionCase &problem, bool ofKeys);

/// Whether two sequences share queries, or keys.
bool haveOverlap(const RaggedPlaces &places);

/// The same case with a b for each sequence, and lengths.
AttentionCase getDense(const AttentionCase &problem);

/// Fills the inputs of a ragged case with those of `dense`, an array for each
/// operand of `getDense`; NaN in what is of no sequence.
void packInputs(const AttentionCase &problem, llvm::ArrayRef<HostArray> dense,
                std::vector<HostArray> &arrays);

/// The arrays of the dense case; behind the end of a sequence results are what
/// such a case's are.
std::vector<HostArray> unpack(const AttentionCase &problem,
                              llvm::ArrayRef<HostArray> arrays);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_DRIVER_CASERAGGED_H
