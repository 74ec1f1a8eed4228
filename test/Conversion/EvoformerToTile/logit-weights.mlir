// RUN: evoformer-opt %s --evoformer-split-backward --canonicalize --convert-evoformer-to-tile="target=sm_80" --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --evoformer-split-backward --canonicalize --convert-evoformer-to-tile="target=cpu" --canonicalize --cse | FileCheck %s --check-prefix=CPU

// Weights that are logits: one loop over keys that sums values and the weights' absolute
// values, without an exponential, a maximum or rows that are done again. No kernel reads
// the output for the gradient, and none computes delta.
// CHECK-LABEL: evo_tile.kernel @retention_attention(
// CHECK-NOT:     math.exp2
// CHECK-NOT:     maximum
// CHECK:         scf.for
// CHECK:           evo_tile.mma
// CHECK:           math.absf
// CHECK:           evo_tile.reduce add
// CHECK-NOT:     scf.for
// CHECK-NOT:     evo_tile.where
// CHECK:         arith.maxnumf
// CHECK:         arith.divf
// CHECK:         evo_tile.store
// CHECK:         evo_tile.kernel
// CHECK-NOT:     math.exp2
// CHECK-NOT:     @retention_delta
// CHECK:         func @retention(
// On the CPU one kernel has all gradients, as of softmax.
// CPU:           evo_tile.kernel @retention_attention
// CPU-NOT:       math.exp2
// CPU:           evo_tile.kernel @retention_all_grads
// CPU-NOT:       math.exp2
// CPU:           func @retention(
!s = memref<2x3x64x4x32xbf16>
!t = memref<2x2x3x4x64xf32>
func.func @retention(%q: !s, %k: !s, %v: !s, %o: !s, %t: !t, %d: !s, %dq: !s, %dk: !s, %dv: !s) {
  evoformer.attention query(%q : !s) key(%k : !s) value(%v : !s)
      outs(%o : !s) stats(%t : !t) weights(retention<min = 1.0>)
  evoformer.attention_backward query(%q : !s) key(%k : !s) value(%v : !s)
      output(%o : !s) stats(%t : !t) output_grad(%d : !s)
      query_grad(%dq : !s) key_grad(%dk : !s) value_grad(%dv : !s)
      weights(retention<min = 1.0>)
  return
}
