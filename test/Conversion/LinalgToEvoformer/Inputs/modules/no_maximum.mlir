// A softmax without its maximum, scaled with its bias.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @no_maximum(%arg0: tensor<2x5x2x4xf32>, %arg1: tensor<2x7x2x4xf32>, %arg2: tensor<2x7x2x4xf32>, %arg3: tensor<1x2x5x7xf32>) -> tensor<2x2x5x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 2.500000e-01 : f32
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2], [3, 4]] output_shape [2, 5, 2, 4, 1] : tensor<2x5x2x4xf32> into tensor<2x5x2x4x1xf32>
    %expanded_1 = tensor.expand_shape %arg1 [[0], [1], [2], [3, 4]] output_shape [2, 7, 2, 4, 1] : tensor<2x7x2x4xf32> into tensor<2x7x2x4x1xf32>
    %0 = tensor.empty() : tensor<2x2x5x4x1xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<2x5x2x4x1xf32>) outs(%0 : tensor<2x2x5x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3, 4]] : tensor<2x2x5x4x1xf32> into tensor<4x5x4xf32>
    %1 = tensor.empty() : tensor<2x2x4x7x1xf32>
    %transposed_2 = linalg.transpose ins(%expanded_1 : tensor<2x7x2x4x1xf32>) outs(%1 : tensor<2x2x4x7x1xf32>) permutation = [0, 2, 3, 1, 4]
    %collapsed_3 = tensor.collapse_shape %transposed_2 [[0, 1], [2], [3, 4]] : tensor<2x2x4x7x1xf32> into tensor<4x4x7xf32>
    %2 = tensor.empty() : tensor<4x5x7xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
    %4 = linalg.batch_matmul ins(%collapsed, %collapsed_3 : tensor<4x5x4xf32>, tensor<4x4x7xf32>) outs(%3 : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
    %expanded_4 = tensor.expand_shape %4 [[0, 1], [2], [3, 4]] output_shape [2, 2, 5, 1, 7] : tensor<4x5x7xf32> into tensor<2x2x5x1x7xf32>
    %5 = tensor.empty() : tensor<2x2x5x7x1xf32>
    %transposed_5 = linalg.transpose ins(%expanded_4 : tensor<2x2x5x1x7xf32>) outs(%5 : tensor<2x2x5x7x1xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0], [1], [2], [3, 4]] : tensor<2x2x5x7x1xf32> into tensor<2x2x5x7xf32>
    %6 = tensor.empty() : tensor<2x2x5x7xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_6, %arg3 : tensor<2x2x5x7xf32>, tensor<1x2x5x7xf32>) outs(%6 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_14: f32, %out: f32):
      %18 = arith.addf %in, %in_14 : f32
      linalg.yield %18 : f32
    } -> tensor<2x2x5x7xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<2x2x5x7xf32>) outs(%6 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.mulf %in, %cst_0 : f32
      linalg.yield %18 : f32
    } -> tensor<2x2x5x7xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<2x2x5x7xf32>) outs(%6 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = math.exp %in : f32
      linalg.yield %18 : f32
    } -> tensor<2x2x5x7xf32>
    %10 = tensor.empty() : tensor<2x2x5x1xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%9 : tensor<2x2x5x7xf32>) outs(%11 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %18 = arith.addf %in, %out : f32
      linalg.yield %18 : f32
    } -> tensor<2x2x5x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %12 : tensor<2x2x5x7xf32>, tensor<2x2x5x1xf32>) outs(%6 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_14: f32, %out: f32):
      %18 = arith.divf %in, %in_14 : f32
      linalg.yield %18 : f32
    } -> tensor<2x2x5x7xf32>
    %expanded_7 = tensor.expand_shape %arg2 [[0], [1], [2], [3, 4]] output_shape [2, 7, 2, 4, 1] : tensor<2x7x2x4xf32> into tensor<2x7x2x4x1xf32>
    %collapsed_8 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<2x2x5x7xf32> into tensor<4x5x7xf32>
    %14 = tensor.empty() : tensor<2x2x7x4x1xf32>
    %transposed_9 = linalg.transpose ins(%expanded_7 : tensor<2x7x2x4x1xf32>) outs(%14 : tensor<2x2x7x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed_10 = tensor.collapse_shape %transposed_9 [[0, 1], [2], [3, 4]] : tensor<2x2x7x4x1xf32> into tensor<4x7x4xf32>
    %15 = tensor.empty() : tensor<4x5x4xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %17 = linalg.batch_matmul ins(%collapsed_8, %collapsed_10 : tensor<4x5x7xf32>, tensor<4x7x4xf32>) outs(%16 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %expanded_11 = tensor.expand_shape %17 [[0, 1], [2], [3, 4]] output_shape [2, 2, 5, 1, 4] : tensor<4x5x4xf32> into tensor<2x2x5x1x4xf32>
    %transposed_12 = linalg.transpose ins(%expanded_11 : tensor<2x2x5x1x4xf32>) outs(%0 : tensor<2x2x5x4x1xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed_13 = tensor.collapse_shape %transposed_12 [[0], [1], [2], [3, 4]] : tensor<2x2x5x4x1xf32> into tensor<2x2x5x4xf32>
    return %collapsed_13 : tensor<2x2x5x4xf32>
  }
}
