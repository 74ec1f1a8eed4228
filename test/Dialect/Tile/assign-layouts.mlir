// Layouts start from the products: which instruction, which orientation, and
// where a conversion is needed.
//
// RUN: %python %S/Inputs/with_target.py gfx942 %s "block = [1, 64, 64], subgroups = [1, 4, 1], stages = 1" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts | FileCheck %s
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --remarks-filter='evo-tile-assign.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=MFMA
// RUN: %python %S/Inputs/with_target.py gfx1100 %s "block = [1, 64, 64], subgroups = [1, 4, 1], stages = 1" > %t.gfx1100
// RUN: evoformer-opt %t.gfx1100 --evo-tile-assign-layouts | FileCheck %s
// RUN: evoformer-opt %t.gfx1100 --evo-tile-assign-layouts --remarks-filter='evo-tile-assign.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=WMMA
// RUN: %python %S/Inputs/with_target.py sm_80 %s "block = [1, 64, 64], subgroups = [1, 4, 1], stages = 1" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts | FileCheck %s
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --remarks-filter='evo-tile-assign.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=MMA

// A product's result is the next one's operand: accumulators of mfma and wmma
// hold rows in registers, so both products are computed transposed (the
// instruction's A is our b); those of mma.sync hold columns. Between the two
// registers get other names, but for one exchange of half waves on gfx11.
// MFMA:      instruction=mfma_f32_32x32x8_bf16, swapped=yes
// MFMA:      instruction=mfma_f32_32x32x8_bf16, swapped=yes
// MFMA:      relation=register-rename
// MFMA-NOT:  relation
// WMMA:      instruction=wmma_f32_16x16x16_bf16, swapped=yes
// WMMA:      instruction=wmma_f32_16x16x16_bf16, swapped=yes
// WMMA:      relation=lane-exchange
// WMMA-NOT:  relation
// MMA:       instruction=mma_m16n8k16_bf16, swapped=no
// MMA:       instruction=mma_m16n8k16_bf16, swapped=no
// MMA:       relation=register-rename
// MMA-NOT:   relation

// CHECK-LABEL: @chain
// CHECK: %[[S:.*]] = evo_tile.mma
// No exchange, at most a renaming, between the two.
// CHECK: evo_tile.mma
evo_tile.kernel @chain(%x: memref<?x?xbf16>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %zero2 = arith.constant dense<0.0> : tensor<128x32xf32>
  %q = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<128x32xbf16>
  %k = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<32x64xbf16>
  %v = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x32xbf16>
  %s = evo_tile.mma %q, %k, %zero : tensor<128x32xbf16>, tensor<32x64xbf16>, tensor<128x64xf32>
  %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xbf16>
  %o = evo_tile.mma %p, %v, %zero2 : tensor<128x64xbf16>, tensor<64x32xbf16>, tensor<128x32xf32>
  evo_tile.store %o, %y[%c0, %c0] : tensor<128x32xf32>, memref<?x?xf32>
  evo_tile.return
}

// Without a product rows lie over the lanes, in pieces of 16 bytes; a reduction
// has a slice of its operand's layout, and what is broadcast again, too.
// CHECK-LABEL: @rows
// CHECK: %[[T:.*]] = evo_tile.load {{.*}} -> tensor<8x128xf32, [[FULL:#lanes[0-9]*]]>
// CHECK: evo_tile.reduce max %[[T]] dim 1 : tensor<8x128xf32, [[FULL]]> -> tensor<8xf32, [[SLICE:#slice[0-9]*]]>
// CHECK: evo_tile.broadcast {{.*}} : tensor<8xf32, [[SLICE]]> -> tensor<8x128xf32, [[FULL]]>
// CHECK-NOT: convert_layout
// CHECK: evo_tile.store {{.*}} : tensor<8x128xf32, [[FULL]]>
evo_tile.kernel @rows(%x: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<8x128xf32>
  %m = evo_tile.reduce max %t dim 1 : tensor<8x128xf32> -> tensor<8xf32>
  %b = evo_tile.broadcast %m dim 1 : tensor<8xf32> -> tensor<8x128xf32>
  %d = arith.subf %t, %b : tensor<8x128xf32>
  evo_tile.store %d, %x[%c0, %c0] : tensor<8x128xf32>, memref<?x?xf32>
  evo_tile.return
}

// Two uses that want different layouts: one conversion, at the cheaper side.
// CHECK-LABEL: @transposed
// CHECK: evo_tile.load {{.*}} -> tensor<16x64xf32, [[IN:#[a-z0-9_]*]]>
// CHECK: evo_tile.transpose {{.*}} [1, 0] : tensor<16x64xf32, [[IN]]> -> tensor<64x16xf32, [[OUT:#[a-z0-9_]*]]>
// CHECK: evo_tile.store {{.*}} : tensor<64x16xf32, [[OUT]]>
evo_tile.kernel @transposed(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<16x64xf32>
  %u = evo_tile.transpose %t [1, 0] : tensor<16x64xf32> -> tensor<64x16xf32>
  evo_tile.store %u, %y[%c0, %c0] : tensor<64x16xf32>, memref<?x?xf32>
  evo_tile.return
}
