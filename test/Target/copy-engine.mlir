// Loads to workgroup memory that run two iterations ahead: the code generator puts
// no wait of its own for all of them where a subgroup reads what has arrived, or at
// the barrier.
// RUN: rm -rf %t && evoformer-opt %s --evo-tile-software-pipeline --convert-tile-to-gpu \
// RUN:   --convert-gpu-lanes-to-llvm --evoformer-serialize="out-dir=%t report=%t/report.txt" -o /dev/null
// RUN: FileCheck %s --input-file=%t/kernels.s

// CHECK-LABEL: twice:
// CHECK-COUNT-8: buffer_load_dword v{{[0-9]+}}, s[{{[0-9:]+}}], 0 offen lds
// CHECK:       Inner Loop Header
// Of eight loads in two groups the first four have arrived.
// CHECK-NOT:   vmcnt
// CHECK:       s_waitcnt vmcnt(4) lgkmcnt(0)
// CHECK-NEXT:  s_barrier
// CHECK-NOT:   vmcnt
// CHECK-COUNT-4: buffer_load_dword v{{[0-9]+}}, s[{{[0-9:]+}}], 0 offen lds
// CHECK-NOT:   vmcnt
// CHECK:       s_endpgm
#target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {
    lds_barrier, copy_engine = #evo_tile.copy_engine<consecutive, bytes = [4]>,
    uniform = "llvm.amdgcn.readfirstlane.i32"}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 3>
#copy = #evo_tile.lane_map<registers = [[1, 0, 1], [4, 2, 0]], lanes = [[64, 0, 1]], subgroups = [[2, 1, 0]]>
#read = #evo_tile.lane_map<registers = [[1, 0, 1], [4, 1, 0]], lanes = [[64, 0, 1]], subgroups = [[2, 4, 0]]>
!lds = memref<8x64xf32, #gpu.address_space<workgroup>>
!tile = tensor<8x64xf32, #read>
evo_tile.kernel @twice(%in: memref<?x64xf32>, %out: memref<8x64xf32>)
    attributes {target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %in, %c0 : memref<?x64xf32>
  %zero = arith.constant dense<0.0> : !tile
  %lds = evo_tile.alloc_lds : !lds
  %sum = scf.for %i = %c0 to %n step %c8 iter_args(%acc = %zero) -> !tile {
    evo_tile.barrier
    %copy = evo_tile.async_copy %in[%i, %c0] to %lds[%c0, %c0] padding 0.0 : f32 as tensor<8x64xf32, #copy> {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x64xf32>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : !lds -> !tile
    %y = arith.addf %acc, %x : !tile
    scf.yield %y : !tile
  }
  evo_tile.store %sum, %out[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, memref<8x64xf32>
  evo_tile.return
}
