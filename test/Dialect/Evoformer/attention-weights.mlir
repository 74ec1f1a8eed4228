// RUN: evoformer-opt %s | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --mlir-print-op-generic | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --emit-bytecode | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: evoformer-opt %s --one-shot-bufferize=bufferize-function-boundaries --canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: evoformer-opt %s --generate-runtime-verification | FileCheck %s --check-prefix=VERIFY

// Every clause, orders, the result with its name.
// CHECK-LABEL: func @everything
// CHECK:         %[[W:weights]] = evoformer.attention_weights
// CHECK-NEXT:      query(%{{.*}} as bnhsd : tensor<2x3x10x16x24xf16>)
// CHECK-NEXT:      key(%{{.*}} : tensor<2x3x32x5x24xf16>)
// CHECK-NEXT:      bias(%{{.*}} : tensor<2x3x1x1x32xi1>)
// CHECK-NEXT:      bias(%{{.*}} as kqhnb : tensor<32x16x10x1x2xf16>)
// CHECK-NEXT:      capture(%{{.*}} : tensor<1x1x10x1x1xf32>)
// CHECK-NEXT:      lengths(keys %{{.*}} : tensor<2x3xi32>, queries %{{.*}} : tensor<2x1xi32>)
// CHECK-NEXT:      dropout(1.500000e-01, %{{.*}} : tensor<2xi64>)
// CHECK-NEXT:      stats(%{{.*}} : tensor<2x2x3x10x16xf32>)
// CHECK-NEXT:      outs(%{{.*}} as bnhkq : tensor<2x3x10x32x16xf32>)
// CHECK-NEXT:      scale(2.500000e-01)
// CHECK-NEXT:      group_size(2)
// CHECK-NEXT:      keys(from #{{.*}}[%{{.*}}], to #{{.*}})
// CHECK-NEXT:      score(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f32) {
// CHECK:             evoformer.yield
// CHECK:           } {note = "kept"}
// CHECK-NEXT:    return %[[W]]

// BUFFER-LABEL: func @everything
// BUFFER:         evoformer.attention_weights
// BUFFER-NEXT:      query(%{{.*}} as bnhsd : memref<
// BUFFER:           outs(%[[W:.*]] as bnhkq : memref<
// BUFFER:         return %[[W]]
func.func @everything(
    %q: tensor<2x3x10x16x24xf16>, %k: tensor<2x3x32x5x24xf16>,
    %m: tensor<2x3x1x1x32xi1>, %p: tensor<32x16x10x1x2xf16>,
    %c: tensor<1x1x10x1x1xf32>, %j: tensor<2x3xi32>, %i: tensor<2x1xi32>,
    %state: tensor<2xi64>, %s: tensor<2x2x3x10x16xf32>, %w: index,
    %o: tensor<2x3x10x32x16xf32>) -> tensor<2x3x10x32x16xf32> {
  %0 = evoformer.attention_weights
      query(%q as bnhsd : tensor<2x3x10x16x24xf16>)
      key(%k : tensor<2x3x32x5x24xf16>)
      bias(%m : tensor<2x3x1x1x32xi1>)
      bias(%p as kqhnb : tensor<32x16x10x1x2xf16>)
      capture(%c : tensor<1x1x10x1x1xf32>)
      lengths(keys %j : tensor<2x3xi32>, queries %i : tensor<2x1xi32>)
      dropout(0.15, %state : tensor<2xi64>)
      stats(%s : tensor<2x2x3x10x16xf32>)
      outs(%o as bnhkq : tensor<2x3x10x32x16xf32>)
      scale(0.25)
      group_size(2)
      keys(from affine_map<(i)[sq, sk, w] -> (i - w)>[%w], to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %qi: i32, %kj: i32, %sq: i32, %sk: i32, %slope: f32) {
        %y = arith.subf %x, %slope : f32
        evoformer.yield %y : f32
      } {note = "kept"}
  return %0 : tensor<2x3x10x32x16xf32>
}

