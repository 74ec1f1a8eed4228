// Attention with pair bias, einsums, a query bias, gate and output gate.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg2.

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map6 = affine_map<(d0, d1) -> ()>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @pair_bias(%arg0: tensor<4x4x4xf32>, %arg1: tensor<4x4x4x4xf32>, %arg2: tensor<4x4xf32>, %arg3: tensor<16x4xf32>, %arg4: tensor<16xf32>, %arg5: tensor<16x4xf32>, %arg6: tensor<16x4xf32>, %arg7: tensor<16x4xf32>, %arg8: tensor<4x4xf32>, %arg9: tensor<4x16xf32>) -> tensor<4x4x4xf32> {
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 1.000000e-05 : f64
    %cst_4 = arith.constant 4.000000e+00 : f64
    %cst_5 = arith.constant 4.000000e+00 : f32
    %cst_6 = arith.constant 5.000000e-01 : f32
    %cst_7 = arith.constant -1.000000e+09 : f32
    %cst_8 = arith.constant dense<1> : tensor<i64>
    %0 = tensor.empty() : tensor<4x4x4xf64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<4x4x4xf32>) outs(%0 : tensor<4x4x4xf64>) {
    ^bb0(%in: f32, %out: f64):
      %76 = arith.extf %in : f32 to f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4xf64>
    %2 = tensor.empty() : tensor<4x4x1xf64>
    %3 = linalg.fill ins(%cst : f64) outs(%2 : tensor<4x4x1xf64>) -> tensor<4x4x1xf64>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<4x4x4xf64>) outs(%3 : tensor<4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.addf %in, %out : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x1xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<4x4x1xf64>) outs(%2 : tensor<4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.divf %in, %cst_4 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %5 : tensor<4x4x4xf64>, tensor<4x4x1xf64>) outs(%0 : tensor<4x4x4xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %76 = arith.subf %in, %in_38 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %6 : tensor<4x4x4xf64>, tensor<4x4x4xf64>) outs(%0 : tensor<4x4x4xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %76 = arith.mulf %in, %in_38 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<4x4x4xf64>) outs(%3 : tensor<4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.addf %in, %out : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x1xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<4x4x1xf64>) outs(%2 : tensor<4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.divf %in, %cst_4 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x1xf64>
    %10 = tensor.empty() : tensor<4x4x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<4x4x1xf64>) outs(%10 : tensor<4x4x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %76 = arith.truncf %in : f64 to f32
      linalg.yield %76 : f32
    } -> tensor<4x4x1xf32>
    %12 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<4x4x1xf32>) -> tensor<4x4x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<4x4x4xf32>) outs(%12 : tensor<4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<4x4x1xf32>) outs(%10 : tensor<4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.divf %in, %cst_5 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<4x4x1xf32>) outs(%10 : tensor<4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.truncf %cst_3 : f64 to f32
      %77 = arith.addf %in, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<4x4x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<4x4x1xf32>) outs(%10 : tensor<4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.rsqrt %in : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x1xf32>
    %17 = tensor.empty() : tensor<4x4x4xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %14 : tensor<4x4x4xf32>, tensor<4x4x1xf32>) outs(%17 : tensor<4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.subf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %16 : tensor<4x4x4xf32>, tensor<4x4x1xf32>) outs(%17 : tensor<4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.mulf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4xf32>
    %collapsed = tensor.collapse_shape %19 [[0, 1], [2]] : tensor<4x4x4xf32> into tensor<16x4xf32>
    %20 = tensor.empty() : tensor<4x16xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<16x4xf32>) outs(%20 : tensor<4x16xf32>) permutation = [1, 0]
    %21 = tensor.empty() : tensor<16x16xf32>
    %22 = linalg.fill ins(%cst_0 : f32) outs(%21 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %23 = linalg.matmul ins(%collapsed, %transposed : tensor<16x4xf32>, tensor<4x16xf32>) outs(%22 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%23, %arg4 : tensor<16x16xf32>, tensor<16xf32>) outs(%21 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.addf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<16x16xf32>
    %expanded = tensor.expand_shape %24 [[0, 1], [2, 3]] output_shape [4, 4, 4, 4] : tensor<16x16xf32> into tensor<4x4x4x4xf32>
    %transposed_9 = linalg.transpose ins(%arg5 : tensor<16x4xf32>) outs(%20 : tensor<4x16xf32>) permutation = [1, 0]
    %25 = linalg.matmul ins(%collapsed, %transposed_9 : tensor<16x4xf32>, tensor<4x16xf32>) outs(%22 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %transposed_10 = linalg.transpose ins(%arg6 : tensor<16x4xf32>) outs(%20 : tensor<4x16xf32>) permutation = [1, 0]
    %26 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<16x4xf32>, tensor<4x16xf32>) outs(%22 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %27 = tensor.empty() : tensor<4x4x4x4xf64>
    %28 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<4x4x4x4xf32>) outs(%27 : tensor<4x4x4x4xf64>) {
    ^bb0(%in: f32, %out: f64):
      %76 = arith.extf %in : f32 to f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4x4xf64>
    %29 = tensor.empty() : tensor<4x4x4x1xf64>
    %30 = linalg.fill ins(%cst : f64) outs(%29 : tensor<4x4x4x1xf64>) -> tensor<4x4x4x1xf64>
    %31 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<4x4x4x4xf64>) outs(%30 : tensor<4x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.addf %in, %out : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4x1xf64>
    %32 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<4x4x4x1xf64>) outs(%29 : tensor<4x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.divf %in, %cst_4 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4x1xf64>
    %33 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %32 : tensor<4x4x4x4xf64>, tensor<4x4x4x1xf64>) outs(%27 : tensor<4x4x4x4xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %76 = arith.subf %in, %in_38 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4x4xf64>
    %34 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %33 : tensor<4x4x4x4xf64>, tensor<4x4x4x4xf64>) outs(%27 : tensor<4x4x4x4xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %76 = arith.mulf %in, %in_38 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4x4xf64>
    %35 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%34 : tensor<4x4x4x4xf64>) outs(%30 : tensor<4x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.addf %in, %out : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4x1xf64>
    %36 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<4x4x4x1xf64>) outs(%29 : tensor<4x4x4x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %76 = arith.divf %in, %cst_4 : f64
      linalg.yield %76 : f64
    } -> tensor<4x4x4x1xf64>
    %37 = tensor.empty() : tensor<4x4x4x1xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<4x4x4x1xf64>) outs(%37 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %76 = arith.truncf %in : f64 to f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x1xf32>
    %39 = linalg.fill ins(%cst_0 : f32) outs(%37 : tensor<4x4x4x1xf32>) -> tensor<4x4x4x1xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg1 : tensor<4x4x4x4xf32>) outs(%39 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x1xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<4x4x4x1xf32>) outs(%37 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.divf %in, %cst_5 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x1xf32>
    %42 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<4x4x4x1xf32>) outs(%37 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.truncf %cst_3 : f64 to f32
      %77 = arith.addf %in, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<4x4x4x1xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<4x4x4x1xf32>) outs(%37 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.rsqrt %in : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x1xf32>
    %44 = tensor.empty() : tensor<4x4x4x4xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1, %41 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.subf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %43 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.mulf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %47 = tensor.empty() : tensor<4x4xf32>
    %transposed_11 = linalg.transpose ins(%arg8 : tensor<4x4xf32>) outs(%47 : tensor<4x4xf32>) permutation = [1, 0]
    %collapsed_12 = tensor.collapse_shape %46 [[0, 1, 2], [3]] : tensor<4x4x4x4xf32> into tensor<64x4xf32>
    %48 = tensor.empty() : tensor<64x4xf32>
    %49 = linalg.fill ins(%cst_0 : f32) outs(%48 : tensor<64x4xf32>) -> tensor<64x4xf32>
    %50 = linalg.matmul ins(%collapsed_12, %transposed_11 : tensor<64x4xf32>, tensor<4x4xf32>) outs(%49 : tensor<64x4xf32>) -> tensor<64x4xf32>
    %expanded_13 = tensor.expand_shape %50 [[0, 1, 2], [3]] output_shape [4, 4, 4, 4] : tensor<64x4xf32> into tensor<4x4x4x4xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<4x4x4x4xf32>) outs(%44 : tensor<4x4x4x4xf32>) permutation = [0, 3, 1, 2]
    %51 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<4x4x4x4xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.mulf %in, %cst_6 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %expanded_15 = tensor.expand_shape %51 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<4x4x4x4xf32> into tensor<4x4x4x4x1xf32>
    %expanded_16 = tensor.expand_shape %25 [[0, 1], [2, 3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<16x16xf32> into tensor<4x4x4x4x1xf32>
    %52 = tensor.empty() : tensor<4x4x4x4x1xf32>
    %transposed_17 = linalg.transpose ins(%expanded_15 : tensor<4x4x4x4x1xf32>) outs(%52 : tensor<4x4x4x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed_18 = tensor.collapse_shape %transposed_17 [[0, 1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<16x4x4xf32>
    %transposed_19 = linalg.transpose ins(%expanded_16 : tensor<4x4x4x4x1xf32>) outs(%52 : tensor<4x4x4x4x1xf32>) permutation = [0, 2, 3, 1, 4]
    %collapsed_20 = tensor.collapse_shape %transposed_19 [[0, 1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<16x4x4xf32>
    %53 = tensor.empty() : tensor<16x4x4xf32>
    %54 = linalg.fill ins(%cst_0 : f32) outs(%53 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %55 = linalg.batch_matmul ins(%collapsed_18, %collapsed_20 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%54 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_21 = tensor.expand_shape %55 [[0, 1], [2], [3, 4]] output_shape [4, 4, 4, 1, 4] : tensor<16x4x4xf32> into tensor<4x4x4x1x4xf32>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<4x4x4x1x4xf32>) outs(%52 : tensor<4x4x4x4x1xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed_23 = tensor.collapse_shape %transposed_22 [[0], [1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<4x4x4x4xf32>
    %56 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_23, %transposed_14 : tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.addf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %57 = linalg.generic {indexing_maps = [#map6, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%cst_8, %arg2 : tensor<i64>, tensor<4x4xf32>) outs(%47 : tensor<4x4xf32>) {
    ^bb0(%in: i64, %in_38: f32, %out: f32):
      %76 = arith.sitofp %in : i64 to f32
      %77 = arith.subf %76, %in_38 : f32
      linalg.yield %77 : f32
    } -> tensor<4x4xf32>
    %58 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<4x4xf32>) outs(%47 : tensor<4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.mulf %in, %cst_7 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4xf32>
    %expanded_24 = tensor.expand_shape %58 [[0], [1, 2, 3]] output_shape [4, 1, 1, 4] : tensor<4x4xf32> into tensor<4x1x1x4xf32>
    %59 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56, %expanded_24 : tensor<4x4x4x4xf32>, tensor<4x1x1x4xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.addf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %60 = tensor.empty() : tensor<4x4x4xi64>
    %61 = linalg.fill ins(%c0_i64 : i64) outs(%60 : tensor<4x4x4xi64>) -> tensor<4x4x4xi64>
    %62 = linalg.fill ins(%cst_1 : f32) outs(%17 : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %63:2 = linalg.generic {indexing_maps = [#map4, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%59 : tensor<4x4x4x4xf32>) outs(%62, %61 : tensor<4x4x4xf32>, tensor<4x4x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_38: i64):
      %76 = linalg.index 3 : index
      %77 = arith.index_cast %76 : index to i64
      %78 = arith.maximumf %in, %out : f32
      %79 = arith.cmpf ogt, %in, %out : f32
      %80 = arith.select %79, %77, %out_38 : i64
      linalg.yield %78, %80 : f32, i64
    } -> (tensor<4x4x4xf32>, tensor<4x4x4xi64>)
    %expanded_25 = tensor.expand_shape %63#0 [[0], [1], [2, 3]] output_shape [4, 4, 4, 1] : tensor<4x4x4xf32> into tensor<4x4x4x1xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59, %expanded_25 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.subf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %65 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<4x4x4x4xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = math.exp %in : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%65 : tensor<4x4x4x4xf32>) outs(%39 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.addf %in, %out : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x1xf32>
    %67 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65, %66 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%44 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.divf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x4x4xf32>
    %expanded_26 = tensor.expand_shape %26 [[0, 1], [2, 3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<16x16xf32> into tensor<4x4x4x4x1xf32>
    %collapsed_27 = tensor.collapse_shape %67 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %transposed_28 = linalg.transpose ins(%expanded_26 : tensor<4x4x4x4x1xf32>) outs(%52 : tensor<4x4x4x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed_29 = tensor.collapse_shape %transposed_28 [[0, 1], [2], [3, 4]] : tensor<4x4x4x4x1xf32> into tensor<16x4x4xf32>
    %68 = linalg.batch_matmul ins(%collapsed_27, %collapsed_29 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%54 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_30 = tensor.expand_shape %68 [[0, 1], [2], [3, 4]] output_shape [4, 4, 4, 1, 4] : tensor<16x4x4xf32> into tensor<4x4x4x1x4xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<4x4x4x1x4xf32>) outs(%52 : tensor<4x4x4x4x1xf32>) permutation = [0, 2, 1, 4, 3]
    %collapsed_32 = tensor.collapse_shape %transposed_31 [[0], [1], [2, 3, 4]] : tensor<4x4x4x4x1xf32> into tensor<4x4x16xf32>
    %transposed_33 = linalg.transpose ins(%arg7 : tensor<16x4xf32>) outs(%20 : tensor<4x16xf32>) permutation = [1, 0]
    %69 = linalg.matmul ins(%collapsed, %transposed_33 : tensor<16x4xf32>, tensor<4x16xf32>) outs(%22 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %expanded_34 = tensor.expand_shape %69 [[0, 1], [2]] output_shape [4, 4, 16] : tensor<16x16xf32> into tensor<4x4x16xf32>
    %70 = tensor.empty() : tensor<4x4x16xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_34 : tensor<4x4x16xf32>) outs(%70 : tensor<4x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %76 = arith.negf %in : f32
      %77 = math.exp %76 : f32
      %78 = arith.addf %77, %cst_2 : f32
      %79 = arith.divf %cst_2, %78 : f32
      linalg.yield %79 : f32
    } -> tensor<4x4x16xf32>
    %72 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_32, %71 : tensor<4x4x16xf32>, tensor<4x4x16xf32>) outs(%70 : tensor<4x4x16xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %76 = arith.mulf %in, %in_38 : f32
      linalg.yield %76 : f32
    } -> tensor<4x4x16xf32>
    %73 = tensor.empty() : tensor<16x4xf32>
    %transposed_35 = linalg.transpose ins(%arg9 : tensor<4x16xf32>) outs(%73 : tensor<16x4xf32>) permutation = [1, 0]
    %collapsed_36 = tensor.collapse_shape %72 [[0, 1], [2]] : tensor<4x4x16xf32> into tensor<16x16xf32>
    %74 = linalg.fill ins(%cst_0 : f32) outs(%73 : tensor<16x4xf32>) -> tensor<16x4xf32>
    %75 = linalg.matmul ins(%collapsed_36, %transposed_35 : tensor<16x16xf32>, tensor<16x4xf32>) outs(%74 : tensor<16x4xf32>) -> tensor<16x4xf32>
    %expanded_37 = tensor.expand_shape %75 [[0, 1], [2]] output_shape [4, 4, 4] : tensor<16x4xf32> into tensor<4x4x4xf32>
    return %expanded_37 : tensor<4x4x4xf32>
  }
}
