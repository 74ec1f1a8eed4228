// Copies through registers: loads a step ahead before compute, stores after it, when
// no subgroup reads the step before any more.
// RUN: %python %S/Inputs/with_target.py gfx942 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --evo-tile-promote-to-lds > %t.gfx942.staged
// RUN: evoformer-opt %t.gfx942.staged --evo-tile-software-pipeline | FileCheck %s --check-prefix=REGISTERS
// RUN: %python %S/Inputs/with_target.py gfx1100 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.gfx1100
// RUN: evoformer-opt %t.gfx1100 --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s --check-prefix=REGISTERS

// REGISTERS-LABEL: evo_tile.kernel @matmul
//   REGISTERS-DAG:   %[[BUFFER_A:.+]] = evo_tile.alloc_lds : memref<64x32xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8]>>
//   REGISTERS-DAG:   %[[BUFFER_B:.+]] = evo_tile.alloc_lds : memref<32x64xbf16, strided<[1, 32]>, #evo_tile.swizzled_lds<base = 4, from = [7, {{8, 9|10}}]>>
//       REGISTERS:   %[[RUNS:.+]] = arith.cmpi sgt, %dim, %c0
//       REGISTERS:   scf.if %[[RUNS]] {
//       REGISTERS:     evo_tile.load %arg0
//       REGISTERS:     evo_tile.load %arg1
//       REGISTERS:     evo_tile.store {{.+}}, %[[BUFFER_A]]
//       REGISTERS:     evo_tile.store {{.+}}, %[[BUFFER_B]]
//       REGISTERS:   }
//       REGISTERS:   scf.for %[[K:[^ ]+]] = {{.+}} iter_args(%{{.+}} = %cst)
//       REGISTERS:     %[[NEXT:.+]] = arith.addi %[[K]], %c32
//       REGISTERS:     %[[INSIDE:.+]] = arith.cmpi slt, %[[NEXT]],
//       REGISTERS:     %[[BY:.+]] = arith.select %[[INSIDE]], %c32, %
//       REGISTERS:     %[[CLAMPED:.+]] = arith.addi %[[K]], %[[BY]]
//       REGISTERS:     %[[A:.+]] = evo_tile.load %arg0[%{{.+}}, %[[CLAMPED]]]
//       REGISTERS:     %[[B:.+]] = evo_tile.load %arg1[%[[CLAMPED]]
//       REGISTERS:     evo_tile.barrier
//   REGISTERS-NOT:     evo_tile.barrier
//       REGISTERS:     evo_tile.load %[[BUFFER_A]]
//       REGISTERS:     evo_tile.mma
//       REGISTERS:     evo_tile.barrier
//       REGISTERS:     evo_tile.store %[[A]], %[[BUFFER_A]]
//       REGISTERS:     evo_tile.store %[[B]], %[[BUFFER_B]]
//   REGISTERS-NOT:     evo_tile.barrier
//       REGISTERS:     scf.yield

// A pipelined loop is left alone.
// RUN: evoformer-opt %t.gfx942.staged --evo-tile-software-pipeline > %t.once
// RUN: evoformer-opt %t.once --evo-tile-software-pipeline | diff %t.once -

// One stage: nothing runs ahead.
// RUN: sed 's/stages = 2/stages = 1/' %t.gfx942.staged > %t.one
// RUN: evoformer-opt %t.one > %t.one.before
// RUN: evoformer-opt %t.one --evo-tile-software-pipeline | diff %t.one.before -

// Asynchronous copies, two stages: the next copies are issued before the wait,
// which leaves them pending.
// RUN: %python %S/Inputs/with_target.py sm_80 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s --check-prefix=TWO

