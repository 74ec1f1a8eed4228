// The kernel that spec.mlir has IREE call: attention of 8 rows of 64 queries and keys,
// 4 heads of depth 32. On memrefs of known sizes and without a bias, so that it is one
// kernel of four pointers; see docs/embedding.md, 'From IREE'.

!rows = memref<1x8x64x4x32xbf16>

func.func @attention(%query: !rows, %key: !rows, %value: !rows, %out: !rows) {
  evoformer.attention query(%query : !rows) key(%key : !rows) value(%value : !rows)
      outs(%out : !rows)
  return
}
