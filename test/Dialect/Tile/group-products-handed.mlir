// Rows that a kernel hands over in workgroup memory, for some of its subgroups or all: an
// instruction of several reads them there. Subgroups without rows go around it, and what
// they go around is not left under way.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 4, 1], stages = 2, products = handed' > %t.4.mlir
// RUN: evoformer-opt %t.4.mlir --evo-tile-assign-layouts --evo-tile-remove-layout-conversions --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-share-operands --evo-tile-overlap-products > %t.4.shared.mlir
// RUN: FileCheck %s --input-file=%t.4.shared.mlir --check-prefixes=CHECK,ALL
// RUN: evoformer-opt %t.4.shared.mlir --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES4
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 12, 1], stages = 2, products = handed' > %t.12.mlir
// RUN: evoformer-opt %t.12.mlir --evo-tile-assign-layouts --evo-tile-remove-layout-conversions --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-share-operands --evo-tile-overlap-products > %t.12.shared.mlir
// RUN: FileCheck %s --input-file=%t.12.shared.mlir --check-prefixes=CHECK,SOME
// RUN: evoformer-opt %t.12.shared.mlir --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES12
//
// Chips without such instructions multiply subgroup by subgroup.
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [64], subgroups = [1, 4, 1], stages = 2, products = handed' > %t.80.mlir
// RUN: evoformer-opt %t.80.mlir --evo-tile-assign-layouts --evo-tile-remove-layout-conversions --evo-tile-promote-to-lds --evo-tile-software-pipeline --evo-tile-share-operands --evo-tile-overlap-products | FileCheck %s --check-prefix=ALONE
// ALONE-NOT: group_mma

// CHECK-LABEL: @two
//       CHECK:   alloc_lds : memref<64x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
//       CHECK:   evo_tile.proxy_fence
//       CHECK:   evo_tile.barrier handover
//         ALL:   evo_tile.group_fence none
//         ALL:   evo_tile.group_mma %{{.*}} async : memref<64x64xbf16
//         ALL:   evo_tile.group_mma %{{.*}} async : memref<64x64xbf16
//    SOME-NOT:   async :
//        SOME:   evo_tile.group_mma %{{.*}} : memref<64x64xbf16
//    SOME-NOT:   async :
//        SOME:   evo_tile.group_mma %{{.*}} : memref<64x64xbf16
//    SOME-NOT:   async :
//        SOME:   evo_tile.return

// LANES4-LABEL: @two
//   LANES4-NOT:   scf.if
//       LANES4:   wgmma
// LANES12-LABEL: @two
//       LANES12:   %[[HAS:.*]] = arith.cmpi ult, %{{.*}}, %c4_i32
//       LANES12:   scf.if %[[HAS]]
//       LANES12:     wgmma
evo_tile.kernel @two(%a: memref<?x64xbf16>, %k: memref<64x32xbf16>, %l: memref<64x32xbf16>, %o: memref<?x32xf32>, %p: memref<?x32xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %lds = evo_tile.alloc_lds : memref<64x64xbf16, #gpu.address_space<workgroup>>
  %x = evo_tile.load %k[%c0, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<64x32xbf16> -> tensor<64x32xbf16>
  %y = evo_tile.load %l[%c0, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<64x32xbf16> -> tensor<64x32xbf16>
  scf.for %i = %c0 to %n step %c64 {
    evo_tile.barrier handover
    scf.for %q = %c0 to %c4 step %c1 {
      %at = arith.muli %q, %c16 : index
      %from = arith.addi %i, %at : index
      %t = evo_tile.load %a[%from, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x64xbf16> -> tensor<16x64xbf16>
      evo_tile.store %t, %lds[%at, %c0] {in_bounds = array<i1: true, true>} : tensor<16x64xbf16>, memref<64x64xbf16, #gpu.address_space<workgroup>>
    }
    evo_tile.barrier handover
    %r = evo_tile.load %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x64xbf16, #gpu.address_space<workgroup>> -> tensor<64x64xbf16>
    %s = evo_tile.mma %r, %x, %zero : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    %u = evo_tile.mma %r, %y, %zero : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    evo_tile.store %s, %o[%i, %c0] {in_bounds = array<i1: true, true>} : tensor<64x32xf32>, memref<?x32xf32>
    evo_tile.store %u, %p[%i, %c0] {in_bounds = array<i1: true, true>} : tensor<64x32xf32>, memref<?x32xf32>
  }
  evo_tile.return
}

