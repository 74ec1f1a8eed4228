// Protenix's local attention: windows of queries and of keys.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
module {
  func.func @atom_windows(%arg0: tensor<4x4x4x4x4xf32>, %arg1: tensor<4x4x4x4x4xf32>, %arg2: tensor<4x4x4x4x4xf32>, %arg3: tensor<4x4x4x4x4xf32>, %arg4: tensor<4x4x4x4x4xf32>) -> tensor<4x4x4x4x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<4x4x4x4x4xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<4x4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %collapsed_3 = tensor.collapse_shape %transposed [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %1 = tensor.empty() : tensor<64x4x4xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<64x4x4xf32>, tensor<64x4x4xf32>) outs(%2 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %expanded = tensor.expand_shape %3 [[0, 1, 2], [3], [4]] output_shape [4, 4, 4, 4, 4] : tensor<64x4x4xf32> into tensor<4x4x4x4x4xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<4x4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.mulf %in, %cst_2 : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4x4xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%4, %arg3 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %20 = arith.addf %in, %in_8 : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4x4xf32>
    %6 = tensor.empty() : tensor<4x4x4x4xi64>
    %7 = linalg.fill ins(%c0_i64 : i64) outs(%6 : tensor<4x4x4x4xi64>) -> tensor<4x4x4x4xi64>
    %8 = tensor.empty() : tensor<4x4x4x4xf32>
    %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32>
    %10:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%5 : tensor<4x4x4x4x4xf32>) outs(%9, %7 : tensor<4x4x4x4xf32>, tensor<4x4x4x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_8: i64):
      %20 = linalg.index 4 : index
      %21 = arith.index_cast %20 : index to i64
      %22 = arith.maximumf %in, %out : f32
      %23 = arith.cmpf ogt, %in, %out : f32
      %24 = arith.select %23, %21, %out_8 : i64
      linalg.yield %22, %24 : f32, i64
    } -> (tensor<4x4x4x4xf32>, tensor<4x4x4x4xi64>)
    %expanded_4 = tensor.expand_shape %10#0 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<4x4x4x4xf32> into tensor<4x4x4x4x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%5, %expanded_4 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x1xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %20 = arith.subf %in, %in_8 : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4x4xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<4x4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = math.exp %in : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4x4xf32>
    %13 = tensor.empty() : tensor<4x4x4x4x1xf32>
    %14 = linalg.fill ins(%cst : f32) outs(%13 : tensor<4x4x4x4x1xf32>) -> tensor<4x4x4x4x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%12 : tensor<4x4x4x4x4xf32>) outs(%14 : tensor<4x4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.addf %in, %out : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%12, %15 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x1xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %20 = arith.divf %in, %in_8 : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4x4xf32>
    %collapsed_5 = tensor.collapse_shape %16 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %collapsed_6 = tensor.collapse_shape %arg2 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %17 = linalg.batch_matmul ins(%collapsed_5, %collapsed_6 : tensor<64x4x4xf32>, tensor<64x4x4xf32>) outs(%2 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %expanded_7 = tensor.expand_shape %17 [[0, 1, 2], [3], [4]] output_shape [4, 4, 4, 4, 4] : tensor<64x4x4xf32> into tensor<4x4x4x4x4xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<4x4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %20 = arith.negf %in : f32
      %21 = math.exp %20 : f32
      %22 = arith.addf %21, %cst_1 : f32
      %23 = arith.divf %cst_1, %22 : f32
      linalg.yield %23 : f32
    } -> tensor<4x4x4x4x4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_7, %18 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %20 = arith.mulf %in, %in_8 : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4x4xf32>
    return %19 : tensor<4x4x4x4x4xf32>
  }
}
