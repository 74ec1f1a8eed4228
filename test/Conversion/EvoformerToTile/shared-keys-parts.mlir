// Keys and values that queries share: where few work items are left, each takes
// a part of those that share them and a second kernel adds the parts.
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu' --canonicalize --cse --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=32767' --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=SINGLE
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=0' --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=NONE

// Two rows of one head and two blocks of keys are four items of the 64 that are
// wanted. The gradients of query, key and value have 32768 + 2 * 2048 elements of
// 2 bytes, the two of a part 4096 of 4 bytes: four and a half parts.
// CHECK-LABEL: evo_tile.kernel @group_key_value_grad_0(
// CHECK-SAME:    %[[DK:arg[0-9]+]]: memref<?x1x2x1x64x16xf32>, %[[DV:arg[0-9]+]]: memref<?x1x2x1x64x16xf32>, %[[STEPS:arg[0-9]+]]: index)
// CHECK:         %[[PART:.*]] = evo_tile.work_item_id 4
// CHECK:         %[[FIRST:.*]] = arith.muli %[[PART]], %[[STEPS]] : index
// CHECK:         %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[STEPS]]
// CHECK:         %[[END:.*]] = arith.minui %[[NEXT]], %c8
// CHECK-DAG:     memref.subview %[[DK]][%[[PART]], 0, 0, 0, 0, 0]
// CHECK-DAG:     memref.subview %[[DV]][%[[PART]], 0, 0, 0, 0, 0]
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1
// CHECK-LABEL: evo_tile.kernel @group_sum_parts(
// CHECK:         arith.addf
// CHECK:         arith.truncf
// CHECK-LABEL: func.func @group(
// CHECK:         %[[K:.*]] = memref.alloc() {{.*}} : memref<4x1x2x1x64x16xf32>
// CHECK:         %[[V:.*]] = memref.alloc() {{.*}} : memref<4x1x2x1x64x16xf32>
// CHECK:         evo_tile.launch @group_key_value_grad_0 space(%c1, %c2, %c1, %c2, %c4)
// CHECK:         evo_tile.launch @group_sum_parts space(%c1, %c2, %c1, %c4, %c1)
// CHECK:         evo_tile.launch @group_sum_parts_1 space(%c1, %c2, %c1, %c4, %c1)
// CHECK:         memref.dealloc %[[K]]
// CHECK:         memref.dealloc %[[V]]

// The memory holds no two parts: the kernel of one part, and nothing is allocated.
// SINGLE-LABEL: func.func @group(
// SINGLE-NOT:     memref.alloc
// SINGLE:         evo_tile.launch @group_key_value_grad space(%c1, %c2, %c1, %c2)
// SINGLE-NOT:     evo_tile.launch
// SINGLE:         return

// NONE-LABEL: evo_tile.kernel @group_key_value_grad(
// NONE-NOT:     sum_parts
// NONE-LABEL: func.func @group(
// NONE-NOT:     memref.alloc
// NONE:         evo_tile.launch @group_key_value_grad space(%c1, %c2, %c1, %c2)
// NONE-NOT:     evo_tile.launch
// NONE:         return
func.func @group(%q: memref<1x2x128x8x16xbf16>, %k: memref<1x2x64x1x16xbf16>,
                 %s: memref<1x2x8x128xf32>, %stats: memref<2x1x2x8x128xf32>,
                 %dk: memref<1x2x64x1x16xbf16>,
                 %dv: memref<1x2x64x1x16xbf16>) {
  evoformer.attention_gradient
      query(%q : memref<1x2x128x8x16xbf16>) key(%k : memref<1x2x64x1x16xbf16>)
      value(%k : memref<1x2x64x1x16xbf16>)
      weighted_grad(%q : memref<1x2x128x8x16xbf16>)
      stats(%stats : memref<2x1x2x8x128xf32>) delta(%s : memref<1x2x8x128xf32>)
      key_grad(%dk : memref<1x2x64x1x16xbf16>)
      value_grad(%dv : memref<1x2x64x1x16xbf16>) {group_size = 8 : i64}
  return
}

// -----

