// RUN: evoformer-opt %s --split-input-file --verify-roundtrip | FileCheck %s
// RUN: evoformer-opt %s --split-input-file | evoformer-opt --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --split-input-file --mlir-print-op-generic | evoformer-opt --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --evoformer-split-backward --canonicalize --split-input-file | FileCheck %s --check-prefix=SPLIT

// What makes logits of scores: a region, with what it captures.
// CHECK-LABEL: func @capped(
// CHECK:         evoformer.attention
// CHECK:           bias(%{{.*}} : {{.*}})
// CHECK-NEXT:      capture(%{{.*}} : tensor<1x1x4x1x1xf32>)
// CHECK-NEXT:      capture(%{{.*}} as bnhkq : tensor<1x1x4x16x?xbf16>)
// CHECK-NEXT:      outs(%{{.*}} : {{.*}})
// CHECK-NEXT:      scale(2.500000e-01)
// CHECK-NEXT:      keys(to #{{.*}})
// CHECK-NEXT:      score(%[[X:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[I:.*]]: i32, %[[J:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %[[S:.*]]: f32, %[[R:.*]]: f32) {
// CHECK-NEXT:      %[[C:.*]] = arith.constant 3.000000e+01 : f32
// CHECK-NEXT:      %[[D:.*]] = arith.divf %[[X]], %[[C]] : f32
// CHECK-NEXT:      %[[T:.*]] = math.tanh %[[D]] : f32
// CHECK:           evoformer.yield %{{.*}} : f32
// CHECK-NEXT:    }
func.func @capped(%q: tensor<2x3x?x4x32xbf16>, %kv: tensor<2x3x16x4x32xbf16>,
    %m: tensor<2x3x1x1x16xi1>, %s: tensor<1x1x4x1x1xf32>,
    %r: tensor<1x1x4x16x?xbf16>, %o: tensor<2x3x?x4x32xbf16>)
    -> tensor<2x3x?x4x32xbf16> {
  %0 = evoformer.attention
      query(%q : tensor<2x3x?x4x32xbf16>)
      key(%kv : tensor<2x3x16x4x32xbf16>)
      value(%kv : tensor<2x3x16x4x32xbf16>)
      bias(%m : tensor<2x3x1x1x16xi1>)
      capture(%s : tensor<1x1x4x1x1xf32>)
      capture(%r as bnhkq : tensor<1x1x4x16x?xbf16>)
      outs(%o : tensor<2x3x?x4x32xbf16>)
      scale(0.25)
      keys(to affine_map<(i)[sq, sk] -> (i + 1)>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %slope: f32, %rel: f32) {
        %c = arith.constant 30.0 : f32
        %u = arith.divf %x, %c : f32
        %t = math.tanh %u : f32
        %y = arith.mulf %t, %c : f32
        %d = arith.subi %i, %j : i32
        %f = arith.sitofp %d : i32 to f32
        %a = math.absf %f : f32
        %term = arith.mulf %a, %slope : f32
        %z = arith.subf %y, %term : f32
        %w = arith.addf %z, %rel : f32
        evoformer.yield %w : f32
      }
  return %0 : tensor<2x3x?x4x32xbf16>
}

// -----

// The steps of the gradient are given the derivative as well; what only the
// score needs does not depend on it.
// CHECK-LABEL: func @backward(
// CHECK:         evoformer.attention_backward
// CHECK:           score(
// CHECK:           evoformer.yield %{{.*}} : f32
// SPLIT-LABEL: func @backward(
// SPLIT:         evoformer.attention_gradient
// SPLIT:           query_grad(
// SPLIT-NEXT:      score(%[[X:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32) {
// SPLIT-DAG:         %[[C:.*]] = arith.constant 3.000000e+01 : f32
// SPLIT-DAG:         %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// SPLIT:             %[[U:.*]] = arith.divf %[[X]], %[[C]] : f32
// SPLIT:             %[[T:.*]] = math.tanh %[[U]] : f32
// SPLIT:             %[[Y:.*]] = arith.mulf %[[T]], %[[C]] : f32
// SPLIT:             %[[TT:.*]] = arith.mulf %[[T]], %[[T]] : f32
// SPLIT:             %[[S:.*]] = arith.subf %[[ONE]], %[[TT]] : f32
// SPLIT:             %[[CS:.*]] = arith.mulf %[[S]], %[[C]] : f32
// SPLIT:             %[[D:.*]] = arith.divf %[[CS]], %[[C]] : f32
// SPLIT:             evoformer.yield %[[Y]], %[[D]] : f32, f32
// SPLIT:         evoformer.attention_gradient
// SPLIT:           key_grad(
// SPLIT:           score(
// SPLIT:             evoformer.yield %{{.*}}, %{{.*}} : f32, f32
!s = memref<2x3x16x4x32xf16>
func.func @backward(%q: !s, %stats: memref<2x2x3x4x16xf32>, %g: !s, %h: !s) {
  evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      output(%q : !s) stats(%stats : memref<2x2x3x4x16xf32>)
      output_grad(%q : !s) query_grad(%g : !s) key_grad(%h : !s)
      score(%x: f32, %b: i32, %n: i32, %head: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %c = arith.constant 30.0 : f32
        %u = arith.divf %x, %c : f32
        %t = math.tanh %u : f32
        %y = arith.mulf %t, %c : f32
        evoformer.yield %y : f32
      }
  return
}

// -----

