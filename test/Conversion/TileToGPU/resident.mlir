// Rarely run work does not decide how many workgroups are resident where the
// code generator would let it.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py sm_80 %S/../../Dialect/Tile/where.mlir 'block = [1, 16, 64], subgroups = [1, 2, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu)' | FileCheck %s
// RUN: evoformer-opt %t.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu,gpu.module(convert-gpu-lanes-to-llvm))' | FileCheck %s --check-prefix=LLVM
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %S/../../Dialect/Tile/where.mlir 'block = [1, 16, 64], subgroups = [1, 2, 1], stages = 1' > %t.amd.mlir
// RUN: evoformer-opt %t.amd.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu)' | FileCheck %s --check-prefix=AMD

// What a schedule asks for is what kernels say, on every vendor's chips: on AMD's
// waves of each of four SIMDs.
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py sm_80 %S/../../Dialect/Tile/where.mlir 'block = [1, 16, 64], subgroups = [1, 2, 1], stages = 1, resident = 7' > %t.asked.mlir
// RUN: evoformer-opt %t.asked.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu,gpu.module(convert-gpu-lanes-to-llvm))' | FileCheck %s --check-prefix=ASKED
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %S/../../Dialect/Tile/where.mlir 'block = [1, 16, 64], subgroups = [1, 2, 1], stages = 1, resident = 3' > %t.waves.mlir
// RUN: evoformer-opt %t.waves.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,convert-tile-to-gpu,gpu.module(convert-gpu-lanes-to-llvm))' | FileCheck %s --check-prefix=WAVES

// ASKED: llvm.func @repeat
// ASKED-SAME: nvvm.minctasm = 7 : i32
// WAVES: llvm.func @repeat
// WAVES-SAME: rocdl.waves_per_eu = 2 : i32
// CHECK: gpu.func @repeat{{.*}}evo_tile.min_workgroups = {{[1-9][0-9]*}} : i64
// LLVM: llvm.func @repeat
// LLVM-SAME: nvvm.minctasm = {{[1-9][0-9]*}} : i32
// AMD-NOT: min_workgroups
