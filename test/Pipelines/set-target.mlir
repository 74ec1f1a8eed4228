// Kernels that are written over tiles get the target that is asked for, or the
// module's, and take the whole way.
// RUN: evoformer-opt %s --evoformer-set-target=target=gfx942 | FileCheck %s
// RUN: evoformer-opt %s --evoformer-set-target | FileCheck %s --check-prefix=NONE
// RUN: evoformer-opt %s --evoformer-lower="target=gfx1100 stop-after=fragments" | FileCheck %s --check-prefix=LOWER
// RUN: evoformer-opt %s --evoformer-lower=target=sm_80 | FileCheck %s --check-prefix=MACHINE
// RUN: not evoformer-opt %s --evoformer-set-target=target=gfx000 2>&1 | FileCheck %s --check-prefix=ERROR
//
// What attention becomes and what is written over linalg are for one chip, whoever launches.
// RUN: evoformer-opt %source_dir/examples/pair_block.mlir --evoformer-lower="target=sm_90 abi=pointers linalg-kernels" | FileCheck %s --check-prefix=ONE
// RUN: evoformer-opt %source_dir/examples/pair_block.mlir --evoformer-lower="target=sm_90 host=gpu linalg-kernels" | FileCheck %s --check-prefix=ONE
// ONE:     gpu.module @
// ONE-NOT: gpu.module @
// ERROR: error: {{.*}}gfx000

// CHECK: evo_tile.kernel @add({{.+}}) attributes {schedule = #{{.+}}, target = #gfx942}
// NONE-NOT: target =
// LOWER: evo_tile.kernel @add({{.+}}) attributes {schedule = #{{.+}}, target = #gfx1100}
// LOWER: evo_tile.store %{{.+}} : tensor<16x16xf32, #
// MACHINE: llvm.func @add
evo_tile.kernel @add(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {
    schedule = #evo_tile.schedule<v1, block = [1, 16, 16], subgroups = [1, 1, 1], stages = 1>} {
  %i = evo_tile.work_item_id 0
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : index
  %row = arith.muli %i, %c16 : index
  %a = evo_tile.load %x[%row, %c0] : memref<?x?xf32> -> tensor<16x16xf32>
  %s = arith.addf %a, %a : tensor<16x16xf32>
  evo_tile.store %s, %y[%row, %c0] : tensor<16x16xf32>, memref<?x?xf32>
  evo_tile.return
}
