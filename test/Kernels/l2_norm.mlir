// y = x / |x| for the rows of x, f32, any sizes: 16 rows, 64 columns a step.
// Squares of large numbers overflow: those rows, which are rare, are summed
// again relative to their maximum.
//
// RUN: cat %s %S/Inputs/check-l2-norm.mlir | evoformer-opt --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O2 \
// RUN:       -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// CHECK:      64 x 256
// CHECK-NEXT: wrong: 0 of 16384
// CHECK-NEXT: 33 x 70
// CHECK-NEXT: wrong: 0 of 2310
// CHECK-NEXT: 1 x 1
// CHECK-NEXT: wrong: 0 of 1

evo_tile.kernel @l2_norm(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %i = evo_tile.work_item_id 0
  %row = arith.muli %i, %c16 : index
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %infinity = arith.constant dense<0x7F800000> : tensor<16xf32>
  %sum = scf.for %j = %c0 to %columns step %c64 iter_args(%s = %zero) -> (tensor<16xf32>) {
    %t = evo_tile.load %x[%row, %j] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x64xf32>
    %square = arith.mulf %t, %t : tensor<16x64xf32>
    %part = evo_tile.reduce add %square dim 1 : tensor<16x64xf32> -> tensor<16xf32>
    %next = arith.addf %s, %part : tensor<16xf32>
    scf.yield %next : tensor<16xf32>
  }
  %norm = math.sqrt %sum : tensor<16xf32>
  %overflows = arith.cmpf oeq, %sum, %infinity : tensor<16xf32>
  %safe = evo_tile.where %overflows, %norm {
    %max = scf.for %j = %c0 to %columns step %c64 iter_args(%m = %zero) -> (tensor<16xf32>) {
      %t = evo_tile.load %x[%row, %j] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x64xf32>
      %a = math.absf %t : tensor<16x64xf32>
      %part = evo_tile.reduce max %a dim 1 : tensor<16x64xf32> -> tensor<16xf32>
      %next = arith.maxnumf %m, %part : tensor<16xf32>
      scf.yield %next : tensor<16xf32>
    }
    %wide = evo_tile.broadcast %max dim 1 : tensor<16xf32> -> tensor<16x64xf32>
    %again = scf.for %j = %c0 to %columns step %c64 iter_args(%s = %zero) -> (tensor<16xf32>) {
      %t = evo_tile.load %x[%row, %j] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x64xf32>
      %r = arith.divf %t, %wide : tensor<16x64xf32>
      %square = arith.mulf %r, %r : tensor<16x64xf32>
      %part = evo_tile.reduce add %square dim 1 : tensor<16x64xf32> -> tensor<16xf32>
      %next = arith.addf %s, %part : tensor<16xf32>
      scf.yield %next : tensor<16xf32>
    }
    %root = math.sqrt %again : tensor<16xf32>
    %careful = arith.mulf %max, %root : tensor<16xf32>
    evo_tile.yield %careful : tensor<16xf32>
  } : tensor<16xi1>, tensor<16xf32>
  scf.for %j = %c0 to %columns step %c64 {
    %t = evo_tile.load %x[%row, %j] : memref<?x?xf32> -> tensor<16x64xf32>
    %d = evo_tile.broadcast %safe dim 1 : tensor<16xf32> -> tensor<16x64xf32>
    %q = arith.divf %t, %d : tensor<16x64xf32>
    evo_tile.store %q, %y[%row, %j] : tensor<16x64xf32>, memref<?x?xf32>
  }
  evo_tile.return
}

func.func @run_l2_norm(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c16 : index
  evo_tile.launch @l2_norm space(%rows) args(%x, %y : memref<?x?xf32>, memref<?x?xf32>)
  return
}
