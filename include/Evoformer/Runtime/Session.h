//===- Session.h - A launch plan on a device --------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_SESSION_H
#define EVOFORMER_RUNTIME_SESSION_H

#include "Evoformer/Runtime/Interpreter.h"

namespace mlir::evoformer::runtime {

/// Memory of a device with guard zones on both sides. All of it starts as bytes
/// of all ones, a NaN of every float type: reads of what nobody wrote show.
class DeviceBuffer {
public:
  /// `name` is for messages. `guardBytes` is rounded up to bufferAlignment.
  static llvm::Expected<DeviceBuffer>
  create(Device &device, std::string name, uint64_t bytes, uint64_t guardBytes);
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();

  uint64_t getAddress() const { return address + guardBytes; }
  uint64_t getNumBytes() const { return bytes; }
  llvm::Error write(llvm::ArrayRef<char> data, uint64_t offset = 0);
  llvm::Error read(llvm::MutableArrayRef<char> data, uint64_t offset = 0) const;
  /// Sets every byte inside the guards back to all ones.
  llvm::Error poison();
  /// An error when a guard zone changed.
  llvm::Error checkGuards() const;

private:
  DeviceBuffer(Device &device, std::string name, uint64_t bytes,
               uint64_t guardBytes)
      : device(&device), name(std::move(name)), bytes(bytes),
        guardBytes(guardBytes) {}

  Device *device;
  std::string name;
  uint64_t bytes, guardBytes;
  /// 0 when moved from.
  uint64_t address = 0;
};

/// An error naming `what` unless all `bytes` bytes at `address` are still all
/// ones.
llvm::Error checkUntouched(Device &device, uint64_t address, uint64_t bytes,
                           const llvm::Twine &what);

/// What happens around a launch; calls `launch` once.
using LaunchObserver = llvm::function_ref<llvm::Error(
    const KernelInfo &kernel, llvm::function_ref<llvm::Error()> launch)>;

/// Runs functions of a plan. Kernels are loaded when they are first launched.
class Session {
public:
  Session(const Plan &plan, Device &device)
      : plan(plan), device(device), kernels(plan.kernels.size()) {}

  const Plan &getPlan() const { return plan; }
  Device &getDevice() { return device; }

  /// Launches may still be running when this returns.
  llvm::Expected<std::vector<HostValue>>
  run(const PlanFunction &function, llvm::ArrayRef<HostValue> arguments,
      Workspace &workspace, LaunchObserver observer = nullptr);

private:
  llvm::Expected<LoadedKernel *> getKernel(unsigned number);

  const Plan &plan;
  Device &device;
  std::vector<std::unique_ptr<LoadedKernel>> kernels;
};

/// Device memory for a function's own buffers, of the size that the arguments
/// ask for. With guards, which a device may ask for itself, buffers are apart
/// and none is used twice, and checkGuards tells whether a kernel wrote outside
/// of them.
class SessionWorkspace {
public:
  static llvm::Expected<SessionWorkspace>
  create(Session &session, const PlanFunction &function,
         llvm::ArrayRef<HostValue> arguments, uint64_t guardBytes);

  /// To be given to Session::run; reset for a new run.
  Workspace &prepare() {
    workspace.reset();
    return workspace;
  }
  uint64_t getNumBytes() const { return buffer.getNumBytes(); }
  llvm::Error checkGuards();

private:
  SessionWorkspace(Session &session, DeviceBuffer buffer, uint64_t guardBytes)
      : session(session), buffer(std::move(buffer)),
        workspace(this->buffer.getAddress(), this->buffer.getNumBytes(),
                  guardBytes) {}

  Session &session;
  DeviceBuffer buffer;
  Workspace workspace;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_SESSION_H
