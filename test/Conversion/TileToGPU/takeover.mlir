// A buffer takes over the memory of another behind a barrier: the program's own,
// where nothing comes between them, or else one more.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %s "block = [1, 64, 64], subgroups = [2, 1, 1], stages = 1" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --convert-tile-to-gpu | FileCheck %s
#rows = #evo_tile.lane_map<registers = [[4, 0, 1], [2, 0, 8]], lanes = [[32, 1, 0], [2, 0, 4]], subgroups = [[2, 0, 0]], inner = 1>
!lds = memref<32x16xf32, #gpu.address_space<workgroup>>
!tile = tensor<32x16xf32, #rows>

// CHECK-LABEL: gpu.func @behind_one
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.for
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @behind_one(%x: memref<32x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.barrier
  %end = arith.addi %n, %n : index
  scf.for %i = %n to %end step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}

// CHECK-LABEL: gpu.func @one_more
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.for
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @one_more(%x: memref<32x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  %end = arith.addi %n, %n : index
  scf.for %i = %n to %end step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}

// What reads the first buffer behind the program's barrier is kept apart, too.
// CHECK-LABEL: gpu.func @read_behind_one
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//       CHECK:   amdgpu.lds_barrier
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.for
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @read_behind_one(%x: memref<32x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.barrier
  %r = evo_tile.load %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !lds -> !tile
  evo_tile.store %r, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, memref<32x16xf32>
  %end = arith.addi %n, %n : index
  scf.for %i = %n to %end step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}

// In a loop the first buffer takes over, too, behind the barrier at the loop's top.
// CHECK-LABEL: gpu.func @in_a_loop
//       CHECK:   scf.for
//       CHECK:     amdgpu.lds_barrier
//   CHECK-NOT:     amdgpu.lds_barrier
//       CHECK:     scf.for
//   CHECK-NOT:     scf.for
//       CHECK:     amdgpu.lds_barrier
//   CHECK-NOT:     amdgpu.lds_barrier
//       CHECK:     scf.for
//   CHECK-NOT:     amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @in_a_loop(%x: memref<32x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  scf.for %k = %c0 to %n step %c1 {
    evo_tile.barrier
    scf.for %i = %c0 to %n step %c1 {
      %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
      evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
    scf.for %i = %c0 to %n step %c1 {
      %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
      evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    }
  }
  evo_tile.return
}

// Buffers of a later loop are filled one by one in front of it: one barrier is enough.
// CHECK-LABEL: gpu.func @two_in_turn
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.if
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.if
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.for
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @two_in_turn(%x: memref<32x16xf32>, %n: index, %c: i1) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %a2 = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %b2 = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    evo_tile.store %t, %a2[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
  scf.if %c {
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  scf.if %c {
    evo_tile.store %t, %b2[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  %end = arith.addi %n, %n : index
  scf.for %i = %n to %end step %c1 {
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    evo_tile.store %t, %b2[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}

// CHECK-LABEL: gpu.func @two_in_another_turn
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.if
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.if
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.for
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @two_in_another_turn(%x: memref<32x16xf32>, %n: index, %c: i1) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %a2 = evo_tile.alloc_lds : !lds
  %b2 = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    evo_tile.store %t, %a2[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
  scf.if %c {
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  scf.if %c {
    evo_tile.store %t, %b2[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  %end = arith.addi %n, %n : index
  scf.for %i = %n to %end step %c1 {
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    evo_tile.store %t, %b2[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}

// Iterations that begin with a barrier need none in front of the loop, unless what
// takes over is used behind it, too: there may be no iteration.
// CHECK-LABEL: gpu.func @in_the_loop
//       CHECK:   scf.for
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   scf.for
//       CHECK:     amdgpu.lds_barrier
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @in_the_loop(%x: memref<32x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.barrier
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}

// CHECK-LABEL: gpu.func @behind_the_loop
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//       CHECK:   scf.for
//       CHECK:     amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @behind_the_loop(%x: memref<32x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.barrier
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  evo_tile.return
}

// A barrier in the midst of an iteration is too late.
// CHECK-LABEL: gpu.func @late_in_the_loop
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//       CHECK:   scf.for
//       CHECK:     amdgpu.lds_barrier
//       CHECK:   gpu.return
evo_tile.kernel @late_in_the_loop(%x: memref<32x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
    evo_tile.barrier
  }
  evo_tile.return
}

// What is read through a view counts, a transpose, too.
// CHECK-LABEL: gpu.func @transposed
//       CHECK:   scf.for
//       CHECK:   amdgpu.lds_barrier
//       CHECK:   amdgpu.lds_barrier
//       CHECK:   scf.for
//   CHECK-NOT:   amdgpu.lds_barrier
//       CHECK:   gpu.return
#cols = #evo_tile.lane_map<registers = [[4, 1, 0], [2, 8, 0]], lanes = [[32, 0, 1], [2, 4, 0]], subgroups = [[2, 0, 0]], inner = 1>
evo_tile.kernel @transposed(%x: memref<32x16xf32>, %y: memref<16x32xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = evo_tile.alloc_lds : !lds
  %b = evo_tile.alloc_lds : !lds
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> !tile
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %a[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  %view = memref.transpose %a (i, j) -> (j, i) : !lds to memref<16x32xf32, strided<[1, 16]>, #gpu.address_space<workgroup>>
  evo_tile.barrier
  %r = evo_tile.load %view[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<16x32xf32, strided<[1, 16]>, #gpu.address_space<workgroup>> -> tensor<16x32xf32, #cols>
  evo_tile.store %r, %y[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<16x32xf32, #cols>, memref<16x32xf32>
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.store %t, %b[%c0, %c0] {in_bounds = array<i1: true, true>} : !tile, !lds
  }
  evo_tile.return
}
