// Products that start from zero start in registers, and a transposed left operand
// is read where it lies: its elements are read one at a time.
//
// RUN: evoformer-opt %s --convert-tile-to-cpu | FileCheck %s --check-prefix=LINALG
// RUN: evoformer-opt %s --pass-pipeline="builtin.module(convert-tile-to-cpu,func.func(cse),one-shot-bufferize{allow-unknown-ops},func.func(evo-cpu-vectorize),canonicalize)" | FileCheck %s --check-prefix=VECTOR

// LINALG-DAG: #[[KM:.+]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// LINALG-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// LINALG-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// LINALG-LABEL: func.func @transposed(
// LINALG:         linalg.contract indexing_maps = [#[[KM]], #[[KN]], #[[MN]]] {evo_tile.from_zero}
// LINALG:         linalg.contract
// LINALG-NOT:     from_zero
// LINALG:         return

// VECTOR-LABEL: func.func @transposed(
// VECTOR:         %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// VECTOR:         scf.for %[[K:.+]] = {{.+}} iter_args(%{{.+}} = %[[ZERO]]
// VECTOR:           memref.load %{{.+}}[%[[K]], %{{.+}}]
evo_tile.kernel @transposed(%x: memref<32x16xf32>, %y: memref<32x8xf32>, %z: memref<16x8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %a = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x16xf32> -> tensor<32x16xf32>
  %b = evo_tile.load %y[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<32x8xf32> -> tensor<32x8xf32>
  %at = evo_tile.transpose %a [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
  %p = evo_tile.mma %at, %b, %zero : tensor<16x32xf32>, tensor<32x8xf32>, tensor<16x8xf32>
  %q = evo_tile.mma %at, %b, %p : tensor<16x32xf32>, tensor<32x8xf32>, tensor<16x8xf32>
  evo_tile.store %q, %z[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<16x8xf32>, memref<16x8xf32>
  evo_tile.return
}
