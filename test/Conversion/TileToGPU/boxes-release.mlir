// A slot that is released has two barrier objects: one arrival ends a phase of the first,
// one of each subgroup a phase of the second. One lane of a subgroup arrives for all of
// them, behind what they have read; who copies waits for the phase that the slot's parity
// names.
//
// RUN: evoformer-opt %s --convert-tile-to-gpu | FileCheck %s

#sm_90 = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {tensor_maps}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 3, 1], stages = 1>
// CHECK-LABEL: gpu.func @slots
//       CHECK:   %[[FIRST:.*]] = arith.cmpi eq
//       CHECK:   scf.if %[[FIRST]] {
//       CHECK:     %[[ONE:.*]] = arith.constant 1 : i32
//  CHECK-NEXT:     nvvm.mbarrier.init %{{.*}}, %[[ONE]]
//       CHECK:     %[[ALL:.*]] = arith.constant 3 : i32
//  CHECK-NEXT:     nvvm.mbarrier.init %{{.*}}, %[[ALL]]
//       CHECK:     scf.while
//       CHECK:       nvvm.mbarrier.try_wait
//       CHECK:     nvvm.mbarrier.arrive
//       CHECK:   nvvm.mbarrier.try_wait
//       CHECK:   %[[LANES:.*]] = arith.constant -1 : i32
//       CHECK:   nvvm.bar.warp.sync %[[LANES]]
//       CHECK:   %[[LEADS:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
//  CHECK-NEXT:   scf.if %[[LEADS]] {
//       CHECK:     nvvm.mbarrier.arrive
evo_tile.kernel @slots(%n: index) attributes {target = #sm_90, schedule = #schedule, evo_tile.num_extents = 1 : i64} {
  %slot = evo_tile.copy_slots released : !evo_tile.slot
  evo_tile.claim_slot %slot
  %closed = evo_tile.close_slot %slot
  evo_tile.barrier
  evo_tile.wait_slot %closed
  evo_tile.release_slot %closed
  evo_tile.return
}
