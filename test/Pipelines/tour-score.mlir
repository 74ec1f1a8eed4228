// The gradient of an attention with a score, a softcap of 30: docs/lowering.md shows what
// becomes of the region (./dev docs).
//
// RUN: evoformer-opt %s -evoformer-split-backward -canonicalize | FileCheck %s --check-prefix=STEPS
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=tiles" | FileCheck %s --check-prefix=TILES

// STEPS-LABEL: func @capped(
//       STEPS:   evoformer.attention_delta
//       STEPS:   evoformer.attention_gradient
//       STEPS:     %[[TANH:.*]] = math.tanh
//       STEPS:     %[[LOGIT:.*]] = arith.mulf %[[TANH]],
//       STEPS:     %[[SQUARE:.*]] = arith.mulf %[[TANH]], %[[TANH]]
//       STEPS:     evoformer.yield %[[LOGIT]], {{.*}} : f32, f32

//   TILES-NOT: evoformer.
//       TILES: evo_tile.kernel @capped_query_grad(
//       TILES:   scf.for
//       TILES:     math.absf {{.*}} : tensor<1x{{[0-9]+}}x{{[0-9]+}}xf32>
//       TILES:     math.exp2
func.func @capped(%query: tensor<1x8x128x4x32xbf16>, %key: tensor<1x8x128x4x32xbf16>,
                  %value: tensor<1x8x128x4x32xbf16>, %out: tensor<1x8x128x4x32xbf16>,
                  %stats: tensor<2x1x8x4x128xf32>, %dout: tensor<1x8x128x4x32xbf16>,
                  %dquery: tensor<1x8x128x4x32xbf16>) -> tensor<1x8x128x4x32xbf16> {
  %0 = evoformer.attention_backward
      query(%query : tensor<1x8x128x4x32xbf16>)
      key(%key : tensor<1x8x128x4x32xbf16>)
      value(%value : tensor<1x8x128x4x32xbf16>)
      output(%out : tensor<1x8x128x4x32xbf16>)
      stats(%stats : tensor<2x1x8x4x128xf32>)
      output_grad(%dout : tensor<1x8x128x4x32xbf16>)
      query_grad(%dquery : tensor<1x8x128x4x32xbf16>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32) {
        %cap = arith.constant 30.0 : f32
        %share = arith.divf %x, %cap : f32
        %tanh = math.tanh %share : f32
        %logit = arith.mulf %tanh, %cap : f32
        evoformer.yield %logit : f32
      }
  return %0 : tensor<1x8x128x4x32xbf16>
}
