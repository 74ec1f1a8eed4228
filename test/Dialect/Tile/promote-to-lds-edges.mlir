// RUN: %python %S/Inputs/with_target.py gfx1100 %s 'block = [1], subgroups = [1, 2, 2], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds | FileCheck %s
// RUN: sed 's/tuning = {/tuning = {shared_vector_bytes = 8, /' %t.mlir > %t.short.mlir
// RUN: evoformer-opt %t.short.mlir --evo-tile-promote-to-lds | FileCheck %s --check-prefix=SHORT
// RUN: sed 's/tuning = {/tuning = {shared_vector_bytes = 9, /' %t.mlir > %t.longer.mlir
// RUN: evoformer-opt %t.longer.mlir --evo-tile-promote-to-lds | FileCheck %s

#rows = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [[2, 0, 0], [2, 16, 0]]>
#row = #evo_tile.lane_map<registers = [[2, 1]], lanes = [[16, 2], [2, 0]], subgroups = [[4, 0]]>

// CHECK-DAG: #[[SMALL:.+]] = #evo_tile.lane_map<registers = {{\[}}[1, 0, 1]], lanes = {{\[}}[8, 0, 1], [4, 1, 0]], subgroups = {{\[}}[2, 4, 0], [2, 0, 0]]>

// Two layouts of the same tile in one order share a buffer; copies of a block
// are issued together, before the first load.
// CHECK-LABEL: evo_tile.kernel @shared_buffer
//       CHECK:   evo_tile.alloc_lds
//   CHECK-NOT:   evo_tile.alloc_lds
//       CHECK:   scf.for
//       CHECK:     %[[COPY:.+]] = evo_tile.load %arg0
//  CHECK-NEXT:     evo_tile.barrier
//  CHECK-NEXT:     evo_tile.store %[[COPY]]
//  CHECK-NEXT:     evo_tile.barrier
//       CHECK:     evo_tile.load {{.+}}workgroup
//       CHECK:     evo_tile.load {{.+}}workgroup
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:   evo_tile.return
#rows2 = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [[2, 16, 0], [2, 0, 0]]>
evo_tile.kernel @shared_buffer(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    evo_tile.store %x, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
    %y = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows2>
    evo_tile.store %y, %o[%i, %c0] : tensor<32x16xf16, #rows2>, memref<?x16xf16>
  }
  evo_tile.return
}

