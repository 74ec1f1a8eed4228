// MSA row attention with pair bias and gate (AlphaFold 2, algorithm 7; 8 heads
// of 32 channels): every sequence n of the alignment attends over its
// residues. The mask is additive here, as many models hold it: 0 or -1e9.
func.func @msa_row_attention(
    %query: tensor<?x?x?x8x32xbf16>, %key: tensor<?x?x?x8x32xbf16>,
    %value: tensor<?x?x?x8x32xbf16>, %mask: tensor<?x?x1x1x?xf32>,
    %pair: tensor<?x1x8x?x?xbf16>, %gate: tensor<?x?x?x8x32xbf16>,
    %out: tensor<?x?x?x8x32xbf16>) -> tensor<?x?x?x8x32xbf16> {
  %0 = evoformer.attention
      query(%query : tensor<?x?x?x8x32xbf16>)
      key(%key : tensor<?x?x?x8x32xbf16>)
      value(%value : tensor<?x?x?x8x32xbf16>)
      bias(%mask : tensor<?x?x1x1x?xf32>)
      bias(%pair : tensor<?x1x8x?x?xbf16>)
      gate(%gate : tensor<?x?x?x8x32xbf16>)
      outs(%out : tensor<?x?x?x8x32xbf16>)
  return %0 : tensor<?x?x?x8x32xbf16>
}
