#target = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {tensor_maps}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 1>
!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
!box = memref<8x32xf16, #gpu.address_space<workgroup>>
evo_tile.kernel @rows(%x: memref<?x32xf16>, %map: !map)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !map, !box
  %closed = evo_tile.close_slot %slot
  evo_tile.barrier
  evo_tile.wait_slot %closed
  evo_tile.return
}
func.func @host(%x: memref<?x32xf16>) {
  %c1 = arith.constant 1 : index
  evo_tile.launch @rows space(%c1) args(%x : memref<?x32xf16>)
  return
}
