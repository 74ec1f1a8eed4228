//===- Counters.cpp - What a launch executed ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Simulator/Simulator.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::evoformer::sim;

namespace {
struct Field {
  const char *key, *text;
  uint64_t Counters::*value;
};
} // namespace

static const Field fields[] = {
    {"matrix", "matrix operations", &Counters::matrix},
    {"matrix_multiply_adds", "multiply-adds in them",
     &Counters::matrixMultiplyAdds},
    {"transcendental", "transcendental operations", &Counters::transcendental},
    {"arithmetic", "other arithmetic", &Counters::arithmetic},
    {"cross_lane", "cross-lane operations", &Counters::crossLane},
    {"lds_loads", "LDS loads", &Counters::ldsLoads},
    {"lds_stores", "LDS stores", &Counters::ldsStores},
    {"lds_bytes", "LDS bytes", &Counters::ldsBytes},
    {"lds_cycles", "LDS cycles", &Counters::ldsCycles},
    {"lds_ideal_cycles", "LDS cycles without conflicts",
     &Counters::ldsIdealCycles},
    {"global_loads", "global loads", &Counters::globalLoads},
    {"global_stores", "global stores", &Counters::globalStores},
    {"global_bytes_read", "global bytes read", &Counters::globalBytesRead},
    {"global_bytes_written", "global bytes written",
     &Counters::globalBytesWritten},
    {"distinct_bytes_read", "distinct bytes read",
     &Counters::distinctBytesRead},
    {"distinct_bytes_written", "distinct bytes written",
     &Counters::distinctBytesWritten},
    {"async_copies", "asynchronous copies (lanes)", &Counters::asyncCopies},
    {"async_bytes", "asynchronous bytes", &Counters::asyncBytes},
    {"barriers", "barriers", &Counters::barriers},
    {"waits", "waits", &Counters::waits},
    {"branches", "conditional branches", &Counters::branches},
    {"lane_operations", "lane operations", &Counters::laneOperations},
};

void Counters::add(const Counters &other) {
  for (const Field &f : fields)
    this->*f.value += other.*f.value;
  bankConflictDegree = std::max(bankConflictDegree, other.bankConflictDegree);
}

void Counters::divide(uint64_t launches) {
  for (const Field &f : fields)
    this->*f.value /= launches;
}

void Counters::printText(llvm::raw_ostream &os) const {
  for (const Field &f : fields)
    os << llvm::formatv("{0,-30} {1,16}\n", f.text, this->*f.value);
}

llvm::json::Value Counters::toJSON() const {
  llvm::json::Object object;
  for (const Field &f : fields)
    object[f.key] = int64_t(this->*f.value);
  return object;
}
