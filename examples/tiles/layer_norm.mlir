// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta over the rows of x, f32: mean,
// variance, and the result, which short rows read from the caches.
// A kernel of one's own on the tile dialect, any number of rows, which are multiples of
// 16 bytes and start at such. A row a subgroup, 512 elements a step.

evo_tile.kernel @layer_norm(%x: memref<?x?xf32>, %gamma: memref<?xf32>,
                            %beta: memref<?xf32>, %y: memref<?x?xf32>,
                            %epsilon: f32) attributes {schedule = #evo_tile.schedule<v1, block = [1, 4, 512], subgroups = [1, 4, 1], stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c512 = arith.constant 512 : index
  %i = evo_tile.work_item_id 0
  %row = arith.muli %i, %c4 : index
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %columns_i32 = arith.index_cast %columns : index to i32
  %count = arith.sitofp %columns_i32 : i32 to f32
  %one = arith.constant 1.0 : f32
  %inverse_count = arith.divf %one, %count : f32
  %factor = tensor.splat %inverse_count : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = scf.for %j = %c0 to %columns step %c512 iter_args(%acc = %zero) -> tensor<4xf32> {
    %t = evo_tile.load %x[%row, %j] padding 0.0 : f32 {alignment = 16 : i64} : memref<?x?xf32> -> tensor<4x512xf32>
    %s = evo_tile.reduce add %t dim 1 : tensor<4x512xf32> -> tensor<4xf32>
    %next = arith.addf %acc, %s : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %mean = arith.mulf %sum, %factor : tensor<4xf32>
  %mean_tile = evo_tile.broadcast %mean dim 1 : tensor<4xf32> -> tensor<4x512xf32>
  %squares = scf.for %j = %c0 to %columns step %c512 iter_args(%acc = %zero) -> tensor<4xf32> {
    %t = evo_tile.load %x[%row, %j] padding 0.0 : f32 {alignment = 16 : i64} : memref<?x?xf32> -> tensor<4x512xf32>
    %d = arith.subf %t, %mean_tile : tensor<4x512xf32>
    %d2 = arith.mulf %d, %d : tensor<4x512xf32>
    // Columns beyond the last one do not count.
    %column = evo_tile.iota %j dim 1 : tensor<4x512xi32>
    %limit = tensor.splat %columns_i32 : tensor<4x512xi32>
    %inside = arith.cmpi slt, %column, %limit : tensor<4x512xi32>
    %nothing = arith.constant dense<0.0> : tensor<4x512xf32>
    %kept = arith.select %inside, %d2, %nothing : tensor<4x512xi1>, tensor<4x512xf32>
    %s = evo_tile.reduce add %kept dim 1 : tensor<4x512xf32> -> tensor<4xf32>
    %next = arith.addf %acc, %s : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %variance = arith.mulf %squares, %factor : tensor<4xf32>
  %epsilon_tile = tensor.splat %epsilon : tensor<4xf32>
  %safe = arith.addf %variance, %epsilon_tile : tensor<4xf32>
  %scale = math.rsqrt %safe : tensor<4xf32>
  %scale_tile = evo_tile.broadcast %scale dim 1 : tensor<4xf32> -> tensor<4x512xf32>
  scf.for %j = %c0 to %columns step %c512 {
    %t = evo_tile.load %x[%row, %j] {alignment = 16 : i64} : memref<?x?xf32> -> tensor<4x512xf32>
    %g = evo_tile.load %gamma[%j] {alignment = 16 : i64} : memref<?xf32> -> tensor<512xf32>
    %b = evo_tile.load %beta[%j] {alignment = 16 : i64} : memref<?xf32> -> tensor<512xf32>
    %gt = evo_tile.broadcast %g dim 0 : tensor<512xf32> -> tensor<4x512xf32>
    %bt = evo_tile.broadcast %b dim 0 : tensor<512xf32> -> tensor<4x512xf32>
    %d = arith.subf %t, %mean_tile : tensor<4x512xf32>
    %n = arith.mulf %d, %scale_tile : tensor<4x512xf32>
    %scaled = arith.mulf %n, %gt : tensor<4x512xf32>
    %r = arith.addf %scaled, %bt : tensor<4x512xf32>
    evo_tile.store %r, %y[%row, %j] {alignment = 16 : i64} : tensor<4x512xf32>, memref<?x?xf32>
  }
  evo_tile.return
}

func.func @normalize(%x: memref<?x?xf32>, %gamma: memref<?xf32>,
                          %beta: memref<?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %epsilon = arith.constant 1.0e-05 : f32
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c4 : index
  evo_tile.launch @layer_norm space(%rows)
    args(%x, %gamma, %beta, %y, %epsilon
         : memref<?x?xf32>, memref<?xf32>, memref<?xf32>, memref<?x?xf32>, f32)
  return
}
