// Rarely run work does not decide how many workgroups are resident where the
// code generator would let it.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py sm_80 %S/../../Dialect/Tile/where.mlir 'block = [1, 16, 64], subgroups = [1, 2, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu)' | FileCheck %s
// RUN: evoformer-opt %t.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu,gpu.module(convert-gpu-lanes-to-llvm))' | FileCheck %s --check-prefix=LLVM
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %S/../../Dialect/Tile/where.mlir 'block = [1, 16, 64], subgroups = [1, 2, 1], stages = 1' > %t.amd.mlir
// RUN: evoformer-opt %t.amd.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu)' | FileCheck %s --check-prefix=AMD

// CHECK: gpu.func @repeat{{.*}}evo_tile.min_workgroups = {{[1-9][0-9]*}} : i64
// LLVM: llvm.func @repeat
// LLVM-SAME: nvvm.minctasm = {{[1-9][0-9]*}} : i32
// AMD-NOT: min_workgroups
