// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over the rows of x,
// f32, any sizes: 16 rows, 64 columns a step; mean, variance, result.
//
// RUN: cat %s %S/Inputs/check-layer-norm.mlir | evoformer-opt --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O2 \
// RUN:       -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// CHECK:      64 x 256
// CHECK-NEXT: wrong: 0 of 16384
// CHECK-NEXT: 33 x 70
// CHECK-NEXT: wrong: 0 of 2310
// CHECK-NEXT: 5 x 2
// CHECK-NEXT: wrong: 0 of 10

evo_tile.kernel @layer_norm(%x: memref<?x?xf32>, %gamma: memref<?xf32>,
                            %beta: memref<?xf32>, %y: memref<?x?xf32>,
                            %epsilon: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %i = evo_tile.work_item_id 0
  %row = arith.muli %i, %c16 : index
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %columns_i32 = arith.index_cast %columns : index to i32
  %count = arith.sitofp %columns_i32 : i32 to f32
  %one = arith.constant 1.0 : f32
  %inverse_count = arith.divf %one, %count : f32
  %factor = tensor.splat %inverse_count : tensor<16xf32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %sum = scf.for %j = %c0 to %columns step %c64 iter_args(%acc = %zero) -> tensor<16xf32> {
    %t = evo_tile.load %x[%row, %j] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x64xf32>
    %s = evo_tile.reduce add %t dim 1 : tensor<16x64xf32> -> tensor<16xf32>
    %next = arith.addf %acc, %s : tensor<16xf32>
    scf.yield %next : tensor<16xf32>
  }
  %mean = arith.mulf %sum, %factor : tensor<16xf32>
  %mean_tile = evo_tile.broadcast %mean dim 1 : tensor<16xf32> -> tensor<16x64xf32>
  %squares = scf.for %j = %c0 to %columns step %c64 iter_args(%acc = %zero) -> tensor<16xf32> {
    %t = evo_tile.load %x[%row, %j] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x64xf32>
    %d = arith.subf %t, %mean_tile : tensor<16x64xf32>
    %d2 = arith.mulf %d, %d : tensor<16x64xf32>
    // Columns beyond the last one do not count.
    %column = evo_tile.iota %j dim 1 : tensor<16x64xi32>
    %limit = tensor.splat %columns_i32 : tensor<16x64xi32>
    %inside = arith.cmpi slt, %column, %limit : tensor<16x64xi32>
    %nothing = arith.constant dense<0.0> : tensor<16x64xf32>
    %kept = arith.select %inside, %d2, %nothing : tensor<16x64xi1>, tensor<16x64xf32>
    %s = evo_tile.reduce add %kept dim 1 : tensor<16x64xf32> -> tensor<16xf32>
    %next = arith.addf %acc, %s : tensor<16xf32>
    scf.yield %next : tensor<16xf32>
  }
  %variance = arith.mulf %squares, %factor : tensor<16xf32>
  %epsilon_tile = tensor.splat %epsilon : tensor<16xf32>
  %safe = arith.addf %variance, %epsilon_tile : tensor<16xf32>
  %scale = math.rsqrt %safe : tensor<16xf32>
  %scale_tile = evo_tile.broadcast %scale dim 1 : tensor<16xf32> -> tensor<16x64xf32>
  scf.for %j = %c0 to %columns step %c64 {
    %t = evo_tile.load %x[%row, %j] : memref<?x?xf32> -> tensor<16x64xf32>
    %g = evo_tile.load %gamma[%j] : memref<?xf32> -> tensor<64xf32>
    %b = evo_tile.load %beta[%j] : memref<?xf32> -> tensor<64xf32>
    %gt = evo_tile.broadcast %g dim 0 : tensor<64xf32> -> tensor<16x64xf32>
    %bt = evo_tile.broadcast %b dim 0 : tensor<64xf32> -> tensor<16x64xf32>
    %d = arith.subf %t, %mean_tile : tensor<16x64xf32>
    %n = arith.mulf %d, %scale_tile : tensor<16x64xf32>
    %scaled = arith.mulf %n, %gt : tensor<16x64xf32>
    %r = arith.addf %scaled, %bt : tensor<16x64xf32>
    evo_tile.store %r, %y[%row, %j] : tensor<16x64xf32>, memref<?x?xf32>
  }
  evo_tile.return
}

func.func @run_layer_norm(%x: memref<?x?xf32>, %gamma: memref<?xf32>,
                          %beta: memref<?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %epsilon = arith.constant 1.0e-05 : f32
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c16 : index
  evo_tile.launch @layer_norm space(%rows)
    args(%x, %gamma, %beta, %y, %epsilon
         : memref<?x?xf32>, memref<?xf32>, memref<?xf32>, memref<?x?xf32>, f32)
  return
}