// A score that does not depend on the product has the derivative 0.
// SPLIT-LABEL: func @constant(
// SPLIT:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// SPLIT:         evoformer.yield %{{.*}}, %[[ZERO]] : f32, f32
!s = memref<2x3x16x4x32xf16>
func.func @constant(%q: !s, %stats: memref<2x2x3x4x16xf32>, %g: !s) {
  evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      output(%q : !s) stats(%stats : memref<2x2x3x4x16xf32>)
      output_grad(%q : !s) query_grad(%g : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %y = arith.sitofp %j : i32 to f32
        evoformer.yield %y : f32
      }
  return
}

// -----

// An exponential that is infinite has no derivative: 1 / (1 + exp(x)) has 0 by it, and 0
// times it is NaN.
// SPLIT-LABEL: func @overflowing(
// SPLIT-DAG:     %[[INFINITY:.*]] = arith.constant 0x7F800000 : f32
// SPLIT-DAG:     %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
// SPLIT:         %[[POWER:.*]] = math.exp %{{.*}} : f32
// SPLIT:         %[[IS:.*]] = arith.cmpf oeq, %[[POWER]], %[[INFINITY]] : f32
// SPLIT:         %[[D:.*]] = arith.mulf %{{.*}}, %[[POWER]] : f32
// SPLIT:         arith.select %[[IS]], %[[NONE]], %[[D]] : f32
!s = memref<2x3x16x4x32xf16>
func.func @overflowing(%q: !s, %stats: memref<2x2x3x4x16xf32>, %g: !s) {
  evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      output(%q : !s) stats(%stats : memref<2x2x3x4x16xf32>)
      output_grad(%q : !s) query_grad(%g : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %one = arith.constant 1.0 : f32
        %power = math.exp %x : f32
        %sum = arith.addf %power, %one : f32
        %y = arith.divf %one, %sum : f32
        evoformer.yield %y : f32
      }
  return
}

// -----

// The derivative of every function.
// SPLIT-LABEL: func @functions(
// SPLIT:         score(%[[X:.*]]: f32
// SPLIT:           evoformer.yield %{{.*}}, %{{.*}} : f32, f32
!s = memref<2x3x16x4x32xf16>
func.func @functions(%q: !s, %stats: memref<2x2x3x4x16xf32>, %g: !s) {
  evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      output(%q : !s) stats(%stats : memref<2x2x3x4x16xf32>)
      output_grad(%q : !s) query_grad(%g : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %0 = math.absf %x : f32
        %1 = math.exp %0 : f32
        %2 = math.exp2 %1 : f32
        %3 = math.log %2 : f32
        %4 = math.log2 %3 : f32
        %5 = math.sqrt %4 : f32
        %6 = math.rsqrt %5 : f32
        %7 = math.tanh %6 : f32
        %8 = math.fma %7, %6, %5 : f32
        %9 = arith.maximumf %8, %7 : f32
        %10 = arith.minimumf %9, %6 : f32
        %11 = arith.maxnumf %10, %5 : f32
        %12 = arith.minnumf %11, %4 : f32
        %13 = arith.negf %12 : f32
        %14 = arith.subf %13, %12 : f32
        %15 = arith.divf %14, %13 : f32
        %16 = arith.cmpf olt, %15, %14 : f32
        %17 = arith.select %16, %15, %x : f32
        evoformer.yield %17 : f32
      }
  return
}

// -----

// What a score captures has gradients as biases have, counted behind these; each
// has a step of its own, whose derivative is by it.
// CHECK-LABEL: func @captured(
// CHECK:           bias_grad[0](
// CHECK-NEXT:      bias_grad[1](
// CHECK-NEXT:      bias_grad[2](
// SPLIT-LABEL: func @captured(
// SPLIT:         evoformer.attention_gradient
// SPLIT:           bias_grad[1](
// SPLIT:           score(%[[X:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32, {{.*}}) {
// SPLIT:             evoformer.yield %{{.*}}, %[[X]] : f32, f32
// SPLIT:         evoformer.attention_gradient
// SPLIT:           bias_grad[2](
// SPLIT:             %[[MINUS:.*]] = arith.constant -1.000000e+00 : f32
// SPLIT:             evoformer.yield %{{.*}}, %[[MINUS]] : f32, f32
// SPLIT:         evoformer.attention_gradient
// SPLIT:           query_grad(
// SPLIT:             bias_grad[0](
// SPLIT:           score(%{{.*}}: f32, {{.*}}, %[[C:[a-z0-9]+]]: f32, %{{[a-z0-9]+}}: f32) {
// SPLIT:             evoformer.yield %{{.*}}, %[[C]] : f32, f32
!s = memref<2x3x16x4x32xf16>
func.func @captured(%q: !s, %stats: memref<2x2x3x4x16xf32>, %g: !s,
    %bias: memref<2x3x4x16x16xf16>, %c: memref<1x1x4x1x1xf32>, %d: memref<1x1x1x1x16xf32>,
    %bg: memref<2x3x4x16x16xf16>, %cg: memref<1x1x4x1x1xf32>, %dg: memref<1x1x1x1x16xf32>) {
  evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      bias(%bias : memref<2x3x4x16x16xf16>)
      capture(%c : memref<1x1x4x1x1xf32>)
      capture(%d : memref<1x1x1x1x16xf32>)
      output(%q : !s) stats(%stats : memref<2x2x3x4x16xf32>)
      output_grad(%q : !s) query_grad(%g : !s)
      bias_grad[0](%bg : memref<2x3x4x16x16xf16>)
      bias_grad[1](%cg : memref<1x1x4x1x1xf32>)
      bias_grad[2](%dg : memref<1x1x1x1x16xf32>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %m: f32, %a: f32) {
        %y = arith.mulf %x, %m : f32
        %z = arith.subf %y, %a : f32
        evoformer.yield %z : f32
      }
  return
}
