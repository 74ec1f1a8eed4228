// Tiles are as deep as whole steps of products of several subgroups, where these pay:
// loads end where rows do, and so do stores. Not on chips without such products, not of
// rows that are no whole words, of few elements, or of f32.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_90 --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize --cse | FileCheck %s --check-prefix=AS-ROWS
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse | FileCheck %s --check-prefix=AS-ROWS

!x = memref<1x2x64x1x72xbf16>
!v = memref<1x2x64x1x40xbf16>
!wide = memref<1x2x64x1x136xbf16>
!steps = memref<1x2x64x1x144xbf16>
!odd = memref<1x2x64x1x71xbf16>
!few = memref<1x2x64x1x24xbf16>
!f32 = memref<1x2x64x1x72xf32>

// CHECK-LABEL: evo_tile.kernel @words_attention(
// CHECK-DAG:     evo_tile.load %{{.*}} padding 0.000000e+00 : bf16 {alignment = 16 : i64, in_bounds = array<i1: true, true, false>} : memref<{{.*}}x72xbf16{{.*}} -> tensor<1x{{[0-9]+}}x80xbf16>
// CHECK-DAG:     evo_tile.load %{{.*}} padding 0.000000e+00 : bf16 {alignment = 16 : i64, in_bounds = array<i1: true, true, false>} : memref<{{.*}}x40xbf16{{.*}} -> tensor<1x{{[0-9]+}}x48xbf16>
// CHECK:         evo_tile.store %{{.*}} {alignment = 16 : i64, in_bounds = array<i1: true, true, false>} : tensor<1x{{[0-9]+}}x48xbf16>, memref<{{.*}}x40xbf16
// AS-ROWS-LABEL: evo_tile.kernel @words_attention(
// AS-ROWS-NOT:   -> tensor<1x{{[0-9]+}}x80xbf16>
// AS-ROWS:       -> tensor<1x{{[0-9]+}}x72xbf16>
// AS-ROWS-NOT:   -> tensor<1x{{[0-9]+}}x80xbf16>
func.func @words(%q: !x, %k: !x, %v: !v, %out: !v) {
  evoformer.attention query(%q : !x) key(%k : !x) value(%v : !v) outs(%out : !v)
  return
}

// Where that is at most an eighth more, two steps: 160 and not 144.
// CHECK-LABEL: evo_tile.kernel @wide_attention(
// CHECK-NOT:     x144xbf16
// CHECK:         evo_tile.load %{{.*}} : memref<{{.*}}x136xbf16{{.*}} -> tensor<1x{{[0-9]+}}x160xbf16>
// CHECK-NOT:     x144xbf16
func.func @wide(%q: !wide, %k: !wide, %v: !wide, %out: !wide) {
  evoformer.attention query(%q : !wide) key(%k : !wide) value(%v : !wide) outs(%out : !wide)
  return
}

// Rows of whole steps stay as they are.
// CHECK-LABEL: evo_tile.kernel @steps_attention(
// CHECK:         -> tensor<1x{{[0-9]+}}x144xbf16>
// CHECK-NOT:     x160xbf16
// CHECK:         evo_tile.return
func.func @steps(%q: !steps, %k: !steps, %v: !steps, %out: !steps) {
  evoformer.attention query(%q : !steps) key(%k : !steps) value(%v : !steps) outs(%out : !steps)
  return
}

// CHECK-LABEL: evo_tile.kernel @odd_attention(
// CHECK:         -> tensor<1x{{[0-9]+}}x71xbf16>
func.func @odd(%q: !odd, %k: !odd, %v: !odd, %out: !odd) {
  evoformer.attention query(%q : !odd) key(%k : !odd) value(%v : !odd) outs(%out : !odd)
  return
}

// CHECK-LABEL: evo_tile.kernel @few_attention(
// CHECK:         -> tensor<1x{{[0-9]+}}x24xbf16>
func.func @few(%q: !few, %k: !few, %v: !few, %out: !few) {
  evoformer.attention query(%q : !few) key(%k : !few) value(%v : !few) outs(%out : !few)
  return
}

// CHECK-LABEL: evo_tile.kernel @f32_attention(
// CHECK-NOT:     x80xf32
func.func @f32(%q: !f32, %k: !f32, %v: !f32, %out: !f32) {
  evoformer.attention query(%q : !f32) key(%k : !f32) value(%v : !f32) outs(%out : !f32)
  return
}
