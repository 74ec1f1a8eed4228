// A matrix product gives the same numbers after every step: both kinds of
// copies, all numbers of iterations down to none. The inputs are small multiples
// of 1/8, so every sum is exact.
// RUN: sed '/@main/,$d' %S/../../Kernels/Inputs/check-matmul.mlir > %t.check

// RUN: %python %S/Inputs/with_target.py gfx942 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.gfx942
// RUN: cat %t.gfx942 %t.check %S/Inputs/run-matmul.mlir > %t.gfx942.run
// RUN: evoformer-opt %t.gfx942.run --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: evoformer-opt %t.gfx942.run --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// RUN: %python %S/Inputs/with_target.py gfx1100 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.gfx1100
// RUN: cat %t.gfx1100 %t.check %S/Inputs/run-matmul.mlir > %t.gfx1100.run
// RUN: evoformer-opt %t.gfx1100.run --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// RUN: %python %S/Inputs/with_target.py sm_80 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.sm_80
// RUN: cat %t.sm_80 %t.check %S/Inputs/run-matmul.mlir > %t.sm_80.run
// RUN: evoformer-opt %t.sm_80.run --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: evoformer-opt %t.sm_80.run --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: sed 's/stages = 2/stages = 3/' %t.sm_80.run | evoformer-opt --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s
// RUN: sed 's/stages = 2/stages = 5/' %t.sm_80.run | evoformer-opt --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// Odd sizes, so no alignment.
// RUN: sed 's/{alignment = 16 : i64}//' %t.gfx942 > %t.odd
// RUN: cat %t.odd %S/../../Kernels/Inputs/check-matmul.mlir | evoformer-opt --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-to-cpu-llvm | mlir-runner -e main -entry-point-result=void -O2 -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s --check-prefix=ODD

// CHECK:      128 x 128 x 64
// CHECK-NEXT: wrong: 0 of 16384
// CHECK-NEXT: 64 x 40 x 72
// CHECK-NEXT: wrong: 0 of 2560
// CHECK-NEXT: 65 x 72 x 24
// CHECK-NEXT: wrong: 0 of 4680
// CHECK-NEXT: 3 x 8 x 0
// CHECK-NEXT: wrong: 0 of 24

// ODD:      128 x 128 x 64
// ODD-NEXT: wrong: 0 of 16384
// ODD-NEXT: 64 x 192 x 96
// ODD-NEXT: wrong: 0 of 12288
// ODD-NEXT: 65 x 33 x 17
// ODD-NEXT: wrong: 0 of 2145
