// Which loops of attention's kernels do without the workgroup's barrier: those that have
// nothing but boxes under way and whose subgroups do not meet in any case. The forward
// pass has two groups of subgroups, each of which multiplies for itself; the gradient of
// queries has one.
//
// RUN: evoformer-opt %s --evoformer-lower="target=sm_90 stop-after=pipelined" --evo-tile-copy-boxes | FileCheck %s
//
// CHECK-LABEL: evo_tile.kernel @attention_attention(
//       CHECK:   evo_tile.proxy_fence
//  CHECK-NEXT:   evo_tile.barrier
//       CHECK:   evo_tile.copy_slots released
//   CHECK-NOT:   evo_tile.proxy_fence
//       CHECK:   evo_tile.barrier
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.barrier
//   CHECK-NOT:     evo_tile.wait %
//       CHECK:     evo_tile.claim_slot %[[FREE:.*]]{{$}}
//  CHECK-NEXT:     evo_tile.box_copy {{.*}} in %[[FREE]] if
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     evo_tile.group_mma
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     evo_tile.release_slot
//  CHECK-NEXT:     scf.yield
//
// CHECK-LABEL: evo_tile.kernel @attention_query_grad(
//   CHECK-NOT:   released
//       CHECK:   evo_tile.copy_slots :
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.wait %
//       CHECK:     evo_tile.wait_slot
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.group_mma
//
func.func @attention(
    %query: memref<?x?x?x?x64xbf16> {evoformer.name = "query"},
    %key: memref<?x?x?x?x64xbf16> {evoformer.name = "key"},
    %value: memref<?x?x?x?x64xbf16> {evoformer.name = "value"},
    %bias0: memref<?x1x?x?x?xbf16> {evoformer.name = "bias0"},
    %bias1: memref<?x?x1x1x?xi1> {evoformer.name = "bias1"},
    %out: memref<?x?x?x?x64xbf16> {evoformer.name = "out"},
    %stats: memref<2x?x?x?x?xf32> {evoformer.name = "stats"},
    %out_grad: memref<?x?x?x?x64xbf16> {evoformer.name = "out_grad"},
    %query_grad: memref<?x?x?x?x64xbf16> {evoformer.name = "query_grad"},
    %key_grad: memref<?x?x?x?x64xbf16> {evoformer.name = "key_grad"},
    %value_grad: memref<?x?x?x?x64xbf16> {evoformer.name = "value_grad"},
    %bias0_grad: memref<?x1x?x?x?xbf16> {evoformer.name = "bias0_grad"}) {
  evoformer.attention
      query(%query : memref<?x?x?x?x64xbf16>)
      key(%key : memref<?x?x?x?x64xbf16>)
      value(%value : memref<?x?x?x?x64xbf16>)
      bias(%bias0 : memref<?x1x?x?x?xbf16>)
      bias(%bias1 : memref<?x?x1x1x?xi1>)
      outs(%out : memref<?x?x?x?x64xbf16>)
      stats(%stats : memref<2x?x?x?x?xf32>)
  evoformer.attention_backward
      query(%query : memref<?x?x?x?x64xbf16>)
      key(%key : memref<?x?x?x?x64xbf16>)
      value(%value : memref<?x?x?x?x64xbf16>)
      bias(%bias0 : memref<?x1x?x?x?xbf16>)
      bias(%bias1 : memref<?x?x1x1x?xi1>)
      output(%out : memref<?x?x?x?x64xbf16>)
      stats(%stats : memref<2x?x?x?x?xf32>)
      output_grad(%out_grad : memref<?x?x?x?x64xbf16>)
      query_grad(%query_grad : memref<?x?x?x?x64xbf16>)
      key_grad(%key_grad : memref<?x?x?x?x64xbf16>)
      value_grad(%value_grad : memref<?x?x?x?x64xbf16>)
      bias_grad[0](%bias0_grad : memref<?x1x?x?x?xbf16>)
  return
}
