// A softmax without its maximum, scaled with its bias.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @no_maximum(%arg0: tensor<4x4x4x4xf32>, %arg1: tensor<4x4x4x4xf32>, %arg2: tensor<4x4x4x4xf32>, %arg3: tensor<1x4x4x4xf32>) -> tensor<4x4x4x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 2.500000e-01 : f32
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<4x4x4x4xf32> into tensor<4x4x4x4x1xf32>
    %expanded_1 = tensor.expand_shape %arg1 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<4x4x4x4xf32> into tensor<4x4x4x4x1xf32>
    %0 = tensor.empty() : tensor<4x4x4x4x1xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<4x4x4x4x1xf32>) outs(%0 : tensor<4x4x4x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<16x4x4xf32>
    %transposed_2 = linalg.transpose ins(%expanded_1 : tensor<4x4x4x4x1xf32>) outs(%0 : tensor<4x4x4x4x1xf32>) permutation = [0, 2, 3, 1, 4]
    %collapsed_3 = tensor.collapse_shape %transposed_2 [[0, 1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<16x4x4xf32>
    %1 = tensor.empty() : tensor<16x4x4xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%2 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_4 = tensor.expand_shape %3 [[0, 1], [2], [3, 4]] output_shape [4, 4, 4, 1, 4] : tensor<16x4x4xf32> into tensor<4x4x4x1x4xf32>
    %transposed_5 = linalg.transpose ins(%expanded_4 : tensor<4x4x4x1x4xf32>) outs(%0 : tensor<4x4x4x4x1xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0], [1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<4x4x4x4xf32>
    %4 = tensor.empty() : tensor<4x4x4x4xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_6, %arg3 : tensor<4x4x4x4xf32>, tensor<1x4x4x4xf32>) outs(%4 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_14: f32, %out: f32):
      %13 = arith.addf %in, %in_14 : f32
      linalg.yield %13 : f32
    } -> tensor<4x4x4x4xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<4x4x4x4xf32>) outs(%4 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = arith.mulf %in, %cst_0 : f32
      linalg.yield %13 : f32
    } -> tensor<4x4x4x4xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<4x4x4x4xf32>) outs(%4 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = math.exp %in : f32
      linalg.yield %13 : f32
    } -> tensor<4x4x4x4xf32>
    %8 = tensor.empty() : tensor<4x4x4x1xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<4x4x4x1xf32>) -> tensor<4x4x4x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%7 : tensor<4x4x4x4xf32>) outs(%9 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = arith.addf %in, %out : f32
      linalg.yield %13 : f32
    } -> tensor<4x4x4x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %10 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%4 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_14: f32, %out: f32):
      %13 = arith.divf %in, %in_14 : f32
      linalg.yield %13 : f32
    } -> tensor<4x4x4x4xf32>
    %expanded_7 = tensor.expand_shape %arg2 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<4x4x4x4xf32> into tensor<4x4x4x4x1xf32>
    %collapsed_8 = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %transposed_9 = linalg.transpose ins(%expanded_7 : tensor<4x4x4x4x1xf32>) outs(%0 : tensor<4x4x4x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed_10 = tensor.collapse_shape %transposed_9 [[0, 1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<16x4x4xf32>
    %12 = linalg.batch_matmul ins(%collapsed_8, %collapsed_10 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%2 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_11 = tensor.expand_shape %12 [[0, 1], [2], [3, 4]] output_shape [4, 4, 4, 1, 4] : tensor<16x4x4xf32> into tensor<4x4x4x1x4xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<4x4x4x1x4xf32>) outs(%0 : tensor<4x4x4x4x1xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed_13 = tensor.collapse_shape %transposed_12 [[0], [1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<4x4x4x4xf32>
    return %collapsed_13 : tensor<4x4x4x4xf32>
  }
}
