// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu --canonicalize --cse --split-input-file | FileCheck %s

// The gradient of a pair bias: an item owns a head and a block of queries and
// keys, and sums over rows in order. The first step has its own kernel.
// CHECK-LABEL: evo_tile.kernel @pair_delta(
// CHECK-DAG:     evo_tile.reduce add %{{.*}} dim 2 : tensor<1x32x8xf32> -> tensor<1x32xf32>
// CHECK-LABEL: evo_tile.kernel @pair_bias_grad(
// CHECK-DAG:     %[[H:.*]] = evo_tile.work_item_id 2
// CHECK-DAG:     %[[I:.*]] = evo_tile.work_item_id 3
// CHECK-DAG:     %[[J:.*]] = evo_tile.work_item_id 4
// CHECK:         %[[SUM:.*]] = scf.for %[[N:.*]] = %c0 to %[[ROWS:.*]] step %c1 iter_args(%[[S:.*]] = %{{.*}}) -> (tensor<1x32x64xf32>)
// The scores, the weights, their gradient on top of -delta.
// CHECK:           %[[SCORES:.*]] = evo_tile.mma
// CHECK:           %[[EXP:.*]] = math.exp2
// CHECK:           %[[P:.*]] = arith.select %{{.*}}, %{{.*}}, %[[EXP]]
// CHECK:           %[[DP:.*]] = evo_tile.mma
// CHECK:           %[[KEPT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[DP]]
// CHECK:           %[[NEXT:.*]] = math.fma %[[P]], %[[KEPT]], %[[S]]
// CHECK:           %[[SOME:.*]] = evo_tile.skip_idle %[[NEXT]] else %[[S]] within[%{{.*}}, %{{.*}}] along [1, 2]
// CHECK:           scf.yield %[[SOME]]
// CHECK:         evo_tile.store %{{.*}}, %{{.*}}[%c0, %c0, %c0]
// CHECK-LABEL: func.func @pair(
// CHECK:         evo_tile.launch @pair_delta space(%{{.*}}, %{{.*}}, %{{.*}}, %c4)
// CHECK:         evo_tile.launch @pair_bias_grad space(%c1, %c1, %c4, %{{.*}}, %{{.*}})
func.func @pair(%x: memref<1x?x?x4x8xf16>, %p: memref<1x1x4x?x?xf16>,
                %s: memref<2x1x?x4x?xf32>, %d: memref<1x?x4x?xf32>,
                %dp: memref<1x1x4x?x?xf32>) {
  evoformer.attention_delta
      output(%x : memref<1x?x?x4x8xf16>) output_grad(%x : memref<1x?x?x4x8xf16>)
      delta(%d : memref<1x?x4x?xf32>)
  evoformer.attention_gradient
      query(%x : memref<1x?x?x4x8xf16>) key(%x : memref<1x?x?x4x8xf16>)
      value(%x : memref<1x?x?x4x8xf16>) bias(%p : memref<1x1x4x?x?xf16>)
      weighted_grad(%x : memref<1x?x?x4x8xf16>)
      stats(%s : memref<2x1x?x4x?xf32>) delta(%d : memref<1x?x4x?xf32>)
      bias_grad[0](%dp : memref<1x1x4x?x?xf32>)
  return
}

// -----

