// RUN: evoformer-opt %s --split-input-file --verify-roundtrip | FileCheck %s
// RUN: evoformer-opt %s --split-input-file --mlir-print-op-generic | evoformer-opt --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --evoformer-split-backward --split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: evoformer-opt %s --canonicalize --split-input-file | FileCheck %s --check-prefix=FOLD
// RUN: evoformer-opt %s --split-input-file --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s --check-prefix=MEMORY

// Bounds of keys that are of numbers which are known when a program runs: a window
// whose width is one, in the gradient and each of its steps, but for delta's.
// CHECK-DAG:   #[[FROM:.*]] = affine_map<(d0)[s0, s1, s2] -> (d0 - s2)>
// CHECK-DAG:   #[[TO:.*]] = affine_map<(d0)[s0, s1] -> (d0 + 1)>
// CHECK-LABEL: func @window(
// CHECK-SAME:      %[[W:[a-z0-9]+]]: index)
// CHECK:         evoformer.attention
// CHECK:           keys(from #[[FROM]][%[[W]]], to #[[TO]])
// CHECK:         evoformer.attention_backward
// CHECK:           keys(from #[[FROM]][%[[W]]], to #[[TO]])
// SPLIT-LABEL: func @window(
// SPLIT-SAME:      %[[W:[a-z0-9]+]]: index)
// SPLIT:         evoformer.attention_delta
// SPLIT-NOT:       keys(
// SPLIT:         evoformer.attention_gradient
// SPLIT:           query_grad
// SPLIT:           keys(from #{{.*}}[%[[W]]], to #{{[a-z0-9]*}})
// SPLIT:         evoformer.attention_gradient
// SPLIT:           key_grad
// SPLIT:           keys(from #{{.*}}[%[[W]]], to #{{[a-z0-9]*}})
// MEMORY-LABEL: func @window(
// MEMORY-SAME:      %[[W:[a-z0-9]+]]: index)
// MEMORY:         evoformer.attention
// MEMORY:           query(%{{.*}} : memref<
// MEMORY:           keys(from #{{.*}}[%[[W]]], to #{{[a-z0-9]*}})
!s = tensor<2x3x?x8x32xbf16>
!t = tensor<2x2x3x8x?xf32>
func.func @window(%q: !s, %d: !s, %o: !s, %t: !t, %w: index) -> (!s, !s, !s) {
  %out, %stats = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      outs(%o : !s) stats(%t : !t)
      keys(from affine_map<(i)[sq, sk, w] -> (i - w)>[%w], to affine_map<(i)[sq, sk] -> (i + 1)>)
  %dq, %dk = evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      output(%out : !s) stats(%stats : !t) output_grad(%d : !s)
      query_grad(%o : !s) key_grad(%o : !s)
      keys(from affine_map<(i)[sq, sk, w] -> (i - w)>[%w], to affine_map<(i)[sq, sk] -> (i + 1)>)
  return %out, %dq, %dk : !s, !s, !s
}

// -----

// Several operands, beside all that stands before them; results that nobody uses go
// with their destinations, the operands stay.
// CHECK-DAG:   #[[LOW:.*]] = affine_map<(d0)[s0, s1, s2, s3] -> ((d0 floordiv 32) * 32 + s2 - s3)>
// CHECK-DAG:   #[[HIGH:.*]] = affine_map<(d0)[s0, s1, s2] -> (s1 + s2)>
// CHECK-LABEL: func @several(
// CHECK:           ragged(
// CHECK-NEXT:      dropout(
// CHECK-NEXT:      outs(
// CHECK-NEXT:      lse(
// CHECK-NEXT:      keys(from #[[LOW]][%[[A:[a-z0-9]+]], %[[B:[a-z0-9]+]]], to #[[HIGH]][%[[A]]])
// FOLD-LABEL: func @several(
// FOLD:           outs(
// FOLD-NEXT:      keys(from #{{.*}}[%[[A:[a-z0-9]+]], %[[B:[a-z0-9]+]]], to #{{.*}}[%[[A]]])
!p = tensor<1x1x?x8x32xbf16>
func.func @several(%q: !p, %i: tensor<5xi32>, %state: tensor<2xi64>, %o: !p,
    %l: tensor<1x1x8x?xf32>, %most: index, %a: index, %b: index) -> !p {
  %out, %lse = evoformer.attention query(%q : !p) key(%q : !p) value(%q : !p)
      ragged(queries %i : tensor<5xi32>, keys %i : tensor<5xi32>, most %most, %most)
      dropout(0.5, %state : tensor<2xi64>)
      outs(%o : !p) lse(%l : tensor<1x1x8x?xf32>)
      keys(from affine_map<(i)[sq, sk, a, b] -> ((i floordiv 32) * 32 + a - b)>[%a, %b],
           to affine_map<(i)[sq, sk, a] -> (sk + a)>[%a])
  return %out : !p
}

// -----

