//===- HostMemoryDevice.h - Devices in this machine's memory ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_HOSTMEMORYDEVICE_H
#define EVOFORMER_RUNTIME_HOSTMEMORYDEVICE_H

#include "Evoformer/Runtime/Device.h"

#include <chrono>
#include <map>

namespace mlir::evoformer::runtime {

/// What devices have in common whose addresses are this program's and whose
/// launches end before they return: memory, copies, times.
class HostMemoryDevice : public Device {
public:
  /// At least `margin` bytes, a multiple of 256, lie between two buffers.
  explicit HostMemoryDevice(uint64_t margin = 0) : margin(margin) {}
  ~HostMemoryDevice() override;

  llvm::Expected<uint64_t> allocate(uint64_t bytes) override;
  llvm::Error release(uint64_t address) override;
  uint64_t getMargin() const override { return margin; }
  llvm::Error copyIn(uint64_t to, llvm::ArrayRef<char> from) override;
  llvm::Error copyOut(llvm::MutableArrayRef<char> to, uint64_t from) override;
  llvm::Error synchronize() override { return llvm::Error::success(); }
  llvm::Error startTimer() override;
  llvm::Expected<double> stopTimer() override;

protected:
  /// Bytes by address.
  std::map<uint64_t, uint64_t> buffers;

private:
  uint64_t margin;
  std::chrono::steady_clock::time_point start;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_HOSTMEMORYDEVICE_H
