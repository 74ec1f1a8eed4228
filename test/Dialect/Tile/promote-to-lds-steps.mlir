// What a loop of few iterations reads tile behind tile is copied before it, as
// one tile, and read part by part.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 2, resident = 3' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds | FileCheck %s
// The copies of a loop around it run ahead.
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s --check-prefix=AHEAD
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds --evo-tile-software-pipeline --convert-tile-to-gpu --convert-gpu-lanes-to-llvm -o /dev/null

#all = #evo_tile.lane_map<registers = [[8, 0, 1], [2, 8, 0]], lanes = [[4, 0, 8], [8, 1, 0]], subgroups = [[4, 0, 0]]>
#row = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[4, 4], [8, 0]], subgroups = [[4, 0]]>

// All four steps are there: what is in bounds of one is of all. The numbers of
// a row, which asynchronous copies cannot pad, are negated by the lanes that
// copy them, for all steps.
// CHECK-LABEL: evo_tile.kernel @all
//   CHECK-DAG:   %[[TILES:.+]] = evo_tile.alloc_lds : memref<64x32xbf16
//   CHECK-DAG:   %[[ROW:.+]] = evo_tile.alloc_lds : memref<64xf32
//       CHECK:   scf.for %[[FIRST:.+]] = %{{.+}} to %{{.+}} step
//       CHECK:     %[[NUMBERS:.+]] = evo_tile.load %{{.+}}[%[[FIRST]]] padding 0x7F800000 : f32 {in_bounds = array<i1: true>} : memref<?xf32> -> tensor<64xf32
//       CHECK:     %[[NEGATIVE:.+]] = arith.negf %[[NUMBERS]] : tensor<64xf32
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.async_copy %{{.+}}[%[[FIRST]], %{{.+}}] to %[[TILES]][%{{.+}}] as tensor<64x32xbf16, {{.+}} {alignment = 16 : i64, in_bounds = array<i1: true, true>}
//       CHECK:     evo_tile.store %[[NEGATIVE]], %[[ROW]]
//       CHECK:     evo_tile.wait
//       CHECK:     evo_tile.barrier
//       CHECK:     scf.for %[[STEP:.+]] = %{{.+}} to %c4
//   CHECK-NOT:       evo_tile.barrier
//       CHECK:       evo_tile.load %[[TILES]][%{{.+}}, %{{.+}}] {{.+}} -> tensor<16x32xbf16
//       CHECK:       %[[AT:.+]] = arith.muli %[[STEP]], %c16_{{[0-9]+}}
//  CHECK-NEXT:       evo_tile.load %[[ROW]][%[[AT]]] {{.+}} -> tensor<16xf32
//       CHECK:   evo_tile.return
// AHEAD-LABEL: evo_tile.kernel @all
//       AHEAD:   scf.for
//       AHEAD:     evo_tile.async_copy {{.+}} as tensor<64x32xbf16
//       AHEAD:     evo_tile.barrier
//       AHEAD:     scf.for
//   AHEAD-NOT:       evo_tile.barrier
//       AHEAD:   evo_tile.return
evo_tile.kernel @all(%m: memref<?x32xbf16>, %s: memref<?xf32>, %o: memref<?x32xbf16>, %p: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    scf.for %j = %c0 to %c4 step %c1 {
      %offset = arith.muli %j, %c16 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x32xbf16> -> tensor<16x32xbf16, #all>
      %y = evo_tile.load %s[%k] padding 0x7F800000 : f32 {in_bounds = array<i1: true>} : memref<?xf32> -> tensor<16xf32, #row>
      %z = arith.negf %y : tensor<16xf32, #row>
      evo_tile.store %x, %o[%k, %c0] : tensor<16x32xbf16, #all>, memref<?x32xbf16>
      evo_tile.store %z, %p[%k] : tensor<16xf32, #row>, memref<?xf32>
    }
  }
  evo_tile.return
}

