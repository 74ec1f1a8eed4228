// Which loops over tiles are merged, and where results go.
//
// RUN: evoformer-opt %s --convert-tile-to-cpu --evo-cpu-fuse-tiles --cse --split-input-file | FileCheck %s

// The comparison is cheap: repeated with its broadcast. One loop is left, and
// it writes where %t was.
// CHECK-LABEL: func.func @merges(
//       CHECK:     %[[T:.+]] = bufferization.to_tensor %{{.+}} restrict writable : memref<4x8xf32>
//   CHECK-NOT:     linalg.generic
//       CHECK:     linalg.generic {{.*}} ins(%{{.+}} : tensor<8xf32>) outs(%[[T]] : tensor<4x8xf32>)
//       CHECK:       arith.cmpf
//       CHECK:       math.exp2
//       CHECK:       arith.select
//   CHECK-NOT:     linalg.generic
evo_tile.kernel @merges(%x: memref<4x8xf32>, %m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] : memref<4x8xf32> -> tensor<4x8xf32>
  %row = evo_tile.load %m[%c0] : memref<8xf32> -> tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %drop = arith.cmpf oeq, %row, %zero : tensor<8xf32>
  %drops = evo_tile.broadcast %drop dim 0 : tensor<8xi1> -> tensor<4x8xi1>
  %e = math.exp2 %t : tensor<4x8xf32>
  %nothing = arith.constant dense<0.0> : tensor<4x8xf32>
  %r = arith.select %drops, %nothing, %e : tensor<4x8xi1>, tensor<4x8xf32>
  evo_tile.store %r, %x[%c0, %c0] : tensor<4x8xf32>, memref<4x8xf32>
  evo_tile.return
}

// -----

// An exponential of a row is not computed again for each column, a transposed
// read stays by itself, and a mask that stays is bytes.
// CHECK-LABEL: func.func @keeps(
//       CHECK:     linalg.generic
//       CHECK:       math.exp2
//       CHECK:     -> tensor<8xf32>
//       CHECK:     linalg.generic {{.*}} ins(%{{.+}} : tensor<8x4xf32>) outs(%{{.+}} : tensor<4x8xf32>)
//  CHECK-NEXT:     ^bb0
//  CHECK-NEXT:       linalg.yield
//       CHECK:     linalg.generic
//       CHECK:       arith.extui %{{.+}} : i1 to i8
//       CHECK:     -> tensor<4x8xi8>
//       CHECK:       arith.cmpi ne, %{{.+}} : i8
evo_tile.kernel @keeps(%x: memref<8x4xf32>, %m: memref<8xf32>, %y: memref<4x8xf32>, %z: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] : memref<8x4xf32> -> tensor<8x4xf32>
  %row = evo_tile.load %m[%c0] : memref<8xf32> -> tensor<8xf32>
  %e = math.exp2 %row : tensor<8xf32>
  %es = evo_tile.broadcast %e dim 0 : tensor<8xf32> -> tensor<4x8xf32>
  %tt = evo_tile.transpose %t [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %less = arith.cmpf olt, %tt, %es : tensor<4x8xf32>
  %a = arith.select %less, %tt, %es : tensor<4x8xi1>, tensor<4x8xf32>
  %b = arith.select %less, %es, %tt : tensor<4x8xi1>, tensor<4x8xf32>
  evo_tile.store %a, %y[%c0, %c0] : tensor<4x8xf32>, memref<4x8xf32>
  evo_tile.store %b, %z[%c0, %c0] : tensor<4x8xf32>, memref<4x8xf32>
  evo_tile.return
}

// -----

// A product's sum goes into the buffer that the loop carries.
// CHECK-LABEL: func.func @carried(
//       CHECK:   scf.for %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}}) -> (tensor<4x4xf32>)
//       CHECK:     %[[SCALED:.+]] = linalg.generic {{.*}} outs(%[[ACC]] : tensor<4x4xf32>)
//       CHECK:     %[[SUM:.+]] = linalg.contract {{.*}} outs(%[[SCALED]] : tensor<4x4xf32>)
//       CHECK:     %[[SAME:.+]] = bufferization.materialize_in_destination %[[SUM]] in %[[ACC]]
//       CHECK:     scf.yield %[[SAME]]
evo_tile.kernel @carried(%x: memref<4x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %half = arith.constant dense<0.5> : tensor<4x4xf32>
  %t = evo_tile.load %x[%c0, %c0] : memref<4x4xf32> -> tensor<4x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> tensor<4x4xf32> {
    %scaled = arith.mulf %acc, %half : tensor<4x4xf32>
    %next = evo_tile.mma %t, %t, %scaled : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
    scf.yield %next : tensor<4x4xf32>
  }
  evo_tile.store %r, %x[%c0, %c0] : tensor<4x4xf32>, memref<4x4xf32>
  evo_tile.return
}

// -----

// Nothing writes while %t is in use: it stays where it is, unless some of it
// is outside. %u is read before a write: it is copied.
// CHECK-LABEL: func.func @stays(
//       CHECK:   scf.for
//       CHECK:     %[[U:.+]] = bufferization.to_tensor %{{.+}} restrict writable : memref<4x8xf32>
//       CHECK:     scf.for
//       CHECK:       %[[T:.+]] = scf.if %{{.+}} -> (memref<4x8xf32, strided<[?, 1], offset: ?>>)
//       CHECK:         linalg.fill
//       CHECK:       } else {
//       CHECK:         %[[VIEW:.+]] = memref.subview
//       CHECK:         %[[CAST:.+]] = memref.cast %[[VIEW]]
//       CHECK:         scf.yield %[[CAST]]
//       CHECK:       bufferization.to_tensor %[[T]] restrict : memref<4x8xf32, strided<[?, 1], offset: ?>>
evo_tile.kernel @stays(%x: memref<?x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %u = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<?x8xf32> -> tensor<4x8xf32>
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%s = %u) -> tensor<4x8xf32> {
    %t = evo_tile.load %x[%i, %c0] padding 0.0 : f32 {in_bounds = array<i1: false, true>} : memref<?x8xf32> -> tensor<4x8xf32>
    %next = arith.addf %s, %t : tensor<4x8xf32>
    scf.yield %next : tensor<4x8xf32>
  }
  evo_tile.store %r, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<4x8xf32>, memref<?x8xf32>
  evo_tile.return
}
