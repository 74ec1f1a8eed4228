// Copies of a step that depend on one condition are one branch, with what else lanes
// are asked inside of it; what computes between them precedes it. A load or another
// condition in between keeps them apart.
// RUN: evoformer-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: evoformer-check --target=sm_80 --device=sim 'N=2 H=2 Sq=40 Sk=150 D=32 type=bf16 bias=bnk:i1:normal bias=bhqk:bf16:normal'

#target = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 255, lds_bytes = 65536,
  lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 1>
#all = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[32, 4]], subgroups = []>
// Every other lane is a second holder.
#few = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[2, 0], [16, 4]], subgroups = []>
!lds = memref<128xf32, #gpu.address_space<workgroup>>
!slots = memref<2x64xf32, #gpu.address_space<workgroup>>

// CHECK-LABEL: gpu.func @together
//  CHECK-SAME:   %[[P:[^:]*]]: i1
//       CHECK:   scf.for
//   CHECK-NOT:     scf.if
//       CHECK:     arith.muli %{{.*}}, %c256{{.*}} : i32
//       CHECK:     scf.if %[[P]] {
//       CHECK:       nvvm.cp.async.shared.global
//       CHECK:       scf.if
//       CHECK:         nvvm.cp.async.shared.global
//       CHECK:       }
//       CHECK:     }
//   CHECK-NOT:     nvvm.cp.async.shared.global
//       CHECK:     nvvm.cp.async.commit.group
evo_tile.kernel @together(%p: i1, %x: memref<?xf32>, %y: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lds = evo_tile.alloc_lds : !lds
  %slots = evo_tile.alloc_lds : !slots
  scf.for %i = %c0 to %n step %c1 {
    %a = evo_tile.async_copy %x[%c0] to %lds[%c0] if %p as tensor<128xf32, #all> {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32>, !lds
    %slot = memref.subview %slots[%i, 0] [1, 64] [1, 1] : !slots to memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    %b = evo_tile.async_copy %y[%c0] to %slot[%c0] if %p as tensor<64xf32, #few> {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32>, memref<64xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    %group = evo_tile.async_group(%a, %b)
    evo_tile.wait %group
    evo_tile.barrier
  }
  evo_tile.return
}

// CHECK-LABEL: gpu.func @apart
//  CHECK-SAME:   %[[P:[^:]*]]: i1, %[[Q:[^:]*]]: i1
//       CHECK:   scf.for
//       CHECK:     scf.if %[[P]] {
//       CHECK:     scf.if %[[Q]] {
//       CHECK:     scf.if %[[P]] {
//       CHECK:     memref.load
//       CHECK:     scf.if %[[P]] {
//       CHECK:     nvvm.cp.async.commit.group
evo_tile.kernel @apart(%p: i1, %q: i1, %x: memref<?xf32>, %table: memref<?xindex>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l1 = evo_tile.alloc_lds : !lds
  %l2 = evo_tile.alloc_lds : !lds
  %l3 = evo_tile.alloc_lds : !lds
  %l4 = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %a = evo_tile.async_copy %x[%c0] to %l1[%c0] if %p as tensor<128xf32, #all> {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32>, !lds
    %b = evo_tile.async_copy %x[%c0] to %l2[%c0] if %q as tensor<128xf32, #all> {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32>, !lds
    %c = evo_tile.async_copy %x[%c0] to %l3[%c0] if %p as tensor<128xf32, #all> {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32>, !lds
    %at = memref.load %table[%i] : memref<?xindex>
    %d = evo_tile.async_copy %x[%at] to %l4[%c0] if %p as tensor<128xf32, #all> {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32>, !lds
    %group = evo_tile.async_group(%a, %b, %c, %d)
    evo_tile.wait %group
    evo_tile.barrier
  }
  evo_tile.return
}
