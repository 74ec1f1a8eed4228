//===- Arguments.h - A run's arguments from the command line ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_ARGUMENTS_H
#define EVOFORMER_DRIVER_ARGUMENTS_H

#include "Evoformer/Driver/HostArray.h"

namespace mlir::evoformer {

/// What the user says about a function's arguments. Each text is `name=value`;
/// inputs and outputs may leave out the name and then go to the memref
/// arguments that no text names, in order, inputs first.
struct ArgumentTexts {
  std::vector<std::string> inputs, outputs, shapes, layouts, scalars;
  /// Fills the arguments with neither file with random numbers.
  std::optional<uint64_t> seed;
  uint64_t guardBytes = 256;
};

/// One argument or result bound to a place.
struct BoundArgument {
  std::string name;
  /// Written here after the run; empty: nowhere.
  std::string outputPath;
  /// What the argument holds before the run; absent for scalars and arguments
  /// that start untouched.
  std::optional<HostArray> initial;
  /// Absent for scalars.
  std::optional<DeviceArray> array;
  ArrayLayout layout;
  runtime::HostValue value;
};

/// Reads the files, allocates and fills the buffers. Without a device
/// there are no buffers: values describe dense arrays at aligned addresses.
llvm::Expected<std::vector<BoundArgument>>
bindArguments(const runtime::PlanFunction &function, const ArgumentTexts &texts,
              runtime::Device *device);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_ARGUMENTS_H
