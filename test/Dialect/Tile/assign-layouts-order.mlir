// Instructions of different shapes add products of f32 in one order, so that a
// kernel which recomputes a product of another rounds it alike: 32x32x2 adds k and
// k + 8, then k + 16 and k + 24, as 16x16x4 does at once.
//
// RUN: %python %S/Inputs/with_target.py gfx942 %s "block = [1, 64, 64], subgroups = [1, 2, 1], stages = 1" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts | FileCheck %s

// Lanes, turns, then what a lane holds in a run.
// CHECK-DAG: #[[WIDE:.*]] = #evo_tile.frag<#mfma_f32_32x32x2_f32, B, dims = [1, 0], subgroups = [2, 0], order = [array<i64>, array<i64: 2, 8, 2, 16, 8, 1>]>
// CHECK-DAG: #[[NARROW:.*]] = #evo_tile.frag<#mfma_f32_16x16x4_f32, B, dims = [1, 0], subgroups = [2, 0], order = [array<i64>, array<i64: 4, 8, 8, 1>]>
// Runs of two elements would be no vectors, 16-bit operands have few digits.
// CHECK-DAG: #[[SHORT:.*]] = #evo_tile.frag<#mfma_f32_32x32x2_f32, B, dims = [1, 0], subgroups = [2, 0], order = [array<i64>, array<i64: 2, 4, 4, 1>]>
// CHECK-DAG: #[[HALF:.*]] = #evo_tile.frag<#mfma_f32_32x32x8_bf16, B, dims = [1, 0], subgroups = [2, 0], order = [array<i64>, array<i64: 4, 1, 2, 16, 4, 4>]>

// CHECK-LABEL: @wide
// CHECK: evo_tile.mma {{.*}} : tensor<64x32xf32, #[[WIDE]]>
evo_tile.kernel @wide(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<64x32xf32>
  %b = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<32x32xf32>
  %s = evo_tile.mma %a, %b, %zero : tensor<64x32xf32>, tensor<32x32xf32>, tensor<64x32xf32>
  evo_tile.store %s, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32>
  evo_tile.return
}

// CHECK-LABEL: @narrow
// CHECK: evo_tile.mma {{.*}} : tensor<32x32xf32, #[[NARROW]]>
evo_tile.kernel @narrow(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<32x32xf32>
  %b = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<32x16xf32>
  %s = evo_tile.mma %a, %b, %zero : tensor<32x32xf32>, tensor<32x16xf32>, tensor<32x16xf32>
  evo_tile.store %s, %y[%c0, %c0] : tensor<32x16xf32>, memref<?x?xf32>
  evo_tile.return
}

// CHECK-LABEL: @short
// CHECK: evo_tile.mma {{.*}} : tensor<64x8xf32, #[[SHORT]]>
evo_tile.kernel @short(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<64x8xf32>
  %b = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<8x32xf32>
  %s = evo_tile.mma %a, %b, %zero : tensor<64x8xf32>, tensor<8x32xf32>, tensor<64x32xf32>
  evo_tile.store %s, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32>
  evo_tile.return
}

// CHECK-LABEL: @half
// CHECK: evo_tile.mma {{.*}} : tensor<64x32xbf16, #[[HALF]]>
evo_tile.kernel @half(%x: memref<?x?xbf16>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x32xbf16>
  %b = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<32x32xbf16>
  %s = evo_tile.mma %a, %b, %zero : tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<64x32xf32>
  evo_tile.store %s, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32>
  evo_tile.return
}