// Constants become a part of the map, and a bound that every key keeps to goes then.
// Those beyond 2^30 count as less than that. Equal operands become one or none; what
// is added twice stays so; what a bound does not depend on goes away.
// FOLD-DAG:   #[[SHIFT:.*]] = affine_map<(d0)[s0, s1] -> (d0 - 3)>
// FOLD-DAG:   #[[FAR:.*]] = affine_map<(d0)[s0, s1] -> (d0 - 1073741823)>
// FOLD-DAG:   #[[ONE:.*]] = affine_map<(d0)[s0, s1, s2] -> (d0 - s2)>
// FOLD-DAG:   #[[NONE:.*]] = affine_map<(d0)[s0, s1] -> (d0 + 5)>
// FOLD-DAG:   #[[TWICE:.*]] = affine_map<(d0)[s0, s1, s2, s3] -> (d0 - s2 - s3)>
// FOLD-DAG:   #[[FULL:.*]] = affine_map<(d0)[s0, s1, s2] -> (s2 + 1073741824)>
// FOLD-LABEL: func @fold(
// FOLD-SAME:      %[[W:[a-z0-9]+]]: index
// FOLD:         keys(from #[[SHIFT]])
// FOLD:         keys(from #[[FAR]], to #[[ONE]][%[[W]]])
// FOLD:         keys(from #[[NONE]], to #[[TWICE]][%[[W]], %[[W]]])
// FOLD:         keys(to #[[FULL]][%{{.*}}])
!m = memref<2x3x?x8x32xf16>
func.func @fold(%q: !m, %o: !m, %w: index, %v: index) {
  %three = arith.constant 3 : index
  %huge = arith.constant 4611686018427387904 : index
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(from affine_map<(i)[sq, sk, a] -> (i - a)>[%three],
           to affine_map<(i)[sq, sk, a] -> (sk + a)>[%three])
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(from affine_map<(i)[sq, sk, a] -> (i - a)>[%huge],
           to affine_map<(i)[sq, sk, a, b, c, d] -> (i + a - b - c)>[%w, %w, %w, %v])
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(from affine_map<(i)[sq, sk, a, b] -> (i + a - b + 5)>[%w, %w],
           to affine_map<(i)[sq, sk, a, b, c] -> (i - a - b)>[%w, %w, %v])
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(to affine_map<(i)[sq, sk, a] -> (a + 1073741824)>[%three])
  return
}

// -----

// What operands add is held to less than 2^30 in size together: beside others a constant
// becomes a part of the map only where both are small, alone always, held like the sum.
// FOLD-DAG:   #[[SMALL:.*]] = affine_map<(d0)[s0, s1, s2] -> (d0 - s2 + 1048576)>
// FOLD-DAG:   #[[LARGE:.*]] = affine_map<(d0)[s0, s1, s2, s3] -> (d0 - s2 + s3 + 1)>
// FOLD-DAG:   #[[BEHIND:.*]] = affine_map<(d0)[s0, s1, s2, s3] -> (s2 + s3 + 1048576)>
// FOLD-DAG:   #[[BEFORE:.*]] = affine_map<(d0)[s0, s1, s2, s3] -> (s2 + s3 - 1073741824)>
// FOLD-DAG:   #[[HELD:.*]] = affine_map<(d0)[s0, s1] -> (d0 - 1073741823)>
// FOLD-DAG:   #[[CANCELS:.*]] = affine_map<(d0)[s0, s1] -> (d0 + 1048578)>
// FOLD-LABEL: func @sums(
// FOLD-SAME:      %[[W:[a-z0-9]+]]: index
// FOLD-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// FOLD-DAG:     %[[MORE:.*]] = arith.constant 1048577 : index
// FOLD:         keys(from #[[SMALL]][%[[W]]], to #[[LARGE]][%[[MORE]], %[[W]]])
// FOLD:         keys(from #[[BEFORE]][%[[W]], %[[ONE]]], to #[[BEHIND]][%[[W]], %[[ONE]]])
// FOLD:         keys(from #[[HELD]], to #[[CANCELS]])
!m = memref<2x3x?x8x32xf16>
func.func @sums(%q: !m, %o: !m, %w: index) {
  %one = arith.constant 1 : index
  %more = arith.constant 1048577 : index
  %huge = arith.constant -1073741824 : index
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(from affine_map<(i)[sq, sk, a, b, c] -> (i + a - b - c)>[%more, %w, %one],
           to affine_map<(i)[sq, sk, a, b] -> (i - a + b + 1)>[%more, %w])
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(from affine_map<(i)[sq, sk, a, b] -> (a + b - 1073741824)>[%w, %one],
           to affine_map<(i)[sq, sk, a, b] -> (a + b + 1048576)>[%w, %one])
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(from affine_map<(i)[sq, sk, a, b, c] -> (i + a - b + c)>[%huge, %more, %one],
           to affine_map<(i)[sq, sk, a, b, c] -> (i + a - b + c + 1)>[%w, %w, %more])
  return
}

// -----

// Sizes say nothing of a bound that is of something else.
// FOLD-LABEL: func @unknown(
// FOLD:         keys(from #{{.*}}[%{{.*}}], to #{{.*}}[%{{.*}}])
!m = memref<1x1x16x8x32xf16>
func.func @unknown(%q: !m, %o: !m, %w: index) {
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m) outs(%o : !m)
      keys(from affine_map<(i)[sq, sk, w] -> (i - 100 + w)>[%w],
           to affine_map<(i)[sq, sk, w] -> (i + 100 - w)>[%w])
  return
}
