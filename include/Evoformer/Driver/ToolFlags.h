//===- ToolFlags.h - Flags that the running tools share ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_TOOLFLAGS_H
#define EVOFORMER_DRIVER_TOOLFLAGS_H

#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Driver/Measure.h"
#include "Evoformer/Driver/SimDevice.h"

namespace llvm::cl {
class OptionCategory;
} // namespace llvm::cl

namespace mlir::evoformer {

/// What to run on, what to compile for, and how to time it.
struct ToolSettings {
  DeviceOptions device;
  CompileOptions compile;
  /// Whether the target was said; else it is the GPU that runs the code.
  bool hasTarget = false;
  MeasureOptions measure;
  /// Whether runs shall be timed.
  bool isTimed = false;
  uint64_t guardBytes = 0;
};

/// Opens the device. Where no target was said and it is a GPU that is known,
/// its chip becomes the target; an unknown one is an error.
llvm::Expected<std::unique_ptr<runtime::Device>>
openDevice(ToolSettings &settings);

/// Declares the flags of these settings; the object must live until they are
/// parsed. Linking an AMD object in this process sets all flags back to their
/// defaults, so take the settings before.
class ToolFlags {
public:
  ToolFlags(llvm::cl::OptionCategory &category, uint64_t guardBytes);
  ~ToolFlags();

  ToolSettings getSettings() const;

private:
  struct Flags;
  std::unique_ptr<Flags> flags;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_TOOLFLAGS_H
