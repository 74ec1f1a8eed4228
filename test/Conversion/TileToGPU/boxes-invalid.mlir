// What copies of boxes need of a chip, of memory and of whoever launches.
//
// RUN: evoformer-opt %s --split-input-file --verify-diagnostics --convert-tile-to-gpu
// RUN: not evoformer-opt %S/Inputs/boxes.mlir --convert-tile-to-gpu --convert-gpu-lanes-to-llvm --evo-tile-pass-pointers 2>&1 | FileCheck %s --check-prefix=POINTERS
// RUN: not evoformer-opt %S/Inputs/boxes.mlir --convert-tile-to-gpu --convert-gpu-lanes-to-llvm --convert-tile-launch-to-gpu 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: not evoformer-opt %S/Inputs/boxes.mlir --convert-tile-to-cpu 2>&1 | FileCheck %s --check-prefix=CPU
// POINTERS: error: 'evo_tile.launch' op 'rows' takes tensor maps, which are made of memref descriptors; leave out evo-tile-copy-boxes
// LAUNCH: error: 'evo_tile.launch' op 'rows' takes tensor maps, which upstream's launches cannot pass; leave out evo-tile-copy-boxes
// CPU: error: 'evo_tile.kernel' op takes tensor maps, which the CPU has no use for; leave out evo-tile-copy-boxes

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @slots(%n: index) attributes {target = #sm_80, schedule = #schedule} {
  // expected-error @below {{target sm_80 has no tensor maps}}
  %slot = evo_tile.copy_slots : !evo_tile.slot
  evo_tile.return
}

// -----

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 1>
// expected-error @below {{takes tensor maps, which target sm_80 does not have}}
evo_tile.kernel @map(%x: memref<?x32xf16>, %map: !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>)
    attributes {target = #sm_80, schedule = #schedule} {
  evo_tile.return
}

// -----

#sm_90 = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {tensor_maps}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 1>
!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
!box = memref<8x32xf16, #gpu.address_space<workgroup>>
evo_tile.kernel @chosen(%x: memref<?x32xf16>, %p: i1, %map: !map)
    attributes {target = #sm_90, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %a = evo_tile.alloc_lds : !box
  %b = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  %lds = arith.select %p, %a, %b : !box
  // expected-error @+2 {{copies to workgroup memory of evo_tile.alloc_lds, through subviews with static strides}}
  // expected-error @below {{failed to legalize operation 'evo_tile.box_copy' that was explicitly marked illegal}}
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !map, !box
  evo_tile.return
}

// -----

#sm_90 = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {tensor_maps}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @unreleased(%n: index) attributes {target = #sm_90, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %slot = evo_tile.copy_slots : !evo_tile.slot
  %released = evo_tile.copy_slots released : !evo_tile.slot
  scf.for %i = %c0 to %n step %c1 iter_args(%a = %slot, %b = %released) -> (!evo_tile.slot, !evo_tile.slot) {
    evo_tile.claim_slot %b
    %closed = evo_tile.close_slot %b
    evo_tile.wait_slot %closed
    evo_tile.release_slot %closed
    // expected-error @below {{'evo_tile.claim_slot' op needs a slot of 'evo_tile.copy_slots released'}}
    evo_tile.claim_slot %a
    scf.yield %a, %closed : !evo_tile.slot, !evo_tile.slot
  }
  evo_tile.return
}
