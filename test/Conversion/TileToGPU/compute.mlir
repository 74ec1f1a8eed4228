// Tiles become the registers of a lane.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %s "block = [1, 64, 64], subgroups = [1, 1, 1], stages = 1" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --convert-tile-to-gpu | FileCheck %s
//
// Lanes 0 to 31 hold rows, two columns of 4 each; their halves continue.
#rows = #evo_tile.lane_map<registers = [[4, 0, 1], [2, 0, 8]], lanes = [[32, 1, 0], [2, 0, 4]], subgroups = [], inner = 1>
#other = #evo_tile.lane_map<registers = [[4, 0, 1], [2, 0, 4]], lanes = [[32, 1, 0], [2, 0, 8]], subgroups = [], inner = 1>
#renamed = #evo_tile.lane_map<registers = [[2, 0, 8], [4, 0, 1]], lanes = [[32, 1, 0], [2, 0, 4]], subgroups = [], inner = 1>
#slice = #evo_tile.slice<dim = 1, size = 16, #rows>
#columns = #evo_tile.slice<dim = 0, size = 32, #rows>
#padded = #evo_tile.slice<dim = 1, size = 13, #rows>

// The kernel: arguments, then the extents of the space; the lane is the thread
// modulo 64.
// CHECK: gpu.module @kernels
// CHECK: gpu.func @elementwise(%{{.*}}: memref<32x16xf32>, %{{.*}}: index) kernel
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK: gpu.thread_id x
// CHECK: arith.remui
// Two vectors of 4, one load each: 4 columns are consecutive.
// CHECK-COUNT-2: rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<4xf32>
// CHECK-COUNT-2: rocdl.raw.ptr.buffer.store {{.*}} : vector<4xi32>
// CHECK: gpu.return
evo_tile.kernel @elementwise(%x: memref<32x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %s = arith.mulf %t, %t : tensor<32x16xf32, #rows>
  evo_tile.store %s, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<32x16xf32, #rows>, memref<32x16xf32>
  evo_tile.return
}

// Bounds: lanes outside read behind the buffer, and write there (what a target
// without buffers does: idle-lanes.mlir, sink-loaded.mlir).
// CHECK-LABEL: gpu.func @bounds
// CHECK: arith.select {{.*}} : i32
// CHECK: rocdl.raw.ptr.buffer.load
// CHECK-NOT: scf.if
// CHECK: rocdl.raw.ptr.buffer.store
evo_tile.kernel @bounds(%x: memref<?x?xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<32x16xf32, #rows>
  evo_tile.store %t, %x[%c0, %c0] : tensor<32x16xf32, #rows>, memref<?x?xf32>
  evo_tile.return
}

// A reduction of columns: registers, then the other half of the lanes.
// CHECK-LABEL: gpu.func @reduce_columns
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<4xf32>
// CHECK: gpu.shuffle xor {{.*}}
// CHECK-NOT: gpu.shuffle
// One lane of the two that hold a row stores it.
// CHECK: scf.if
// CHECK: gpu.return
evo_tile.kernel @reduce_columns(%x: memref<32x16xf32>, %y: memref<32xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %s = evo_tile.reduce add %t dim 1 : tensor<32x16xf32, #rows> -> tensor<32xf32, #slice>
  evo_tile.store %s, %y[%c0] {in_bounds = array<i1: true>} : tensor<32xf32, #slice>, memref<32xf32>
  evo_tile.return
}

// A reduction of rows: 5 steps between 32 lanes for each of 8 registers.
// CHECK-LABEL: gpu.func @reduce_rows
// CHECK-COUNT-40: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
evo_tile.kernel @reduce_rows(%x: memref<32x16xf32>, %y: memref<16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %s = evo_tile.reduce max %t dim 0 : tensor<32x16xf32, #rows> -> tensor<16xf32, #columns>
  evo_tile.store %s, %y[%c0] {in_bounds = array<i1: true>} : tensor<16xf32, #columns>, memref<16xf32>
  evo_tile.return
}

// 13 of 16 columns exist: the others count as the reduction's identity.
// CHECK-LABEL: gpu.func @reduce_padded
// CHECK: 0xFF800000
// CHECK: arith.select
// CHECK: gpu.return
evo_tile.kernel @reduce_padded(%x: memref<32x13xf32>, %y: memref<32xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x13xf32> -> tensor<32x13xf32, #rows>
  %s = evo_tile.reduce max %t dim 1 : tensor<32x13xf32, #rows> -> tensor<32xf32, #padded>
  evo_tile.store %s, %y[%c0] {in_bounds = array<i1: true>} : tensor<32xf32, #padded>, memref<32xf32>
  evo_tile.return
}

// A renaming of registers moves nothing; another split of the columns over the
// halves exchanges what the other half has.
// CHECK-LABEL: gpu.func @rename
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
evo_tile.kernel @rename(%x: memref<32x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %s = evo_tile.convert_layout %t : tensor<32x16xf32, #rows> -> tensor<32x16xf32, #renamed>
  evo_tile.store %s, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<32x16xf32, #renamed>, memref<32x16xf32>
  evo_tile.return
}

// CHECK-LABEL: gpu.func @exchange
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
evo_tile.kernel @exchange(%x: memref<32x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> tensor<32x16xf32, #rows>
  %s = evo_tile.convert_layout %t : tensor<32x16xf32, #rows> -> tensor<32x16xf32, #other>
  evo_tile.store %s, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<32x16xf32, #other>, memref<32x16xf32>
  evo_tile.return
}

// Each position's index; the loop carries registers.
// CHECK-LABEL: gpu.func @loop
// CHECK: scf.for {{.*}} -> (vector<4xi32>, vector<4xi32>)
// CHECK: arith.addi {{.*}} : vector<4xi32>
// CHECK: scf.yield {{.*}} : vector<4xi32>, vector<4xi32>
evo_tile.kernel @loop(%x: memref<32x16xi32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = evo_tile.iota %c0 dim 1 : tensor<32x16xi32, #rows>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> tensor<32x16xi32, #rows> {
    %b = arith.addi %a, %t : tensor<32x16xi32, #rows>
    scf.yield %b : tensor<32x16xi32, #rows>
  }
  evo_tile.store %s, %x[%c0, %c0] : tensor<32x16xi32, #rows>, memref<32x16xi32>
  evo_tile.return
}
