//===- SimReport.cpp - What an attention executed against its ideal -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/SimReport.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::evoformer;

IdealCounts mlir::evoformer::getIdealCounts(const AttentionCase &problem) {
  uint64_t rows =
      problem.batch * problem.rows * problem.heads * problem.queries;
  uint64_t logits = rows * problem.keys;
  IdealCounts ideal;
  ideal.multiplyAdds = logits * (problem.depth + problem.getValueDepth());
  ideal.transcendental = logits + rows;
  if (problem.gateType)
    ideal.transcendental += 2 * rows * problem.getValueDepth();
  for (const CaseOperand &operand : getOperands(problem))
    ideal.globalBytes += operand.layout.getNumElements() *
                         runtime::getByteSize(operand.layout.type);
  return ideal;
}

SimReport::SimReport(const AttentionCase &problem,
                     llvm::ArrayRef<SimKernelRecord> records, uint64_t runs)
    : problem(problem.str()), ideal(getIdealCounts(problem)) {
  for (const SimKernelRecord &record : records) {
    Row row{record.name, record.launches / runs, record.counters};
    row.counters.divide(runs);
    sum.add(row.counters);
    laneTranscendental += row.counters.transcendental * record.subgroupSize;
    seconds += record.seconds / double(runs);
    kernels.push_back(std::move(row));
  }
}

std::vector<std::pair<const char *, double>> SimReport::getQuotients() const {
  auto quotient = [](uint64_t is, uint64_t ideal) {
    return ideal ? double(is) / double(ideal) : is ? INFINITY : 1.0;
  };
  return {
      {"matrix multiply-adds",
       quotient(sum.matrixMultiplyAdds, ideal.multiplyAdds)},
      {"transcendental", quotient(laneTranscendental, ideal.transcendental)},
      {"distinct global bytes",
       quotient(sum.distinctBytesRead + sum.distinctBytesWritten,
                ideal.globalBytes)},
      {"global bytes", quotient(sum.globalBytesRead + sum.globalBytesWritten,
                                ideal.globalBytes)},
      {"LDS cycles", quotient(sum.ldsCycles, sum.ldsIdealCycles)},
  };
}

void SimReport::printText(llvm::raw_ostream &os) const {
  const char *format = "  {0,-28} {1,9} {2,9} {3,9} {4,9} {5,9} {6,9} {7,11} "
                       "{8,8} {9,6}\n";
  os << llvm::formatv(format, "kernel", "matrix", "exp,rcp", "other",
                      "exchange", "LDS", "LDS cyc", "global B", "barriers",
                      "waits");
  auto print = [&](llvm::StringRef name, const sim::Counters &c) {
    os << llvm::formatv(format, name, c.matrix, c.transcendental, c.arithmetic,
                        c.crossLane, c.ldsLoads + c.ldsStores, c.ldsCycles,
                        c.globalBytesRead + c.globalBytesWritten, c.barriers,
                        c.waits);
  };
  for (const Row &row : kernels)
    print(row.name, row.counters);
  if (kernels.size() > 1)
    print("all", sum);
  os << "  against the ideal:";
  const char *separator = " ";
  for (auto [name, quotient] : getQuotients()) {
    os << separator << name << llvm::formatv(" {0:f2}", quotient);
    separator = ", ";
  }
  os << llvm::formatv(
      "\n  simulated in {0:f1} ms, {1:f0} million lane-operations "
      "a second\n",
      seconds * 1e3, getLaneOperationsPerSecond() * 1e-6);
}

llvm::json::Value SimReport::toJSON() const {
  llvm::json::Array rows;
  for (const Row &row : kernels)
    rows.push_back(llvm::json::Object{{"name", row.name},
                                      {"launches", row.launches},
                                      {"counters", row.counters.toJSON()}});
  llvm::json::Object quotients;
  for (auto [name, quotient] : getQuotients()) {
    std::string key = name;
    for (char &c : key)
      c = c == ' ' || c == '-' ? '_' : llvm::toLower(c);
    quotients[key] = quotient;
  }
  return llvm::json::Object{
      {"case", problem},
      {"kernels", std::move(rows)},
      {"ideal", llvm::json::Object{{"matrix_multiply_adds", ideal.multiplyAdds},
                                   {"transcendental", ideal.transcendental},
                                   {"global_bytes", ideal.globalBytes}}},
      {"against_ideal", std::move(quotients)},
      {"simulated_seconds", seconds},
      {"lane_operations_per_second", getLaneOperationsPerSecond()}};
}
