// The weights are a result too: not raised.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @weights_returned(%arg0: tensor<2x2x5x4xf32>, %arg1: tensor<2x2x7x4xf32>, %arg2: tensor<2x2x7x4xf32>) -> (tensor<2x2x5x4xf32>, tensor<2x2x5x7xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %0 = tensor.empty() : tensor<2x2x4x7xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x2x7x4xf32>) outs(%0 : tensor<2x2x4x7xf32>) permutation = [0, 1, 3, 2]
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %collapsed_1 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x2x4x7xf32> into tensor<4x4x7xf32>
    %1 = tensor.empty() : tensor<4x5x7xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_1 : tensor<4x5x4xf32>, tensor<4x4x7xf32>) outs(%2 : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
    %expanded = tensor.expand_shape %3 [[0, 1], [2], [3]] output_shape [2, 2, 5, 7] : tensor<4x5x7xf32> into tensor<2x2x5x7xf32>
    %4 = tensor.empty() : tensor<2x2x5xi64>
    %5 = linalg.fill ins(%c0_i64 : i64) outs(%4 : tensor<2x2x5xi64>) -> tensor<2x2x5xi64>
    %6 = tensor.empty() : tensor<2x2x5xf32>
    %7 = linalg.fill ins(%cst_0 : f32) outs(%6 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
    %8:2 = linalg.generic {indexing_maps = [#map, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded : tensor<2x2x5x7xf32>) outs(%7, %5 : tensor<2x2x5xf32>, tensor<2x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_6: i64):
      %19 = linalg.index 3 : index
      %20 = arith.index_cast %19 : index to i64
      %21 = arith.maximumf %in, %out : f32
      %22 = arith.cmpf ogt, %in, %out : f32
      %23 = arith.select %22, %20, %out_6 : i64
      linalg.yield %21, %23 : f32, i64
    } -> (tensor<2x2x5xf32>, tensor<2x2x5xi64>)
    %expanded_2 = tensor.expand_shape %8#0 [[0], [1], [2, 3]] output_shape [2, 2, 5, 1] : tensor<2x2x5xf32> into tensor<2x2x5x1xf32>
    %9 = tensor.empty() : tensor<2x2x5x7xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_2 : tensor<2x2x5x7xf32>, tensor<2x2x5x1xf32>) outs(%9 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %19 = arith.subf %in, %in_6 : f32
      linalg.yield %19 : f32
    } -> tensor<2x2x5x7xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<2x2x5x7xf32>) outs(%9 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = math.exp %in : f32
      linalg.yield %19 : f32
    } -> tensor<2x2x5x7xf32>
    %12 = tensor.empty() : tensor<2x2x5x1xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%11 : tensor<2x2x5x7xf32>) outs(%13 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %19 = arith.addf %in, %out : f32
      linalg.yield %19 : f32
    } -> tensor<2x2x5x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %14 : tensor<2x2x5x7xf32>, tensor<2x2x5x1xf32>) outs(%9 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %19 = arith.divf %in, %in_6 : f32
      linalg.yield %19 : f32
    } -> tensor<2x2x5x7xf32>
    %collapsed_3 = tensor.collapse_shape %15 [[0, 1], [2], [3]] : tensor<2x2x5x7xf32> into tensor<4x5x7xf32>
    %collapsed_4 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x2x7x4xf32> into tensor<4x7x4xf32>
    %16 = tensor.empty() : tensor<4x5x4xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %18 = linalg.batch_matmul ins(%collapsed_3, %collapsed_4 : tensor<4x5x7xf32>, tensor<4x7x4xf32>) outs(%17 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %expanded_5 = tensor.expand_shape %18 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    return %expanded_5, %15 : tensor<2x2x5x4xf32>, tensor<2x2x5x7xf32>
  }
}