// Enough items: one part, although the memory holds more.
// CHECK-LABEL: func.func @many(
// CHECK-NOT:     memref.alloc
// CHECK:         evo_tile.launch @many_key_value_grad space(%c1, %c64, %c1, %c1)
// CHECK-NOT:     evo_tile.launch
// CHECK:         return
func.func @many(%q: memref<1x64x32x8x16xbf16>, %k: memref<1x64x32x1x16xbf16>,
                %s: memref<1x64x8x32xf32>, %stats: memref<2x1x64x8x32xf32>,
                %dk: memref<1x64x32x1x16xbf16>) {
  evoformer.attention_gradient
      query(%q : memref<1x64x32x8x16xbf16>) key(%k : memref<1x64x32x1x16xbf16>)
      value(%k : memref<1x64x32x1x16xbf16>)
      weighted_grad(%q : memref<1x64x32x8x16xbf16>)
      stats(%stats : memref<2x1x64x8x32xf32>) delta(%s : memref<1x64x8x32xf32>)
      key_grad(%dk : memref<1x64x32x1x16xbf16>) {group_size = 8 : i64}
  return
}

// -----

// Of rows that share keys, and of one gradient.
// CHECK-LABEL: func.func @rows(
// CHECK:         memref.alloc() {{.*}} : memref<12x1x1x2x32x16xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         evo_tile.launch @rows_key_value_grad_0 space(%c1, %c1, %c2, %c1, %c12)
// CHECK:         evo_tile.launch @rows_sum_parts space(%c1, %c1, %c2, %c2, %c1)
// CHECK-NOT:     evo_tile.launch
// CHECK:         return
func.func @rows(%q: memref<1x24x32x2x16xbf16>, %k: memref<1x1x32x2x16xbf16>,
                %stats: memref<2x1x24x2x32xf32>,
                %dv: memref<1x1x32x2x16xbf16>) {
  evoformer.attention_gradient
      query(%q : memref<1x24x32x2x16xbf16>) key(%k : memref<1x1x32x2x16xbf16>)
      value(%k : memref<1x1x32x2x16xbf16>)
      weighted_grad(%q : memref<1x24x32x2x16xbf16>)
      stats(%stats : memref<2x1x24x2x32xf32>)
      value_grad(%dv : memref<1x1x32x2x16xbf16>)
  return
}

// -----

// Parts of sequences that lie one behind the other: what is of none of them is
// in no part, and stays as it is.
// CHECK-LABEL: evo_tile.kernel @ragged_sum_parts(
// CHECK-SAME:    %[[PARTS:arg[0-9]+]]: memref<?x1x1x1x?x16xf32>, %[[SUM:arg[0-9]+]]: memref<1x1x1x?x16xf32{{.*}}>, %[[STARTS:arg[0-9]+]]: memref<4xi32>, %[[MOST:arg[0-9]+]]: index)
// CHECK:         %[[SEQUENCE:.*]] = evo_tile.work_item_id 0
// CHECK:         memref.subview %[[STARTS]][%[[SEQUENCE]]] [1] [1]
// CHECK:         memref.subview %[[PARTS]][%{{.*}}, 0, %{{.*}}, %{{.*}}, %[[START:.*]], %{{.*}}] [1, 1, 1, 1, %[[LEFT:.*]], %{{.*}}]
// CHECK:         memref.subview %[[SUM]][0, %{{.*}}, %{{.*}}, %[[START]], %{{.*}}] [1, 1, 1, %[[LEFT]], %{{.*}}]
// CHECK-LABEL: func.func @ragged(
func.func @ragged(%q: memref<1x1x?x4x16xf32>, %k: memref<1x1x?x1x16xf32>,
                  %s: memref<1x1x4x?xf32>, %stats: memref<2x1x1x4x?xf32>,
                  %dk: memref<1x1x?x1x16xf32>, %starts: memref<4xi32>,
                  %most: index) {
  evoformer.attention_gradient
      query(%q : memref<1x1x?x4x16xf32>) key(%k : memref<1x1x?x1x16xf32>)
      value(%k : memref<1x1x?x1x16xf32>)
      ragged(queries %starts : memref<4xi32>, keys %starts : memref<4xi32>,
             most %most, %most)
      weighted_grad(%q : memref<1x1x?x4x16xf32>)
      stats(%stats : memref<2x1x1x4x?xf32>) delta(%s : memref<1x1x4x?xf32>)
      key_grad(%dk : memref<1x1x?x1x16xf32>) {group_size = 4 : i64}
  return
}