// The gradient of a key mask: its keys come first in the tile, so that the sum
// over queries stays in a subgroup; heads and query blocks are one loop.
// CHECK-LABEL: evo_tile.kernel @mask_bias_grad(
// CHECK:         %[[STEPS:.*]] = arith.muli
// CHECK:         scf.for %[[STEP:.*]] = %c0 to %[[STEPS]] step %c1 iter_args(%{{.*}}) -> (tensor<1x32x64xf32>)
// CHECK:           arith.remui %[[STEP]]
// CHECK:           arith.divui %[[STEP]]
// CHECK:         %[[SUM:.*]] = evo_tile.reduce add %{{.*}} dim 2 : tensor<1x32x64xf32> -> tensor<1x32xf32>
// CHECK:         evo_tile.store %[[SUM]]
// CHECK-LABEL: func.func @mask(
// CHECK:         evo_tile.launch @mask_bias_grad space(%{{.*}}, %{{.*}}, %c1, %c1, %{{.*}})
func.func @mask(%x: memref<?x?x?x4x8xf32>, %m: memref<?x?x1x1x?xf32>,
                %s: memref<?x?x4x?xf32>,
                %stats: memref<2x?x?x4x?xf32>, %dm: memref<?x?x1x1x?xf32>) {
  evoformer.attention_gradient
      query(%x : memref<?x?x?x4x8xf32>) key(%x : memref<?x?x?x4x8xf32>)
      value(%x : memref<?x?x?x4x8xf32>) bias(%m : memref<?x?x1x1x?xf32>)
      weighted_grad(%x : memref<?x?x?x4x8xf32>)
      stats(%stats : memref<2x?x?x4x?xf32>) delta(%s : memref<?x?x4x?xf32>)
      bias_grad[0](%dm : memref<?x?x1x1x?xf32>)
  return
}

// -----

// Query: a loop over keys; key and value: one over queries, and the scores are
// those of keys by queries. Of the value alone nothing but the weights.
// CHECK-LABEL: evo_tile.kernel @all_query_grad(
// CHECK:         scf.for {{.*}} step %c64 iter_args(%{{.*}}) -> (tensor<1x32x8xf32>)
// CHECK-COUNT-3:   evo_tile.mma
// CHECK-NOT:       evo_tile.mma
// CHECK-LABEL: evo_tile.kernel @all_key_value_grad(
// CHECK:         scf.for {{.*}} step %c64 iter_args(%{{.*}}) -> (tensor<1x32x8xf32>, tensor<1x32x16xf32>)
// CHECK-COUNT-4:   evo_tile.mma
// CHECK-NOT:       evo_tile.mma
// CHECK-LABEL: evo_tile.kernel @all_key_value_grad_0(
// CHECK:         scf.for {{.*}} step %c64 iter_args(%{{.*}}) -> (tensor<1x32x16xf32>)
// CHECK-COUNT-2:   evo_tile.mma
// CHECK-NOT:       evo_tile.mma
// CHECK-LABEL: func.func @all(
func.func @all(%x: memref<1x2x128x4x8xf16>, %v: memref<1x2x128x4x16xf16>,
               %s: memref<1x2x4x128xf32>,
               %stats: memref<2x1x2x4x128xf32>, %dq: memref<1x2x128x4x8xf16>,
               %dk: memref<1x2x128x4x8xf16>, %dv: memref<1x2x128x4x16xf16>) {
  evoformer.attention_gradient
      query(%x : memref<1x2x128x4x8xf16>) key(%x : memref<1x2x128x4x8xf16>)
      value(%v : memref<1x2x128x4x16xf16>)
      weighted_grad(%v : memref<1x2x128x4x16xf16>)
      stats(%stats : memref<2x1x2x4x128xf32>) delta(%s : memref<1x2x4x128xf32>)
      query_grad(%dq : memref<1x2x128x4x8xf16>)
  evoformer.attention_gradient
      query(%x : memref<1x2x128x4x8xf16>) key(%x : memref<1x2x128x4x8xf16>)
      value(%v : memref<1x2x128x4x16xf16>)
      weighted_grad(%v : memref<1x2x128x4x16xf16>)
      stats(%stats : memref<2x1x2x4x128xf32>) delta(%s : memref<1x2x4x128xf32>)
      key_grad(%dk : memref<1x2x128x4x8xf16>)
      value_grad(%dv : memref<1x2x128x4x16xf16>)
  evoformer.attention_gradient
      query(%x : memref<1x2x128x4x8xf16>) key(%x : memref<1x2x128x4x8xf16>)
      value(%v : memref<1x2x128x4x16xf16>)
      weighted_grad(%v : memref<1x2x128x4x16xf16>)
      stats(%stats : memref<2x1x2x4x128xf32>)
      value_grad(%dv : memref<1x2x128x4x16xf16>)
  return
}