// TWO-LABEL: evo_tile.kernel @matmul
//       TWO:   %[[RING:.+]] = evo_tile.alloc_lds : memref<3x64x32xbf16
// TWO-COUNT-2:   evo_tile.async_copy %{{.+}} if %
//  TWO-NEXT:   %[[FIRST:.+]] = evo_tile.async_group
//   TWO-NOT:   evo_tile.async_group
//       TWO:   scf.for {{.+}}, %[[NOW:[^ ]+]] = %[[FIRST]])
//       TWO:     %[[INSIDE:.+]] = arith.cmpi slt, %[[NEXT:.+]], %dim
//       TWO:     evo_tile.async_copy %arg0[%{{.+}}, %[[NEXT]]] to %{{.+}} if %[[INSIDE]]
//  TWO-NEXT:     evo_tile.async_copy %arg1[%[[NEXT]], %{{.+}}] to %{{.+}} if %[[INSIDE]]
//  TWO-NEXT:     %[[LATER:.+]] = evo_tile.async_group
//  TWO-NEXT:     evo_tile.wait %[[NOW]]
//  TWO-NEXT:     evo_tile.barrier
//   TWO-NOT:     evo_tile.barrier
//   TWO-NOT:     evo_tile.wait
//       TWO:     scf.yield {{.+}}, %[[LATER]]
//       TWO:     evo_tile.return

// More stages: the barrier after the wait frees the slot of the copies that run
// stages - 1 steps ahead.
// RUN: sed 's/stages = 2/stages = 4/' %t.sm_80 | evoformer-opt --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s --check-prefix=FOUR

// FOUR-LABEL: evo_tile.kernel @matmul
//       FOUR:   %[[RING:.+]] = evo_tile.alloc_lds : memref<4x64x32xbf16
//       FOUR:   %[[G0:.+]] = evo_tile.async_group
//       FOUR:   %[[G1:.+]] = evo_tile.async_group
//       FOUR:   %[[G2:.+]] = evo_tile.async_group
//       FOUR:   scf.for %[[K:[^ ]+]] = {{.+}}, %[[T0:[^ ]+]] = %[[G0]], %[[T1:[^ ]+]] = %[[G1]], %[[T2:[^ ]+]] = %[[G2]])
//       FOUR:     evo_tile.wait %[[T0]]
//  FOUR-NEXT:     evo_tile.barrier
//       FOUR:     %[[AHEAD:[0-9]+]] = arith.addi %[[K]], %c96
//       FOUR:     %[[INSIDE:.+]] = arith.cmpi slt, %[[AHEAD]], %dim
//       FOUR:     evo_tile.async_copy %arg0[%{{.+}}, %[[AHEAD]]] to %{{.+}} if %[[INSIDE]]
//  FOUR-NEXT:     evo_tile.async_copy %arg1[%[[AHEAD]], %{{.+}}] to %{{.+}} if %[[INSIDE]]
//  FOUR-NEXT:     %[[LATER:.+]] = evo_tile.async_group
//   FOUR-NOT:     evo_tile.barrier
//   FOUR-NOT:     evo_tile.wait
//       FOUR:     scf.yield {{.+}}, %[[T1]], %[[T2]], %[[LATER]]
//       FOUR:     evo_tile.return

// RUN: evoformer-opt %t.gfx942.staged --evo-tile-software-pipeline --remarks-filter='evo-tile-software.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] pipelined | Category:evo-tile-software-pipeline | copies="through registers", estimated_registers={{[0-9]+}}, lds_bytes=8192, loads="before the barrier", prefetch_registers=0, prefetched_loads=0, slots=1, stages=2, wanted_stages=2

// Narrow loads are many: a barrier between them and the stores would leave more under
// way than waits can tell apart.
// RUN: %python %S/Inputs/with_target.py gfx1100 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 1, 1], stages = 2' | evoformer-opt --evo-tile-assign-layouts --evo-tile-promote-to-lds > %t.few
// RUN: evoformer-opt %t.few --evo-tile-software-pipeline --remarks-filter='evo-tile-software.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: sed 's/alignment = 16/alignment = 2/' %t.few | evoformer-opt --evo-tile-software-pipeline --remarks-filter='evo-tile-software.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NARROW
// WIDE: slots=1, stages=2
// NARROW: slots=2, stages=2
