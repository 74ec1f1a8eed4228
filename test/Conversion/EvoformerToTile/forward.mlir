// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=gfx942" --canonicalize --cse | FileCheck %s

// A key mask, which the preparing kernel turns into one row of f32 for each
// (batch, row), and a pair bias that the loop reads.

// CHECK-LABEL: evo_tile.kernel @triangle_key_bias(
// CHECK-SAME:    %[[MASK:[^:]*]]: memref<2x?x1x1x?xi8>, %[[SUM:[^:]*]]: memref<1x2x?x1x?xf32>, %[[KEYS:[^:]*]]: index)
// CHECK-SAME:    schedule = #evo_tile.schedule<v1, block = [1, 1, 512], subgroups = [1, 1, 2], stages = 1>
// CHECK:         scf.for
// CHECK:           %[[BYTES:.*]] = evo_tile.load {{.*}} padding 0 : i8 {{.*}} -> tensor<1x512xi8>
// CHECK:           %[[DROPPED:.*]] = arith.cmpi eq, %[[BYTES]]
// CHECK:           %[[ROW:.*]] = arith.select %[[DROPPED]], {{.*}} : tensor<1x512xi1>, tensor<1x512xf32>
// CHECK:           evo_tile.store %[[ROW]], {{.*}} {alignment = 16 : i64, in_bounds = array<i1: true>}
// CHECK-NOT:     f64

// CHECK-LABEL: evo_tile.kernel @triangle_attention(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<2x?x4x?x32xbf16, strided<[?, ?, 32, 128, 1]>>
// CHECK-SAME:    schedule = #evo_tile.schedule<v1, block = [1, 256, 64], subgroups = [1, 4, 1], stages = 2>
// CHECK-DAG:     %[[B:.*]] = evo_tile.work_item_id 0
// CHECK-DAG:     %[[N:.*]] = evo_tile.work_item_id 1
// CHECK-DAG:     %[[H:.*]] = evo_tile.work_item_id 2
// CHECK-DAG:     %[[BLOCK:.*]] = evo_tile.work_item_id 3
// CHECK:         %[[I:.*]] = arith.muli %[[BLOCK]], %c256
// CHECK:         %[[SLICE:.*]] = memref.subview %[[Q]][%[[B]], %[[N]], %[[H]], %[[I]], 0]
// CHECK:         %[[QT:.*]] = evo_tile.load %[[SLICE]][%c0, %c0, %c0] padding 0.000000e+00 : bf16
// CHECK-SAME:      in_bounds = array<i1: true, false, true>{{.*}} -> tensor<1x256x32xbf16>
// CHECK:         scf.for {{.*}} step %c64 iter_args(%[[O:.*]] = {{.*}}, %[[M:.*]] = {{.*}}, %[[L:.*]] = {{.*}})
// CHECK:           %[[K:.*]] = evo_tile.load {{.*}} -> tensor<1x64x32xbf16>
// CHECK:           %[[V:.*]] = evo_tile.load {{.*}} -> tensor<1x64x32xbf16>
// The product starts from the biases.
// CHECK:           %[[KEY:.*]] = evo_tile.load {{.*}} {alignment = 16 : i64, in_bounds = array<i1: true, true>} {{.*}} -> tensor<1x64xf32>
// CHECK:           %[[C:.*]] = evo_tile.broadcast %[[KEY]]
// CHECK:           %[[PAIR:.*]] = evo_tile.load {{.*}} {alignment = 16 : i64, in_bounds = array<i1: false, true>} {{.*}} -> tensor<256x64xbf16>
// CHECK:           arith.extf %[[PAIR]]
// CHECK:           %[[START:.*]] = math.fma {{.*}}, %[[C]]
// CHECK:           %[[KT:.*]] = evo_tile.transpose %[[K]] [0, 2, 1]
// CHECK:           %[[T:.*]] = evo_tile.mma %[[QT]], %[[KT]], %[[START]] : tensor<1x256x32xbf16>, tensor<1x32x64xbf16>, tensor<1x256x64xf32>
// Of rows without a key so far the maximum is looked for.
// CHECK:           %[[NEW:.*]] = arith.cmpf oeq, %[[M]], %{{.*}} : tensor<1x256xf32>
// CHECK:           %[[FIRST:.*]] = evo_tile.where %[[NEW]], %[[M]] {
// CHECK:             evo_tile.reduce max %[[T]] dim 2
// CHECK:             evo_tile.yield
// CHECK-NOT:       evo_tile.reduce max
// CHECK:           %[[P:.*]] = math.exp2 {{.*}} : tensor<1x256x64xf32>
// CHECK:           evo_tile.reduce add %[[P]] dim 2
// CHECK:           %[[PT:.*]] = arith.truncf %[[P]] toward_zero fastmath<nnan>
// CHECK:           evo_tile.mma %[[PT]], %[[V]], %[[O]]
// What has outgrown the first keys is done again: dropped keys score 0 then,
// whatever they hold, and the maximum runs along.
// CHECK:         %[[OUTSIDE:.*]] = arith.cmpf ugt, {{.*}} : tensor<1x256xf32>
// So is a row that has lost all keys although the prepared sum keeps some: its
// biases may have left f32 in units of products.
// CHECK:         %[[KEPT:.*]] = evo_tile.where %[[EMPTY:.*]], %{{.*}} {
// CHECK:           evo_tile.reduce max
// CHECK:         %[[SOME:.*]] = arith.cmpf oeq, %[[KEPT]], %{{.*}}
// CHECK:         %[[LOST:.*]] = arith.andi %[[EMPTY]], %[[SOME]]
// CHECK:         %[[AGAIN:.*]] = arith.ori %[[OUTSIDE]], %[[LOST]]
// CHECK:         evo_tile.where %[[AGAIN]], {{.*}} {
// CHECK:           scf.for {{.*}} step %c32
// CHECK:             %[[AGAIN:.*]] = evo_tile.load {{.*}} -> tensor<1x32x32xbf16>
// CHECK:             arith.select {{.*}}, {{.*}}, %[[AGAIN]] : tensor<1x32x32xi1>, tensor<1x32x32xbf16>
// CHECK:             evo_tile.reduce max {{.*}} dim 2
// CHECK:         evo_tile.store {{.*}} tensor<1x256x32xbf16>

