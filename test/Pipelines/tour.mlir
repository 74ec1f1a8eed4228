// A small attention on its way to gfx942, level by level. docs/lowering.md is
// made from this file (./dev docs).
//
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=buffers" | FileCheck %s --check-prefix=BUFFERS
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=tiles" | FileCheck %s --check-prefix=TILES
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=fragments" | FileCheck %s --check-prefix=FRAGMENTS
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=staged" | FileCheck %s --check-prefix=STAGED
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=lanes" | FileCheck %s --check-prefix=LANES
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=machine" | FileCheck %s --check-prefix=MACHINE

// BUFFERS-LABEL: func @attention(
//   BUFFERS-NOT:   tensor<
//       BUFFERS:   evoformer.attention
//  BUFFERS-SAME:   {{$}}
//   BUFFERS-NOT:   tensor<

//     TILES-NOT: evoformer.
//         TILES: evo_tile.kernel @attention_attention(
//         TILES:   scf.for {{.*}} -> (tensor<1x128x32xf32>, tensor<1x128xf32>, tensor<1x128xf32>)
//         TILES:     evo_tile.mma {{.*}} : tensor<1x128x32xbf16>, tensor<1x32x64xbf16>, tensor<1x128x64xf32>
//         TILES:     math.exp2 {{.*}} : tensor<1x128x64xf32>
//         TILES:     evo_tile.mma {{.*}} : tensor<1x128x64xbf16>, tensor<1x64x32xbf16>, tensor<1x128x32xf32>
//         TILES: func.func @attention(
//         TILES:   evo_tile.launch @attention_attention space(

//     FRAGMENTS: evo_tile.kernel @attention_attention(
//     FRAGMENTS:   evo_tile.mma {{.*}} : tensor<1x128x32xbf16, #[[FRAG:frag[_a-z0-9]*]]>

//        STAGED: evo_tile.kernel @attention_attention(
//        STAGED:   evo_tile.alloc_lds
//        STAGED:   scf.for
//        STAGED:     evo_tile.barrier

//     LANES-NOT: evo_tile.mma
//         LANES: gpu.func @attention_attention(
//         LANES:   llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"

//   MACHINE-NOT: gpu.func
//       MACHINE: llvm.func @attention_attention(
//       MACHINE:   llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"
func.func @attention(%query: tensor<1x8x128x4x32xbf16>,
                     %key: tensor<1x8x128x4x32xbf16>,
                     %value: tensor<1x8x128x4x32xbf16>,
                     %pair: tensor<1x1x4x128x128xbf16>,
                     %out: tensor<1x8x128x4x32xbf16>)
    -> tensor<1x8x128x4x32xbf16> {
  %0 = evoformer.attention
      query(%query : tensor<1x8x128x4x32xbf16>)
      key(%key : tensor<1x8x128x4x32xbf16>)
      value(%value : tensor<1x8x128x4x32xbf16>)
      bias(%pair : tensor<1x1x4x128x128xbf16>)
      outs(%out : tensor<1x8x128x4x32xbf16>)
  return %0 : tensor<1x8x128x4x32xbf16>
}
