// What is computed of loaded values waits for them: where loads run ahead, it
// moves behind the fence, to where it is used. What is used before stays.
// RUN: evoformer-opt %s --convert-tile-to-gpu | FileCheck %s

#target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {sched_barrier}>
#schedule = #evo_tile.schedule<v1, block = [16, 16, 16], subgroups = [1, 1, 1], stages = 1>
#row = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[32, 1]], subgroups = []>
!row = tensor<32xf32, #row>

// CHECK-LABEL: gpu.func @padding
//       CHECK:   scf.for
//       CHECK:     %[[INSIDE:.+]] = arith.cmpi ult
//       CHECK:     %[[LOADED:.+]] = llvm.load
//   CHECK-NOT:     arith.select %[[INSIDE]], %{{.+}} : vector<1xf32>
//       CHECK:     %[[NOW:.+]] = llvm.load
//       CHECK:     llvm.store
//       CHECK:     amdgpu.sched_barrier
//       CHECK:     gpu.barrier
//       CHECK:     %[[ONE:.+]] = vector.broadcast %[[LOADED]] : f32 to vector<1xf32>
//  CHECK-NEXT:     %[[CHOSEN:.+]] = arith.select %[[INSIDE]], %[[ONE]], %{{.+}} : vector<1xf32>
//  CHECK-NEXT:     arith.addf %[[CHOSEN]], %[[CHOSEN]]
evo_tile.kernel @padding(%m: memref<?xf32>, %o: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %t = evo_tile.load %m[%i] padding 0.0 : f32 : memref<?xf32> -> !row
    %now = evo_tile.load %m[%c0] {in_bounds = array<i1: true>} : memref<?xf32> -> !row
    evo_tile.store %now, %o[%c0] {in_bounds = array<i1: true>} : !row, memref<?xf32>
    evo_tile.issue_fence compute
    evo_tile.barrier
    %twice = arith.addf %t, %t : !row
    evo_tile.store %twice, %o[%i] {in_bounds = array<i1: true>} : !row, memref<?xf32>
  }
  evo_tile.return
}
