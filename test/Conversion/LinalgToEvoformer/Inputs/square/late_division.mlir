// Weights divided by their sum after the product with values, base 2.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @late_division(%arg0: tensor<4x4x4x4xf32>, %arg1: tensor<4x4x4x4xf32>, %arg2: tensor<4x4x4x4xf32>, %arg3: tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.4426950408889634 : f64
    %cst_2 = arith.constant 5.000000e-01 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x4x4x4xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) permutation = [0, 1, 3, 2]
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %collapsed_4 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %1 = tensor.empty() : tensor<16x4x4xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_4 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%2 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.mulf %in, %cst_2 : f32
      linalg.yield %19 : f32
    } -> tensor<4x4x4x4xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4, %arg3 : tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %19 = arith.addf %in, %in_9 : f32
      linalg.yield %19 : f32
    } -> tensor<4x4x4x4xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.truncf %cst_1 : f64 to f32
      %20 = arith.mulf %in, %19 : f32
      linalg.yield %20 : f32
    } -> tensor<4x4x4x4xf32>
    %7 = tensor.empty() : tensor<4x4x4xi64>
    %8 = linalg.fill ins(%c0_i64 : i64) outs(%7 : tensor<4x4x4xi64>) -> tensor<4x4x4xi64>
    %9 = tensor.empty() : tensor<4x4x4xf32>
    %10 = linalg.fill ins(%cst_0 : f32) outs(%9 : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %11:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%6 : tensor<4x4x4x4xf32>) outs(%10, %8 : tensor<4x4x4xf32>, tensor<4x4x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_9: i64):
      %19 = linalg.index 3 : index
      %20 = arith.index_cast %19 : index to i64
      %21 = arith.maximumf %in, %out : f32
      %22 = arith.cmpf ogt, %in, %out : f32
      %23 = arith.select %22, %20, %out_9 : i64
      linalg.yield %21, %23 : f32, i64
    } -> (tensor<4x4x4xf32>, tensor<4x4x4xi64>)
    %expanded_5 = tensor.expand_shape %11#0 [[0], [1], [2, 3]] output_shape [4, 4, 4, 1] : tensor<4x4x4xf32> into tensor<4x4x4x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %expanded_5 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%0 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %19 = arith.subf %in, %in_9 : f32
      linalg.yield %19 : f32
    } -> tensor<4x4x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.powf %cst_3, %in : f32
      linalg.yield %19 : f32
    } -> tensor<4x4x4x4xf32>
    %collapsed_6 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %collapsed_7 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %14 = linalg.batch_matmul ins(%collapsed_6, %collapsed_7 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%2 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_8 = tensor.expand_shape %14 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %15 = tensor.empty() : tensor<4x4x4x1xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<4x4x4x1xf32>) -> tensor<4x4x4x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%13 : tensor<4x4x4x4xf32>) outs(%16 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.addf %in, %out : f32
      linalg.yield %19 : f32
    } -> tensor<4x4x4x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_8, %17 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%0 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %19 = arith.divf %in, %in_9 : f32
      linalg.yield %19 : f32
    } -> tensor<4x4x4x4xf32>
    return %18 : tensor<4x4x4x4xf32>
  }
}
