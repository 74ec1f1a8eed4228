// Token attention with pair bias (AlphaFold 3, algorithm 24; 16 heads of 24
// channels): one row, a head dimension that no matrix instruction divides.
func.func @pair_bias_attention(
    %query: tensor<?x1x?x16x24xbf16>, %key: tensor<?x1x?x16x24xbf16>,
    %value: tensor<?x1x?x16x24xbf16>, %pair: tensor<?x1x16x?x?xbf16>,
    %gate: tensor<?x1x?x16x24xbf16>, %out: tensor<?x1x?x16x24xbf16>)
    -> tensor<?x1x?x16x24xbf16> {
  %0 = evoformer.attention
      query(%query : tensor<?x1x?x16x24xbf16>)
      key(%key : tensor<?x1x?x16x24xbf16>)
      value(%value : tensor<?x1x?x16x24xbf16>)
      bias(%pair : tensor<?x1x16x?x?xbf16>)
      gate(%gate : tensor<?x1x?x16x24xbf16>)
      outs(%out : tensor<?x1x?x16x24xbf16>)
  return %0 : tensor<?x1x?x16x24xbf16>
}
