// Whoever asks whether rare work is to be done asks of the rows that its subgroup has,
// however these lie over its lanes. A tile that is reduced lies as the product has it that
// makes it, not as what the reduction is compared with would have it, even if it is as wide.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s "block = [1, 64, 32], subgroups = [1, 4, 1], stages = 1" > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts | FileCheck %s

//     CHECK-DAG: #[[RESULT:.*]] = #evo_tile.frag<#mma_m16n8k16_bf16, C, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
// CHECK-LABEL: evo_tile.kernel @rows
//       CHECK:   scf.for {{.*}} -> (tensor<64x32xf32, #[[RESULT]]>,
//       CHECK:     %[[HELD:.*]] = evo_tile.reduce add %{{.*}} dim 1 held
//       CHECK:     %[[LARGE:.*]] = arith.cmpf ogt, %[[HELD]],
//  CHECK-NEXT:     %[[OUT:.*]]:2 = evo_tile.where %[[LARGE]], %{{.*}}, %{{.*}} {
//   CHECK-NOT:     evo_tile.convert_layout %[[OUT]]#0
//       CHECK:     scf.yield %[[OUT]]#0, %[[OUT]]#1
//       CHECK:   math.absf %{{.*}} : tensor<64x32xf32, #[[RESULT]]>
evo_tile.kernel @rows(%x: memref<?x32xbf16>, %y: memref<?x32xbf16>, %z: memref<64x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %large = arith.constant dense<100.0> : tensor<64xf32>
  %q = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 {in_bounds = array<i1: false, true>} : memref<?x32xbf16> -> tensor<64x32xbf16>
  %all:2 = scf.for %i = %c0 to %n step %c32 iter_args(%out = %zero, %sum = %none) -> (tensor<64x32xf32>, tensor<64xf32>) {
    %k = evo_tile.load %y[%i, %c0] padding 0.0 : bf16 {in_bounds = array<i1: false, true>} : memref<?x32xbf16> -> tensor<32x32xbf16>
    %t = evo_tile.transpose %k [1, 0] : tensor<32x32xbf16> -> tensor<32x32xbf16>
    %s = evo_tile.mma %q, %t, %zero : tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<64x32xf32>
    %w = math.exp2 %s : tensor<64x32xf32>
    %part = evo_tile.reduce add %w dim 1 : tensor<64x32xf32> -> tensor<64xf32>
    %next = arith.addf %sum, %part : tensor<64xf32>
    %narrow = arith.truncf %w : tensor<64x32xf32> to tensor<64x32xbf16>
    %o = evo_tile.mma %narrow, %k, %out : tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<64x32xf32>
    %held = evo_tile.reduce add %w dim 1 held : tensor<64x32xf32> -> tensor<64xf32>
    %isLarge = arith.cmpf ogt, %held, %large : tensor<64xf32>
    %less:2 = evo_tile.where %isLarge, %o, %next {
      %wide = evo_tile.broadcast %part dim 1 : tensor<64xf32> -> tensor<64x32xf32>
      %small = arith.mulf %o, %wide : tensor<64x32xf32>
      %of = arith.mulf %next, %part : tensor<64xf32>
      evo_tile.yield %small, %of : tensor<64x32xf32>, tensor<64xf32>
    } : tensor<64xi1>, tensor<64x32xf32>, tensor<64xf32>
    scf.yield %less#0, %less#1 : tensor<64x32xf32>, tensor<64xf32>
  }
  %size = math.absf %all#0 : tensor<64x32xf32>
  %sizes = evo_tile.reduce add %size dim 1 : tensor<64x32xf32> -> tensor<64xf32>
  %both = arith.addf %sizes, %all#1 : tensor<64xf32>
  %isOver = arith.cmpf ogt, %both, %large : tensor<64xf32>
  %end = evo_tile.where %isOver, %all#0 {
    evo_tile.yield %zero : tensor<64x32xf32>
  } : tensor<64xi1>, tensor<64x32xf32>
  evo_tile.store %end, %z[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<64x32xf32>, memref<64x32xf32>
  evo_tile.return
}
