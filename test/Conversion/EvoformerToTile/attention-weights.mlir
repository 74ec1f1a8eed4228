// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=sm_80" --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=gfx942" --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=cpu" --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=sm_80 schedule=weights:v1:q=64,k=32" --canonicalize | FileCheck %s --check-prefix=FORCED

// One kernel, the same of every target: a loop over keys makes the logits and their
// weights again, changes the sign of those that dropout drops and stores the tile.
// Nothing is summed, and no value is read.
// CHECK-LABEL: evo_tile.kernel @dropped_weights(
// CHECK-SAME:    %{{[^:]*}}: memref<2x3x4x256x32xbf16
// CHECK:         scf.for
// CHECK:           evo_tile.mma
// CHECK-NOT:       evo_tile.mma
// CHECK:           math.exp2
// CHECK:           evo_tile.random
// CHECK:           arith.negf
// CHECK:           arith.select
// CHECK:           evo_tile.store
// CHECK-NOT:     evo_tile.reduce
// CHECK-NOT:     evo_tile.where
// CHECK:         evo_tile.return
// CPU-LABEL:   evo_tile.kernel @dropped_weights(
// CPU:           evo_tile.mma
// CPU-NOT:       evo_tile.mma
// CPU:           evo_tile.store
// CPU:           evo_tile.return
// FORCED:      evo_tile.kernel @dropped_weights({{.*}}) attributes {{.*}}block = [1, 64, 32]
!s = memref<2x3x256x4x32xbf16>
!t = memref<2x2x3x4x256xf32>
!w = memref<2x3x4x256x256xbf16>
func.func @dropped(%q: !s, %k: !s, %state: memref<2xi64>, %t: !t, %w: !w) {
  evoformer.attention_weights query(%q : !s) key(%k : !s)
      dropout(0.5, %state : memref<2xi64>) stats(%t : !t) outs(%w : !w)
  return
}

// Tiles of keys that a block of queries does not see are zeros, without a product.
// CHECK-LABEL: evo_tile.kernel @causal_weights(
// CHECK:         scf.for
// CHECK-NOT:       evo_tile.mma
// CHECK:           evo_tile.store
// CHECK:         scf.for
// CHECK:           evo_tile.mma
// CHECK:           evo_tile.store
// CHECK:         evo_tile.return
func.func @causal(%q: !s, %k: !s, %t: !t, %w: !w) {
  evoformer.attention_weights query(%q : !s) key(%k : !s) stats(%t : !t) outs(%w : !w)
      keys(to affine_map<(i)[sq, sk] -> (i + 1)>)
  return
}

// Weights that are logits: divided, without an exponential.
// CHECK-LABEL: evo_tile.kernel @retention_weights(
// CHECK-NOT:     math.exp2
// CHECK:         evo_tile.store
// CHECK:         evo_tile.return
func.func @retention(%q: !s, %k: !s, %t: !t, %w: !w) {
  evoformer.attention_weights query(%q : !s) key(%k : !s) stats(%t : !t) outs(%w : !w)
      weights(retention<min = 1.0>)
  return
}
