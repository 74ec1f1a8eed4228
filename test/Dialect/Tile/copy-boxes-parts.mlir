// Rows of which another copy fills the rest: a box as wide as the swizzle would overwrite
// it. Neither is one.
// RUN: evoformer-opt %s --evo-tile-copy-boxes | FileCheck %s
// CHECK-NOT: evo_tile.box_copy
// CHECK:     evo_tile.async_copy {{.*}} as tensor<16x24xf32
// CHECK-NOT: evo_tile.box_copy

#target = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {tensor_maps,
    copy_engine = #evo_tile.copy_engine<per_lane, bytes = [16]>}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 2>
#wide = #evo_tile.lane_map<registers = [[4, 0, 1], [4, 4, 0]], lanes = [[8, 0, 4], [4, 1, 0]], subgroups = []>
#most = #evo_tile.lane_map<registers = [[4, 0, 1], [3, 0, 8], [2, 8, 0], [2, 16, 0]], lanes = [[2, 0, 4], [8, 1, 0],[2,32,0]], subgroups = []>
#rest = #evo_tile.lane_map<registers = [[4, 0, 1]], lanes = [[2, 0, 4], [16, 1, 0]], subgroups = []>
!ring = memref<2x16x32xf32, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
!slot = memref<16x32xf32, strided<[32, 1], offset: ?>, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
!part = memref<16x24xf32, strided<[32, 1], offset: ?>, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
evo_tile.kernel @twice(%in: memref<?x32xf32>, %out: memref<?x32xf32>)
    attributes {target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %n = memref.dim %in, %c0 : memref<?x32xf32>
  %ring = evo_tile.alloc_lds : !ring
  %inside = arith.cmpi slt, %c0, %n : index
  %first = memref.subview %ring[%c0, 0, 0] [1, 16, 32] [1, 1, 1] : !ring to !slot
  %firstp = memref.subview %first[0, 0] [16, 24] [1, 1] : !slot to !part
  %copy = evo_tile.async_copy %in[%c0, %c0] to %firstp[%c0, %c0] if %inside padding 0.0 : f32
    as tensor<16x24xf32, #most> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
    : memref<?x32xf32>, !part
  %copyb = evo_tile.async_copy %in[%c0, %c0] to %first[%c0, %c24] if %inside padding 0.0 : f32
    as tensor<16x8xf32, #rest> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
    : memref<?x32xf32>, !slot
  %group = evo_tile.async_group(%copy, %copyb)
  scf.for %i = %c0 to %n step %c16 iter_args(%slot = %c0, %token = %group) -> (index, !evo_tile.token) {
    %next = arith.addi %i, %c16 : index
    %more = arith.cmpi slt, %next, %n : index
    %write = arith.subi %c1, %slot : index
    %into = memref.subview %ring[%write, 0, 0] [1, 16, 32] [1, 1, 1] : !ring to !slot
    %intop = memref.subview %into[0, 0] [16, 24] [1, 1] : !slot to !part
    %ahead = evo_tile.async_copy %in[%next, %c0] to %intop[%c0, %c0] if %more padding 0.0 : f32
      as tensor<16x24xf32, #most> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
      : memref<?x32xf32>, !part
    %aheadb = evo_tile.async_copy %in[%next, %c0] to %into[%c0, %c24] if %more padding 0.0 : f32
      as tensor<16x8xf32, #rest> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
      : memref<?x32xf32>, !slot
    %made = evo_tile.async_group(%ahead, %aheadb)
    evo_tile.wait %token
    evo_tile.barrier
    %from = memref.subview %ring[%slot, 0, 0] [1, 16, 32] [1, 1, 1] : !ring to !slot
    %x = evo_tile.load %from[%c0, %c0] {in_bounds = array<i1: true, true>} : !slot -> tensor<16x32xf32, #wide>
    %y = arith.addf %x, %x : tensor<16x32xf32, #wide>
    evo_tile.store %y, %out[%i, %c0] {in_bounds = array<i1: false, true>} : tensor<16x32xf32, #wide>, memref<?x32xf32>
    evo_tile.barrier
    scf.yield %write, %made : index, !evo_tile.token
  }
  evo_tile.return
}
