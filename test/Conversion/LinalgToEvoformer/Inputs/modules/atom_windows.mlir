// Protenix's local attention: windows of queries and of keys.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
module {
  func.func @atom_windows(%arg0: tensor<2x3x2x5x4xf32>, %arg1: tensor<2x3x2x7x4xf32>, %arg2: tensor<2x3x2x7x4xf32>, %arg3: tensor<2x3x2x5x7xf32>, %arg4: tensor<2x3x2x5x4xf32>) -> tensor<2x3x2x5x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<2x3x2x4x7xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x3x2x7x4xf32>) outs(%0 : tensor<2x3x2x4x7xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2], [3], [4]] : tensor<2x3x2x5x4xf32> into tensor<12x5x4xf32>
    %collapsed_3 = tensor.collapse_shape %transposed [[0, 1, 2], [3], [4]] : tensor<2x3x2x4x7xf32> into tensor<12x4x7xf32>
    %1 = tensor.empty() : tensor<12x5x7xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<12x5x7xf32>) -> tensor<12x5x7xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<12x5x4xf32>, tensor<12x4x7xf32>) outs(%2 : tensor<12x5x7xf32>) -> tensor<12x5x7xf32>
    %expanded = tensor.expand_shape %3 [[0, 1, 2], [3], [4]] output_shape [2, 3, 2, 5, 7] : tensor<12x5x7xf32> into tensor<2x3x2x5x7xf32>
    %4 = tensor.empty() : tensor<2x3x2x5x7xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x3x2x5x7xf32>) outs(%4 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.mulf %in, %cst_2 : f32
      linalg.yield %24 : f32
    } -> tensor<2x3x2x5x7xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%5, %arg3 : tensor<2x3x2x5x7xf32>, tensor<2x3x2x5x7xf32>) outs(%4 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %24 = arith.addf %in, %in_8 : f32
      linalg.yield %24 : f32
    } -> tensor<2x3x2x5x7xf32>
    %7 = tensor.empty() : tensor<2x3x2x5xi64>
    %8 = linalg.fill ins(%c0_i64 : i64) outs(%7 : tensor<2x3x2x5xi64>) -> tensor<2x3x2x5xi64>
    %9 = tensor.empty() : tensor<2x3x2x5xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<2x3x2x5xf32>) -> tensor<2x3x2x5xf32>
    %11:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%6 : tensor<2x3x2x5x7xf32>) outs(%10, %8 : tensor<2x3x2x5xf32>, tensor<2x3x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_8: i64):
      %24 = linalg.index 4 : index
      %25 = arith.index_cast %24 : index to i64
      %26 = arith.maximumf %in, %out : f32
      %27 = arith.cmpf ogt, %in, %out : f32
      %28 = arith.select %27, %25, %out_8 : i64
      linalg.yield %26, %28 : f32, i64
    } -> (tensor<2x3x2x5xf32>, tensor<2x3x2x5xi64>)
    %expanded_4 = tensor.expand_shape %11#0 [[0], [1], [2], [3, 4]] output_shape [2, 3, 2, 5, 1] : tensor<2x3x2x5xf32> into tensor<2x3x2x5x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%6, %expanded_4 : tensor<2x3x2x5x7xf32>, tensor<2x3x2x5x1xf32>) outs(%4 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %24 = arith.subf %in, %in_8 : f32
      linalg.yield %24 : f32
    } -> tensor<2x3x2x5x7xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<2x3x2x5x7xf32>) outs(%4 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = math.exp %in : f32
      linalg.yield %24 : f32
    } -> tensor<2x3x2x5x7xf32>
    %14 = tensor.empty() : tensor<2x3x2x5x1xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<2x3x2x5x1xf32>) -> tensor<2x3x2x5x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%13 : tensor<2x3x2x5x7xf32>) outs(%15 : tensor<2x3x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.addf %in, %out : f32
      linalg.yield %24 : f32
    } -> tensor<2x3x2x5x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%13, %16 : tensor<2x3x2x5x7xf32>, tensor<2x3x2x5x1xf32>) outs(%4 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %24 = arith.divf %in, %in_8 : f32
      linalg.yield %24 : f32
    } -> tensor<2x3x2x5x7xf32>
    %collapsed_5 = tensor.collapse_shape %17 [[0, 1, 2], [3], [4]] : tensor<2x3x2x5x7xf32> into tensor<12x5x7xf32>
    %collapsed_6 = tensor.collapse_shape %arg2 [[0, 1, 2], [3], [4]] : tensor<2x3x2x7x4xf32> into tensor<12x7x4xf32>
    %18 = tensor.empty() : tensor<12x5x4xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<12x5x4xf32>) -> tensor<12x5x4xf32>
    %20 = linalg.batch_matmul ins(%collapsed_5, %collapsed_6 : tensor<12x5x7xf32>, tensor<12x7x4xf32>) outs(%19 : tensor<12x5x4xf32>) -> tensor<12x5x4xf32>
    %expanded_7 = tensor.expand_shape %20 [[0, 1, 2], [3], [4]] output_shape [2, 3, 2, 5, 4] : tensor<12x5x4xf32> into tensor<2x3x2x5x4xf32>
    %21 = tensor.empty() : tensor<2x3x2x5x4xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<2x3x2x5x4xf32>) outs(%21 : tensor<2x3x2x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %24 = arith.negf %in : f32
      %25 = math.exp %24 : f32
      %26 = arith.addf %25, %cst_1 : f32
      %27 = arith.divf %cst_1, %26 : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x2x5x4xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7, %22 : tensor<2x3x2x5x4xf32>, tensor<2x3x2x5x4xf32>) outs(%21 : tensor<2x3x2x5x4xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %24 = arith.mulf %in, %in_8 : f32
      linalg.yield %24 : f32
    } -> tensor<2x3x2x5x4xf32>
    return %23 : tensor<2x3x2x5x4xf32>
  }
}
