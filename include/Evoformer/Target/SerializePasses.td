//===- SerializePasses.td - Writing code objects -----------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_SERIALIZEPASSES_TD
#define EVOFORMER_TARGET_SERIALIZEPASSES_TD

include "mlir/Pass/PassBase.td"

def EvoformerSerialize
    : Pass<"evoformer-serialize", "::mlir::ModuleOp"> {
  let summary = "write machine code of every gpu.module";
  let description = [{
    Compiles the `gpu.module`s that `convert-gpu-lanes-to-llvm` left, in this
    process, and writes `<out-dir>/<module>.<s|hsaco|ptx|cubin>`. The module
    itself stays as it is without `embed`. Files appear whole or not at all.

    Ops such as linalg's that are left in a function with launches are errors: they
    would be missing from the program.

    `report` names a file for registers, memory, occupancy and instruction
    counts of each kernel: text, or JSON where the name ends in `.json`; `-` is
    text on the standard error output.

    With `embed` each `gpu.module` becomes a `gpu.binary` with this code, as
    upstream's `gpu-module-to-binary` leaves it, for a host program that launches
    by `gpu.launch_func`. The format `mlir`, for embedding only, is the module
    itself: what the simulator runs.

    ```
    evoformer-opt in.mlir --convert-gpu-lanes-to-llvm \
      --evoformer-serialize="format=object out-dir=out report=out/report.json"
    ```
  }];
  let options = [
    Option<"format", "format", "std::string", "\"object\"",
           "what to write: `isa` or `ptx` (assembly, whichever the target "
           "has), `object` (assembly and HSACO or cubin), or `mlir`">,
    Option<"embed", "embed", "bool", "false",
           "whether each gpu.module becomes a gpu.binary">,
    Option<"outDir", "out-dir", "std::string", "\"\"",
           "folder for the files; created where missing, empty: no files">,
    Option<"objectChip", "object-chip", "std::string", "\"\"",
           "chip of a cubin, where later than the target">,
    Option<"report", "report", "std::string", "\"\"",
           "file for the report on each kernel, or `-`">,
    Option<"optimization", "O", "unsigned", "3",
           "LLVM's optimization level, 0 to 3">];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif
