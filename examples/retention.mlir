// RetNet's retention in its parallel form: scores times a decay for each head and pair,
// divided by the sum of their absolute values, or by 1 where that is less. Keys behind the
// query are not visited. The decay is a tensor of any kind, which the region reads; no
// weight is stored.
func.func @retention(
    %query: tensor<?x1x?x4x64xbf16>, %key: tensor<?x1x?x4x64xbf16>,
    %value: tensor<?x1x?x4x64xbf16>, %decay: tensor<1x1x4x?x?xf32>,
    %out: tensor<?x1x?x4x64xbf16>) -> tensor<?x1x?x4x64xbf16> {
  %0 = evoformer.attention
      query(%query : tensor<?x1x?x4x64xbf16>)
      key(%key : tensor<?x1x?x4x64xbf16>)
      value(%value : tensor<?x1x?x4x64xbf16>)
      capture(%decay : tensor<1x1x4x?x?xf32>)
      outs(%out : tensor<?x1x?x4x64xbf16>)
      keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)
      weights(retention<min = 1.0>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %decay_ij: f32) {
        %weight = arith.mulf %x, %decay_ij : f32
        evoformer.yield %weight : f32
      }
  return %0 : tensor<?x1x?x4x64xbf16>
}
