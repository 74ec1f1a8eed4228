//===- SimReport.h - What attention executed, and its ideal -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_SIMREPORT_H
#define EVOFORMER_DRIVER_SIMREPORT_H

#include "Evoformer/Driver/AttentionCase.h"
#include "Evoformer/Driver/SimDevice.h"

namespace mlir::evoformer {

/// What no implementation can do without.
struct IdealCounts {
  /// Of both matrix products.
  uint64_t multiplyAdds = 0;
  /// One exponential a logit, a reciprocal a row, and an exponential and a
  /// reciprocal an element of the gate.
  uint64_t transcendental = 0;
  /// Every operand once.
  uint64_t globalBytes = 0;
};
IdealCounts getIdealCounts(const AttentionCase &problem);

/// The counters of one run of a case: its kernels, and all of them against the
/// ideal. The records may be of several runs.
class SimReport {
public:
  SimReport(const AttentionCase &problem,
            llvm::ArrayRef<SimKernelRecord> records, uint64_t runs);

  void printText(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;

private:
  struct Row {
    std::string name;
    uint64_t launches;
    sim::Counters counters;
  };
  double getLaneOperationsPerSecond() const {
    return seconds > 0 ? double(sum.laneOperations) / seconds : 0;
  }
  /// Pairs of a name and what was executed as a multiple of the ideal.
  std::vector<std::pair<const char *, double>> getQuotients() const;

  std::string problem;
  IdealCounts ideal;
  std::vector<Row> kernels;
  sim::Counters sum;
  uint64_t laneTranscendental = 0;
  /// Of this machine, for all of it.
  double seconds = 0;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_SIMREPORT_H
