// A buffer to which a kernel stores parts of a tile, and of which it then loads all, is
// laid out for both; what its rows are aligned to is said where a tile is known to start
// at such a place.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 4, 1], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds > %t.once.mlir
// RUN: FileCheck %s --input-file=%t.once.mlir
// RUN: evoformer-opt %t.once.mlir --evo-tile-promote-to-lds | diff %t.once.mlir -

#part = #evo_tile.lane_map<registers = [[4, 0, 1], [2, 8, 0]], lanes = [[4, 0, 4], [8, 1, 0]], subgroups = [[4, 16, 0]]>
#whole = #evo_tile.lane_map<registers = [[8, 0, 1], [8, 8, 0]], lanes = [[4, 0, 8], [8, 1, 0]], subgroups = [[4, 0, 0]]>

// CHECK-LABEL: @aligned
//       CHECK:   evo_tile.alloc_lds : memref<64x32xbf16, #evo_tile.swizzled_lds
//       CHECK:   evo_tile.store {{.*}} {alignment = 16 : i64
//       CHECK:   evo_tile.barrier handover
//       CHECK:   evo_tile.load {{.*}} {alignment = 16 : i64
evo_tile.kernel @aligned(%m: memref<64x32xbf16>, %o: memref<64x32xbf16>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : memref<64x32xbf16, #gpu.address_space<workgroup>>
  scf.for %p = %c0 to %c2 step %c1 {
    %at = arith.muli %p, %c16 : index
    %x = evo_tile.load %m[%c0, %at] {in_bounds = array<i1: true, true>} : memref<64x32xbf16> -> tensor<64x16xbf16, #part>
    evo_tile.store %x, %lds[%c0, %at] {in_bounds = array<i1: true, true>} : tensor<64x16xbf16, #part>, memref<64x32xbf16, #gpu.address_space<workgroup>>
  }
  evo_tile.barrier handover
  %y = evo_tile.load %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x32xbf16, #gpu.address_space<workgroup>> -> tensor<64x32xbf16, #whole>
  evo_tile.store %y, %o[%c0, %c0] : tensor<64x32xbf16, #whole>, memref<64x32xbf16>
  evo_tile.return
}

// A part that starts anywhere.
// CHECK-LABEL: @odd
//       CHECK:   evo_tile.store
//   CHECK-NOT:   alignment
//  CHECK-SAME:   tensor<64x16xbf16
//       CHECK:   evo_tile.load {{.*}} {alignment = 16 : i64
evo_tile.kernel @odd(%m: memref<64x16xbf16>, %o: memref<64x32xbf16>, %at: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : memref<64x32xbf16, #gpu.address_space<workgroup>>
  %x = evo_tile.load %m[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x16xbf16> -> tensor<64x16xbf16, #part>
  evo_tile.store %x, %lds[%c0, %at] {in_bounds = array<i1: true, true>} : tensor<64x16xbf16, #part>, memref<64x32xbf16, #gpu.address_space<workgroup>>
  evo_tile.barrier handover
  %y = evo_tile.load %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x32xbf16, #gpu.address_space<workgroup>> -> tensor<64x32xbf16, #whole>
  evo_tile.store %y, %o[%c0, %c0] : tensor<64x32xbf16, #whole>, memref<64x32xbf16>
  evo_tile.return
}

// CHECK-LABEL: @reader
//       CHECK:   evo_tile.store {{.*}} {alignment = 16 : i64
//       CHECK:   evo_tile.load
//   CHECK-NOT:   alignment
//  CHECK-SAME:   tensor<64x32xbf16
evo_tile.kernel @reader(%m: memref<64x16xbf16>, %o: memref<64x32xbf16>, %at: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  %lds = evo_tile.alloc_lds : memref<64x32xbf16, #gpu.address_space<workgroup>>
  %x = evo_tile.load %m[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x16xbf16> -> tensor<64x16xbf16, #part>
  evo_tile.store %x, %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<64x16xbf16, #part>, memref<64x32xbf16, #gpu.address_space<workgroup>>
  evo_tile.barrier handover
  %y = evo_tile.load %lds[%c0, %at] padding 0.0 : bf16 {in_bounds = array<i1: true, false>} : memref<64x32xbf16, #gpu.address_space<workgroup>> -> tensor<64x32xbf16, #whole>
  evo_tile.store %y, %o[%c0, %c0] : tensor<64x32xbf16, #whole>, memref<64x32xbf16>
  evo_tile.return
}

// Elements of no whole bytes stay where they are.
// CHECK-LABEL: @bits
//       CHECK:   evo_tile.alloc_lds : memref<64x32xi1, #gpu.address_space<workgroup>>
evo_tile.kernel @bits(%m: memref<64x16xi1>, %o: memref<64x32xi1>, %at: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : memref<64x32xi1, #gpu.address_space<workgroup>>
  %x = evo_tile.load %m[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x16xi1> -> tensor<64x16xi1, #part>
  evo_tile.store %x, %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<64x16xi1, #part>, memref<64x32xi1, #gpu.address_space<workgroup>>
  evo_tile.barrier handover
  %y = evo_tile.load %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x32xi1, #gpu.address_space<workgroup>> -> tensor<64x32xi1, #whole>
  evo_tile.store %y, %o[%c0, %c0] : tensor<64x32xi1, #whole>, memref<64x32xi1>
  evo_tile.return
}

// So does what has a layout already.
// CHECK-LABEL: @laid_out
//       CHECK:   evo_tile.alloc_lds : memref<64x32xbf16, strided<[40, 1]>, #gpu.address_space<workgroup>>
evo_tile.kernel @laid_out(%m: memref<64x32xbf16>, %o: memref<64x32xbf16>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : memref<64x32xbf16, strided<[40, 1]>, #gpu.address_space<workgroup>>
  scf.for %p = %c0 to %c2 step %c1 {
    %at = arith.muli %p, %c16 : index
    %x = evo_tile.load %m[%c0, %at] {in_bounds = array<i1: true, true>} : memref<64x32xbf16> -> tensor<64x16xbf16, #part>
    evo_tile.store %x, %lds[%c0, %at] {in_bounds = array<i1: true, true>} : tensor<64x16xbf16, #part>, memref<64x32xbf16, strided<[40, 1]>, #gpu.address_space<workgroup>>
  }
  evo_tile.barrier handover
  %y = evo_tile.load %lds[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<64x32xbf16, strided<[40, 1]>, #gpu.address_space<workgroup>> -> tensor<64x32xbf16, #whole>
  evo_tile.store %y, %o[%c0, %c0] : tensor<64x32xbf16, #whole>, memref<64x32xbf16>
  evo_tile.return
}
