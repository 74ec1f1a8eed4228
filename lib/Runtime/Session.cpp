//===- Session.cpp - A launch plan on a device ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Session.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

Expected<LoadedKernel *> Session::getKernel(unsigned number) {
  if (!kernels[number]) {
    auto kernel = device.load(plan.kernels[number]);
    if (!kernel)
      return kernel.takeError();
    kernels[number] = std::move(*kernel);
  }
  return kernels[number].get();
}

Expected<std::vector<HostValue>> Session::run(const PlanFunction &function,
                                              ArrayRef<HostValue> arguments,
                                              Workspace &workspace,
                                              LaunchObserver observer) {
  auto launch = [&](unsigned number, uint64_t workItems,
                    ArrayRef<LaunchArgument> launchArguments) -> Error {
    Expected<LoadedKernel *> kernel = getKernel(number);
    if (!kernel)
      return kernel.takeError();
    SmallVector<MemoryRange> live = workspace.getLive();
    // Without any part it would be whole.
    if (live.empty())
      live.push_back({workspace.getBase(), 0});
    device.divide(workspace.getBase(), live);
    for (MemoryRange lender : workspace.getLenders())
      device.divide(lender.address, workspace.getLive(lender));
    auto launchIt = [&] {
      return device.launch(**kernel, workItems, launchArguments);
    };
    return observer ? observer(plan.kernels[number], launchIt) : launchIt();
  };
  return interpret(plan, function, arguments, workspace, launch);
}

Expected<SessionWorkspace>
SessionWorkspace::create(Session &session, const PlanFunction &function,
                         ArrayRef<HostValue> arguments, uint64_t guardBytes) {
  guardBytes = std::max(guardBytes, session.getDevice().getMargin());
  Expected<uint64_t> bytes =
      queryWorkspace(session.getPlan(), function, arguments, guardBytes);
  if (!bytes)
    return bytes.takeError();
  Expected<DeviceBuffer> buffer = DeviceBuffer::create(
      session.getDevice(), "workspace", *bytes, /*guardBytes=*/0);
  if (!buffer)
    return buffer.takeError();
  return SessionWorkspace(session, std::move(*buffer), guardBytes);
}

Error SessionWorkspace::checkGuards() {
  for (auto [number, zone] : enumerate(workspace.getGuardZones()))
    if (Error error =
            checkUntouched(session.getDevice(), zone.address, zone.bytes,
                           "guard zone " + Twine(number) + " of the workspace"))
      return error;
  return Error::success();
}

} // namespace mlir::evoformer::runtime
