// RUN: evoformer-opt %s | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --mlir-print-op-generic | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --emit-bytecode | evoformer-opt | FileCheck %s

// CHECK-DAG:   #[[CAUSAL:.*]] = affine_map<(d0)[s0, s1] -> (d0 + s1 - s0 + 1)>
// CHECK-DAG:   #[[LOW:.*]] = affine_map<(d0)[s0, s1] -> ((d0 floordiv 32) * 32 - 48)>
// CHECK-DAG:   #[[HIGH:.*]] = affine_map<(d0)[s0, s1] -> ((d0 floordiv 32) * 32 + 80)>

// CHECK-LABEL: func @triangle
// CHECK:         %[[OUT:.*]] = evoformer.attention
// CHECK-NEXT:      query(%{{.*}} : tensor<1x6x64x4x32xbf16>)
// CHECK-NEXT:      key(%{{.*}} : tensor<1x6x64x4x32xbf16>)
// CHECK-NEXT:      value(%{{.*}} : tensor<1x6x64x4x32xbf16>)
// CHECK-NEXT:      bias(%{{.*}} : tensor<1x6x1x1x64xi1>)
// CHECK-NEXT:      bias(%{{.*}} : tensor<1x1x4x64x64xbf16>)
// CHECK-NEXT:      outs(%{{.*}} : tensor<1x6x64x4x32xbf16>)
// CHECK-NEXT:    return %[[OUT]] : tensor<1x6x64x4x32xbf16>
func.func @triangle(%q: tensor<1x6x64x4x32xbf16>, %k: tensor<1x6x64x4x32xbf16>,
                    %v: tensor<1x6x64x4x32xbf16>,
                    %mask: tensor<1x6x1x1x64xi1>,
                    %pair: tensor<1x1x4x64x64xbf16>) -> tensor<1x6x64x4x32xbf16> {
  %empty = tensor.empty() : tensor<1x6x64x4x32xbf16>
  %0 = evoformer.attention
      query(%q : tensor<1x6x64x4x32xbf16>)
      key(%k : tensor<1x6x64x4x32xbf16>)
      value(%v : tensor<1x6x64x4x32xbf16>)
      bias(%mask : tensor<1x6x1x1x64xi1>)
      bias(%pair : tensor<1x1x4x64x64xbf16>)
      outs(%empty : tensor<1x6x64x4x32xbf16>)
  return %0 : tensor<1x6x64x4x32xbf16>
}

// Every clause, every kind of order, results with their names.
// CHECK-LABEL: func @everything
// CHECK:         %[[OUT:out.*]], %[[LSE:lse.*]], %[[STATS:stats.*]] = evoformer.attention
// CHECK-NEXT:      query(%{{.*}} as bnhsd : tensor<2x3x5x16x24xf16>)
// CHECK-NEXT:      key(%{{.*}} as dshnb : tensor<24x32x5x3x2xf16>)
// CHECK-NEXT:      value(%{{.*}} : tensor<2x3x32x5x40xf16>)
// CHECK-NEXT:      bias(%{{.*}} : tensor<1x1x1x1x1xf32>)
// CHECK-NEXT:      bias(%{{.*}} as kqhnb : tensor<32x16x5x3x2xf16>)
// CHECK-NEXT:      gate(%{{.*}} as nbshd : tensor<3x2x16x5x40xf32>)
// CHECK-NEXT:      outs(%{{.*}} as bnhsd : tensor<2x3x5x16x40xf32>)
// CHECK-NEXT:      lse(%{{.*}} : tensor<2x3x5x16xf32>)
// CHECK-NEXT:      stats(%{{.*}} : tensor<2x2x3x5x16xf32>)
// CHECK-NEXT:      scale(-2.500000e-01) {note = "kept"}
// CHECK-NEXT:    return %[[OUT]], %[[LSE]], %[[STATS]]
func.func @everything(%q: tensor<2x3x5x16x24xf16>, %k: tensor<24x32x5x3x2xf16>,
                      %v: tensor<2x3x32x5x40xf16>, %b0: tensor<1x1x1x1x1xf32>,
                      %b1: tensor<32x16x5x3x2xf16>, %g: tensor<3x2x16x5x40xf32>,
                      %o: tensor<2x3x5x16x40xf32>, %l: tensor<2x3x5x16xf32>,
                      %s: tensor<2x2x3x5x16xf32>)
    -> (tensor<2x3x5x16x40xf32>, tensor<2x3x5x16xf32>, tensor<2x2x3x5x16xf32>) {
  %0:3 = evoformer.attention
      query(%q as bnhsd : tensor<2x3x5x16x24xf16>)
      key(%k as dshnb : tensor<24x32x5x3x2xf16>)
      value(%v as bnshd : tensor<2x3x32x5x40xf16>)
      bias(%b0 : tensor<1x1x1x1x1xf32>)
      bias(%b1 as kqhnb : tensor<32x16x5x3x2xf16>)
      gate(%g as nbshd : tensor<3x2x16x5x40xf32>)
      outs(%o as bnhsd : tensor<2x3x5x16x40xf32>)
      lse(%l : tensor<2x3x5x16xf32>)
      stats(%s : tensor<2x2x3x5x16xf32>)
      scale(-0.25) {note = "kept"}
  return %0#0, %0#1, %0#2
      : tensor<2x3x5x16x40xf32>, tensor<2x3x5x16xf32>, tensor<2x2x3x5x16xf32>
}

