// Global memory through buffer resources: one resource a memref outside of loops,
// what lanes add, what a step adds, and a constant; zeros and dropped stores by an
// offset behind the buffer.
// RUN: evoformer-opt %s --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --pass-pipeline='builtin.module(convert-tile-to-gpu,gpu.module(convert-gpu-lanes-to-llvm))' -o /dev/null

#target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {buffer_resources = 159744 : i64, unaligned_access}>
#schedule = #evo_tile.schedule<v1, block = [16, 16, 16], subgroups = [1, 1, 1], stages = 1>
#tile = #evo_tile.lane_map<registers = [[8, 0, 1], [2, 32, 0]], lanes = [[32, 1, 0]], subgroups = []>
#line = #evo_tile.lane_map<registers = [[8, 1]], lanes = [[32, 8]], subgroups = []>
!tile = tensor<64x8xbf16, #tile>
!line = tensor<256xbf16, #line>

// Zeros need no choice between the loaded and padding.
// CHECK-LABEL: gpu.func @zeros
//   CHECK-DAG:   %[[OUTSIDE:.+]] = arith.constant -8192 : i32
//   CHECK-DAG:   %[[RECORDS:.+]] = llvm.mlir.constant(4294959104 : i64) : i64
//   CHECK-DAG:   %[[FLAGS:.+]] = llvm.mlir.constant(159744 : i32) : i32
//       CHECK:   rocdl.make.buffer.rsrc %{{.+}}, %{{.+}}, %[[RECORDS]], %[[FLAGS]] : <1> to <8>
//       CHECK:   scf.for
//       CHECK:     %[[ROOM:.+]] = arith.subi
//       CHECK:     %[[INSIDE:.+]] = arith.cmpi slt, %{{.+}}, %[[ROOM]] : i32
//       CHECK:     %[[AT:.+]] = arith.select %[[INSIDE]], %{{.+}}, %[[OUTSIDE]] : i32
//       CHECK:     rocdl.raw.ptr.buffer.load %[[BUFFER:.+]], %[[AT]], %{{.+}}, %{{.+}} : vector<4xi32>
// Of the same lane, 32 rows on: 512 bytes in the instruction.
//       CHECK:     %[[SECOND:.+]] = arith.select %{{.+}}, %{{.+}}, %[[OUTSIDE]] : i32
//       CHECK:     %[[FURTHER:.+]] = arith.addi %[[SECOND]], %c512{{.*}} : i32
//       CHECK:     rocdl.raw.ptr.buffer.load %[[BUFFER]], %[[FURTHER]]
//   CHECK-NOT:     arith.select {{.*}}bf16
//   CHECK-NOT:     scf.if
//       CHECK:     rocdl.raw.ptr.buffer.store
//   CHECK-NOT:     scf.if
//       CHECK:   gpu.return
evo_tile.kernel @zeros(%m: memref<?x8xbf16>, %o: memref<?x8xbf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %t = evo_tile.load %m[%i, %c0] padding 0.0 : bf16 {in_bounds = array<i1: false, true>, alignment = 16 : i64} : memref<?x8xbf16> -> !tile
    evo_tile.store %t, %o[%i, %c0] {in_bounds = array<i1: false, true>, alignment = 16 : i64} : !tile, memref<?x8xbf16>
  }
  evo_tile.return
}

// Another padding is chosen as elsewhere.
// CHECK-LABEL: gpu.func @others
//       CHECK:   rocdl.raw.ptr.buffer.load
//       CHECK:   arith.select %{{.+}}, %{{.+}}, %{{.+}} : vector<8xbf16>
evo_tile.kernel @others(%m: memref<?xbf16>, %o: memref<256xbf16>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %m[%c0] padding 1.0 : bf16 {alignment = 16 : i64} : memref<?xbf16> -> !line
  evo_tile.store %t, %o[%c0] {in_bounds = array<i1: true>, alignment = 16 : i64} : !line, memref<256xbf16>
  evo_tile.return
}

// Without padding some element is read: what lanes add is clamped, in bytes.
// CHECK-LABEL: gpu.func @some
//       CHECK:   scf.for
//       CHECK:     %[[FIRST:.+]] = arith.minui
//       CHECK:     arith.minui
//   CHECK-NOT:     arith.select
//       CHECK:     rocdl.raw.ptr.buffer.load
evo_tile.kernel @some(%m: memref<?x8xbf16>, %o: memref<64x8xbf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %t = evo_tile.load %m[%i, %c0] {in_bounds = array<i1: false, true>, alignment = 16 : i64} : memref<?x8xbf16> -> !tile
    evo_tile.store %t, %o[%c0, %c0] {in_bounds = array<i1: true, true>, alignment = 16 : i64} : !tile, memref<64x8xbf16>
  }
  evo_tile.return
}

// Words that are not known to be aligned are accessed by pointers.
// CHECK-LABEL: gpu.func @unaligned
//   CHECK-NOT:   rocdl.raw.ptr.buffer
//       CHECK:   llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> vector<8xbf16>
//   CHECK-NOT:   rocdl.raw.ptr.buffer
//       CHECK:   gpu.return
evo_tile.kernel @unaligned(%m: memref<256xbf16>, %o: memref<256xbf16>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %m[%c0] {in_bounds = array<i1: true>} : memref<256xbf16> -> !line
  evo_tile.store %t, %o[%c0] {in_bounds = array<i1: true>} : !line, memref<256xbf16>
  evo_tile.return
}
