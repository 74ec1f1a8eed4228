// Tiles from and to memory, run: bounds, padding, clamping, strides, masks.
//
// RUN: evoformer-opt %s --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O1 \
// RUN:       -shared-libs=%mlir_lib/libmlir_runner_utils.so,%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// One work item of 2 x 2 for each of 2 x 3, starting at -1: every side is cut.
evo_tile.kernel @pad(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = evo_tile.work_item_id 0
  %j = evo_tile.work_item_id 1
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i2 = arith.muli %i, %c2 : index
  %j2 = arith.muli %j, %c2 : index
  %row = arith.subi %i2, %c1 : index
  %column = arith.subi %j2, %c1 : index
  %t = evo_tile.load %x[%row, %column] padding -1.0 : f32 : memref<?x?xf32> -> tensor<2x2xf32>
  evo_tile.store %t, %y[%i2, %j2] : tensor<2x2xf32>, memref<?x?xf32>
  evo_tile.return
}

// The same tile of 4 x 5 without padding: the nearest element.
evo_tile.kernel @clamp(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %minus = arith.constant -1 : index
  %t = evo_tile.load %x[%minus, %minus] : memref<?x?xf32> -> tensor<4x5xf32>
  evo_tile.store %t, %y[%c0, %c0] : tensor<4x5xf32>, memref<?x?xf32>
  evo_tile.return
}

// Only the middle of a tile of 4 x 5 is inside: the rest is not written.
evo_tile.kernel @clip(%y: memref<?x?xf32>) {
  %minus = arith.constant -1 : index
  %t = arith.constant dense<7.0> : tensor<4x5xf32>
  evo_tile.store %t, %y[%minus, %minus] : tensor<4x5xf32>, memref<?x?xf32>
  evo_tile.return
}

// Any strides, 0 included, and a mask of bytes.
evo_tile.kernel @strided(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>,
                         %mask: memref<?xi8>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32, strided<[?, ?], offset: ?>> -> tensor<3x4xf32>
  %m = evo_tile.load %mask[%c0] padding 0 : i8 : memref<?xi8> -> tensor<4xi8>
  %none = arith.constant dense<0> : tensor<4xi8>
  %keep = arith.cmpi ne, %m, %none : tensor<4xi8>
  %keeps = evo_tile.broadcast %keep dim 0 : tensor<4xi1> -> tensor<3x4xi1>
  %out = arith.constant dense<-9.0> : tensor<3x4xf32>
  %r = arith.select %keeps, %t, %out : tensor<3x4xi1>, tensor<3x4xf32>
  evo_tile.store %r, %y[%c0, %c0] : tensor<3x4xf32>, memref<?x?xf32>
  evo_tile.return
}

// Workgroup memory with padded rows, filled by copies that need not be there;
// a copy with a false predicate leaves what was there.
#lds = #gpu.address_space<workgroup>
evo_tile.kernel @staged(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  %false = arith.constant false
  %ring = evo_tile.alloc_lds : memref<2x2x3xf32, strided<[10, 5, 1]>, #lds>
  %old = arith.constant dense<5.0> : tensor<1x2x3xf32>
  evo_tile.store %old, %ring[%c1, %c0, %c0] : tensor<1x2x3xf32>, memref<2x2x3xf32, strided<[10, 5, 1]>, #lds>
  %stage = memref.subview %ring[0, 0, 0] [1, 2, 3] [1, 1, 1]
    : memref<2x2x3xf32, strided<[10, 5, 1]>, #lds> to memref<2x3xf32, strided<[5, 1]>, #lds>
  %other = memref.subview %ring[1, 0, 0] [1, 2, 3] [1, 1, 1]
    : memref<2x2x3xf32, strided<[10, 5, 1]>, #lds> to memref<2x3xf32, strided<[5, 1], offset: 10>, #lds>
  %copy = evo_tile.async_copy %x[%c1, %c1] to %stage[%c0, %c0] if %true padding 0.0 : f32 as tensor<2x3xf32>
    : memref<?x?xf32>, memref<2x3xf32, strided<[5, 1]>, #lds>
  %copy1 = evo_tile.async_copy %x[%c0, %c0] to %other[%c0, %c0] if %false as tensor<2x3xf32>
    : memref<?x?xf32>, memref<2x3xf32, strided<[5, 1], offset: 10>, #lds>
  %group = evo_tile.async_group(%copy, %copy1)
  evo_tile.wait %group
  evo_tile.barrier
  %a = evo_tile.load %stage[%c0, %c0] : memref<2x3xf32, strided<[5, 1]>, #lds> -> tensor<2x3xf32>
  %b = evo_tile.load %other[%c0, %c0] : memref<2x3xf32, strided<[5, 1], offset: 10>, #lds> -> tensor<2x3xf32>
  evo_tile.store %a, %y[%c0, %c0] : tensor<2x3xf32>, memref<?x?xf32>
  evo_tile.store %b, %y[%c2, %c0] : tensor<2x3xf32>, memref<?x?xf32>
  evo_tile.return
}

