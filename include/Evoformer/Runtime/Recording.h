//===- Recording.h - Launches of one run, ready to repeat -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interpreting a host program for every call would cost more than launching its
// kernels. A recording is what a run with given sizes and strides launches,
// with the places where addresses go; repeating it fills these in.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_RECORDING_H
#define EVOFORMER_RUNTIME_RECORDING_H

#include "Evoformer/Runtime/Interpreter.h"

namespace mlir::evoformer::runtime {

class Recording {
public:
  /// The low bits of its arguments' addresses that a run of `function` depends
  /// on, as a mask; nullopt where it depends on more, so that no recording of
  /// it can be repeated.
  static std::optional<uint64_t> getAddressMask(const PlanFunction &function);

  /// Runs `function` without launching anything. The memrefs of `arguments`
  /// say sizes, strides, offset and address; of an address only the bits of
  /// getAddressMask are used.
  static llvm::Expected<Recording> create(const Plan &plan,
                                          const PlanFunction &function,
                                          llvm::ArrayRef<HostValue> arguments);

  /// Bytes of workspace that it takes; its address is a multiple of
  /// bufferAlignment.
  uint64_t getWorkspaceBytes() const { return workspaceBytes; }

  /// Calls `launch` for every launch. `addresses` has one for each argument,
  /// memref or not, whose low bits are those of the recorded ones.
  llvm::Error
  replay(llvm::ArrayRef<uint64_t> addresses, uint64_t workspace,
         llvm::function_ref<llvm::Error(unsigned kernel, uint64_t workItems,
                                        llvm::ArrayRef<LaunchArgument>)>
             launch);

  /// The kernels that it launches, in order.
  llvm::SmallVector<unsigned> getKernels() const;
  /// The same, with the work items of each.
  llvm::SmallVector<std::pair<unsigned, uint64_t>> getLaunches() const;

private:
  /// A slot of a launch that holds an address.
  struct Patch {
    uint32_t slot;
    /// An argument's number, or the number of arguments for the workspace.
    uint32_t base;
    int64_t delta;
    /// A buffer in the argument's memory: the byte where that begins. The first
    /// multiple of bufferAlignment from there on is what `delta` is added to.
    std::optional<uint64_t> lentFrom = std::nullopt;
  };
  struct Launch {
    unsigned kernel;
    uint64_t workItems;
    std::vector<LaunchArgument> arguments;
    std::vector<Patch> patches;
  };

  std::vector<Launch> launches;
  uint64_t workspaceBytes = 0;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_RECORDING_H
