// Work on a loaded tile that two products want in different layouts is done
// twice, once in each: loads and short chains of elementwise work cost less
// than an exchange between lanes, which a product's result needs.
// RUN: %python %S/Inputs/with_target.py gfx942 %s 'block = [1, 128, 32], subgroups = [1, 4, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts | FileCheck %s

// A row compared, a tile cleared by it, compared and cleared again.
// CHECK-LABEL: evo_tile.kernel @cleared_twice
//   CHECK-NOT:   evo_tile.convert_layout
//       CHECK:   evo_tile.return
evo_tile.kernel @cleared_twice(%q: memref<?x?xf32>, %k: memref<?x?xf32>, %r: memref<?xf32>, %p: memref<?x?xf32>, %s: memref<?x?xf32>, %o: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %none = arith.constant dense<0xFF800000> : tensor<32xf32>
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %scores = arith.constant dense<0.0> : tensor<128x32xf32>
  %sums = arith.constant dense<0.0> : tensor<128x64xf32>
  %query = evo_tile.load %q[%c0, %c0] : memref<?x?xf32> -> tensor<128x64xf32>
  %key = evo_tile.load %k[%c0, %c0] : memref<?x?xf32> -> tensor<32x64xf32>
  %row = evo_tile.load %r[%c0] : memref<?xf32> -> tensor<32xf32>
  %is = arith.cmpf oeq, %row, %none : tensor<32xf32>
  %all = evo_tile.broadcast %is dim 1 : tensor<32xi1> -> tensor<32x64xi1>
  %kept = arith.select %all, %zero, %key : tensor<32x64xi1>, tensor<32x64xf32>
  %columns = evo_tile.transpose %kept [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  %score = evo_tile.mma %query, %columns, %scores : tensor<128x64xf32>, tensor<64x32xf32>, tensor<128x32xf32>
  evo_tile.store %score, %s[%c0, %c0] : tensor<128x32xf32>, memref<?x?xf32>
  %nan = arith.cmpf uno, %kept, %kept : tensor<32x64xf32>
  %clear = arith.select %nan, %zero, %kept : tensor<32x64xi1>, tensor<32x64xf32>
  %weight = evo_tile.load %p[%c0, %c0] : memref<?x?xf32> -> tensor<128x32xf32>
  %sum = evo_tile.mma %weight, %clear, %sums : tensor<128x32xf32>, tensor<32x64xf32>, tensor<128x64xf32>
  evo_tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  evo_tile.return
}

// One step more is too much.
// CHECK-LABEL: evo_tile.kernel @long_chain
//       CHECK:   evo_tile.convert_layout
//       CHECK:   evo_tile.return
evo_tile.kernel @long_chain(%q: memref<?x?xf32>, %k: memref<?x?xf32>, %p: memref<?x?xf32>, %s: memref<?x?xf32>, %o: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %scores = arith.constant dense<0.0> : tensor<128x32xf32>
  %sums = arith.constant dense<0.0> : tensor<128x64xf32>
  %query = evo_tile.load %q[%c0, %c0] : memref<?x?xf32> -> tensor<128x64xf32>
  %key = evo_tile.load %k[%c0, %c0] : memref<?x?xf32> -> tensor<32x64xf32>
  %1 = math.exp2 %key : tensor<32x64xf32>
  %2 = math.exp2 %1 : tensor<32x64xf32>
  %3 = math.exp2 %2 : tensor<32x64xf32>
  %4 = math.exp2 %3 : tensor<32x64xf32>
  %5 = math.exp2 %4 : tensor<32x64xf32>
  %columns = evo_tile.transpose %5 [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  %score = evo_tile.mma %query, %columns, %scores : tensor<128x64xf32>, tensor<64x32xf32>, tensor<128x32xf32>
  evo_tile.store %score, %s[%c0, %c0] : tensor<128x32xf32>, memref<?x?xf32>
  %weight = evo_tile.load %p[%c0, %c0] : memref<?x?xf32> -> tensor<128x32xf32>
  %sum = evo_tile.mma %weight, %5, %sums : tensor<128x32xf32>, tensor<32x64xf32>, tensor<128x64xf32>
  evo_tile.store %sum, %o[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  evo_tile.return
}
