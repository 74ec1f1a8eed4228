// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize --cse | FileCheck %s

// Work items in the order of their space, slowest dimension first. Where later queries
// see more keys, the long blocks of all heads come before the short ones (5 heads, 4 blocks of 128
// queries); elsewhere the blocks of a head, in so narrow a window 8 of 64 queries, stay together.
!seq = memref<2x3x512x5x32xf16>
// CHECK-LABEL: func.func @causal(
// CHECK: launch @causal_attention space(%c2, %c3, %c4, %c5)
func.func @causal(%q: !seq, %o: !seq) {
  evoformer.attention query(%q : !seq) key(%q : !seq) value(%q : !seq) outs(%o : !seq)
      keys(to affine_map<(i)[sq, sk] -> (i + 1)>)
  return
}

// CHECK-LABEL: func.func @window(
// CHECK: launch @window_attention space(%c2, %c3, %c5, %c8)
func.func @window(%q: !seq, %o: !seq) {
  evoformer.attention query(%q : !seq) key(%q : !seq) value(%q : !seq) outs(%o : !seq)
      keys(from affine_map<(i)[sq, sk] -> (i - 7)>, to affine_map<(i)[sq, sk] -> (i + 1)>)
  return
}
