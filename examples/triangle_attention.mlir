// Triangle attention (AlphaFold 2, algorithms 13 and 14; 4 heads of 32
// channels): every row n of the pair representation attends over itself. The
// mask drops keys of a row; the pair bias is shared by all rows.
//
//   ./dev build && build/bin/evoformer-opt examples/triangle_attention.mlir
func.func @triangle_attention(
    %query: tensor<?x?x?x4x32xbf16>, %key: tensor<?x?x?x4x32xbf16>,
    %value: tensor<?x?x?x4x32xbf16>, %mask: tensor<?x?x1x1x?xi1>,
    %pair: tensor<?x1x4x?x?xbf16>,
    %out: tensor<?x?x?x4x32xbf16>) -> tensor<?x?x?x4x32xbf16> {
  %0 = evoformer.attention
      query(%query : tensor<?x?x?x4x32xbf16>)
      key(%key : tensor<?x?x?x4x32xbf16>)
      value(%value : tensor<?x?x?x4x32xbf16>)
      bias(%mask : tensor<?x?x1x1x?xi1>)
      bias(%pair : tensor<?x1x4x?x?xbf16>)
      outs(%out : tensor<?x?x?x4x32xbf16>)
  return %0 : tensor<?x?x?x4x32xbf16>
}
