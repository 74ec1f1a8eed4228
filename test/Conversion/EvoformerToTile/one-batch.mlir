// A bias's gradient is a sum over the dimensions in which the bias broadcasts, but
// not over those whose size is known to be 1: one counter is left, whose steps
// need no division, and its copies run ahead of the products.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --evoformer-lower='target=sm_80 stop-after=pipelined' | FileCheck %s --check-prefix=AHEAD

!x = memref<1x?x?x4x32xbf16>
!pair = memref<1x1x4x?x?xbf16>

// CHECK-LABEL: evo_tile.kernel @one_batch_bias_grad(
// CHECK-NOT:     arith.{{div|rem}}
// CHECK:         scf.for %[[ROW:[^ ]+]] =
// CHECK-NOT:     arith.{{div|rem}}
// CHECK:           memref.subview %arg0[%{{[^,]+}}, %[[ROW]],
// CHECK-NOT:     arith.{{div|rem}}
// CHECK:         evo_tile.return

// In the steady loop the next row is copied, whose place is the counter plus the
// step, to the other of two buffers.
// AHEAD-LABEL: evo_tile.kernel @one_batch_bias_grad(
// AHEAD-NOT:     arith.{{div|rem}}
// AHEAD:         evo_tile.async_copy
// AHEAD:         evo_tile.async_group
// AHEAD:         scf.for %[[ROW:[^ ]+]] = {{.*}} step %[[STEP:[^ ]+]]
// AHEAD-NOT:       evo_tile.barrier
// AHEAD-NOT:       arith.{{div|rem}}
// AHEAD:           evo_tile.async_copy
// AHEAD-NOT:       evo_tile.barrier
// AHEAD-NOT:       arith.{{div|rem}}
// AHEAD:           evo_tile.wait
// AHEAD-NEXT:      evo_tile.barrier
// AHEAD-NOT:       evo_tile.barrier
// AHEAD-NOT:       arith.{{div|rem}}
// AHEAD:           evo_tile.barrier
// AHEAD-NEXT:      scf.yield
func.func @one_batch(%x: !x, %p: !pair, %delta: memref<1x?x4x?xf32>,
                     %stats: memref<2x1x?x4x?xf32>, %dp: !pair) {
  evoformer.attention_gradient
      query(%x : !x) key(%x : !x) value(%x : !x) bias(%p : !pair)
      weighted_grad(%x : !x) stats(%stats : memref<2x1x?x4x?xf32>)
      delta(%delta : memref<1x?x4x?xf32>) bias_grad[0](%dp : !pair)
  return
}

// Of one query and one row nothing is summed at all: what the query's kernel holds
// is the gradient.
// CHECK-LABEL: evo_tile.kernel @one_query_query_grad(
// CHECK-LABEL: func.func @one_query(
// CHECK-NOT:     @one_query_bias_grad
func.func @one_query(%x: memref<?x1x1x4x32xbf16>, %k: memref<?x1x?x4x32xbf16>,
                     %p: memref<?x1x4x1x?xbf16>, %delta: memref<?x1x4x1xf32>,
                     %stats: memref<2x?x1x4x1xf32>,
                     %dq: memref<?x1x1x4x32xbf16>, %dp: memref<?x1x4x1x?xbf16>) {
  evoformer.attention_gradient
      query(%x : memref<?x1x1x4x32xbf16>) key(%k : memref<?x1x?x4x32xbf16>)
      value(%k : memref<?x1x?x4x32xbf16>) bias(%p : memref<?x1x4x1x?xbf16>)
      weighted_grad(%x : memref<?x1x1x4x32xbf16>)
      stats(%stats : memref<2x?x1x4x1xf32>) delta(%delta : memref<?x1x4x1xf32>)
      query_grad(%dq : memref<?x1x1x4x32xbf16>)
      bias_grad[0](%dp : memref<?x1x4x1x?xbf16>)
  return
}

// Of several batches both counters are in one loop.
// CHECK-LABEL: evo_tile.kernel @batches_bias_grad(
// CHECK:         scf.for %[[STEP:[^ ]+]] =
// CHECK:           %[[ROW:.+]] = arith.remui %[[STEP]], %[[ROWS:.+]] :
// CHECK:           %[[BATCH:.+]] = arith.divui %[[STEP]], %[[ROWS]] :
// CHECK:           memref.subview %arg0[%[[BATCH]], %[[ROW]],
func.func @batches(%x: memref<?x?x?x4x32xbf16>, %p: !pair,
                   %delta: memref<?x?x4x?xf32>, %stats: memref<2x?x?x4x?xf32>,
                   %dp: !pair) {
  evoformer.attention_gradient
      query(%x : memref<?x?x?x4x32xbf16>) key(%x : memref<?x?x?x4x32xbf16>)
      value(%x : memref<?x?x?x4x32xbf16>) bias(%p : !pair)
      weighted_grad(%x : memref<?x?x?x4x32xbf16>)
      stats(%stats : memref<2x?x?x4x?xf32>) delta(%delta : memref<?x?x4x?xf32>)
      bias_grad[0](%dp : !pair)
  return
}
