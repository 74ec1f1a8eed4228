// Which copies of a pipelined loop are boxes, and what a kernel then takes and a loop
// carries.
//
// RUN: evoformer-opt %s --split-input-file --evo-tile-copy-boxes | FileCheck %s
// RUN: evoformer-opt %s --split-input-file --evo-tile-copy-boxes -o %t.once
// RUN: evoformer-opt %t.once --split-input-file --evo-tile-copy-boxes -o %t.twice
// RUN: diff %t.once %t.twice

#target = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {tensor_maps,
    copy_engine = #evo_tile.copy_engine<per_lane, bytes = [16]>}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 2>
#tile = #evo_tile.lane_map<registers = [[4, 0, 1], [2, 8, 0]], lanes = [[4, 0, 4], [8, 1, 0]], subgroups = []>
!ring = memref<2x16x16xf32, strided<[256, 16, 1]>, #gpu.address_space<workgroup>>
!slot = memref<16x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
!padded = memref<2x16x16xf32, strided<[320, 20, 1]>, #gpu.address_space<workgroup>>
!paddedslot = memref<16x16xf32, strided<[20, 1], offset: ?>, #gpu.address_space<workgroup>>

// One row of a matrix of matrices: the row is the first coordinate, and what lies
// behind the end of %rows, by whose size the view is cut, is zero. Nothing but boxes is
// under way, so no token is, and subgroups release slots instead of meeting.
// CHECK-LABEL: evo_tile.kernel @boxes
//  CHECK-SAME:   %[[ROWS:[a-z0-9]+]]: memref<?x?x16xf32>, %[[OTHER:[a-z0-9]+]]: memref<?x?xf32>
//  CHECK-SAME:   %[[MAP:[a-z0-9]+]]: !evo_tile.tensor_map<of = 0, box = [1, 16, 16], ends = [0, 0, 1, 0, -1, 16]>
//       CHECK:   %[[SLOTS:.*]]:2 = evo_tile.copy_slots released : !evo_tile.slot, !evo_tile.slot
//   CHECK-NOT:   async_group
//       CHECK:   evo_tile.box_copy %[[MAP]][%[[ITEM:.*]], %{{.*}}, %{{.*}}] to %{{.*}} in %[[SLOTS]]#0 if %{{.*}}
//       CHECK:   %[[CLOSED:.*]] = evo_tile.close_slot %[[SLOTS]]#0
//       CHECK:   evo_tile.barrier
//       CHECK:   scf.for %[[I:.*]] = {{.*}} iter_args({{.*}}, %[[UNDERWAY:.*]] = %[[CLOSED]], %[[FREE:.*]] = %[[SLOTS]]#1)
//       CHECK:     evo_tile.claim_slot %[[FREE]]
//  CHECK-NEXT:     evo_tile.box_copy %[[MAP]][%[[ITEM]], %[[NEXT:.*]], %{{.*}}] to %{{.*}} in %[[FREE]] if %{{.*}}
//       CHECK:     %[[AFTER:.*]] = evo_tile.close_slot %[[FREE]]
//   CHECK-NOT:     async_group
//       CHECK:     evo_tile.wait_slot %[[UNDERWAY]]
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     evo_tile.release_slot %[[UNDERWAY]]
//  CHECK-NEXT:     scf.yield {{.*}}, %[[AFTER]], %[[UNDERWAY]]
evo_tile.kernel @boxes(%rows: memref<?x?x16xf32>, %other: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %item = evo_tile.work_item_id 0
  %n = memref.dim %other, %c0 : memref<?x?xf32>
  %view = memref.subview %rows[%item, 0, 0] [1, %n, 16] [1, 1, 1]
    : memref<?x?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
  %ring = evo_tile.alloc_lds : !ring
  %inside = arith.cmpi slt, %c0, %n : index
  %first = memref.subview %ring[%c0, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
  %copy = evo_tile.async_copy %view[%c0, %c0] to %first[%c0, %c0] if %inside padding 0.0 : f32
    as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
    : memref<?x16xf32, strided<[16, 1], offset: ?>>, !slot
  %group = evo_tile.async_group(%copy)
  scf.for %i = %c0 to %n step %c16 iter_args(%slot = %c0, %token = %group) -> (index, !evo_tile.token) {
    %next = arith.addi %i, %c16 : index
    %more = arith.cmpi slt, %next, %n : index
    %write = arith.subi %c1, %slot : index
    %into = memref.subview %ring[%write, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
    %ahead = evo_tile.async_copy %view[%next, %c0] to %into[%c0, %c0] if %more padding 0.0 : f32
      as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>}
      : memref<?x16xf32, strided<[16, 1], offset: ?>>, !slot
    %made = evo_tile.async_group(%ahead)
    evo_tile.wait %token
    evo_tile.barrier
    %from = memref.subview %ring[%slot, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
    %x = evo_tile.load %from[%c0, %c0] {in_bounds = array<i1: true, true>} : !slot -> tensor<16x16xf32, #tile>
    evo_tile.store %x, %other[%i, %c0] {in_bounds = array<i1: false, false>} : tensor<16x16xf32, #tile>, memref<?x?xf32>
    evo_tile.barrier
    scf.yield %write, %made : index, !evo_tile.token
  }
  evo_tile.return
}

// Rows with gaps between them in workgroup memory, an alignment that nobody promises,
// and a bound of which only the loop knows are no boxes.
// CHECK-LABEL: evo_tile.kernel @others
//   CHECK-NOT:   box_copy
//   CHECK-NOT:   slot
//       CHECK:   evo_tile.return
evo_tile.kernel @others(%rows: memref<?x16xf32>, %bound: index, %out: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %rows, %c0 : memref<?x16xf32>
  %part = memref.subview %rows[0, 0] [%bound, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %gaps = evo_tile.alloc_lds : !padded
  %ring = evo_tile.alloc_lds : !ring
  %ring1 = evo_tile.alloc_lds : !ring
  %gap0 = memref.subview %gaps[%c0, 0, 0] [1, 16, 16] [1, 1, 1] : !padded to !paddedslot
  %slot0 = memref.subview %ring[%c0, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
  %slot1 = memref.subview %ring1[%c0, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
  %a = evo_tile.async_copy %rows[%c0, %c0] to %gap0[%c0, %c0] padding 0.0 : f32
    as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x16xf32>, !paddedslot
  %b = evo_tile.async_copy %rows[%c0, %c0] to %slot0[%c0, %c0] padding 0.0 : f32
    as tensor<16x16xf32, #tile> {in_bounds = array<i1: false, true>} : memref<?x16xf32>, !slot
  %c = evo_tile.async_copy %part[%c0, %c0] to %slot1[%c0, %c0] padding 0.0 : f32
    as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x16xf32, strided<[16, 1]>>, !slot
  %group = evo_tile.async_group(%a, %b, %c)
  scf.for %i = %c0 to %n step %c16 iter_args(%slot = %c0, %token = %group) -> (index, !evo_tile.token) {
    %next = arith.addi %i, %c16 : index
    %more = arith.cmpi slt, %next, %n : index
    %write = arith.subi %c1, %slot : index
    %gap = memref.subview %gaps[%write, 0, 0] [1, 16, 16] [1, 1, 1] : !padded to !paddedslot
    %into = memref.subview %ring[%write, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
    %into1 = memref.subview %ring1[%write, 0, 0] [1, 16, 16] [1, 1, 1] : !ring to !slot
    %a1 = evo_tile.async_copy %rows[%next, %c0] to %gap[%c0, %c0] if %more padding 0.0 : f32
      as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x16xf32>, !paddedslot
    %b1 = evo_tile.async_copy %rows[%next, %c0] to %into[%c0, %c0] if %more padding 0.0 : f32
      as tensor<16x16xf32, #tile> {in_bounds = array<i1: false, true>} : memref<?x16xf32>, !slot
    %c2 = evo_tile.async_copy %part[%next, %c0] to %into1[%c0, %c0] if %more padding 0.0 : f32
      as tensor<16x16xf32, #tile> {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x16xf32, strided<[16, 1]>>, !slot
    %made = evo_tile.async_group(%a1, %b1, %c2)
    evo_tile.wait %token
    evo_tile.barrier
    scf.yield %write, %made : index, !evo_tile.token
  }
  evo_tile.return
}
