// ... causal.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> ()>
#map6 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @sdpa_causal(%arg0: tensor<2x2x5x4xf32>, %arg1: tensor<2x2x7x4xf32>, %arg2: tensor<2x2x7x4xf32>) -> tensor<2x2x5x4xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x2x5x7xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<5x7xi1>
    %cst_5 = arith.constant 0xFFF0000000000000 : f64
    %cst_6 = arith.constant 0.70710678118654757 : f64
    %0 = tensor.empty() : tensor<2x2x5x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x2x5x4xf32>) outs(%0 : tensor<2x2x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.truncf %cst_6 : f64 to f32
      %41 = arith.mulf %in, %40 : f32
      linalg.yield %41 : f32
    } -> tensor<2x2x5x4xf32>
    %2 = tensor.empty() : tensor<7xi64>
    %3 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%2 : tensor<7xi64>) {
    ^bb0(%out: i64):
      %40 = linalg.index 0 : index
      %41 = arith.index_cast %40 : index to i64
      linalg.yield %41 : i64
    } -> tensor<7xi64>
    %expanded = tensor.expand_shape %3 [[0, 1]] output_shape [1, 7] : tensor<7xi64> into tensor<1x7xi64>
    %4 = tensor.empty() : tensor<5xi64>
    %5 = linalg.generic {indexing_maps = [#map1], iterator_types = ["parallel"]} outs(%4 : tensor<5xi64>) {
    ^bb0(%out: i64):
      %40 = linalg.index 0 : index
      %41 = arith.index_cast %40 : index to i64
      linalg.yield %41 : i64
    } -> tensor<5xi64>
    %expanded_7 = tensor.expand_shape %5 [[0, 1]] output_shape [5, 1] : tensor<5xi64> into tensor<5x1xi64>
    %6 = tensor.empty() : tensor<5x7xi64>
    %7 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel"]} ins(%expanded, %expanded_7 : tensor<1x7xi64>, tensor<5x1xi64>) outs(%6 : tensor<5x7xi64>) {
    ^bb0(%in: i64, %in_14: i64, %out: i64):
      %40 = arith.subi %in, %in_14 : i64
      linalg.yield %40 : i64
    } -> tensor<5x7xi64>
    %8 = tensor.empty() : tensor<5x7xi1>
    %9 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<5x7xi64>) outs(%8 : tensor<5x7xi1>) {
    ^bb0(%in: i64, %out: i1):
      %40 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %40 : i1
    } -> tensor<5x7xi1>
    %10 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel"]} ins(%9, %cst_4 : tensor<5x7xi1>, tensor<5x7xi1>) outs(%8 : tensor<5x7xi1>) {
    ^bb0(%in: i1, %in_14: i1, %out: i1):
      %40 = arith.andi %in, %in_14 : i1
      linalg.yield %40 : i1
    } -> tensor<5x7xi1>
    %11 = tensor.empty() : tensor<5x7xf32>
    %12 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel"]} ins(%10, %cst_2, %cst_3 : tensor<5x7xi1>, tensor<f32>, tensor<f32>) outs(%11 : tensor<5x7xf32>) {
    ^bb0(%in: i1, %in_14: f32, %in_15: f32, %out: f32):
      %40 = arith.select %in, %in_14, %in_15 : f32
      linalg.yield %40 : f32
    } -> tensor<5x7xf32>
    %13 = tensor.empty() : tensor<2x2x4x7xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<2x2x7x4xf32>) outs(%13 : tensor<2x2x4x7xf32>) permutation = [0, 1, 3, 2]
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed : tensor<2x2x4x7xf32>) outs(%13 : tensor<2x2x4x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.truncf %cst_6 : f64 to f32
      %41 = arith.mulf %in, %40 : f32
      linalg.yield %41 : f32
    } -> tensor<2x2x4x7xf32>
    %collapsed = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %collapsed_8 = tensor.collapse_shape %14 [[0, 1], [2], [3]] : tensor<2x2x4x7xf32> into tensor<4x4x7xf32>
    %15 = tensor.empty() : tensor<4x5x7xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
    %17 = linalg.batch_matmul ins(%collapsed, %collapsed_8 : tensor<4x5x4xf32>, tensor<4x4x7xf32>) outs(%16 : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
    %expanded_9 = tensor.expand_shape %17 [[0, 1], [2], [3]] output_shape [2, 2, 5, 7] : tensor<4x5x7xf32> into tensor<2x2x5x7xf32>
    %18 = tensor.empty() : tensor<2x2x5x7xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map6, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_9, %12 : tensor<2x2x5x7xf32>, tensor<5x7xf32>) outs(%18 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_14: f32, %out: f32):
      %40 = arith.addf %in, %in_14 : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x7xf32>
    %20 = tensor.empty() : tensor<2x2x5xi64>
    %21 = linalg.fill ins(%c0_i64 : i64) outs(%20 : tensor<2x2x5xi64>) -> tensor<2x2x5xi64>
    %22 = tensor.empty() : tensor<2x2x5xf32>
    %23 = linalg.fill ins(%cst_0 : f32) outs(%22 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
    %24:2 = linalg.generic {indexing_maps = [#map, #map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%19 : tensor<2x2x5x7xf32>) outs(%23, %21 : tensor<2x2x5xf32>, tensor<2x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_14: i64):
      %40 = linalg.index 3 : index
      %41 = arith.index_cast %40 : index to i64
      %42 = arith.maximumf %in, %out : f32
      %43 = arith.cmpf ogt, %in, %out : f32
      %44 = arith.select %43, %41, %out_14 : i64
      linalg.yield %42, %44 : f32, i64
    } -> (tensor<2x2x5xf32>, tensor<2x2x5xi64>)
    %expanded_10 = tensor.expand_shape %24#0 [[0], [1], [2, 3]] output_shape [2, 2, 5, 1] : tensor<2x2x5xf32> into tensor<2x2x5x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19, %expanded_10 : tensor<2x2x5x7xf32>, tensor<2x2x5x1xf32>) outs(%18 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_14: f32, %out: f32):
      %40 = arith.subf %in, %in_14 : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x7xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<2x2x5x7xf32>) outs(%18 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = math.exp %in : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x7xf32>
    %27 = tensor.empty() : tensor<2x2x5x1xf32>
    %28 = linalg.fill ins(%cst : f32) outs(%27 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%26 : tensor<2x2x5x7xf32>) outs(%28 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.addf %in, %out : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x1xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map8, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %29 : tensor<2x2x5x7xf32>, tensor<2x2x5x1xf32>) outs(%18 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: f32, %in_14: f32, %out: f32):
      %40 = arith.divf %in, %in_14 : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x7xf32>
    %31 = tensor.empty() : tensor<2x2x5x7xi1>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%19 : tensor<2x2x5x7xf32>) outs(%31 : tensor<2x2x5x7xi1>) {
    ^bb0(%in: f32, %out: i1):
      %40 = arith.extf %in : f32 to f64
      %41 = arith.cmpf oeq, %40, %cst_5 : f64
      linalg.yield %41 : i1
    } -> tensor<2x2x5x7xi1>
    %33 = tensor.empty() : tensor<2x2x5x1xi1>
    %34 = linalg.fill ins(%true : i1) outs(%33 : tensor<2x2x5x1xi1>) -> tensor<2x2x5x1xi1>
    %35 = linalg.generic {indexing_maps = [#map, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<2x2x5x7xi1>) outs(%34 : tensor<2x2x5x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %40 = arith.andi %in, %out : i1
      linalg.yield %40 : i1
    } -> tensor<2x2x5x1xi1>
    %36 = linalg.generic {indexing_maps = [#map8, #map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35, %cst_1, %30 : tensor<2x2x5x1xi1>, tensor<2x2x5x7xf32>, tensor<2x2x5x7xf32>) outs(%18 : tensor<2x2x5x7xf32>) {
    ^bb0(%in: i1, %in_14: f32, %in_15: f32, %out: f32):
      %40 = arith.select %in, %in_14, %in_15 : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x7xf32>
    %collapsed_11 = tensor.collapse_shape %36 [[0, 1], [2], [3]] : tensor<2x2x5x7xf32> into tensor<4x5x7xf32>
    %collapsed_12 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<2x2x7x4xf32> into tensor<4x7x4xf32>
    %37 = tensor.empty() : tensor<4x5x4xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%37 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %39 = linalg.batch_matmul ins(%collapsed_11, %collapsed_12 : tensor<4x5x7xf32>, tensor<4x7x4xf32>) outs(%38 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %expanded_13 = tensor.expand_shape %39 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    return %expanded_13 : tensor<2x2x5x4xf32>
  }
}
