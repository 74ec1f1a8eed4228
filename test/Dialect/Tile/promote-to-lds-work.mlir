// RUN: %python %S/Inputs/with_target.py gfx1100 %s 'block = [1], subgroups = [1, 2, 2], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds | FileCheck %s

// Elementwise work on a shared tile is done once, by the lanes that copy it.

#rows = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [[2, 0, 0], [2, 16, 0]]>
#row = #evo_tile.slice<dim = 1, size = 16, #rows>
// 32 rows of a tile of 24.
#padded = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [[2, 16, 0], [2, 0, 0]]>

// A choice between the tile and zero, by a row vector that is loaded besides.
// CHECK-LABEL: evo_tile.kernel @cleared
//       CHECK:   scf.for
//       CHECK:     %[[TERMS:.+]] = evo_tile.load %arg1{{.+}} -> tensor<32xf32, #{{.+}}>
//       CHECK:     %[[DROPPED:.+]] = arith.cmpf oeq, %[[TERMS]]
//       CHECK:     %[[ALL:.+]] = evo_tile.broadcast %[[DROPPED]] dim 1
//       CHECK:     %[[TILE:.+]] = evo_tile.load %arg0{{.+}} -> tensor<32x16xf16, #[[COPY:.+]]>
//       CHECK:     %[[CLEARED:.+]] = arith.select %[[ALL]], %{{.+}}, %[[TILE]] : tensor<32x16xi1, #[[COPY]]>
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.store %[[CLEARED]], %[[LDS:.+]][
//       CHECK:     evo_tile.barrier
//   CHECK-NOT:     arith.select
//       CHECK:     %[[READ:.+]] = evo_tile.load %{{.+}} -> tensor<32x16xf16, #[[ROWS:.+]]>
//       CHECK:     evo_tile.store %[[READ]], %arg2
evo_tile.kernel @cleared(%m: memref<?x16xf16>, %t: memref<?xf32>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf16, #rows>
  %none = arith.constant dense<0xFF800000> : tensor<32xf32, #row>
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %terms = evo_tile.load %t[%i] : memref<?xf32> -> tensor<32xf32, #row>
    %is = arith.cmpf oeq, %terms, %none : tensor<32xf32, #row>
    %all = evo_tile.broadcast %is dim 1 : tensor<32xi1, #row> -> tensor<32x16xi1, #rows>
    %y = arith.select %all, %zero, %x : tensor<32x16xi1, #rows>, tensor<32x16xf16, #rows>
    evo_tile.store %y, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}

// Work in between may be wider than what is loaded, what is copied may not.
// CHECK-LABEL: evo_tile.kernel @wider
//       CHECK:   scf.for
//       CHECK:     arith.extf
//       CHECK:     arith.mulf
//       CHECK:     %[[NARROW:.+]] = arith.truncf
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.store %[[NARROW]]
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.load {{.+}}workgroup
//       CHECK:     arith.extf
evo_tile.kernel @wider(%m: memref<?x16xf16>, %o: memref<?x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %two = arith.constant dense<2.0> : tensor<32x16xf32, #rows>
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %wide = arith.extf %x : tensor<32x16xf16, #rows> to tensor<32x16xf32, #rows>
    %twice = arith.mulf %wide, %two : tensor<32x16xf32, #rows>
    %y = arith.truncf %twice : tensor<32x16xf32, #rows> to tensor<32x16xf16, #rows>
    %z = arith.extf %y : tensor<32x16xf16, #rows> to tensor<32x16xf32, #rows>
    evo_tile.store %z, %o[%i, %c0] : tensor<32x16xf32, #rows>, memref<?x16xf32>
  }
  evo_tile.return
}

// Where atoms reach beyond the tile, its padding must survive: 0 + 1 does not.
// CHECK-LABEL: evo_tile.kernel @padded
//       CHECK:   scf.for
//       CHECK:     %[[X:.+]] = evo_tile.load %arg0
//       CHECK:     evo_tile.store %[[X]]
//       CHECK:     evo_tile.load {{.+}} padding
//       CHECK:     arith.addf
evo_tile.kernel @padded(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %one = arith.constant dense<1.0> : tensor<24x16xf16, #padded>
  scf.for %i = %c0 to %n step %c24 {
    %x = evo_tile.load %m[%i, %c0] padding 0.0 : f16 : memref<?x16xf16> -> tensor<24x16xf16, #padded>
    %y = arith.addf %x, %one : tensor<24x16xf16, #padded>
    evo_tile.store %y, %o[%i, %c0] : tensor<24x16xf16, #padded>, memref<?x16xf16>
  }
  evo_tile.return
}

