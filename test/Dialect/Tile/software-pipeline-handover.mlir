// A kernel hands over what its subgroups store themselves. The barrier at the top of an
// iteration, behind which they store again, is the one that the loop's ring has anyway;
// that behind the stores stays.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 4, 1], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-remove-layout-conversions --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s

// CHECK-LABEL: @two
//       CHECK:   scf.for
//       CHECK:     evo_tile.wait
//  CHECK-NEXT:     evo_tile.barrier{{$}}
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     scf.for
//       CHECK:       evo_tile.store
//       CHECK:     evo_tile.barrier handover
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     scf.yield
evo_tile.kernel @two(%a: memref<?x64xbf16>, %k: memref<64x32xbf16>, %l: memref<?x32xbf16>, %o: memref<?x32xf32>, %p: memref<?x32xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %lds = evo_tile.alloc_lds : memref<64x64xbf16, #gpu.address_space<workgroup>>
  %x = evo_tile.load %k[%c0, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<64x32xbf16> -> tensor<64x32xbf16>
  scf.for %i = %c0 to %n step %c64 {
    evo_tile.barrier handover
    scf.for %q = %c0 to %c4 step %c1 {
      %at = arith.muli %q, %c16 : index
      %from = arith.addi %i, %at : index
      %t = evo_tile.load %a[%from, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x64xbf16> -> tensor<16x64xbf16>
      evo_tile.store %t, %lds[%at, %c0] {in_bounds = array<i1: true, true>} : tensor<16x64xbf16>, memref<64x64xbf16, #gpu.address_space<workgroup>>
    }
    evo_tile.barrier handover
    %z = evo_tile.load %l[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x32xbf16> -> tensor<64x32xbf16>
    %r = evo_tile.load %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x64xbf16, #gpu.address_space<workgroup>> -> tensor<64x64xbf16>
    %s = evo_tile.mma %r, %x, %zero : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    %u = evo_tile.mma %r, %z, %zero : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    evo_tile.store %s, %o[%i, %c0] {in_bounds = array<i1: true, true>} : tensor<64x32xf32>, memref<?x32xf32>
    evo_tile.store %u, %p[%i, %c0] {in_bounds = array<i1: true, true>} : tensor<64x32xf32>, memref<?x32xf32>
  }
  evo_tile.return
}
