// How much memory partial sums take: by default that of the gradients of query,
// key and value, 24 (64 + 2 * 128) rows of 32 bytes here, which is 7.5 sums of
// 64 x 128 x 4 bytes; six of four rows each are needed.
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu' --canonicalize | FileCheck %s --check-prefix=SIX
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=-1' --canonicalize | FileCheck %s --check-prefix=SIX
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=163839' --canonicalize | FileCheck %s --check-prefix=FOUR
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=65536' --canonicalize | FileCheck %s --check-prefix=TWO
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=65535' --canonicalize | FileCheck %s --check-prefix=ONE
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=0' --canonicalize | FileCheck %s --check-prefix=NONE
// RUN: evoformer-opt %s --evoformer-lower='target=cpu stop-after=tiles partial-sum-bytes=65536' | FileCheck %s --check-prefix=TWO
// RUN: not evoformer-opt %s --convert-evoformer-to-tile='target=cpu partial-sum-bytes=-2' 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: partial-sums.mlir:{{[0-9]+}}:{{[0-9]+}}: error: partial-sum-bytes is -1 or a number of bytes, not -2

// SIX: memref.alloc() {{.*}} : memref<6x1x1x1x64x128xf32>
// FOUR: memref.alloc() {{.*}} : memref<4x1x1x1x64x128xf32>
// TWO: memref.alloc() {{.*}} : memref<2x1x1x1x64x128xf32>
// No partial sums: the kernel that may have them is still there for one byte
// more, but nothing launches it.
// ONE: func.func @f(
// ONE-NOT: memref.alloc{{.*}}x64x128xf32>
// ONE: evo_tile.launch @f_bias_grad space
// ONE-NOT: evo_tile.launch
// NONE-NOT: sum_parts
// NONE: func.func @f(
// NONE-NOT: memref.alloc{{.*}}x64x128xf32>
// NONE: evo_tile.launch @f_bias_grad space
// NONE-NOT: evo_tile.launch
func.func @f(%q: memref<1x24x64x1x8xf32>, %k: memref<1x24x128x1x8xf32>,
             %p: memref<1x1x1x64x128xf32>, %s: memref<1x24x1x64xf32>,
             %stats: memref<2x1x24x1x64xf32>, %dp: memref<1x1x1x64x128xf32>) {
  evoformer.attention_gradient
      query(%q : memref<1x24x64x1x8xf32>) key(%k : memref<1x24x128x1x8xf32>)
      value(%k : memref<1x24x128x1x8xf32>) bias(%p : memref<1x1x1x64x128xf32>)
      weighted_grad(%q : memref<1x24x64x1x8xf32>)
      stats(%stats : memref<2x1x24x1x64xf32>) delta(%s : memref<1x24x1x64xf32>)
      bias_grad[0](%dp : memref<1x1x1x64x128xf32>)
  return
}
