// Attention with a score of its own: the logits are capped softly, as Gemma 2's, and
// each head takes off a slope times the distance of query and key (ALiBi). A query sees
// no key behind it. Nothing of this is known to the compiler but the arithmetic: it
// differentiates the region, and what the score captures has gradients as biases have.
func.func @score_attention(
    %query: tensor<?x1x?x8x64xbf16>, %key: tensor<?x1x?x8x64xbf16>,
    %value: tensor<?x1x?x8x64xbf16>, %slopes: tensor<1x1x8x1x1xf32>,
    %out: tensor<?x1x?x8x64xbf16>) -> tensor<?x1x?x8x64xbf16> {
  %0 = evoformer.attention
      query(%query : tensor<?x1x?x8x64xbf16>)
      key(%key : tensor<?x1x?x8x64xbf16>)
      value(%value : tensor<?x1x?x8x64xbf16>)
      capture(%slopes : tensor<1x1x8x1x1xf32>)
      outs(%out : tensor<?x1x?x8x64xbf16>)
      keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %slope: f32) {
        %cap = arith.constant 2.0 : f32
        %share = arith.divf %x, %cap : f32
        %tanh = math.tanh %share : f32
        %capped = arith.mulf %tanh, %cap : f32
        %last = arith.addi %i, %sk : i32
        %place = arith.subi %last, %sq : i32
        %behind = arith.subi %place, %j : i32
        %steps = arith.sitofp %behind : i32 to f32
        %distance = math.absf %steps : f32
        %term = arith.mulf %slope, %distance : f32
        %logit = arith.subf %capped, %term : f32
        evoformer.yield %logit : f32
      }
  return %0 : tensor<?x1x?x8x64xbf16>
}
