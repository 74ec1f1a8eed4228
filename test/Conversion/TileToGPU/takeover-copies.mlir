// A copy under way at a barrier may arrive behind it: what takes over its buffer
// needs a barrier behind the wait.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py sm_80 %s "block = [1, 64, 64], subgroups = [2, 1, 1], stages = 1" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --convert-tile-to-gpu | FileCheck %s
#rows = #evo_tile.lane_map<registers = [[4, 0, 1]], lanes = [[4, 0, 4], [8, 1, 0]], subgroups = [[2, 8, 0]], inner = 1>
!lds = memref<16x16xf32, #gpu.address_space<workgroup>>
!tile = tensor<16x16xf32, #rows>

// CHECK-LABEL: gpu.func @under_way
//       CHECK:   scf.for
//       CHECK:   gpu.barrier
//       CHECK:   nvvm.cp.async.commit.group
//  CHECK-NEXT:   gpu.barrier
//  CHECK-NEXT:   nvvm.cp.async.wait.group 0
//  CHECK-NEXT:   gpu.barrier
//       CHECK:   scf.for
//   CHECK-NOT:   gpu.barrier
//       CHECK:   gpu.return
evo_tile.kernel @under_way(%x: memref<16x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<16x16xf32> -> !tile
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.barrier
  %copy = evo_tile.async_copy %x[%c0, %c0] to %a[%c0, %c0] as !tile {alignment = 16, in_bounds = array<i1: true, true>} : memref<16x16xf32>, !lds
  %group = evo_tile.async_group(%copy)
  evo_tile.barrier
  evo_tile.wait %group
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}
