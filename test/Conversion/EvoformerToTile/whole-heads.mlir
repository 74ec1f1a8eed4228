// The gradients of query, key and value by one kernel whose workgroups have all keys of a
// head: nothing of the queries lies in memory. Sizes are known: there are the kernels of
// one way only.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_90 --canonicalize --cse | FileCheck %s --implicit-check-not=query_grad --implicit-check-not=key_value_grad
// What blocks leave lies as instructions of several subgroups read it, and the copies of
// the next block are issued behind the one barrier that this one's need.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_90 --canonicalize --cse --evo-tile-assign-layouts --evo-tile-remove-layout-conversions --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-share-operands | FileCheck %s --check-prefix=PIPELINED
// Too few rows, more keys than a block has, or not more than two thirds of them, a depth
// whose sums take too many registers, rows of narrower vectors, a bias that finds no room,
// and a chip without such instructions: apart.
// RUN: sed 's/x384x384x4x/x16x384x4x/g; s/x384x4x384x/x16x4x384x/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/x384x384x4x/x384x385x4x/g; s/x384x4x384x/x384x4x385x/g; s/x4x384x384x/x4x385x385x/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/x384x384x4x/x384x256x4x/g; s/x384x4x384x/x384x4x256x/g; s/x4x384x384x/x4x256x256x/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/x32xbf16/x48xbf16/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/x32xbf16/x28xbf16/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: sed 's/1x1x4x384x384xbf16/1x1x4x384x384xf32/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// With a score that adds to the product what a pair's places and a number of its head
// make; with one that does more, or reads a number of each pair, apart.
// RUN: evoformer-check --print-module='N=384 H=4 Sq=384 Sk=384 D=32 type=bf16 bias=bhqk:bf16:normal score=alibi static=all pass=backward' | evoformer-opt --evoformer-lower='target=sm_90 stop-after=tiles' | FileCheck %s --check-prefix=ADDS --implicit-check-not=key_value_grad
// RUN: evoformer-check --print-module='N=384 H=4 Sq=384 Sk=384 D=32 type=bf16 bias=bhqk:bf16:normal score=softcap:30 static=all pass=backward' | evoformer-opt --evoformer-lower='target=sm_90 stop-after=tiles' | FileCheck %s --check-prefix=MORE --implicit-check-not=head_grads
// RUN: evoformer-check --print-module='N=384 H=4 Sq=384 Sk=384 D=32 type=bf16 bias=bhqk:bf16:normal score=matrix static=all pass=backward' | evoformer-opt --evoformer-lower='target=sm_90 stop-after=tiles' | FileCheck %s --check-prefix=MORE --implicit-check-not=head_grads
// ADDS: evo_tile.kernel @attention_head_grads(
// MORE: evo_tile.kernel @attention_key_value_grad(
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=sm_90 schedule=bias_grad:v1:k=64' --canonicalize | FileCheck %s --check-prefix=APART --implicit-check-not=head_grads
// Unknown sizes: both, and the host program chooses.
// RUN: sed 's/x384x384x4x32x/x?x?x4x32x/g; s/1x384x4x384x/1x?x4x?x/g; s/x4x384x384x/x4x?x?x/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=BOTH

// Parts of 16 queries store the gradients of their logits, which the block then has at
// once; a sum for each query tells of NaN.
// CHECK-LABEL: evo_tile.kernel @f_head_grads(
// CHECK-SAME:    block = [1, 384, 64], subgroups = [1, 12, 1], stages = 2, resident = 1, products = handed
// CHECK:         %[[MEMORY:.*]] = evo_tile.alloc_lds : memref<1x384x64xbf16, #gpu.address_space<workgroup>>
// CHECK:         %[[SUMS:.*]]:3 = scf.for %{{.*}} = %c0 to %c384 step %c64 iter_args({{.*}}) -> (tensor<1x384x32xf32>, tensor<1x384x32xf32>, tensor<1x64xf32>)
// CHECK:           evo_tile.barrier handover
// CHECK:           scf.for %[[PART:.*]] = %c0 to %c4 step %c1
// CHECK:             %[[AT:.*]] = arith.muli %[[PART]], %c16
// CHECK:             evo_tile.store %{{.*}}, %[[MEMORY]][%c0, %c0, %[[AT]]] {{.*}} : tensor<1x384x16xbf16>
// CHECK:           evo_tile.barrier handover
// CHECK-NEXT:      %[[ALL:.*]] = evo_tile.load %[[MEMORY]][%c0, %c0, %c0] {{.*}} -> tensor<1x384x64xbf16>
// CHECK:           %[[ROWS:.*]] = evo_tile.transpose %[[ALL]]
// CHECK:           %[[SUM:.*]] = evo_tile.mma %[[ROWS]], %{{.*}}, %{{.*}} : tensor<1x64x384xbf16>, tensor<1x384x32xbf16>, tensor<1x64x32xf32>
// CHECK:           evo_tile.store {{.*}} : tensor<1x64x32xbf16>
// CHECK:           evo_tile.reduce add %[[SUM]]
// CHECK:         evo_tile.where {{.*}}, %[[SUMS]]#2
// CHECK-LABEL: func.func @f(
// CHECK:         evo_tile.launch @f_bias_grad
// CHECK-NOT:     memref.alloc() {{.*}}x32xf32>
// CHECK:         evo_tile.launch @f_head_grads space(%c1, %c384, %c4, %c1)

// PIPELINED-LABEL: evo_tile.kernel @f_head_grads(
// PIPELINED:         %[[MEMORY:.*]] = evo_tile.alloc_lds : memref<1x384x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
// PIPELINED:         evo_tile.async_copy
// PIPELINED-NOT:     evo_tile.barrier
// PIPELINED:         scf.for
// PIPELINED:           evo_tile.wait
// PIPELINED-NEXT:      evo_tile.barrier{{$}}
// PIPELINED:           evo_tile.async_copy
// PIPELINED-NOT:       evo_tile.barrier
// PIPELINED:           scf.for
// PIPELINED:             evo_tile.store %{{.*}}, %[[MEMORY]]
// PIPELINED:           evo_tile.proxy_fence
// PIPELINED-NEXT:      evo_tile.barrier handover
// PIPELINED:           evo_tile.group_mma
// PIPELINED-NOT:       evo_tile.barrier
// PIPELINED:           scf.yield

// APART-LABEL: func.func @f(
// APART:         evo_tile.launch @f_query_grad
// BOTH-LABEL: func.func @f(
// BOTH:         scf.if
// BOTH:           evo_tile.launch @f_head_grads
// BOTH:         } else {
// BOTH:           evo_tile.launch @f_query_grad
// BOTH:           evo_tile.launch @f_key_value_grad
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
