// The gradients of the query and of a pair bias from one recomputation: an item has
// a block of queries with all keys, and a step of its loop is a row n, whose
// query's gradient it stores.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse | FileCheck %s --check-prefix=ALL
// Too many keys for the registers of a lane, or a forced block of keys: apart.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx1100 | FileCheck %s --check-prefix=APART
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=gfx942 schedule=v1:k=64' | FileCheck %s --check-prefix=APART

// CHECK-LABEL: evo_tile.kernel @f_query_grad(
// CHECK:         scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<1x32x100xf32>)
// CHECK:           %[[NARROW:.*]] = arith.truncf %[[DS:.*]] : tensor<1x32x100xf32> to
// CHECK:           %[[DQ:.*]] = evo_tile.mma %[[NARROW]]
// CHECK:           evo_tile.store
// CHECK:           %[[NEXT:.*]] = arith.addf %[[SUM]], %[[DS]]
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         evo_tile.store
// CHECK-LABEL: func.func @f(
// CHECK-NOT:     @f_bias_grad
// ALL: evo_tile.kernel @f_query_grad({{.*}}block = [1, {{[0-9]+}}, 128]
// ALL-NOT: @f_bias_grad
// APART: evo_tile.kernel @f_query_grad(
// APART: evo_tile.kernel @f_bias_grad
func.func @f(%q: memref<1x7x48x4x32xf16>, %k: memref<1x7x100x4x32xf16>,
             %p: memref<1x1x4x48x100xf16>, %s: memref<1x7x4x48xf32>,
             %stats: memref<2x1x7x4x48xf32>, %dq: memref<1x7x48x4x32xf16>,
             %dp: memref<1x1x4x48x100xf16>) {
  evoformer.attention_gradient
      query(%q : memref<1x7x48x4x32xf16>) key(%k : memref<1x7x100x4x32xf16>)
      value(%k : memref<1x7x100x4x32xf16>) bias(%p : memref<1x1x4x48x100xf16>)
      weighted_grad(%q : memref<1x7x48x4x32xf16>)
      stats(%stats : memref<2x1x7x4x48xf32>) delta(%s : memref<1x7x4x48xf32>)
      query_grad(%dq : memref<1x7x48x4x32xf16>)
      bias_grad[0](%dp : memref<1x1x4x48x100xf16>)
  return
}
