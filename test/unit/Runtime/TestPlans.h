//===- TestPlans.h - Launch plans of the tests ------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TEST_UNIT_RUNTIME_TESTPLANS_H
#define EVOFORMER_TEST_UNIT_RUNTIME_TESTPLANS_H

#include "Evoformer/Runtime/Plan.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::evoformer::runtime {

/// A program without kernels: `args`, `body` and `results` as JSON lists.
inline std::string programText(llvm::StringRef args, llvm::StringRef body,
                               llvm::StringRef results = "[]") {
  return ("{\"version\": 1, \"objects\": [], \"kernels\": [], \"functions\": "
          "[{\"name\": \"f\", \"args\": " +
          args + ", \"results\": " + results + ", \"body\": " + body + "}]}")
      .str();
}

/// `iota(x, start)` over a space of x's size, in an object of the given kind.
inline std::string iotaText(llvm::StringRef format, llvm::StringRef text,
                            int ldsBytes = 0) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << R"({"version": 1, "objects": [{"format": ")" << format
     << R"(", "target": "any", "text": )" << llvm::json::Value(text)
     << R"(}], "kernels": [{"name": "iota", "symbol": "iota", "object": 0,
      "threads": 64, "ldsBytes": )"
     << ldsBytes << R"(, "argumentBytes": [8, 8, 8, 8, 8, 4, 8]}],
    "functions": [{"name": "f",
      "args": [{"name": "x", "value": "%0", "type": {"memref": "i64",
                "shape": [null], "strides": [null], "offset": null}},
               {"name": "start", "value": "%1", "type": "i32"}],
      "body": [
        {"op": "arith.constant", "type": "index", "value": 0,
         "results": ["%2"]},
        {"op": "memref.dim", "operands": ["%0", "%2"], "results": ["%3"]},
        {"op": "evo_tile.launch", "kernel": "iota", "space": ["%3"],
         "operands": ["%0", "%1"]},
        {"op": "func.return"}]}]})";
  return result;
}

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_TEST_UNIT_RUNTIME_TESTPLANS_H
