// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=buffers" | FileCheck %s --check-prefix=BUFFERS
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=tiles" | FileCheck %s --check-prefix=TILES
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=fragments" | FileCheck %s --check-prefix=FRAGMENTS
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=staged" | FileCheck %s --check-prefix=STAGED
// RUN: evoformer-opt %s --evoformer-lower="target=gfx942 stop-after=staged run-on-cpu" | FileCheck %s --check-prefix=CPU
// RUN: evoformer-opt %s --evoformer-lower="target=cpu" | FileCheck %s --check-prefix=CPU
// RUN: not evoformer-opt %s --evoformer-lower="target=cpu stop-after=nowhere" 2>&1 | FileCheck %s --check-prefix=WRONG

// The caller owns all memory: no results, arguments of any strides.
// BUFFERS:      func.func @attention(
// BUFFERS-SAME:   memref<?x?x?x4x32xbf16, strided<[?, ?, ?, ?, ?], offset: ?>>)
// BUFFERS-NOT:    ->
// BUFFERS:        evoformer.attention

// TILES:          evo_tile.mma {{.*}} : tensor<1x256x32xbf16>, tensor<1x32x64xbf16>, tensor<1x256x64xf32>
// TILES:          func.func @attention(
// TILES:          evo_tile.launch

// FRAGMENTS:      evo_tile.mma {{.*}} : tensor<1x256x32xbf16, #
// STAGED:         evo_tile.alloc_lds
// CPU-NOT:        evo_tile.kernel
// CPU-DAG:        llvm.func @attention_attention
// CPU-DAG:        llvm.func @attention(

// WRONG: nowhere
func.func @attention(%q: tensor<?x?x?x4x32xbf16>, %k: tensor<?x?x?x4x32xbf16>,
                     %v: tensor<?x?x?x4x32xbf16>, %o: tensor<?x?x?x4x32xbf16>)
    -> tensor<?x?x?x4x32xbf16> {
  %0 = evoformer.attention
      query(%q : tensor<?x?x?x4x32xbf16>)
      key(%k : tensor<?x?x?x4x32xbf16>)
      value(%v : tensor<?x?x?x4x32xbf16>)
      outs(%o : tensor<?x?x?x4x32xbf16>)
  return %0 : tensor<?x?x?x4x32xbf16>
}