// There may be fewer: the last ones may lie outside.
// CHECK-LABEL: evo_tile.kernel @some
//       CHECK:   scf.for
//       CHECK:     evo_tile.async_copy {{.+}} as tensor<64x32xbf16, {{.+}} {alignment = 16 : i64, in_bounds = array<i1: false, true>}
//       CHECK:     scf.for
//   CHECK-NOT:       evo_tile.async_copy
//       CHECK:   evo_tile.return
evo_tile.kernel @some(%m: memref<?x32xbf16>, %o: memref<?x32xbf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %left = arith.subi %n, %i : index
    %steps = arith.divui %left, %c16 : index
    %few = arith.minui %steps, %c4 : index
    %count = arith.maxui %few, %c1 : index
    scf.for %j = %c0 to %count step %c1 {
      %offset = arith.muli %j, %c16 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x32xbf16> -> tensor<16x32xbf16, #all>
      evo_tile.store %x, %o[%k, %c0] : tensor<16x32xbf16, #all>, memref<?x32xbf16>
    }
  }
  evo_tile.return
}

// Tiles that overlap, and such as lie beside each other within rows, are copied
// by each step; so are those of a loop that may have none.
// CHECK-LABEL: evo_tile.kernel @apart
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.async_copy
//       CHECK:     scf.for
//       CHECK:       evo_tile.async_copy {{.+}} as tensor<16x32xbf16
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.async_copy
//       CHECK:     scf.for
//       CHECK:       evo_tile.async_copy {{.+}} as tensor<16x32xbf16
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.async_copy
//       CHECK:     scf.for
//       CHECK:       evo_tile.async_copy {{.+}} as tensor<16x32xbf16
//       CHECK:   evo_tile.return
evo_tile.kernel @apart(%m: memref<?x32xbf16>, %w: memref<16x?xbf16, strided<[4096, 1]>>, %o: memref<?x32xbf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c32 {
    scf.for %j = %c0 to %c4 step %c1 {
      %offset = arith.muli %j, %c8 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x32xbf16> -> tensor<16x32xbf16, #all>
      evo_tile.store %x, %o[%k, %c0] : tensor<16x32xbf16, #all>, memref<?x32xbf16>
    }
  }
  scf.for %i = %c0 to %n step %c128 {
    scf.for %j = %c0 to %c4 step %c1 {
      %offset = arith.muli %j, %c32 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %w[%c0, %k] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<16x?xbf16, strided<[4096, 1]>> -> tensor<16x32xbf16, #all>
      evo_tile.store %x, %o[%k, %c0] : tensor<16x32xbf16, #all>, memref<?x32xbf16>
    }
  }
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %few = arith.minui %i, %c4 : index
    scf.for %j = %c0 to %few step %c1 {
      %offset = arith.muli %j, %c16 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x32xbf16> -> tensor<16x32xbf16, #all>
      evo_tile.store %x, %o[%k, %c0] : tensor<16x32xbf16, #all>, memref<?x32xbf16>
    }
  }
  evo_tile.return
}

// 200 of them are not few, nor are 4 that workgroup memory does not hold twice.
// CHECK-LABEL: evo_tile.kernel @many
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.async_copy
//       CHECK:     scf.for
//       CHECK:       evo_tile.async_copy {{.+}} as tensor<16x32xbf16
//       CHECK:   evo_tile.return
evo_tile.kernel @many(%m: memref<?x32xbf16>, %o: memref<?x32xbf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c200 = arith.constant 200 : index
  %c3200 = arith.constant 3200 : index
  scf.for %i = %c0 to %n step %c3200 {
    scf.for %j = %c0 to %c200 step %c1 {
      %offset = arith.muli %j, %c16 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x32xbf16> -> tensor<16x32xbf16, #all>
      evo_tile.store %x, %o[%k, %c0] : tensor<16x32xbf16, #all>, memref<?x32xbf16>
    }
  }
  evo_tile.return
}

#wide = #evo_tile.lane_map<registers = [[8, 0, 1], [16, 0, 32], [4, 8, 0]], lanes = [[4, 0, 8], [8, 1, 0]], subgroups = [[4, 0, 0]]>

// CHECK-LABEL: evo_tile.kernel @large
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.async_copy
//       CHECK:     scf.for
//       CHECK:       evo_tile.async_copy {{.+}} as tensor<32x512xbf16
//       CHECK:   evo_tile.return
evo_tile.kernel @large(%m: memref<?x512xbf16>, %o: memref<?x512xbf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    scf.for %j = %c0 to %c4 step %c1 {
      %offset = arith.muli %j, %c32 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x512xbf16> -> tensor<32x512xbf16, #wide>
      evo_tile.store %x, %o[%k, %c0] : tensor<32x512xbf16, #wide>, memref<?x512xbf16>
    }
  }
  evo_tile.return
}
