// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=cpu" --canonicalize --cse --split-input-file | FileCheck %s

// Float biases without a query are summed in f64 relative to their maximum,
// which lse adds back; stats, a maximum and the logarithm of a sum, do not.

// CHECK-LABEL: evo_tile.kernel @sum_key_bias(
// CHECK-SAME:    memref<1x1x2x1x40xf32>, %{{.*}}: memref<1x3x1x1x40xf16>, %[[SUM:[^:]*]]: memref<1x1x3x2x128xf32>, %[[MAX:[^:]*]]: memref<1x3x2xf32>,
// CHECK:         arith.addf {{.*}} : tensor<1x64xf64>
// CHECK:         arith.maxnumf
// CHECK:         evo_tile.reduce max {{.*}} dim 1 : tensor<1x64xf64> -> tensor<1xf64>
// CHECK:         evo_tile.store {{.*}} : tensor<1xf32>
// CHECK:           arith.subf {{.*}} : tensor<1x64xf64>
// CHECK:           arith.truncf {{.*}} : tensor<1x64xf64> to tensor<1x64xf32>
// CHECK-LABEL: evo_tile.kernel @sum_attention(
// CHECK:         %[[LOG:.*]] = math.log2
// CHECK:         evo_tile.store {{.*}} : tensor<1x32xf32>
// CHECK:         %[[FINITE:.*]] = arith.select {{.*}}, %[[LOG]]
// CHECK:         evo_tile.store %[[FINITE]], {{.*}} : tensor<1x32xf32>
// CHECK:         %[[MAXIMUM:.*]] = evo_tile.load {{.*}} -> tensor<1xf32>
// CHECK:         %[[REPEATED:.*]] = evo_tile.broadcast %[[MAXIMUM]] dim 1
// CHECK:         %[[LSE:.*]] = arith.addf %{{.*}}, %[[REPEATED]]
// CHECK:         %[[BOUNDED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LSE]]
// CHECK:         %[[CLAMPED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BOUNDED]]
// CHECK:         %[[SEEN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[CLAMPED]]
// CHECK:         evo_tile.store %[[SEEN]]
func.func @sum(%q: memref<1x3x32x2x8xf16>, %k: memref<1x3x40x2x8xf16>,
               %a: memref<1x1x2x1x40xf32>, %b: memref<1x3x1x1x40xf16>,
               %out: memref<1x3x32x2x8xf16>, %lse: memref<1x3x2x32xf32>,
               %stats: memref<2x1x3x2x32xf32>) {
  evoformer.attention
      query(%q : memref<1x3x32x2x8xf16>)
      key(%k : memref<1x3x40x2x8xf16>)
      value(%k : memref<1x3x40x2x8xf16>)
      bias(%a : memref<1x1x2x1x40xf32>)
      bias(%b : memref<1x3x1x1x40xf16>)
      outs(%out : memref<1x3x32x2x8xf16>)
      lse(%lse : memref<1x3x2x32xf32>)
      stats(%stats : memref<2x1x3x2x32xf32>)
  return
}

// -----

// No bias and whole key blocks: nothing to prepare, no predicate in the loop.

// CHECK:       // -----
// CHECK-NOT:   key_bias
// CHECK-LABEL: evo_tile.kernel @plain_attention(
// CHECK:         scf.for
// CHECK-NOT:       in_bounds = array<i1: true, false
// CHECK-NOT:       arith.select {{.*}} tensor<1x32x64xf32>
// CHECK:           math.exp2 {{.*}} tensor<1x32x64xf32>
// CHECK-LABEL: func.func @plain(
// CHECK-NOT:     alloc
// CHECK:         evo_tile.launch @plain_attention
func.func @plain(%q: memref<1x3x32x2x8xf32>, %k: memref<1x3x128x2x8xf32>,
                 %out: memref<1x3x32x2x8xf32>) {
  evoformer.attention
      query(%q : memref<1x3x32x2x8xf32>)
      key(%k : memref<1x3x128x2x8xf32>)
      value(%k : memref<1x3x128x2x8xf32>)
      outs(%out : memref<1x3x32x2x8xf32>)
  return
}

