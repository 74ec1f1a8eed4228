// y = softmax over the rows of x, f32, any sizes: 16 rows, 64 columns a step.
// Two passes: maximum and sum of exponentials online, then the quotients.
//
// RUN: cat %s %S/Inputs/check-softmax.mlir | evoformer-opt --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O2 \
// RUN:       -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// CHECK:      64 x 256
// CHECK-NEXT: wrong: 0 of 16384
// CHECK-NEXT: 33 x 70
// CHECK-NEXT: wrong: 0 of 2310
// CHECK-NEXT: 1 x 1
// CHECK-NEXT: wrong: 0 of 1

evo_tile.kernel @softmax(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %i = evo_tile.work_item_id 0
  %row = arith.muli %i, %c16 : index
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %log2e = arith.constant dense<1.44269502> : tensor<16x64xf32>
  %log2e_row = arith.constant dense<1.44269502> : tensor<16xf32>
  %none = arith.constant dense<0xFF800000> : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %stats:2 = scf.for %j = %c0 to %columns step %c64
      iter_args(%max = %none, %sum = %zero) -> (tensor<16xf32>, tensor<16xf32>) {
    %t = evo_tile.load %x[%row, %j] padding 0xFF800000 : f32 : memref<?x?xf32> -> tensor<16x64xf32>
    %tmax = evo_tile.reduce max %t dim 1 : tensor<16x64xf32> -> tensor<16xf32>
    %new = arith.maxnumf %max, %tmax : tensor<16xf32>
    %new_tile = evo_tile.broadcast %new dim 1 : tensor<16xf32> -> tensor<16x64xf32>
    %d = arith.subf %t, %new_tile : tensor<16x64xf32>
    %s = arith.mulf %d, %log2e : tensor<16x64xf32>
    %e = math.exp2 %s : tensor<16x64xf32>
    %esum = evo_tile.reduce add %e dim 1 : tensor<16x64xf32> -> tensor<16xf32>
    %shift = arith.subf %max, %new : tensor<16xf32>
    %shift2 = arith.mulf %shift, %log2e_row : tensor<16xf32>
    %alpha = math.exp2 %shift2 : tensor<16xf32>
    %scaled = arith.mulf %sum, %alpha : tensor<16xf32>
    %next = arith.addf %scaled, %esum : tensor<16xf32>
    scf.yield %new, %next : tensor<16xf32>, tensor<16xf32>
  }
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %inverse = arith.divf %one, %stats#1 : tensor<16xf32>
  scf.for %j = %c0 to %columns step %c64 {
    %t = evo_tile.load %x[%row, %j] : memref<?x?xf32> -> tensor<16x64xf32>
    %max = evo_tile.broadcast %stats#0 dim 1 : tensor<16xf32> -> tensor<16x64xf32>
    %factor = evo_tile.broadcast %inverse dim 1 : tensor<16xf32> -> tensor<16x64xf32>
    %d = arith.subf %t, %max : tensor<16x64xf32>
    %s = arith.mulf %d, %log2e : tensor<16x64xf32>
    %e = math.exp2 %s : tensor<16x64xf32>
    %p = arith.mulf %e, %factor : tensor<16x64xf32>
    evo_tile.store %p, %y[%row, %j] : tensor<16x64xf32>, memref<?x?xf32>
  }
  evo_tile.return
}

func.func @run_softmax(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c16 : index
  evo_tile.launch @softmax space(%rows) args(%x, %y : memref<?x?xf32>, memref<?x?xf32>)
  return
}
