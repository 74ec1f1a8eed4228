// An engine that fills workgroup memory a subgroup at a time, its lanes side by
// side, is used where a buffer without gaps is read as well as one with padding,
// and its pieces are as wide as accesses through registers.
// RUN: evoformer-opt %s --evo-tile-promote-to-lds | FileCheck %s
// RUN: evoformer-opt %s --evo-tile-promote-to-lds --remarks-filter='evo-tile-promote.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sed 's/bytes = \[4, 16\]/bytes = [4]/' %s | evoformer-opt --evo-tile-promote-to-lds | FileCheck %s --check-prefix=NARROW

#chip = #evo_tile.target<chip = "wide", triple = "none", features = "", subgroup_size = 64, max_workgroup = 256, registers = 128, lds_bytes = 65536, lds_banks = 64, matrix = [], properties = {copy_engine = #evo_tile.copy_engine<consecutive, bytes = [4, 16]>}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 1>
// Each lane a row's piece of 16 bytes, four rows of 64 elements at a time, which
// both subgroups read.
#along = #evo_tile.lane_map<registers = [[4, 0, 1], [8, 4, 0]], lanes = [[16, 0, 4], [4, 1, 0]], subgroups = [[2, 0, 0]]>
// Each lane a row: rows that begin in one bank are read one after the other.
#across = #evo_tile.lane_map<registers = [[4, 0, 1], [16, 0, 4]], lanes = [[32, 1, 0], [2, 0, 0]], subgroups = [[2, 0, 0]]>

// NARROW-NOT: evo_tile.async_copy

// CHECK-LABEL: evo_tile.kernel @along
//       CHECK:   %[[LDS:.+]] = evo_tile.alloc_lds : memref<32x64xf32, #gpu.address_space<workgroup>>
//       CHECK:   %[[COPY:.+]] = evo_tile.async_copy %{{.+}} to %[[LDS]]
//       CHECK:   %[[GROUP:.+]] = evo_tile.async_group(%[[COPY]])
//       CHECK:   evo_tile.wait %[[GROUP]]
//      REMARK: remark: [Passed] promoted | {{.*}}copy=asynchronous, copy_bytes=16, {{.*}}row_padding=0
evo_tile.kernel @along(%m: memref<?x64xf32>, %o: memref<?x64xf32>, %n: index) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] padding 0.0 : f32 {alignment = 16 : i64} : memref<?x64xf32> -> tensor<32x64xf32, #along>
    evo_tile.store %x, %o[%i, %c0] : tensor<32x64xf32, #along>, memref<?x64xf32>
  }
  evo_tile.return
}

// CHECK-LABEL: evo_tile.kernel @across
//   CHECK-NOT:   evo_tile.async_copy
//      REMARK: remark: [Passed] promoted | {{.*}}copy="through registers", copy_bytes=16
evo_tile.kernel @across(%m: memref<?x64xf32>, %o: memref<?x64xf32>, %n: index) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] padding 0.0 : f32 {alignment = 16 : i64} : memref<?x64xf32> -> tensor<32x64xf32, #across>
    evo_tile.store %x, %o[%i, %c0] : tensor<32x64xf32, #across>, memref<?x64xf32>
  }
  evo_tile.return
}