// -----

// No bias, but keys beyond the last one in the last block.

// CHECK-LABEL: evo_tile.kernel @tail_key_bias(
// CHECK-SAME:    %{{.*}}: memref<1x1x1x1x?xf32>, %[[KEYS:[^:]*]]: index)
// CHECK:           %[[OFFSET:.*]] = arith.subi %{{.*}}, %[[KEYS]]
// CHECK:           %[[PAST:.*]] = evo_tile.iota %[[OFFSET]] dim 1
// CHECK:           arith.cmpi sge, %[[PAST]]
// CHECK-LABEL: func.func @tail(
// CHECK:         evo_tile.launch @tail_key_bias space(%c1, %c1, %c1)
func.func @tail(%q: memref<1x3x32x2x8xf32>, %k: memref<1x3x?x2x8xf32>,
                %out: memref<1x3x32x2x8xf32>) {
  evoformer.attention
      query(%q : memref<1x3x32x2x8xf32>)
      key(%k : memref<1x3x?x2x8xf32>)
      value(%k : memref<1x3x?x2x8xf32>)
      outs(%out : memref<1x3x32x2x8xf32>)
  return
}

// -----

// A transposed bias is always copied; a mask stays bytes.

// CHECK-LABEL: evo_tile.kernel @transposed_copy_bias(
// CHECK-SAME:    memref<1x1x1x32x64xi8, strided<[2048, 2048, 2048, 1, 32]>>, %{{.*}}: memref<1x1x1x32x64xi8>)
// CHECK-LABEL: evo_tile.kernel @transposed_attention(
// CHECK:         evo_tile.mma
// CHECK-NOT:     math.fma
// CHECK:         %[[KEEP:.*]] = arith.cmpi ne, {{.*}} : tensor<32x64xi8>
// CHECK:         %[[ALL:.*]] = evo_tile.broadcast %[[KEEP]] dim 0 : tensor<32x64xi1> -> tensor<1x32x64xi1>
// CHECK:         arith.select %[[ALL]],
// CHECK-LABEL: func.func @transposed(
// CHECK-NOT:     scf.if
// CHECK:         %[[COPY:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x1x1x32x64xi1>
// CHECK:         evo_tile.launch @transposed_copy_bias space(%c1, %c1, %c1, %c2, %c1)
// CHECK:         memref.dealloc %[[COPY]]
func.func @transposed(%q: memref<1x3x32x2x8xf32>, %k: memref<1x3x64x2x8xf32>,
                      %mask: memref<1x1x1x64x32xi1>,
                      %out: memref<1x3x32x2x8xf32>) {
  evoformer.attention
      query(%q : memref<1x3x32x2x8xf32>)
      key(%k : memref<1x3x64x2x8xf32>)
      value(%k : memref<1x3x64x2x8xf32>)
      bias(%mask as bnhkq : memref<1x1x1x64x32xi1>)
      outs(%out : memref<1x3x32x2x8xf32>)
  return
}

// -----

// A bias of the queries alone is read as it lies, one value a row.

// CHECK-LABEL: evo_tile.kernel @queries_attention(
// CHECK:         evo_tile.load {{.*}} memref<32xf32, strided<[1], offset: ?>> -> tensor<32xf32>
// CHECK-LABEL: func.func @queries(
// CHECK-NOT:     alloc
func.func @queries(%q: memref<1x3x32x2x8xf32>, %k: memref<1x3x64x2x8xf32>,
                   %bias: memref<1x1x2x32x1xf32>,
                   %out: memref<1x3x32x2x8xf32>) {
  evoformer.attention
      query(%q : memref<1x3x32x2x8xf32>)
      key(%k : memref<1x3x64x2x8xf32>)
      value(%k : memref<1x3x64x2x8xf32>)
      bias(%bias : memref<1x1x2x32x1xf32>)
      outs(%out : memref<1x3x32x2x8xf32>)
  return
}

