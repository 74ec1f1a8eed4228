// A program of IREE's with its own attention op, as torch's scaled dot product attention
// of [8, 64, 4, 32] arrives there. spec.mlir replaces the op.

#q = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d4)>
#k = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d4)>
#v = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d3)>
#s = affine_map<(d0, d1, d2, d3, d4, d5) -> ()>
#o = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d3)>
func.func @main(%q: tensor<8x64x4x32xbf16>, %k: tensor<8x64x4x32xbf16>, %v: tensor<8x64x4x32xbf16>) -> tensor<8x64x4x32xbf16> {
  %scale = arith.constant 0.176776692 : f32
  %init = tensor.empty() : tensor<8x64x4x32xbf16>
  %r = iree_linalg_ext.attention <{indexing_maps = [#q, #k, #v, #s, #o]}>
    ins(%q, %k, %v, %scale : tensor<8x64x4x32xbf16>, tensor<8x64x4x32xbf16>, tensor<8x64x4x32xbf16>, f32)
    outs(%init : tensor<8x64x4x32xbf16>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<8x64x4x32xbf16>
  return %r : tensor<8x64x4x32xbf16>
}
