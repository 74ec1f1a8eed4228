// OpenFold's global attention: one query a head, all heads share keys.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg3.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, d3, d4)>
module {
  func.func @global_attention(%arg0: tensor<2x3x2x4xf32>, %arg1: tensor<2x3x7x4xf32>, %arg2: tensor<2x3x7x4xf32>, %arg3: tensor<2x3x7xf32>, %arg4: tensor<2x3x7x2x4xf32>) -> tensor<2x3x7x2x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 5.000000e-01 : f32
    %cst_3 = arith.constant 1.000000e+09 : f32
    %0 = tensor.empty() : tensor<2x3x2x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x3x2x4xf32>) outs(%0 : tensor<2x3x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = arith.mulf %in, %cst_2 : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x2x4xf32>
    %2 = tensor.empty() : tensor<2x3x4x7xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x3x7x4xf32>) outs(%2 : tensor<2x3x4x7xf32>) permutation = [0, 1, 3, 2]
    %collapsed = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<2x3x2x4xf32> into tensor<6x2x4xf32>
    %collapsed_4 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x3x4x7xf32> into tensor<6x4x7xf32>
    %3 = tensor.empty() : tensor<6x2x7xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<6x2x7xf32>) -> tensor<6x2x7xf32>
    %5 = linalg.batch_matmul ins(%collapsed, %collapsed_4 : tensor<6x2x4xf32>, tensor<6x4x7xf32>) outs(%4 : tensor<6x2x7xf32>) -> tensor<6x2x7xf32>
    %expanded = tensor.expand_shape %5 [[0, 1], [2], [3]] output_shape [2, 3, 2, 7] : tensor<6x2x7xf32> into tensor<2x3x2x7xf32>
    %6 = tensor.empty() : tensor<2x3x7xf32>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<2x3x7xf32>) outs(%6 : tensor<2x3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = arith.subf %in, %cst_1 : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x7xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<2x3x7xf32>) outs(%6 : tensor<2x3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = arith.mulf %in, %cst_3 : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x7xf32>
    %expanded_5 = tensor.expand_shape %8 [[0], [1], [2, 3]] output_shape [2, 3, 1, 7] : tensor<2x3x7xf32> into tensor<2x3x1x7xf32>
    %9 = tensor.empty() : tensor<2x3x2x7xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded_5 : tensor<2x3x2x7xf32>, tensor<2x3x1x7xf32>) outs(%9 : tensor<2x3x2x7xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %28 = arith.addf %in, %in_10 : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x2x7xf32>
    %11 = tensor.empty() : tensor<2x3x2xi64>
    %12 = linalg.fill ins(%c0_i64 : i64) outs(%11 : tensor<2x3x2xi64>) -> tensor<2x3x2xi64>
    %13 = tensor.empty() : tensor<2x3x2xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
    %15:2 = linalg.generic {indexing_maps = [#map, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%10 : tensor<2x3x2x7xf32>) outs(%14, %12 : tensor<2x3x2xf32>, tensor<2x3x2xi64>) {
    ^bb0(%in: f32, %out: f32, %out_10: i64):
      %28 = linalg.index 3 : index
      %29 = arith.index_cast %28 : index to i64
      %30 = arith.maximumf %in, %out : f32
      %31 = arith.cmpf ogt, %in, %out : f32
      %32 = arith.select %31, %29, %out_10 : i64
      linalg.yield %30, %32 : f32, i64
    } -> (tensor<2x3x2xf32>, tensor<2x3x2xi64>)
    %expanded_6 = tensor.expand_shape %15#0 [[0], [1], [2, 3]] output_shape [2, 3, 2, 1] : tensor<2x3x2xf32> into tensor<2x3x2x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10, %expanded_6 : tensor<2x3x2x7xf32>, tensor<2x3x2x1xf32>) outs(%9 : tensor<2x3x2x7xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %28 = arith.subf %in, %in_10 : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x2x7xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<2x3x2x7xf32>) outs(%9 : tensor<2x3x2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = math.exp %in : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x2x7xf32>
    %18 = tensor.empty() : tensor<2x3x2x1xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<2x3x2x1xf32>) -> tensor<2x3x2x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%17 : tensor<2x3x2x7xf32>) outs(%19 : tensor<2x3x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = arith.addf %in, %out : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x2x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17, %20 : tensor<2x3x2x7xf32>, tensor<2x3x2x1xf32>) outs(%9 : tensor<2x3x2x7xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %28 = arith.divf %in, %in_10 : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x2x7xf32>
    %collapsed_7 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x3x2x7xf32> into tensor<6x2x7xf32>
    %collapsed_8 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x3x7x4xf32> into tensor<6x7x4xf32>
    %22 = tensor.empty() : tensor<6x2x4xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
    %24 = linalg.batch_matmul ins(%collapsed_7, %collapsed_8 : tensor<6x2x7xf32>, tensor<6x7x4xf32>) outs(%23 : tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
    %expanded_9 = tensor.expand_shape %24 [[0, 1], [2, 3], [4]] output_shape [2, 3, 1, 2, 4] : tensor<6x2x4xf32> into tensor<2x3x1x2x4xf32>
    %25 = tensor.empty() : tensor<2x3x7x2x4xf32>
    %26 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg4 : tensor<2x3x7x2x4xf32>) outs(%25 : tensor<2x3x7x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %28 = arith.negf %in : f32
      %29 = math.exp %28 : f32
      %30 = arith.addf %29, %cst_1 : f32
      %31 = arith.divf %cst_1, %30 : f32
      linalg.yield %31 : f32
    } -> tensor<2x3x7x2x4xf32>
    %27 = linalg.generic {indexing_maps = [#map6, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_9, %26 : tensor<2x3x1x2x4xf32>, tensor<2x3x7x2x4xf32>) outs(%25 : tensor<2x3x7x2x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %28 = arith.mulf %in, %in_10 : f32
      linalg.yield %28 : f32
    } -> tensor<2x3x7x2x4xf32>
    return %27 : tensor<2x3x7x2x4xf32>
  }
}
