// y = softmax over the rows of x, f32: maximum and sum of exponentials in one pass, the
// quotients in another, which rows of up to 1024 elements read from the caches.
// A kernel of one's own on the tile dialect, any number of rows, which are multiples of
// 16 bytes and start at such. A row a subgroup, 1024 elements a step.

evo_tile.kernel @softmax(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {schedule = #evo_tile.schedule<v1, block = [1, 4, 1024], subgroups = [1, 4, 1], stages = 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %i = evo_tile.work_item_id 0
  %row = arith.muli %i, %c4 : index
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %log2e = arith.constant dense<1.44269502> : tensor<4x1024xf32>
  %log2e_row = arith.constant dense<1.44269502> : tensor<4xf32>
  %none = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %stats:2 = scf.for %j = %c0 to %columns step %c1024
      iter_args(%max = %none, %sum = %zero) -> (tensor<4xf32>, tensor<4xf32>) {
    %t = evo_tile.load %x[%row, %j] padding 0xFF800000 : f32 {alignment = 16 : i64} : memref<?x?xf32> -> tensor<4x1024xf32>
    %tmax = evo_tile.reduce max %t dim 1 : tensor<4x1024xf32> -> tensor<4xf32>
    %new = arith.maxnumf %max, %tmax : tensor<4xf32>
    // Where all elements so far are -inf, weights of 0 are relative to 0.
    %no = arith.cmpf oeq, %new, %none : tensor<4xf32>
    %reference = arith.select %no, %zero, %new : tensor<4xi1>, tensor<4xf32>
    %new_tile = evo_tile.broadcast %reference dim 1 : tensor<4xf32> -> tensor<4x1024xf32>
    %d = arith.subf %t, %new_tile : tensor<4x1024xf32>
    %s = arith.mulf %d, %log2e : tensor<4x1024xf32>
    %e = math.exp2 %s : tensor<4x1024xf32>
    %esum = evo_tile.reduce add %e dim 1 : tensor<4x1024xf32> -> tensor<4xf32>
    %shift = arith.subf %max, %reference : tensor<4xf32>
    %shift2 = arith.mulf %shift, %log2e_row : tensor<4xf32>
    %alpha = math.exp2 %shift2 : tensor<4xf32>
    %scaled = arith.mulf %sum, %alpha : tensor<4xf32>
    %next = arith.addf %scaled, %esum : tensor<4xf32>
    scf.yield %new, %next : tensor<4xf32>, tensor<4xf32>
  }
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %inverse = arith.divf %one, %stats#1 : tensor<4xf32>
  scf.for %j = %c0 to %columns step %c1024 {
    %t = evo_tile.load %x[%row, %j] {alignment = 16 : i64} : memref<?x?xf32> -> tensor<4x1024xf32>
    %max = evo_tile.broadcast %stats#0 dim 1 : tensor<4xf32> -> tensor<4x1024xf32>
    %factor = evo_tile.broadcast %inverse dim 1 : tensor<4xf32> -> tensor<4x1024xf32>
    %d = arith.subf %t, %max : tensor<4x1024xf32>
    %s = arith.mulf %d, %log2e : tensor<4x1024xf32>
    %e = math.exp2 %s : tensor<4x1024xf32>
    %p = arith.mulf %e, %factor : tensor<4x1024xf32>
    evo_tile.store %p, %y[%row, %j] {alignment = 16 : i64} : tensor<4x1024xf32>, memref<?x?xf32>
  }
  evo_tile.return
}

func.func @weights(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c4 : index
  evo_tile.launch @softmax space(%rows) args(%x, %y : memref<?x?xf32>, memref<?x?xf32>)
  return
}
