// RUN: evoformer-opt %s --split-input-file --verify-roundtrip | FileCheck %s
// RUN: evoformer-opt %s --evoformer-split-backward --canonicalize --split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: evoformer-opt %s --canonicalize --split-input-file | FileCheck %s --check-prefix=FOLD

// A table of each head, looked up where a captured tensor says.
// CHECK-LABEL: func @table(
// CHECK:         evoformer.attention
// CHECK:           capture(%{{.*}} : tensor<1x1x4x1x12xf32>)
// CHECK-NEXT:      capture(%{{.*}} : tensor<1x1x1x16x16xi32>)
// CHECK:           %[[TABLE:arg[0-9]+]]: vector<12xf32>, %[[AT:arg[0-9]+]]: i32)
// CHECK:           evoformer.lookup %[[TABLE]][%[[AT]]] : vector<12xf32>
// The steps of query, and of key and value, take the derivative by the score; that of
// the table yields the derivative by the entry, and its number, held within the table.
// SPLIT-LABEL: func @table(
// SPLIT:         evoformer.attention_gradient
// SPLIT:           bias_grad[0](%{{.*}} : tensor<1x1x4x1x12xf32>)
// SPLIT:           %[[TABLE:arg[0-9]+]]: vector<12xf32>, %[[AT:arg[0-9]+]]: i32)
// SPLIT-DAG:       %[[C0:.*]] = arith.constant 0 : i32
// SPLIT-DAG:       %[[C11:.*]] = arith.constant 11 : i32
// SPLIT-DAG:       %[[C2:.*]] = arith.constant 2.000000e+00 : f32
// SPLIT:           %[[Y:.*]] = arith.addf
// SPLIT:           %[[LOW:.*]] = arith.maxsi %[[AT]], %[[C0]]
// SPLIT:           %[[HELD:.*]] = arith.minsi %[[LOW]], %[[C11]]
// SPLIT:           %[[NUMBER:.*]] = arith.sitofp %[[HELD]]
// SPLIT:           evoformer.yield %[[Y]], %[[C2]], %[[NUMBER]] : f32, f32, f32
// SPLIT:         evoformer.attention_gradient
// SPLIT:           query_grad
// SPLIT:           evoformer.yield %{{.*}}, %{{.*}} : f32, f32
!s = tensor<2x3x16x4x32xbf16>
!t = tensor<2x2x3x4x16xf32>
!m = tensor<1x1x4x1x12xf32>
!i = tensor<1x1x1x16x16xi32>
func.func @table(%q: !s, %m: !m, %i: !i, %d: !s, %o: !s, %t: !t) -> (!s, !s, !m) {
  %out, %stats = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%m : !m) capture(%i : !i) outs(%o : !s) stats(%t : !t)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %iq: i32, %j: i32, %sq: i32,
            %sk: i32, %table: vector<12xf32>, %at: i32) {
        %two = arith.constant 2.0 : f32
        %e = evoformer.lookup %table[%at] : vector<12xf32>
        %some = arith.mulf %e, %two : f32
        %y = arith.addf %x, %some : f32
        evoformer.yield %y : f32
      }
  %dq, %dm = evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s) capture(%m : !m) capture(%i : !i)
      output(%out : !s) stats(%stats : !t) output_grad(%d : !s)
      query_grad(%o : !s) bias_grad[0](%m : !m)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %iq: i32, %j: i32, %sq: i32,
            %sk: i32, %table: vector<12xf32>, %at: i32) {
        %two = arith.constant 2.0 : f32
        %e = evoformer.lookup %table[%at] : vector<12xf32>
        %some = arith.mulf %e, %two : f32
        %y = arith.addf %x, %some : f32
        evoformer.yield %y : f32
      }
  return %out, %dq, %dm : !s, !s, !m
}

// -----

// A table that nobody looks up goes away.
// FOLD-LABEL: func @unused(
// FOLD-NOT:     capture
// FOLD:         math.tanh
!s = tensor<2x3x16x4x32xbf16>
func.func @unused(%q: !s, %m: tensor<2x1x1x1x64xbf16>, %o: !s) -> !s {
  %out = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%m : tensor<2x1x1x1x64xbf16>) outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %table: vector<64xf32>) {
        %e = evoformer.lookup %table[%i] : vector<64xf32>
        %y = math.tanh %x : f32
        evoformer.yield %y : f32
      }
  return %out : !s
}
