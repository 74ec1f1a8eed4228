// Work on a tile that asynchronous copies could bring is done by the lanes that
// copy it, through registers, where lanes that read it would repeat it; not where
// the schedule leaves no registers for what is on its way.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds | FileCheck %s --check-prefixes=ALL,COPIED
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 2, resident = 3' > %t.resident
// RUN: evoformer-opt %t.resident --evo-tile-promote-to-lds | FileCheck %s --check-prefixes=ALL,READ

#rows = #evo_tile.lane_map<registers = [[8, 0, 1], [2, 16, 0]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [[4, 0, 0]]>

// ALL-LABEL: evo_tile.kernel @repeated
//       ALL:   scf.for
//    COPIED:     arith.select
//    COPIED:     evo_tile.store
//      READ:     evo_tile.async_copy
//       ALL:     evo_tile.barrier
//COPIED-NOT:     arith.select
//      READ:     arith.select
//       ALL:   evo_tile.return
evo_tile.kernel @repeated(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x16xf16, #rows>
  scf.for %i = %c0 to %n step %c32 {
    %x = evo_tile.load %m[%i, %c0] {alignment = 16 : i64} : memref<?x16xf16> -> tensor<32x16xf16, #rows>
    %big = arith.cmpf ogt, %x, %zero : tensor<32x16xf16, #rows>
    %y = arith.select %big, %x, %zero : tensor<32x16xi1, #rows>, tensor<32x16xf16, #rows>
    evo_tile.store %y, %o[%i, %c0] : tensor<32x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}
