// Loops that subgroups branch between take over workgroup memory as loops do: the second
// pair has the bytes of the first, without a barrier where both its loops begin with one.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py sm_80 %s "block = [1, 64, 64], subgroups = [2, 1, 1], stages = 1" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --convert-tile-to-gpu | FileCheck %s
#rows = #evo_tile.lane_map<registers = [[4, 0, 1]], lanes = [[4, 0, 4], [8, 1, 0]], subgroups = [[2, 8, 0]], inner = 1>
!lds = memref<16x16xf32, #gpu.address_space<workgroup>>
!tile = tensor<16x16xf32, #rows>

// One buffer of 16 x 16 numbers each.
// CHECK-COUNT-3: llvm.mlir.global internal @{{.*}}_lds() {{.*}} !llvm.array<1024 x i8>

// Behind the first branch nothing meets: a loop of the
// second begins with a store.
// CHECK-LABEL: gpu.func @without
//       CHECK:   scf.if
//       CHECK:   } else {
//       CHECK:   gpu.barrier
//       CHECK:   scf.if
//   CHECK-NOT:   gpu.barrier
//       CHECK:   gpu.return
evo_tile.kernel @without(%x: memref<16x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<16x16xf32> -> !tile
  %works = evo_tile.holds_within [%n] along [0] of !tile
  scf.if %works {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  } else {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  }
  scf.if %works {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  } else {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  }
  evo_tile.return
}

// Both loops of the second branch begin with a barrier.
// CHECK-LABEL: gpu.func @with
//       CHECK:   scf.if
//   CHECK-NOT:   gpu.barrier
//       CHECK:   scf.if
//       CHECK:     scf.for
//  CHECK-NEXT:       gpu.barrier
//       CHECK:   } else {
//       CHECK:     scf.for
//  CHECK-NEXT:       gpu.barrier
//   CHECK-NOT:   gpu.barrier
//       CHECK:   gpu.return
evo_tile.kernel @with(%x: memref<16x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<16x16xf32> -> !tile
  %works = evo_tile.holds_within [%n] along [0] of !tile
  scf.if %works {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  } else {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  }
  scf.if %works {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.barrier
      evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  } else {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.barrier
      evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  }
  evo_tile.return
}

// One of them does not.
// CHECK-LABEL: gpu.func @half
//       CHECK:   scf.for
//       CHECK:   gpu.barrier
//  CHECK-NEXT:   scf.if
//       CHECK:   gpu.return
evo_tile.kernel @half(%x: memref<16x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<16x16xf32> -> !tile
  %works = evo_tile.holds_within [%n] along [0] of !tile
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  scf.if %works {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.barrier
      evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  } else {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
      evo_tile.barrier
    }
  }
  evo_tile.return
}