// Weights of ragged sequences are those of each.
// CHECK-LABEL: func @ragged
// CHECK:           ragged(queries %{{.*}} : tensor<3xi32>, keys %{{.*}} : tensor<3xi32>, most %{{.*}}, %{{.*}})
// CHECK-NEXT:      stats(%{{.*}} : tensor<2x1x1x4x40xf32>)
// CHECK-NEXT:      outs(%{{.*}} : tensor<2x1x4x20x30xbf16>)
// CHECK-NEXT:      weights(linear)
func.func @ragged(
    %q: tensor<1x1x40x4x24xbf16>, %k: tensor<1x1x50x4x24xbf16>,
    %i: tensor<3xi32>, %j: tensor<3xi32>, %s: tensor<2x1x1x4x40xf32>,
    %o: tensor<2x1x4x20x30xbf16>) -> tensor<2x1x4x20x30xbf16> {
  %c20 = arith.constant 20 : index
  %c30 = arith.constant 30 : index
  %0 = evoformer.attention_weights
      query(%q : tensor<1x1x40x4x24xbf16>)
      key(%k : tensor<1x1x50x4x24xbf16>)
      ragged(queries %i : tensor<3xi32>, keys %j : tensor<3xi32>, most %c20, %c30)
      stats(%s : tensor<2x1x1x4x40xf32>)
      outs(%o : tensor<2x1x4x20x30xbf16>)
      weights(linear)
  return %0 : tensor<2x1x4x20x30xbf16>
}

// What says nothing goes away: dropout of none, bounds that all keys keep to, lengths of
// all, a factor of the score.
// CANON-LABEL: func @nothing
// CANON:         evoformer.attention_weights
// CANON-NEXT:      query(
// CANON-NEXT:      key(
// CANON-NEXT:      stats(
// CANON-NEXT:      outs(
// CANON-NEXT:      scale(5.000000e-01)
// CANON-NEXT:      score
func.func @nothing(
    %q: tensor<2x3x16x5x16xf32>, %k: tensor<2x3x32x5x16xf32>,
    %state: tensor<2xi64>, %s: tensor<2x2x3x5x16xf32>,
    %o: tensor<2x3x5x16x32xf32>) -> tensor<2x3x5x16x32xf32> {
  %j = arith.constant dense<40> : tensor<2x1xi32>
  %0 = evoformer.attention_weights
      query(%q : tensor<2x3x16x5x16xf32>)
      key(%k : tensor<2x3x32x5x16xf32>)
      lengths(keys %j : tensor<2x1xi32>)
      dropout(0.0, %state : tensor<2xi64>)
      stats(%s : tensor<2x2x3x5x16xf32>)
      outs(%o : tensor<2x3x5x16x32xf32>)
      keys(to affine_map<(i)[sq, sk] -> (sk)>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %qi: i32, %kj: i32, %sq: i32, %sk: i32) {
        %c = arith.constant 2.0 : f32
        %y = arith.mulf %x, %c : f32
        %z = math.absf %y : f32
        evoformer.yield %z : f32
      }
  return %0 : tensor<2x3x5x16x32xf32>
}

// VERIFY-LABEL: func @dynamic
// VERIFY:         cf.assert %{{.*}}, "{{.*}}Sk: dimension 4 of output must equal dimension 2 of key
func.func @dynamic(%q: memref<?x?x?x4x32xf16>, %k: memref<?x?x?x4x32xf16>,
                   %s: memref<2x?x?x4x?xf32>, %o: memref<?x?x4x?x?xf16>) {
  evoformer.attention_weights
      query(%q : memref<?x?x?x4x32xf16>)
      key(%k : memref<?x?x?x4x32xf16>)
      stats(%s : memref<2x?x?x4x?xf32>)
      outs(%o : memref<?x?x4x?x?xf16>)
  return
}