// CHECK-LABEL: func.func @triangle(
// CHECK:         %[[BUFFER:.*]] = memref.alloc({{.*}}) {alignment = 64 : i64} : memref<1x2x?x1x?xf32>
// CHECK:         evo_tile.launch @triangle_key_bias space(%c2, %{{.*}}, %c1) args({{.*}} memref<2x?x1x1x?xi1>, memref<1x2x?x1x?xf32>, index)
// Enough rows share a copy of the pair bias as f32.
// CHECK:         scf.if
// CHECK:           %[[WIDE:.*]] = memref.alloc({{.*}}) {alignment = 64 : i64} : memref<2x1x4x?x?xf32>
// CHECK:           evo_tile.launch @triangle_copy_bias space({{.*}}) args({{.*}}, %[[WIDE]] :
// Whole vectors of the depth, or elements.
// CHECK:           scf.if
// CHECK:             evo_tile.launch @triangle_attention space(%c2, %{{.*}}, %c4, %{{.*}}) args({{.*}}%[[BUFFER]], %[[WIDE]]
// CHECK:           } else {
// CHECK:             evo_tile.launch @triangle_attention_0 space
// CHECK:           }
// CHECK:           memref.dealloc %[[WIDE]]
// CHECK:         } else {
// It is read where it lies, or copied; a copy without queries launches nothing.
// CHECK:           %[[COPIED:.*]] = arith.select %[[READABLE:.*]], %c0, %{{.*}} : index
// CHECK:           %[[COPY:.*]] = memref.alloc(%[[COPIED]], %{{.*}}) {{.*}} : memref<2x1x4x?x?xbf16>
// CHECK:           evo_tile.launch @triangle_copy_bias_1
// CHECK:           %[[ANY:.*]] = arith.select %[[READABLE]]
// CHECK:           %[[PAIR:.*]] = memref.cast %[[ANY]]
// CHECK:           scf.if
// CHECK:             evo_tile.launch @triangle_attention_2 space(%c2, %{{.*}}, %c4, %{{.*}}) args({{.*}}%[[BUFFER]], %[[PAIR]]
// CHECK:           } else {
// CHECK:             evo_tile.launch @triangle_attention_3 space
// CHECK:           }
// CHECK:         memref.dealloc %[[BUFFER]]
// CHECK-NOT:     evoformer.attention
func.func @triangle(%q: memref<2x?x?x4x32xbf16>, %k: memref<2x?x?x4x32xbf16>,
                    %v: memref<2x?x?x4x32xbf16>, %mask: memref<2x?x1x1x?xi1>,
                    %pair: memref<2x1x4x?x?xbf16>,
                    %out: memref<2x?x?x4x32xbf16>) {
  evoformer.attention
      query(%q : memref<2x?x?x4x32xbf16>)
      key(%k : memref<2x?x?x4x32xbf16>)
      value(%v : memref<2x?x?x4x32xbf16>)
      bias(%mask : memref<2x?x1x1x?xi1>)
      bias(%pair : memref<2x1x4x?x?xbf16>)
      outs(%out : memref<2x?x?x4x32xbf16>)
  return
}
