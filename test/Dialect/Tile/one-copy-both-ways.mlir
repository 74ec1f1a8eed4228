// Queries and output gradients are operands as rows and transposed. A chip that reads across
// rows copies each once, with a swizzle that spreads both kinds of reads over the banks, of
// which the bits are in no ascending order; another copies each twice.
// RUN: evoformer-check --print-module="B=1 N=64 H=4 Sq=256 Sk=256 D=64 type=bf16 bias=bhqk:bf16:normal pass=backward" > %t.mlir
// RUN: evoformer-opt %t.mlir --evoformer-lower="target=gfx950 stop-after=staged" | FileCheck %s --check-prefix=ONCE
// RUN: evoformer-opt %t.mlir --evoformer-lower="target=gfx942 stop-after=staged" | FileCheck %s --check-prefix=TWICE

// ONCE-LABEL: evo_tile.kernel @attention_key_value_grad(
// ONCE:         evo_tile.alloc_lds : memref<1x64x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [9, 8, 12]>>
// ONCE-NEXT:    evo_tile.alloc_lds : memref<1x64x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [9, 8, 12]>>
// ONCE-NEXT:    evo_tile.alloc_lds : memref<1x64xf32
// ONCE-NEXT:    evo_tile.alloc_lds : memref<1x64xf32
// ONCE-NOT:     evo_tile.alloc_lds
// ONCE:         evo_tile.return

// TWICE-LABEL: evo_tile.kernel @attention_key_value_grad(
// TWICE:         evo_tile.alloc_lds : memref<1x32x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 11]>>
// TWICE-NEXT:    evo_tile.alloc_lds : memref<1x32x64xbf16, strided<[2048, 1, 32]>
// TWICE-NEXT:    evo_tile.alloc_lds : memref<1x32x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 11]>>
// TWICE-NEXT:    evo_tile.alloc_lds : memref<1x32x64xbf16, strided<[2048, 1, 32]>
// TWICE:         evo_tile.return