// Strided and dynamic memrefs have no results; stats may come without lse.
// CHECK-LABEL: func @buffers
// CHECK:         evoformer.attention
// CHECK:           bias(%{{.*}} : memref<?x1x?x?x?xf32, strided<[1, 0, ?, 7, ?], offset: ?>>)
// CHECK:           outs(%{{.*}} : memref<?x?x?x4x16xf32>)
// CHECK-NEXT:      stats(%{{.*}} : memref<2x?x?x4x?xf32>)
// CHECK-NEXT:    return
func.func @buffers(%q: memref<?x?x4x?x32xf32, strided<[?, 0, ?, ?, ?]>>,
                   %k: memref<?x?x?x4x32xf32>, %v: memref<?x?x?x4x16xf32>,
                   %b: memref<?x1x?x?x?xf32, strided<[1, 0, ?, 7, ?], offset: ?>>,
                   %o: memref<?x?x?x4x16xf32>, %s: memref<2x?x?x4x?xf32>) {
  evoformer.attention
      query(%q as bnhsd : memref<?x?x4x?x32xf32, strided<[?, 0, ?, ?, ?]>>)
      key(%k : memref<?x?x?x4x32xf32>)
      value(%v : memref<?x?x?x4x16xf32>)
      bias(%b : memref<?x1x?x?x?xf32, strided<[1, 0, ?, 7, ?], offset: ?>>)
      outs(%o : memref<?x?x?x4x16xf32>)
      stats(%s : memref<2x?x?x4x?xf32>)
  return
}

// The limits: empty sizes, D = 1 with any stride, Dv = 256, scale 0.
// CHECK-LABEL: func @limits
// CHECK:         evoformer.attention
// CHECK:           scale(0.000000e+00)
func.func @limits(%q: memref<0x0x0x0x1xf32, strided<[4, 4, 4, 4, 2]>>,
                  %k: memref<0x0x0x0x1xf32>, %v: memref<0x0x0x0x256xf32>,
                  %o: memref<0x0x0x0x256xf32>) {
  evoformer.attention
      query(%q : memref<0x0x0x0x1xf32, strided<[4, 4, 4, 4, 2]>>)
      key(%k : memref<0x0x0x0x1xf32>)
      value(%v : memref<0x0x0x0x256xf32>)
      outs(%o : memref<0x0x0x0x256xf32>)
      scale(0.0)
  return
}

// CHECK-LABEL: func @orders
// CHECK-SAME:    #evoformer.order<bnhsd>
// CHECK-SAME:    #evoformer.order<kqhnb>
func.func @orders() attributes {a = #evoformer.order<bnhsd>, b = #evoformer.order<"kqhnb">} {
  return
}

