// ... with a bool mask; rows without keys are zeroed by torch itself.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> ()>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @sdpa_bool_mask(%arg0: tensor<4x4x4x4xf32>, %arg1: tensor<4x4x4x4xf32>, %arg2: tensor<4x4x4x4xf32>, %arg3: tensor<4x1x4x4xi1>) -> tensor<4x4x4x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<4x4x4x4xf32>
    %cst_2 = arith.constant 0.70710678118654757 : f64
    %cst_3 = arith.constant 0xFFF0000000000000 : f64
    %cst_4 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_5 = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<4x1x4x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg3, %cst_5, %cst_4 : tensor<4x1x4x4xi1>, tensor<f32>, tensor<f32>) outs(%0 : tensor<4x1x4x4xf32>) {
    ^bb0(%in: i1, %in_11: f32, %in_12: f32, %out: f32):
      %27 = arith.select %in, %in_11, %in_12 : f32
      linalg.yield %27 : f32
    } -> tensor<4x1x4x4xf32>
    %2 = tensor.empty() : tensor<4x4x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<4x4x4x4xf32>) outs(%2 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.truncf %cst_2 : f64 to f32
      %28 = arith.mulf %in, %27 : f32
      linalg.yield %28 : f32
    } -> tensor<4x4x4x4xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<4x4x4x4xf32>) outs(%2 : tensor<4x4x4x4xf32>) permutation = [0, 1, 3, 2]
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed : tensor<4x4x4x4xf32>) outs(%2 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.truncf %cst_2 : f64 to f32
      %28 = arith.mulf %in, %27 : f32
      linalg.yield %28 : f32
    } -> tensor<4x4x4x4xf32>
    %collapsed = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %collapsed_6 = tensor.collapse_shape %4 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %5 = tensor.empty() : tensor<16x4x4xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %7 = linalg.batch_matmul ins(%collapsed, %collapsed_6 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%6 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %1 : tensor<4x4x4x4xf32>, tensor<4x1x4x4xf32>) outs(%2 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %27 = arith.addf %in, %in_11 : f32
      linalg.yield %27 : f32
    } -> tensor<4x4x4x4xf32>
    %9 = tensor.empty() : tensor<4x4x4xi64>
    %10 = linalg.fill ins(%c0_i64 : i64) outs(%9 : tensor<4x4x4xi64>) -> tensor<4x4x4xi64>
    %11 = tensor.empty() : tensor<4x4x4xf32>
    %12 = linalg.fill ins(%cst_0 : f32) outs(%11 : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %13:2 = linalg.generic {indexing_maps = [#map, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%8 : tensor<4x4x4x4xf32>) outs(%12, %10 : tensor<4x4x4xf32>, tensor<4x4x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_11: i64):
      %27 = linalg.index 3 : index
      %28 = arith.index_cast %27 : index to i64
      %29 = arith.maximumf %in, %out : f32
      %30 = arith.cmpf ogt, %in, %out : f32
      %31 = arith.select %30, %28, %out_11 : i64
      linalg.yield %29, %31 : f32, i64
    } -> (tensor<4x4x4xf32>, tensor<4x4x4xi64>)
    %expanded_7 = tensor.expand_shape %13#0 [[0], [1], [2, 3]] output_shape [4, 4, 4, 1] : tensor<4x4x4xf32> into tensor<4x4x4x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %expanded_7 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%2 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %27 = arith.subf %in, %in_11 : f32
      linalg.yield %27 : f32
    } -> tensor<4x4x4x4xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14 : tensor<4x4x4x4xf32>) outs(%2 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = math.exp %in : f32
      linalg.yield %27 : f32
    } -> tensor<4x4x4x4xf32>
    %16 = tensor.empty() : tensor<4x4x4x1xf32>
    %17 = linalg.fill ins(%cst : f32) outs(%16 : tensor<4x4x4x1xf32>) -> tensor<4x4x4x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<4x4x4x4xf32>) outs(%17 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<4x4x4x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15, %18 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%2 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %27 = arith.divf %in, %in_11 : f32
      linalg.yield %27 : f32
    } -> tensor<4x4x4x4xf32>
    %20 = tensor.empty() : tensor<4x4x4x4xi1>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<4x4x4x4xf32>) outs(%20 : tensor<4x4x4x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %27 = arith.extf %in : f32 to f64
      %28 = arith.cmpf oeq, %27, %cst_3 : f64
      linalg.yield %28 : i1
    } -> tensor<4x4x4x4xi1>
    %22 = tensor.empty() : tensor<4x4x4x1xi1>
    %23 = linalg.fill ins(%true : i1) outs(%22 : tensor<4x4x4x1xi1>) -> tensor<4x4x4x1xi1>
    %24 = linalg.generic {indexing_maps = [#map, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%21 : tensor<4x4x4x4xi1>) outs(%23 : tensor<4x4x4x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %27 = arith.andi %in, %out : i1
      linalg.yield %27 : i1
    } -> tensor<4x4x4x1xi1>
    %25 = linalg.generic {indexing_maps = [#map4, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %cst_1, %19 : tensor<4x4x4x1xi1>, tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>) outs(%2 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: i1, %in_11: f32, %in_12: f32, %out: f32):
      %27 = arith.select %in, %in_11, %in_12 : f32
      linalg.yield %27 : f32
    } -> tensor<4x4x4x4xf32>
    %collapsed_8 = tensor.collapse_shape %25 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %collapsed_9 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %26 = linalg.batch_matmul ins(%collapsed_8, %collapsed_9 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%6 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_10 = tensor.expand_shape %26 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    return %expanded_10 : tensor<4x4x4x4xf32>
  }
}