// So does that of a tile without one, zero: a choice of zeros keeps it.
// CHECK-LABEL: evo_tile.kernel @padded_cleared
//       CHECK:   scf.for
//       CHECK:     %[[X:.+]] = evo_tile.load %arg0
//       CHECK:     %[[CLEARED:.+]] = arith.select %arg2, %[[X]], %
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.store %[[CLEARED]]
//   CHECK-NOT:     arith.select
//       CHECK:   evo_tile.return
evo_tile.kernel @padded_cleared(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %keep: i1, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %zero = arith.constant dense<0.0> : tensor<24x16xf16, #padded>
  scf.for %i = %c0 to %n step %c24 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<24x16xf16, #padded>
    %y = arith.select %keep, %x, %zero : tensor<24x16xf16, #padded>
    evo_tile.store %y, %o[%i, %c0] : tensor<24x16xf16, #padded>, memref<?x16xf16>
  }
  evo_tile.return
}

// One of ones does not.
// CHECK-LABEL: evo_tile.kernel @padded_ones
//       CHECK:   scf.for
//       CHECK:     %[[X:.+]] = evo_tile.load %arg0
//       CHECK:     evo_tile.store %[[X]]
//       CHECK:     %[[READ:.+]] = evo_tile.load {{.+}}workgroup
//       CHECK:     arith.select %{{.+}}, %[[READ]]
evo_tile.kernel @padded_ones(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %keep: i1, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %one = arith.constant dense<1.0> : tensor<24x16xf16, #padded>
  scf.for %i = %c0 to %n step %c24 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<24x16xf16, #padded>
    %y = arith.select %keep, %x, %one : tensor<24x16xf16, #padded>
    evo_tile.store %y, %o[%i, %c0] : tensor<24x16xf16, #padded>, memref<?x16xf16>
  }
  evo_tile.return
}

// Two users meet in one value, which can be copied in the tile's place.
// CHECK-LABEL: evo_tile.kernel @users_meet
//       CHECK:   scf.for
//       CHECK:     %[[X:.+]] = evo_tile.load %arg0
//       CHECK:     arith.addf %[[X]], %[[X]]
//       CHECK:     %[[Z:.+]] = arith.mulf
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.store %[[Z]]
//       CHECK:     evo_tile.load {{.+}}workgroup
//   CHECK-NOT:     arith.mulf
//       CHECK:   evo_tile.return
evo_tile.kernel @users_meet(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %y = arith.addf %x, %x : tensor<32x16xf16, #rows>
    %z = arith.mulf %x, %y : tensor<32x16xf16, #rows>
    evo_tile.store %z, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}

// Two users want the tile as it is, one of them another tile's as well.
// CHECK-LABEL: evo_tile.kernel @two_users
//       CHECK:   scf.for
//       CHECK:     %[[X:.+]] = evo_tile.load %arg0
//       CHECK:     evo_tile.store %[[X]]
//       CHECK:     evo_tile.load {{.+}}workgroup
//       CHECK:     arith.addf
//       CHECK:     arith.mulf
evo_tile.kernel @two_users(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %y = arith.addf %x, %x : tensor<32x16xf16, #rows>
    %z = arith.mulf %x, %y : tensor<32x16xf16, #rows>
    evo_tile.store %y, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
    evo_tile.store %z, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}

// A row vector that the kernel writes is read by the lanes that wrote it.
// CHECK-LABEL: evo_tile.kernel @written_terms
//       CHECK:   scf.for
//       CHECK:     %[[X:.+]] = evo_tile.load %arg0
//       CHECK:     evo_tile.store %[[X]]
//       CHECK:     arith.mulf
evo_tile.kernel @written_terms(%m: memref<?x16xf32>, %t: memref<?xf32>, %o: memref<?x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %none = arith.constant dense<1.0> : tensor<32xf32, #row>
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf32> -> tensor<32x16xf32, #rows>
    evo_tile.store %none, %t[%i] : tensor<32xf32, #row>, memref<?xf32>
    %terms = evo_tile.load %t[%i] : memref<?xf32> -> tensor<32xf32, #row>
    %all = evo_tile.broadcast %terms dim 1 : tensor<32xf32, #row> -> tensor<32x16xf32, #rows>
    %y = arith.mulf %all, %x : tensor<32x16xf32, #rows>
    evo_tile.store %y, %o[%i, %c0] : tensor<32x16xf32, #rows>, memref<?x16xf32>
  }
  evo_tile.return
}

// A scalar of the loop may be computed after the copy is issued; padding of
// another type than the copied one is not needed where atoms cover the tile.
// CHECK-LABEL: evo_tile.kernel @scalar_and_padding
//       CHECK:   scf.for
//       CHECK:     %[[X:.+]] = evo_tile.load %arg0
//       CHECK:     %[[Y:.+]] = arith.truncf %[[X]]
//       CHECK:     evo_tile.store %[[Y]]
//       CHECK:     evo_tile.load {{.+}}workgroup
//   CHECK-NOT:     padding
//       CHECK:     arith.select
evo_tile.kernel @scalar_and_padding(%m: memref<?x16xf32>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf16, #rows>
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] padding 0.0 : f32 : memref<?x16xf32> -> tensor<32x16xf32, #rows>
    %y = arith.truncf %x : tensor<32x16xf32, #rows> to tensor<32x16xf16, #rows>
    %is = arith.cmpi eq, %i, %c32 : index
    %z = arith.select %is, %zero, %y : tensor<32x16xf16, #rows>
    evo_tile.store %z, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}