// Lanes read what they wrote themselves, not what others wrote.
// CHECK-LABEL: evo_tile.kernel @written_between
//   CHECK-NOT:   evo_tile.alloc_lds
//       CHECK:   evo_tile.return
evo_tile.kernel @written_between(%m: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %next = arith.addi %i, %c32 : index
    evo_tile.store %x, %m[%next, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
    %y = evo_tile.load %m[%next, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    evo_tile.store %y, %m[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}

// Row vectors, and shared tiles outside loops, stay direct.
// CHECK-LABEL: evo_tile.kernel @direct
//   CHECK-NOT:   evo_tile.alloc_lds
//       CHECK:   evo_tile.return
evo_tile.kernel @direct(%m: memref<?x16xf16>, %v: memref<?xf32>, %o: memref<?x16xf16>, %w: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
  evo_tile.store %x, %o[%c0, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  scf.for %i = %c0 to %n step %c32 {
    %r = evo_tile.load %v[%i] : memref<?xf32> -> tensor<32xf32, #row>
    evo_tile.store %r, %w[%i] : tensor<32xf32, #row>, memref<?xf32>
  }
  evo_tile.return
}

// A tile smaller than the workgroup: lanes and subgroups left over lie beyond
// the tile, so no element is copied twice. Rows of an odd number of elements are
// copied one by one.
// CHECK-LABEL: evo_tile.kernel @small
//       CHECK:   evo_tile.alloc_lds : memref<7x5xf16, strided<[8, 1]>, #gpu.address_space<workgroup>>
//       CHECK:   evo_tile.load %arg0{{.+}} -> tensor<7x5xf16, #[[SMALL]]>
#odd = #evo_tile.lane_map<registers = [[8, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = [[4, 0, 0]]>
evo_tile.kernel @small(%m: memref<?x5xf16>, %o: memref<?x5xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x5xf16> -> tensor<7x5xf16, #odd>
    evo_tile.store %x, %o[%i, %c0] : tensor<7x5xf16, #odd>, memref<?x5xf16>
  }
  evo_tile.return
}

// Index arithmetic of a later load moves up with its copy.
// CHECK-LABEL: evo_tile.kernel @moved_indices
//       CHECK:   scf.for %[[I:.+]] =
//  CHECK-NEXT:     %[[NEXT:.+]] = arith.addi %[[I]]
//  CHECK-NEXT:     evo_tile.load %arg0[%[[I]]
//  CHECK-NEXT:     evo_tile.load %arg0[%[[NEXT]]
// The sum is made on the way, so one buffer holds both.
//  CHECK-NEXT:     arith.addf
//  CHECK-NEXT:     evo_tile.barrier
//  CHECK-NEXT:     evo_tile.store
//  CHECK-NEXT:     evo_tile.barrier
evo_tile.kernel @moved_indices(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %next = arith.addi %i, %c32 : index
    %y = evo_tile.load %m[%next, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %s = arith.addf %x, %y : tensor<32x16xf16, #rows>
    evo_tile.store %s, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}

// Outside a loop: many narrow accesses pay for one barrier.
// CHECK-LABEL: evo_tile.kernel @narrow_once
//       CHECK:   %[[LDS:.+]] = evo_tile.alloc_lds : memref<64x32xf16, strided<[1,
//       CHECK:   %[[COPY:.+]] = evo_tile.load %arg0
//  CHECK-NEXT:   evo_tile.store %[[COPY]], %[[LDS]]
//  CHECK-NEXT:   evo_tile.barrier
#tall = #evo_tile.lane_map<registers = [[16, 1, 0]], lanes = [[32, 0, 1]], subgroups = [[4, 16, 0]]>
evo_tile.kernel @narrow_once(%m: memref<?x32xf16>, %o: memref<?x32xf16>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<?x32xf16> -> tensor<64x32xf16, #tall>
  evo_tile.store %x, %o[%c0, %c0] : tensor<64x32xf16, #tall>, memref<?x32xf16>
  evo_tile.return
}

// Elements that are not whole bytes are left alone.
// CHECK-LABEL: evo_tile.kernel @bits
//   CHECK-NOT:   evo_tile.alloc_lds
//       CHECK:   evo_tile.return
evo_tile.kernel @bits(%m: memref<?x16xi1>, %o: memref<?x16xi1>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xi1> -> tensor<32x16xi1, #rows>
    evo_tile.store %x, %o[%i, %c0] : tensor<32x16xi1, #rows>, memref<?x16xi1>
  }
  evo_tile.return
}

// A row vector goes along with other staged tiles where all subgroups read it
// and it would take many registers; a short one stays.
// CHECK-LABEL: evo_tile.kernel @vector_along
//       CHECK:   evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
//       CHECK:   scf.for
//       CHECK:     evo_tile.load %arg1
//       CHECK:     evo_tile.load %arg0
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.load %arg1
// Its 8 bytes a lane go along where the chip says that these are enough.
// SHORT-LABEL: evo_tile.kernel @vector_along
//   SHORT-DAG:   evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
//   SHORT-DAG:   evo_tile.alloc_lds : memref<32xf32, #gpu.address_space<workgroup>>
//       SHORT:   scf.for
// SHORT-COUNT-2:   evo_tile.load %arg1
//       SHORT:     evo_tile.barrier
//   SHORT-NOT:     evo_tile.load %arg1
//       SHORT:   evo_tile.return
#long_row = #evo_tile.lane_map<registers = [[32, 1]], lanes = [[16, 0], [2, 32]], subgroups = [[4, 0]]>
evo_tile.kernel @vector_along(%m: memref<?x16xf16>, %v: memref<?xf32>, %o: memref<?x16xf16>, %w: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %long = evo_tile.load %v[%i] : memref<?xf32> -> tensor<64xf32, #long_row>
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %short = evo_tile.load %v[%i] : memref<?xf32> -> tensor<32xf32, #row>
    evo_tile.store %x, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
    evo_tile.store %long, %w[%i] : tensor<64xf32, #long_row>, memref<?xf32>
    evo_tile.store %short, %w[%i] : tensor<32xf32, #row>, memref<?xf32>
  }
  evo_tile.return
}

// Nothing is left over from the iteration before where there is none; a loop
// around it makes one.
// CHECK-LABEL: evo_tile.kernel @once
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     evo_tile.store {{.+}}workgroup
//  CHECK-NEXT:     evo_tile.barrier
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:       evo_tile.barrier
//  CHECK-NEXT:       evo_tile.store {{.+}}workgroup
//  CHECK-NEXT:       evo_tile.barrier
//       CHECK:   evo_tile.return
evo_tile.kernel @once(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %any: i1, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.select %any, %c1, %c0 : index
  scf.for %i = %c0 to %count step %c1 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    evo_tile.store %x, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
    %y = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows2>
    evo_tile.store %y, %o[%i, %c0] : tensor<32x16xf16, #rows2>, memref<?x16xf16>
  }
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %c0 to %count step %c1 {
      %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
      evo_tile.store %x, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
      %y = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows2>
      evo_tile.store %y, %o[%i, %c0] : tensor<32x16xf16, #rows2>, memref<?x16xf16>
    }
  }
  evo_tile.return
}
