// AlphaFold 3's grid self-attention: bool mask by a finite constant.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, 0, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
module {
  func.func @grid_attention(%arg0: tensor<2x3x5x2x4xf32>, %arg1: tensor<2x3x7x2x4xf32>, %arg2: tensor<2x3x7x2x4xf32>, %arg3: tensor<2x3x7xi1>, %arg4: tensor<2x2x5x7xf32>) -> tensor<2x3x5x2x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<-1.000000e+09> : tensor<f32>
    %cst_2 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<2x3x5x2x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x3x5x2x4xf32>) outs(%0 : tensor<2x3x5x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.mulf %in, %cst_2 : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x5x2x4xf32>
    %expanded = tensor.expand_shape %1 [[0], [1], [2], [3], [4, 5]] output_shape [2, 3, 5, 2, 4, 1] : tensor<2x3x5x2x4xf32> into tensor<2x3x5x2x4x1xf32>
    %expanded_3 = tensor.expand_shape %arg1 [[0], [1], [2], [3], [4, 5]] output_shape [2, 3, 7, 2, 4, 1] : tensor<2x3x7x2x4xf32> into tensor<2x3x7x2x4x1xf32>
    %2 = tensor.empty() : tensor<2x3x2x5x4x1xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<2x3x5x2x4x1xf32>) outs(%2 : tensor<2x3x2x5x4x1xf32>) permutation = [0, 1, 3, 2, 4, 5]
    %collapsed = tensor.collapse_shape %transposed [[0, 1, 2], [3], [4, 5]] : tensor<2x3x2x5x4x1xf32> into tensor<12x5x4xf32>
    %3 = tensor.empty() : tensor<2x3x2x4x7x1xf32>
    %transposed_4 = linalg.transpose ins(%expanded_3 : tensor<2x3x7x2x4x1xf32>) outs(%3 : tensor<2x3x2x4x7x1xf32>) permutation = [0, 1, 3, 4, 2, 5]
    %collapsed_5 = tensor.collapse_shape %transposed_4 [[0, 1, 2], [3], [4, 5]] : tensor<2x3x2x4x7x1xf32> into tensor<12x4x7xf32>
    %4 = tensor.empty() : tensor<12x5x7xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<12x5x7xf32>) -> tensor<12x5x7xf32>
    %6 = linalg.batch_matmul ins(%collapsed, %collapsed_5 : tensor<12x5x4xf32>, tensor<12x4x7xf32>) outs(%5 : tensor<12x5x7xf32>) -> tensor<12x5x7xf32>
    %expanded_6 = tensor.expand_shape %6 [[0, 1, 2], [3], [4, 5]] output_shape [2, 3, 2, 5, 1, 7] : tensor<12x5x7xf32> into tensor<2x3x2x5x1x7xf32>
    %7 = tensor.empty() : tensor<2x3x2x5x7x1xf32>
    %transposed_7 = linalg.transpose ins(%expanded_6 : tensor<2x3x2x5x1x7xf32>) outs(%7 : tensor<2x3x2x5x7x1xf32>) permutation = [0, 1, 2, 3, 5, 4]
    %collapsed_8 = tensor.collapse_shape %transposed_7 [[0], [1], [2], [3], [4, 5]] : tensor<2x3x2x5x7x1xf32> into tensor<2x3x2x5x7xf32>
    %expanded_9 = tensor.expand_shape %arg4 [[0], [1, 2], [3], [4]] output_shape [2, 1, 2, 5, 7] : tensor<2x2x5x7xf32> into tensor<2x1x2x5x7xf32>
    %8 = tensor.empty() : tensor<2x3x2x5x7xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_8, %expanded_9 : tensor<2x3x2x5x7xf32>, tensor<2x1x2x5x7xf32>) outs(%8 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %27 = arith.addf %in, %in_19 : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x2x5x7xf32>
    %expanded_10 = tensor.expand_shape %arg3 [[0], [1], [2, 3, 4]] output_shape [2, 3, 1, 1, 7] : tensor<2x3x7xi1> into tensor<2x3x1x1x7xi1>
    %10 = linalg.generic {indexing_maps = [#map2, #map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_10, %9, %cst_1 : tensor<2x3x1x1x7xi1>, tensor<2x3x2x5x7xf32>, tensor<f32>) outs(%8 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
      %27 = arith.select %in, %in_19, %in_20 : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x2x5x7xf32>
    %11 = tensor.empty() : tensor<2x3x2x5xi64>
    %12 = linalg.fill ins(%c0_i64 : i64) outs(%11 : tensor<2x3x2x5xi64>) -> tensor<2x3x2x5xi64>
    %13 = tensor.empty() : tensor<2x3x2x5xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<2x3x2x5xf32>) -> tensor<2x3x2x5xf32>
    %15:2 = linalg.generic {indexing_maps = [#map, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%10 : tensor<2x3x2x5x7xf32>) outs(%14, %12 : tensor<2x3x2x5xf32>, tensor<2x3x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_19: i64):
      %27 = linalg.index 4 : index
      %28 = arith.index_cast %27 : index to i64
      %29 = arith.maximumf %in, %out : f32
      %30 = arith.cmpf ogt, %in, %out : f32
      %31 = arith.select %30, %28, %out_19 : i64
      linalg.yield %29, %31 : f32, i64
    } -> (tensor<2x3x2x5xf32>, tensor<2x3x2x5xi64>)
    %expanded_11 = tensor.expand_shape %15#0 [[0], [1], [2], [3, 4]] output_shape [2, 3, 2, 5, 1] : tensor<2x3x2x5xf32> into tensor<2x3x2x5x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%10, %expanded_11 : tensor<2x3x2x5x7xf32>, tensor<2x3x2x5x1xf32>) outs(%8 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %27 = arith.subf %in, %in_19 : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x2x5x7xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<2x3x2x5x7xf32>) outs(%8 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = math.exp %in : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x2x5x7xf32>
    %18 = tensor.empty() : tensor<2x3x2x5x1xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<2x3x2x5x1xf32>) -> tensor<2x3x2x5x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%17 : tensor<2x3x2x5x7xf32>) outs(%19 : tensor<2x3x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x2x5x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map5, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%17, %20 : tensor<2x3x2x5x7xf32>, tensor<2x3x2x5x1xf32>) outs(%8 : tensor<2x3x2x5x7xf32>) {
    ^bb0(%in: f32, %in_19: f32, %out: f32):
      %27 = arith.divf %in, %in_19 : f32
      linalg.yield %27 : f32
    } -> tensor<2x3x2x5x7xf32>
    %expanded_12 = tensor.expand_shape %arg2 [[0], [1], [2], [3], [4, 5]] output_shape [2, 3, 7, 2, 4, 1] : tensor<2x3x7x2x4xf32> into tensor<2x3x7x2x4x1xf32>
    %collapsed_13 = tensor.collapse_shape %21 [[0, 1, 2], [3], [4]] : tensor<2x3x2x5x7xf32> into tensor<12x5x7xf32>
    %22 = tensor.empty() : tensor<2x3x2x7x4x1xf32>
    %transposed_14 = linalg.transpose ins(%expanded_12 : tensor<2x3x7x2x4x1xf32>) outs(%22 : tensor<2x3x2x7x4x1xf32>) permutation = [0, 1, 3, 2, 4, 5]
    %collapsed_15 = tensor.collapse_shape %transposed_14 [[0, 1, 2], [3], [4, 5]] : tensor<2x3x2x7x4x1xf32> into tensor<12x7x4xf32>
    %23 = tensor.empty() : tensor<12x5x4xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<12x5x4xf32>) -> tensor<12x5x4xf32>
    %25 = linalg.batch_matmul ins(%collapsed_13, %collapsed_15 : tensor<12x5x7xf32>, tensor<12x7x4xf32>) outs(%24 : tensor<12x5x4xf32>) -> tensor<12x5x4xf32>
    %expanded_16 = tensor.expand_shape %25 [[0, 1, 2], [3], [4, 5]] output_shape [2, 3, 2, 5, 1, 4] : tensor<12x5x4xf32> into tensor<2x3x2x5x1x4xf32>
    %26 = tensor.empty() : tensor<2x3x5x2x4x1xf32>
    %transposed_17 = linalg.transpose ins(%expanded_16 : tensor<2x3x2x5x1x4xf32>) outs(%26 : tensor<2x3x5x2x4x1xf32>) permutation = [0, 1, 3, 2, 5, 4]
    %collapsed_18 = tensor.collapse_shape %transposed_17 [[0], [1], [2], [3], [4, 5]] : tensor<2x3x5x2x4x1xf32> into tensor<2x3x5x2x4xf32>
    return %collapsed_18 : tensor<2x3x5x2x4xf32>
  }
}