// Heads of the query that share one of key and value; a size of 1 is the default.
// CHECK-LABEL: func @groups
// CHECK:         scale(2.500000e-01)
// CHECK-NEXT:    group_size(4)
// CHECK:       evoformer.attention_backward
// CHECK:         group_size(4)
// CHECK:       evoformer.attention
// CHECK-NOT:     group_size
// CHECK:         return
func.func @groups(%q: memref<2x3x16x8x32xf16>, %k: memref<2x3x5x2x32xf16>, %o: memref<2x3x16x8x32xf16>,
                  %s: memref<2x2x3x8x16xf32>, %dk: memref<2x3x5x2x32xf16>, %g: memref<2x3x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%k : memref<2x3x5x2x32xf16>)
      value(%k : memref<2x3x5x2x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      scale(0.25)
      group_size(4)
  evoformer.attention_backward
      query(%q : memref<2x3x16x8x32xf16>)
      key(%k : memref<2x3x5x2x32xf16>)
      value(%k : memref<2x3x5x2x32xf16>)
      output(%o : memref<2x3x16x8x32xf16>)
      stats(%s : memref<2x2x3x8x16xf32>)
      output_grad(%g : memref<2x3x16x8x32xf16>)
      key_grad(%dk : memref<2x3x5x2x32xf16>)
      group_size(4)
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      group_size(1)
  return
}

// The keys that a query sees: causal attention, and what block-local windows
// look like.
// CHECK-LABEL: func @ranges
// CHECK:         group_size(4)
// CHECK-NEXT:    keys(to #[[CAUSAL]])
// CHECK:       evoformer.attention_backward
// CHECK:         keys(from #[[LOW]], to #[[HIGH]])
// CHECK:       evoformer.attention
// CHECK:         keys(from #[[LOW]])
func.func @ranges(%q: memref<2x3x16x8x32xf16>, %k: memref<2x3x5x2x32xf16>, %o: memref<2x3x16x8x32xf16>,
                  %s: memref<2x2x3x8x16xf32>, %dk: memref<2x3x5x2x32xf16>, %g: memref<2x3x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%k : memref<2x3x5x2x32xf16>)
      value(%k : memref<2x3x5x2x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      group_size(4)
      keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)
  evoformer.attention_backward
      query(%q : memref<2x3x16x8x32xf16>)
      key(%k : memref<2x3x5x2x32xf16>)
      value(%k : memref<2x3x5x2x32xf16>)
      output(%o : memref<2x3x16x8x32xf16>)
      stats(%s : memref<2x2x3x8x16xf32>)
      output_grad(%g : memref<2x3x16x8x32xf16>)
      key_grad(%dk : memref<2x3x5x2x32xf16>)
      group_size(4)
      keys(from affine_map<(i)[sq, sk] -> ((i floordiv 32) * 32 - 48)>,
           to affine_map<(i)[sq, sk] -> ((i floordiv 32) * 32 + 80)>)
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      keys(from affine_map<(i)[sq, sk] -> ((i floordiv 32) * 32 - 48)>)
  return
}

// How many keys and queries rows have: for each b and n, for each n, and for all.
// CHECK-LABEL: func @lengths
// CHECK:         gate(%{{.*}} : memref<2x3x16x8x32xf16>)
// CHECK-NEXT:    lengths(keys %{{.*}} : memref<2x3xi32>, queries %{{.*}} : memref<1x3xi32>)
// CHECK-NEXT:    outs(%{{.*}} as bnhsd : memref<2x3x8x16x32xf16>)
// CHECK:       evoformer.attention_backward
// CHECK:         value(
// CHECK-NEXT:    lengths(queries %{{.*}} : memref<1x3xi32>)
// CHECK-NEXT:    output(%{{.*}} as bnhsd : memref<2x3x8x16x32xf16>)
// CHECK:       evoformer.attention_delta
// CHECK-NEXT:    lengths(queries %{{.*}} : memref<1x3xi32>)
// CHECK:       evoformer.attention_gradient
// CHECK:         value(
// CHECK-NEXT:    lengths(keys %{{.*}} : memref<2x3xi32>)
// CHECK-NEXT:    weighted_grad(
func.func @lengths(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x8x16x32xf16>, %j: memref<2x3xi32>,
                   %i: memref<1x3xi32>, %s: memref<2x2x3x8x16xf32>, %d: memref<2x3x8x16xf32>,
                   %g: memref<2x3x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      gate(%q : memref<2x3x16x8x32xf16>)
      lengths(keys %j : memref<2x3xi32>, queries %i : memref<1x3xi32>)
      outs(%o as bnhsd : memref<2x3x8x16x32xf16>)
  evoformer.attention_backward
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      lengths(queries %i : memref<1x3xi32>)
      output(%o as bnhsd : memref<2x3x8x16x32xf16>)
      stats(%s : memref<2x2x3x8x16xf32>)
      output_grad(%q : memref<2x3x16x8x32xf16>)
      query_grad(%g : memref<2x3x16x8x32xf16>)
  evoformer.attention_delta
      lengths(queries %i : memref<1x3xi32>)
      output(%o as bnhsd : memref<2x3x8x16x32xf16>)
      output_grad(%q : memref<2x3x16x8x32xf16>)
      delta(%d : memref<2x3x8x16xf32>)
  evoformer.attention_gradient
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      lengths(keys %j : memref<2x3xi32>)
      weighted_grad(%q : memref<2x3x16x8x32xf16>)
      stats(%s : memref<2x2x3x8x16xf32>)
      delta(%d : memref<2x3x8x16xf32>)
      query_grad(%g : memref<2x3x16x8x32xf16>)
  return
}

