// In a loop, lanes that have nothing to store to workgroup memory store what
// they have to a place of their subgroup that nobody reads, so that no branch
// cuts the loop's body; elsewhere they branch around it.
// RUN: evoformer-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: evoformer-opt %s --pass-pipeline='builtin.module(convert-tile-to-gpu,gpu.module(convert-gpu-lanes-to-llvm))' -o /dev/null

#target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {sched_barrier}>
#full = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 144, lds_banks = 32, matrix = [], properties = {sched_barrier}>
#schedule = #evo_tile.schedule<v1, block = [16, 16, 16], subgroups = [2, 1, 1], stages = 1>
// 8 lanes of one subgroup hold something else than the others.
#few = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[8, 4], [4, 0]], subgroups = [[2, 0]]>
// Lanes hold elements behind the tile's 24.
#padded = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[32, 1]], subgroups = [[2, 0]]>
!lds = memref<32xf32, #gpu.address_space<workgroup>>

// Two buffers of 128 and 96 bytes, then 16 bytes for each of two subgroups.
// CHECK-DAG: llvm.mlir.global internal @outside_lds() {{.*}}: !llvm.array<128 x i8>
// CHECK-DAG: llvm.mlir.global internal @in_loop_lds() {{.*}}: !llvm.array<256 x i8>

// CHECK-LABEL: gpu.func @in_loop
//       CHECK:   scf.for
//   CHECK-NOT:     scf.if
//       CHECK:     %[[FIRST:.+]] = arith.andi
//   CHECK-DAG:     arith.muli %{{.+}}, %c16{{.*}} : i32
//       CHECK:     %[[TO:.+]] = arith.select %{{.+}}, %{{.+}}, %{{.+}} : !llvm.ptr<3>
//       CHECK:     llvm.store %{{.+}}, %[[TO]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
//       CHECK:     %[[TO:.+]] = arith.select %{{.+}}, %{{.+}}, %{{.+}} : !llvm.ptr<3>
//       CHECK:     llvm.store %{{.+}}, %[[TO]] {{.*}}: f32, !llvm.ptr<3>
//   CHECK-NOT:     scf.if
//       CHECK:   gpu.return
evo_tile.kernel @in_loop(%m: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %lds = evo_tile.alloc_lds : !lds
  %short = evo_tile.alloc_lds : memref<24xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %n step %c32 {
    %t = evo_tile.load %m[%i] {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32> -> tensor<32xf32, #few>
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0] {alignment = 16 : i64} : tensor<32xf32, #few>, !lds
    %s = evo_tile.load %m[%i] {in_bounds = array<i1: true>} : memref<?xf32> -> tensor<24xf32, #padded>
    evo_tile.store %s, %short[%c0] : tensor<24xf32, #padded>, memref<24xf32, #gpu.address_space<workgroup>>
    evo_tile.barrier
  }
  evo_tile.return
}

// CHECK-LABEL: gpu.func @outside
//   CHECK-NOT:   arith.select
//       CHECK:   scf.if
//       CHECK:     llvm.store %{{.+}} : vector<4xf32>, !llvm.ptr<3>
//       CHECK:   gpu.return
evo_tile.kernel @outside(%m: memref<?xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %m[%c0] {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32> -> tensor<32xf32, #few>
  evo_tile.store %t, %lds[%c0] {alignment = 16 : i64} : tensor<32xf32, #few>, !lds
  evo_tile.return
}

// There are no 32 bytes to spare.
// CHECK: llvm.mlir.global internal @no_room_lds() {{.*}}: !llvm.array<128 x i8>
// CHECK-LABEL: gpu.func @no_room
//       CHECK:   scf.for
//   CHECK-NOT:     arith.select
//       CHECK:     scf.if
//       CHECK:       llvm.store %{{.+}} : vector<4xf32>, !llvm.ptr<3>
evo_tile.kernel @no_room(%m: memref<?xf32>, %n: index) attributes {target = #full, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c32 {
    %t = evo_tile.load %m[%i] {in_bounds = array<i1: true>, alignment = 16 : i64} : memref<?xf32> -> tensor<32xf32, #few>
    evo_tile.store %t, %lds[%c0] {alignment = 16 : i64} : tensor<32xf32, #few>, !lds
  }
  evo_tile.return
}
