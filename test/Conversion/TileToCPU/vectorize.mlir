// Which form of loop an op becomes. What the loops compute is run in
// compute.mlir.
//
// RUN: evoformer-opt %s --evo-cpu-vectorize=vector-bits=256 --split-input-file | FileCheck %s

#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// Vectors of 8 and one of 4 at the end; what a row shares is loaded once.
// CHECK-LABEL: func.func @elementwise(
//       CHECK:   scf.for %[[I:.+]] =
//       CHECK:     scf.for %[[J:.+]] = %{{.+}} to %{{.+}} step %c8
//       CHECK:       vector.load %{{.+}}[%[[I]], %[[J]]] : memref<5x20xf32>, vector<8xf32>
//       CHECK:       memref.load %{{.+}}[%[[I]]] : memref<5xf32>
//       CHECK:       vector.broadcast
//       CHECK:       arith.mulf %{{.+}} : vector<8xf32>
//       CHECK:       vector.store %{{.+}} : memref<5x20xf32>, vector<8xf32>
//       CHECK:     %[[LAST:.+]] = arith.constant 16 : index
//       CHECK:     vector.load %{{.+}}[%[[I]], %[[LAST]]] : memref<5x20xf32>, vector<4xf32>
func.func @elementwise(%x: memref<5x20xf32>, %s: memref<5xf32>, %y: memref<5x20xf32>) {
  linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<5x20xf32>, memref<5xf32>) outs(%y : memref<5x20xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#all = affine_map<(i, j) -> (i, j)>

// i1 is a byte in a buffer and a bit in a vector; other strides have no vector.
// CHECK-LABEL: func.func @scalars(
//   CHECK-NOT:   vector
//       CHECK:   memref.load %{{.+}} : memref<5x16xi1>
//       CHECK:   memref.load %{{.+}} : memref<5x16xf32, strided<[1, 5]>>
//   CHECK-NOT:   vector
func.func @scalars(%x: memref<5x16xi1>, %y: memref<5x16xi1>,
                   %p: memref<5x16xf32, strided<[1, 5]>>, %q: memref<5x16xf32, strided<[1, 5]>>) {
  linalg.copy ins(%x : memref<5x16xi1>) outs(%y : memref<5x16xi1>)
  memref.copy %p, %q : memref<5x16xf32, strided<[1, 5]>> to memref<5x16xf32, strided<[1, 5]>>
  return
}

// -----

#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>

// Along rows: partial sums, then one sum. Along columns: a vector of sums.
// CHECK-LABEL: func.func @reductions(
//       CHECK:   %[[FIRST:.+]] = vector.load %{{.+}} : memref<5x32xf32>, vector<8xf32>
//       CHECK:   %[[PARTIAL:.+]] = scf.for %{{.+}} iter_args(%{{.+}} = %[[FIRST]]) -> (vector<8xf32>)
//       CHECK:   vector.reduction <add>, %[[PARTIAL]], %{{.+}} fastmath<reassoc> : vector<8xf32> into f32
//       CHECK:   scf.for %[[J:.+]] = %{{.+}} step %c8
//       CHECK:     %[[SUM:.+]] = scf.for %[[I:.+]] = %{{.+}} iter_args(%{{.+}}) -> (vector<8xf32>)
//       CHECK:       vector.load %{{.+}}[%[[I]], %[[J]]]
//       CHECK:     vector.store %[[SUM]], %{{.+}}[%[[J]]] : memref<32xf32>, vector<8xf32>
func.func @reductions(%x: memref<5x32xf32>, %r: memref<5xf32>, %c: memref<32xf32>) {
  linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<5x32xf32>) outs(%r : memref<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<5x32xf32>) outs(%c : memref<32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// Squares of 8 x 8: three exchanges of pairs each.
// CHECK-LABEL: func.func @transpose(
// CHECK-COUNT-8: vector.load {{.*}} vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: vector.store {{.*}} vector<8xf32>
//   CHECK-NOT:   vector.shuffle
func.func @transpose(%x: memref<16x8xf32>, %y: memref<8x16xf32>) {
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<16x8xf32>) outs(%y : memref<8x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// 8 rows are two blocks of 4, each by two vectors: eight sums in registers.
// CHECK-LABEL: func.func @product(
//       CHECK:   scf.for %{{.+}} step %c4
// CHECK-COUNT-8: vector.load {{.*}} memref<8x16xf32>, vector<8xf32>
//       CHECK:     scf.for %{{.+}} iter_args
// CHECK-COUNT-2:     vector.load {{.*}} memref<7x16xf32>, vector<8xf32>
// CHECK-COUNT-8:     arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
//   CHECK-NOT:       arith.mulf
//       CHECK:     }
// CHECK-COUNT-8:   vector.store {{.*}} memref<8x16xf32>, vector<8xf32>
func.func @product(%x: memref<8x7xf32>, %y: memref<7x16xf32>, %z: memref<8x16xf32>) {
  linalg.contract indexing_maps = [#a, #b, #c]
      ins(%x, %y : memref<8x7xf32>, memref<7x16xf32>) outs(%z : memref<8x16xf32>)
  return
}