// -----

// One head and two blocks of keys do not fill a chip: the sum over 24 rows is
// cut into parts, no more of them than the memory of the gradients of query,
// key and value holds (7), here six of four rows, and a second kernel adds them
// in their order.
// CHECK-LABEL: evo_tile.kernel @parts_bias_grad_0(
// CHECK:         %[[PART:.*]] = evo_tile.work_item_id 5
// CHECK:         %[[FIRST:.*]] = arith.muli %[[PART]], %[[STEPS:.*]] : index
// CHECK:         %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[STEPS]]
// CHECK:         %[[END:.*]] = arith.minui %[[NEXT]], %c24
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1
// CHECK-LABEL: evo_tile.kernel @parts_sum_parts(
// CHECK:         scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 iter_args(%[[S:.*]] = %{{.*}})
// CHECK:           memref.subview %arg0[%[[I]],
// CHECK:           %[[T:.*]] = evo_tile.load
// CHECK:           arith.addf %[[S]], %[[T]]
// CHECK-LABEL: func.func @parts(
// CHECK:         %[[P:.*]] = memref.alloc() {{.*}} : memref<6x1x1x1x64x128xf32>
// CHECK:         evo_tile.launch @parts_bias_grad_0 space(%c1, %c1, %c1, %c2, %c2, %c6)
// CHECK:         evo_tile.launch @parts_sum_parts space(%c1, %c1, %c1, %c4, %c2)
// CHECK:         memref.dealloc %[[P]]
func.func @parts(%q: memref<1x24x64x1x8xf32>, %k: memref<1x24x128x1x8xf32>,
                 %p: memref<1x1x1x64x128xf32>, %s: memref<1x24x1x64xf32>,
                 %stats: memref<2x1x24x1x64xf32>,
                 %dp: memref<1x1x1x64x128xf32>) {
  evoformer.attention_gradient
      query(%q : memref<1x24x64x1x8xf32>) key(%k : memref<1x24x128x1x8xf32>)
      value(%k : memref<1x24x128x1x8xf32>) bias(%p : memref<1x1x1x64x128xf32>)
      weighted_grad(%q : memref<1x24x64x1x8xf32>)
      stats(%stats : memref<2x1x24x1x64xf32>) delta(%s : memref<1x24x1x64xf32>)
      bias_grad[0](%dp : memref<1x1x1x64x128xf32>)
  return
}

// -----

// Nothing is summed: no parts and no loop, the tile is stored as it is.
// CHECK-LABEL: evo_tile.kernel @nothing_bias_grad(
// CHECK-NOT:     scf.for
// CHECK-LABEL: func.func @nothing(
// CHECK:         evo_tile.launch @nothing_bias_grad space(%c2, %c2, %c2, %c2, %c1)
// CHECK-NOT:     evo_tile.launch
func.func @nothing(%x: memref<2x2x64x2x8xf32>, %p: memref<2x2x2x64x64xf32>,
                   %s: memref<2x2x2x64xf32>,
                   %stats: memref<2x2x2x2x64xf32>,
                   %dp: memref<2x2x2x64x64xf32>) {
  evoformer.attention_gradient
      query(%x : memref<2x2x64x2x8xf32>) key(%x : memref<2x2x64x2x8xf32>)
      value(%x : memref<2x2x64x2x8xf32>) bias(%p : memref<2x2x2x64x64xf32>)
      weighted_grad(%x : memref<2x2x64x2x8xf32>)
      stats(%stats : memref<2x2x2x2x64xf32>) delta(%s : memref<2x2x2x64xf32>)
      bias_grad[0](%dp : memref<2x2x2x64x64xf32>)
  return
}
