//===- TestKernel.h - Runs small kernels in the simulator -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TEST_UNIT_SIMULATOR_TESTKERNEL_H
#define EVOFORMER_TEST_UNIT_SIMULATOR_TESTKERNEL_H

#include "Evoformer/Simulator/Simulator.h"
#include "gtest/gtest.h"

namespace mlir::evoformer::sim {

/// A module with one kernel @k for `chip`, and what its launch gets.
struct TestKernel {
  /// `signature` and `body` are MLIR text; `globals` stands beside the kernel.
  TestKernel(llvm::StringRef chip, llvm::StringRef signature,
             llvm::StringRef body, llvm::StringRef globals = "") {
    bool isAMD = chip.starts_with("gfx");
    text = "gpu.module @m [" +
           std::string(isAMD ? "#rocdl.target<chip = \""
                             : "#nvvm.target<chip = \"") +
           chip.str() + "\">] {\n" + globals.str() + "\nllvm.func @k(" +
           signature.str() + ") attributes {gpu.kernel, " +
           (isAMD ? "rocdl.kernel" : "nvvm.kernel") + "} {\n" + body.str() +
           "\n}\n}\n";
    launch.kernel = "k";
    launch.block = {chip.starts_with("gfx9") ? 64u : 32u, 1, 1};
    launch.threads = 1;
  }

  /// Registers an array and passes its address.
  template <class T> void add(std::vector<T> &data, bool isOutput = false) {
    Buffer b;
    b.base = data.data();
    b.size = data.size() * sizeof(T);
    b.name = "buffer " + std::to_string(launch.buffers.size());
    b.readOnly = !isOutput;
    b.mustBeWritten = isOutput;
    launch.buffers.push_back(b);
    launch.args.push_back(reinterpret_cast<uint64_t>(data.data()));
  }

  LaunchResult run() {
    auto simulator = Simulator::parse(text, "test.mlir");
    if (!simulator) {
      ADD_FAILURE() << llvm::toString(simulator.takeError()) << "\n" << text;
      return {};
    }
    auto result = (*simulator)->launch(launch);
    if (!result) {
      ADD_FAILURE() << llvm::toString(result.takeError()) << "\n" << text;
      return {};
    }
    return std::move(*result);
  }

  /// Runs and expects no finding.
  LaunchResult runClean() {
    LaunchResult result = run();
    for (const Finding &f : result.findings)
      ADD_FAILURE() << f.text;
    return result;
  }

  std::string text;
  Launch launch;
};

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_TEST_UNIT_SIMULATOR_TESTKERNEL_H
