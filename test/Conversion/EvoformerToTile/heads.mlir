// The gradients of query, key and value by one kernel, where there are enough heads of
// rows and memory for what the queries' are summed in; that of a bias has its own. Sizes
// are known: there are the kernels of one way only.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse | FileCheck %s --implicit-check-not=query_grad --implicit-check-not=key_value_grad
// No memory, too few rows, a depth whose sums take too many registers, f32, chips that
// copy past registers, and a schedule for the kernels that there are otherwise: apart.
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=gfx942 partial-sum-bytes=0' --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/x384x384x4x/x16x384x4x/g; s/x384x4x384x/x16x4x384x/g' %s | evoformer-opt --convert-evoformer-to-tile=target=gfx942 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/x32xbf16/x96xbf16/g' %s | evoformer-opt --convert-evoformer-to-tile=target=gfx942 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/x32xbf16/x48xbf16/g' %s | evoformer-opt --convert-evoformer-to-tile=target=gfx1201 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx1100 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/bf16/f32/g' %s | evoformer-opt --convert-evoformer-to-tile=target=gfx942 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=gfx942 schedule=query_grad:v1:k=64' --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=gfx942 schedule=bias_grad:v1:k=64' --canonicalize --cse | FileCheck %s --implicit-check-not=query_grad --implicit-check-not=key_value_grad
// Unknown sizes: both, and the host program chooses.
// RUN: sed 's/x384x384x4x32x/x?x384x4x32x/g; s/1x384x4x384x/1x?x4x384x/g' %s | evoformer-opt --convert-evoformer-to-tile=target=gfx942 --canonicalize | FileCheck %s --check-prefix=BOTH
// Fewer keys where registers hold no more.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx1201 --canonicalize | FileCheck %s --check-prefix=SMALL

// The sums are read before the step's products, and start from nothing in the first
// block of keys; the last one stores gradients.
// CHECK-LABEL: evo_tile.kernel @f_head_grads(
// CHECK-SAME:    block = [1, 128, 64], subgroups = [1, 4, 1]
// CHECK:         %[[SPOILT:.*]] = scf.for %[[K:.*]] = %c0 to %c384 step %c128 iter_args(%{{.*}} = %{{.*}}) -> (tensor<1x64x32xf32>)
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK:           %[[LAST:.*]] = arith.cmpi uge, %{{.*}}, %c384
// CHECK:           scf.for
// CHECK-NEXT:        %[[BEFORE:.*]] = evo_tile.load {{.*}} -> tensor<1x64x32xf32>
// CHECK:             %[[IS:.*]] = tensor.splat %[[FIRST]]
// CHECK:             %[[START:.*]] = arith.select %[[IS]], %{{.*}}, %[[BEFORE]]
// CHECK:             %[[SUM:.*]] = evo_tile.mma %{{.*}}, %{{.*}}, %[[START]] : tensor<1x64x128xbf16>, tensor<1x128x32xbf16>, tensor<1x64x32xf32>
// CHECK:             scf.if %[[LAST]]
// CHECK:               evo_tile.store {{.*}} : tensor<1x64x32xbf16>
// CHECK:             } else {
// CHECK:               evo_tile.store %[[SUM]], {{.*}} : tensor<1x64x32xf32>
// CHECK:         evo_tile.where {{.*}}, %[[SPOILT]]
// CHECK-LABEL: func.func @f(
// CHECK:         %[[SUMS:.*]] = memref.alloc() {{.*}}: memref<1x384x4x384x32xf32>
// CHECK:         evo_tile.launch @f_head_grads space(%c1, %c384, %c4, %c1)
// CHECK:         evo_tile.launch @f_bias_grad
// APART-LABEL: func.func @f(
// APART:         evo_tile.launch @f_query_grad
// BOTH-LABEL: func.func @f(
// BOTH:         scf.if
// BOTH:           evo_tile.launch @f_head_grads
// BOTH:         } else {
// BOTH:           evo_tile.launch @f_query_grad
// BOTH:           evo_tile.launch @f_key_value_grad
// SMALL-LABEL: evo_tile.kernel @f_head_grads(
// SMALL-SAME:    block = [1, 64, 64], subgroups = [1, 4, 1]
func.func @f(%q: memref<1x384x384x4x32xbf16>, %w: memref<1x384x384x4x32xbf16>,
             %p: memref<1x1x4x384x384xbf16>, %s: memref<1x384x4x384xf32>,
             %stats: memref<2x1x384x4x384xf32>, %dq: memref<1x384x384x4x32xbf16>,
             %dk: memref<1x384x384x4x32xbf16>, %dv: memref<1x384x384x4x32xbf16>,
             %dp: memref<1x1x4x384x384xbf16>) {
  evoformer.attention_gradient
      query(%q : memref<1x384x384x4x32xbf16>) key(%q : memref<1x384x384x4x32xbf16>)
      value(%q : memref<1x384x384x4x32xbf16>) bias(%p : memref<1x1x4x384x384xbf16>)
      weighted_grad(%w : memref<1x384x384x4x32xbf16>)
      stats(%stats : memref<2x1x384x4x384xf32>) delta(%s : memref<1x384x4x384xf32>)
      query_grad(%dq : memref<1x384x384x4x32xbf16>)
  evoformer.attention_gradient
      query(%q : memref<1x384x384x4x32xbf16>) key(%q : memref<1x384x384x4x32xbf16>)
      value(%q : memref<1x384x384x4x32xbf16>) bias(%p : memref<1x1x4x384x384xbf16>)
      weighted_grad(%w : memref<1x384x384x4x32xbf16>)
      stats(%stats : memref<2x1x384x4x384xf32>) delta(%s : memref<1x384x4x384xf32>)
      key_grad(%dk : memref<1x384x384x4x32xbf16>)
      value_grad(%dv : memref<1x384x384x4x32xbf16>)
  evoformer.attention_gradient
      query(%q : memref<1x384x384x4x32xbf16>) key(%q : memref<1x384x384x4x32xbf16>)
      value(%q : memref<1x384x384x4x32xbf16>) bias(%p : memref<1x1x4x384x384xbf16>)
      weighted_grad(%w : memref<1x384x384x4x32xbf16>)
      stats(%stats : memref<2x1x384x4x384xf32>) delta(%s : memref<1x384x4x384xf32>)
      bias_grad[0](%dp : memref<1x1x4x384x384xbf16>)
  return
}