// -----

// Where a bias of the query is -inf, the scores do not matter.

// CHECK-LABEL: evo_tile.kernel @dropped_attention(
// CHECK:         %[[BIAS:.*]] = evo_tile.load {{.*}} -> tensor<32x64xf32>
// CHECK:         %[[READ:.*]] = evo_tile.broadcast %[[BIAS]]
// CHECK:         %[[LOGITS:.*]] = math.fma %[[READ]],
// CHECK:         %[[DROPPED:.*]] = arith.cmpf oeq, %[[READ]]
// CHECK:         arith.select %[[DROPPED]], {{.*}}, %[[LOGITS]]
func.func @dropped(%q: memref<1x3x32x2x8xf32>, %k: memref<1x3x64x2x8xf32>,
                   %bias: memref<1x1x1x32x64xf32>,
                   %out: memref<1x3x32x2x8xf32>) {
  evoformer.attention
      query(%q : memref<1x3x32x2x8xf32>)
      key(%k : memref<1x3x64x2x8xf32>)
      value(%k : memref<1x3x64x2x8xf32>)
      bias(%bias : memref<1x1x1x32x64xf32>)
      outs(%out : memref<1x3x32x2x8xf32>)
  return
}

// -----

// A bias with queries and no keys whose strides are unknown: the slice has the
// row and the queries. A subview that drops the other dimensions would be read
// as one that keeps the keys, which have size 1 as well.

// CHECK-LABEL: evo_tile.kernel @queries_alone_attention(
// CHECK:         %[[BIAS:.*]] = memref.subview {{.*}} [1, 1, 1, %{{.*}}, 1] {{.*}} to memref<1x1x1x?x1xf32, strided<[?, ?, ?, ?, ?], offset: ?>>
// CHECK:         %[[SLICE:.*]] = memref.collapse_shape %[[BIAS]] {{\[}}[0, 1, 2], [3, 4]{{\]}}
// CHECK-SAME:      into memref<1x?xf32, strided<[?, ?], offset: ?>>
// CHECK:         evo_tile.load %[[SLICE]]{{.*}} -> tensor<1x32xf32>
func.func @queries_alone(%q: memref<1x3x?x2x8xf32>, %k: memref<1x3x64x2x8xf32>,
    %b: memref<1x3x2x?x1xf32, strided<[?, ?, ?, ?, ?], offset: ?>>,
    %out: memref<1x3x?x2x8xf32>) {
  evoformer.attention
      query(%q : memref<1x3x?x2x8xf32>)
      key(%k : memref<1x3x64x2x8xf32>)
      value(%k : memref<1x3x64x2x8xf32>)
      bias(%b : memref<1x3x2x?x1xf32, strided<[?, ?, ?, ?, ?], offset: ?>>)
      outs(%out : memref<1x3x?x2x8xf32>)
  return
}

// A bias that knows more of its sizes than the keys do has copies that know less.
// CHECK-LABEL: func.func @known_keys(
// CHECK:         memref.alloc({{.*}}) {{.*}} : memref<1x1x2x?x?xf32>
// CHECK:         %[[ANY:.*]] = arith.select
// CHECK:         memref.cast %[[ANY]] : memref<?x?x?x?x?xf32, strided<[?, ?, ?, ?, ?], offset: ?>> to memref<1x1x2x?x?xf32, strided<[?, ?, ?, ?, 1], offset: ?>>
func.func @known_keys(%q: memref<1x?x?x2x32xf32>,
                      %b: memref<1x1x2x?x192xf32, strided<[?, ?, ?, ?, ?]>>,
                      %out: memref<1x?x?x2x32xf32>) {
  evoformer.attention query(%q : memref<1x?x?x2x32xf32>)
      key(%q : memref<1x?x?x2x32xf32>) value(%q : memref<1x?x?x2x32xf32>)
      bias(%b : memref<1x1x2x?x192xf32, strided<[?, ?, ?, ?, ?]>>)
      outs(%out : memref<1x?x?x2x32xf32>)
  return
}
