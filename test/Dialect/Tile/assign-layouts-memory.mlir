// Where no other product decides, the registers of a result lie along what its
// memory holds contiguously: a bias before it, what is stored after it.
//
// RUN: %python %S/Inputs/with_target.py gfx942 %s "block = [64, 64], subgroups = [1, 2, 1], stages = 1" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --remarks-filter='evo-tile-assign.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=MFMA
// RUN: %python %S/Inputs/with_target.py sm_80 %s "block = [64, 64], subgroups = [1, 2, 1], stages = 1" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --remarks-filter='evo-tile-assign.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=MMA

// Stored by rows: accumulators of mfma hold rows of the instruction's result in
// registers, those of mma.sync columns.
// MFMA: instruction=mfma_f32_32x32x8_bf16, swapped=yes
// MMA:  instruction=mma_m16n8k16_bf16, swapped=no
evo_tile.kernel @stored_rows(%x: memref<?x?xbf16>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x32xbf16>
  %b = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<32x64xbf16>
  %s = evo_tile.mma %a, %b, %zero : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  evo_tile.store %s, %y[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  evo_tile.return
}

// Summed over a loop and stored by columns, as a transposed memref has them.
// MFMA: instruction=mfma_f32_32x32x8_bf16, swapped=no
// MMA:  instruction=mma_m16n8k16_bf16, swapped=yes
evo_tile.kernel @stored_columns(%x: memref<?x?xbf16>, %y: memref<?x?xf32, strided<[1, ?]>>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%c = %zero) -> tensor<64x64xf32> {
    %a = evo_tile.load %x[%c0, %k] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x32xbf16>
    %b = evo_tile.load %x[%k, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<32x64xbf16>
    %s = evo_tile.mma %a, %b, %c : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32, strided<[1, ?]>>
  evo_tile.return
}

// Added to a bias that memory holds by columns, through a broadcast.
// MFMA: instruction=mfma_f32_32x32x8_bf16, swapped=no
// MMA:  instruction=mma_m16n8k16_bf16, swapped=yes
evo_tile.kernel @biased(%x: memref<?x?xbf16>, %bias: memref<?x?xbf16, strided<[1, ?]>>, %z: memref<?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x32xbf16>
  %b = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<32x64xbf16>
  %s = evo_tile.mma %a, %b, %zero : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  %t = evo_tile.load %bias[%c0, %c0] : memref<?x?xbf16, strided<[1, ?]>> -> tensor<64x64xbf16>
  %w = arith.extf %t : tensor<64x64xbf16> to tensor<64x64xf32>
  %u = arith.addf %s, %w : tensor<64x64xf32>
  %r = evo_tile.reduce add %u dim 1 : tensor<64x64xf32> -> tensor<64xf32>
  evo_tile.store %r, %z[%c0] : tensor<64xf32>, memref<?xf32>
  evo_tile.return
}