// Rows change places: what was read stays as it was read. Thrice, in a loop.
evo_tile.kernel @swap(%x: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %a = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<?x?xf32> -> tensor<1x3xf32>
    %b = evo_tile.load %x[%c1, %c0] {in_bounds = array<i1: true, true>} : memref<?x?xf32> -> tensor<1x3xf32>
    evo_tile.store %b, %x[%c0, %c0] : tensor<1x3xf32>, memref<?x?xf32>
    evo_tile.store %a, %x[%c1, %c0] : tensor<1x3xf32>, memref<?x?xf32>
  }
  evo_tile.return
}

// A row that one iteration reads and the next one adds to another.
evo_tile.kernel @carry(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<100.0> : tensor<1x3xf32>
  %sum:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%last = %zero, %s = %zero)
      -> (tensor<1x3xf32>, tensor<1x3xf32>) {
    %row = evo_tile.load %x[%i, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<1x3xf32>
    %n = arith.addf %s, %last : tensor<1x3xf32>
    scf.yield %row, %n : tensor<1x3xf32>, tensor<1x3xf32>
  }
  evo_tile.store %sum#0, %y[%c0, %c0] : tensor<1x3xf32>, memref<?x?xf32>
  evo_tile.store %sum#1, %y[%c1, %c0] : tensor<1x3xf32>, memref<?x?xf32>
  evo_tile.return
}

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func private @fresh(%rows: index, %columns: index, %value: f32) -> memref<?x?xf32> {
  %m = memref.alloc(%rows, %columns) : memref<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %j = %c0 to %columns step %c1 {
      memref.store %value, %m[%i, %j] : memref<?x?xf32>
    }
  }
  return %m : memref<?x?xf32>
}