// Sequences that lie one behind the other: four, with a bias for each.
// CHECK-LABEL: func @ragged
// CHECK:         bias(%{{.*}} : tensor<4x1x8x?x9xf16>)
// CHECK-NEXT:    ragged(queries %{{.*}} : tensor<5xi32>, keys %{{.*}} : tensor<5xi32>, most %{{.*}}, %{{.*}})
// CHECK-NEXT:    outs(%{{.*}} : tensor<1x1x?x8x32xf16>)
func.func @ragged(%q: tensor<1x1x?x8x32xf16>, %k: tensor<1x1x?x8x32xf16>, %t: tensor<4x1x8x?x9xf16>,
                  %i: tensor<5xi32>, %j: tensor<5xi32>, %most: index,
                  %s: tensor<2x1x1x8x?xf32>) -> tensor<1x1x?x8x32xf16> {
  %nine = arith.constant 9 : index
  %0, %1 = evoformer.attention
      query(%q : tensor<1x1x?x8x32xf16>)
      key(%k : tensor<1x1x?x8x32xf16>)
      value(%k : tensor<1x1x?x8x32xf16>)
      bias(%t : tensor<4x1x8x?x9xf16>)
      ragged(queries %i : tensor<5xi32>, keys %j : tensor<5xi32>, most %most, %nine)
      outs(%q : tensor<1x1x?x8x32xf16>)
      stats(%s : tensor<2x1x1x8x?xf32>)
      keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)
  // CHECK:       evoformer.attention_backward
  // CHECK:         ragged(queries %{{.*}} : tensor<5xi32>, keys %{{.*}} : tensor<5xi32>, most %{{.*}}, %{{.*}})
  // CHECK-NEXT:    output(
  %2 = evoformer.attention_backward
      query(%q : tensor<1x1x?x8x32xf16>)
      key(%k : tensor<1x1x?x8x32xf16>)
      value(%k : tensor<1x1x?x8x32xf16>)
      bias(%t : tensor<4x1x8x?x9xf16>)
      ragged(queries %i : tensor<5xi32>, keys %j : tensor<5xi32>, most %most, %nine)
      output(%0 : tensor<1x1x?x8x32xf16>)
      stats(%1 : tensor<2x1x1x8x?xf32>)
      output_grad(%q : tensor<1x1x?x8x32xf16>)
      query_grad(%q : tensor<1x1x?x8x32xf16>)
  return %2 : tensor<1x1x?x8x32xf16>
}

// The first step has queries alone.
// CHECK-LABEL: func @ragged_delta
// CHECK:       evoformer.attention_delta
// CHECK-NEXT:    ragged(queries %{{.*}} : memref<?xi32>, most %{{.*}})
// CHECK-NEXT:    output(
func.func @ragged_delta(%o: memref<1x1x?x8x32xf16>, %i: memref<?xi32>, %most: index,
                        %d: memref<1x1x8x?xf32>) {
  evoformer.attention_delta
      ragged(queries %i : memref<?xi32>, most %most)
      output(%o : memref<1x1x?x8x32xf16>)
      output_grad(%o : memref<1x1x?x8x32xf16>)
      delta(%d : memref<1x1x8x?xf32>)
  return
}