func.func private @show(%m: memref<?x?xf32>) {
  %u = memref.cast %m : memref<?x?xf32> to memref<*xf32>
  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  memref.dealloc %m : memref<?x?xf32>
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %ten = arith.constant 10.0 : f32
  %zero = arith.constant 0.0 : f32
  // x[i, j] = 10 i + j, 2 x 3
  %x = func.call @fresh(%c2, %c3, %zero) : (index, index, f32) -> memref<?x?xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %ii = arith.index_cast %i : index to i32
      %jj = arith.index_cast %j : index to i32
      %fi = arith.sitofp %ii : i32 to f32
      %fj = arith.sitofp %jj : i32 to f32
      %p = arith.mulf %fi, %ten : f32
      %s = arith.addf %p, %fj : f32
      memref.store %s, %x[%i, %j] : memref<?x?xf32>
    }
  }

  %y0 = func.call @fresh(%c4, %c6, %zero) : (index, index, f32) -> memref<?x?xf32>
  evo_tile.launch @pad space(%c2, %c3) args(%x, %y0 : memref<?x?xf32>, memref<?x?xf32>)
  func.call @show(%y0) : (memref<?x?xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [-1, -1, -1, -1, -1, -1]
  // CHECK-NEXT: [-1, 0, 1, 2, -1, -1]
  // CHECK-NEXT: [-1, 10, 11, 12, -1, -1]
  // CHECK-NEXT: [-1, -1, -1, -1, -1, -1]

  %y1 = func.call @fresh(%c4, %c5, %zero) : (index, index, f32) -> memref<?x?xf32>
  evo_tile.launch @clamp space(%c1) args(%x, %y1 : memref<?x?xf32>, memref<?x?xf32>)
  func.call @show(%y1) : (memref<?x?xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [0, 0, 1, 2, 2]
  // CHECK-NEXT: [0, 0, 1, 2, 2]
  // CHECK-NEXT: [10, 10, 11, 12, 12]
  // CHECK-NEXT: [10, 10, 11, 12, 12]

  // The kernel is given 2 x 3.
  %y2 = func.call @fresh(%c4, %c5, %zero) : (index, index, f32) -> memref<?x?xf32>
  %window = memref.alloc(%c2, %c3) : memref<?x?xf32>
  evo_tile.launch @clip space(%c1) args(%window : memref<?x?xf32>)
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %v = memref.load %window[%i, %j] : memref<?x?xf32>
      memref.store %v, %y2[%i, %j] : memref<?x?xf32>
    }
  }
  func.call @show(%y2) : (memref<?x?xf32>) -> ()
  memref.dealloc %window : memref<?x?xf32>
  // CHECK:      data =
  // CHECK-NEXT: [7, 7, 7, 0, 0]
  // CHECK-NEXT: [7, 7, 7, 0, 0]
  // CHECK-NEXT: [0, 0, 0, 0, 0]

  // x[0, :] and x[1, :] as columns: x transposed, and its first row repeated.
  %mask = memref.alloc(%c3) : memref<?xi8>
  %yes = arith.constant 2 : i8
  %no = arith.constant 0 : i8
  memref.store %yes, %mask[%c0] : memref<?xi8>
  memref.store %no, %mask[%c1] : memref<?xi8>
  memref.store %yes, %mask[%c2] : memref<?xi8>
  %xt = memref.reinterpret_cast %x to offset: [%c0], sizes: [%c3, %c2], strides: [%c1, %c3]
    : memref<?x?xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %xr = memref.reinterpret_cast %x to offset: [%c3], sizes: [%c3, %c3], strides: [%c0, %c1]
    : memref<?x?xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %y3 = func.call @fresh(%c3, %c4, %zero) : (index, index, f32) -> memref<?x?xf32>
  evo_tile.launch @strided space(%c1) args(%xt, %mask, %y3 : memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<?xi8>, memref<?x?xf32>)
  func.call @show(%y3) : (memref<?x?xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [0, -9, 0, -9]
  // CHECK-NEXT: [1, -9, 0, -9]
  // CHECK-NEXT: [2, -9, 0, -9]
  %y4 = func.call @fresh(%c3, %c4, %zero) : (index, index, f32) -> memref<?x?xf32>
  evo_tile.launch @strided space(%c1) args(%xr, %mask, %y4 : memref<?x?xf32, strided<[?, ?], offset: ?>>, memref<?xi8>, memref<?x?xf32>)
  func.call @show(%y4) : (memref<?x?xf32>) -> ()
  memref.dealloc %mask : memref<?xi8>
  // CHECK:      data =
  // CHECK-NEXT: [10, -9, 12, -9]
  // CHECK-NEXT: [10, -9, 12, -9]
  // CHECK-NEXT: [10, -9, 12, -9]

  %y5 = func.call @fresh(%c4, %c3, %zero) : (index, index, f32) -> memref<?x?xf32>
  evo_tile.launch @staged space(%c1) args(%x, %y5 : memref<?x?xf32>, memref<?x?xf32>)
  func.call @show(%y5) : (memref<?x?xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [11, 12, 0]
  // CHECK-NEXT: [0, 0, 0]
  // CHECK-NEXT: [5, 5, 5]
  // CHECK-NEXT: [5, 5, 5]

  // An empty space runs nothing.
  %y6 = func.call @fresh(%c1, %c1, %zero) : (index, index, f32) -> memref<?x?xf32>
  evo_tile.launch @pad space(%c2, %c0) args(%x, %y6 : memref<?x?xf32>, memref<?x?xf32>)
  func.call @show(%y6) : (memref<?x?xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: 0

  %y7 = func.call @fresh(%c2, %c3, %zero) : (index, index, f32) -> memref<?x?xf32>
  evo_tile.launch @carry space(%c1) args(%x, %y7 : memref<?x?xf32>, memref<?x?xf32>)
  func.call @show(%y7) : (memref<?x?xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [10, 11, 12]
  // CHECK-NEXT: [200, 201, 202]

  evo_tile.launch @swap space(%c1) args(%x : memref<?x?xf32>)
  func.call @show(%x) : (memref<?x?xf32>) -> ()
  // CHECK:      data =
  // CHECK-NEXT: [10, 11, 12]
  // CHECK-NEXT: [0, 1, 2]
  return
}
