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
  func.func @pair_bias(%arg0: tensor<2x5x6xf32>, %arg1: tensor<2x5x5x6xf32>, %arg2: tensor<2x5xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8x6xf32>, %arg6: tensor<8x6xf32>, %arg7: tensor<8x6xf32>, %arg8: tensor<2x6xf32>, %arg9: tensor<6x8xf32>) -> tensor<2x5x6xf32> {
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 1.000000e-05 : f64
    %cst_4 = arith.constant 6.000000e+00 : f64
    %cst_5 = arith.constant 6.000000e+00 : f32
    %cst_6 = arith.constant 5.000000e-01 : f32
    %cst_7 = arith.constant -1.000000e+09 : f32
    %cst_8 = arith.constant dense<1> : tensor<i64>
    %0 = tensor.empty() : tensor<2x5x6xf64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x5x6xf32>) outs(%0 : tensor<2x5x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %88 = arith.extf %in : f32 to f64
      linalg.yield %88 : f64
    } -> tensor<2x5x6xf64>
    %2 = tensor.empty() : tensor<2x5x1xf64>
    %3 = linalg.fill ins(%cst : f64) outs(%2 : tensor<2x5x1xf64>) -> tensor<2x5x1xf64>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<2x5x6xf64>) outs(%3 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.addf %in, %out : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x1xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4 : tensor<2x5x1xf64>) outs(%2 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.divf %in, %cst_4 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %5 : tensor<2x5x6xf64>, tensor<2x5x1xf64>) outs(%0 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %88 = arith.subf %in, %in_38 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x6xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %6 : tensor<2x5x6xf64>, tensor<2x5x6xf64>) outs(%0 : tensor<2x5x6xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %88 = arith.mulf %in, %in_38 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x6xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%7 : tensor<2x5x6xf64>) outs(%3 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.addf %in, %out : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x1xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<2x5x1xf64>) outs(%2 : tensor<2x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.divf %in, %cst_4 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x1xf64>
    %10 = tensor.empty() : tensor<2x5x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9 : tensor<2x5x1xf64>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %88 = arith.truncf %in : f64 to f32
      linalg.yield %88 : f32
    } -> tensor<2x5x1xf32>
    %12 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x5x6xf32>) outs(%12 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %in, %out : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.divf %in, %cst_5 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.truncf %cst_3 : f64 to f32
      %89 = arith.addf %in, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<2x5x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<2x5x1xf32>) outs(%10 : tensor<2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.rsqrt %in : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x1xf32>
    %17 = tensor.empty() : tensor<2x5x6xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %14 : tensor<2x5x6xf32>, tensor<2x5x1xf32>) outs(%17 : tensor<2x5x6xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.subf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x6xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %16 : tensor<2x5x6xf32>, tensor<2x5x1xf32>) outs(%17 : tensor<2x5x6xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.mulf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x6xf32>
    %collapsed = tensor.collapse_shape %19 [[0, 1], [2]] : tensor<2x5x6xf32> into tensor<10x6xf32>
    %20 = tensor.empty() : tensor<6x8xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<8x6xf32>) outs(%20 : tensor<6x8xf32>) permutation = [1, 0]
    %21 = tensor.empty() : tensor<10x8xf32>
    %22 = linalg.fill ins(%cst_0 : f32) outs(%21 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %23 = linalg.matmul ins(%collapsed, %transposed : tensor<10x6xf32>, tensor<6x8xf32>) outs(%22 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%23, %arg4 : tensor<10x8xf32>, tensor<8xf32>) outs(%21 : tensor<10x8xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.addf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<10x8xf32>
    %expanded = tensor.expand_shape %24 [[0, 1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<10x8xf32> into tensor<2x5x2x4xf32>
    %transposed_9 = linalg.transpose ins(%arg5 : tensor<8x6xf32>) outs(%20 : tensor<6x8xf32>) permutation = [1, 0]
    %25 = linalg.matmul ins(%collapsed, %transposed_9 : tensor<10x6xf32>, tensor<6x8xf32>) outs(%22 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %transposed_10 = linalg.transpose ins(%arg6 : tensor<8x6xf32>) outs(%20 : tensor<6x8xf32>) permutation = [1, 0]
    %26 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<10x6xf32>, tensor<6x8xf32>) outs(%22 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %27 = tensor.empty() : tensor<2x5x5x6xf64>
    %28 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x5x5x6xf32>) outs(%27 : tensor<2x5x5x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %88 = arith.extf %in : f32 to f64
      linalg.yield %88 : f64
    } -> tensor<2x5x5x6xf64>
    %29 = tensor.empty() : tensor<2x5x5x1xf64>
    %30 = linalg.fill ins(%cst : f64) outs(%29 : tensor<2x5x5x1xf64>) -> tensor<2x5x5x1xf64>
    %31 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<2x5x5x6xf64>) outs(%30 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.addf %in, %out : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x5x1xf64>
    %32 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<2x5x5x1xf64>) outs(%29 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.divf %in, %cst_4 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x5x1xf64>
    %33 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %32 : tensor<2x5x5x6xf64>, tensor<2x5x5x1xf64>) outs(%27 : tensor<2x5x5x6xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %88 = arith.subf %in, %in_38 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x5x6xf64>
    %34 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %33 : tensor<2x5x5x6xf64>, tensor<2x5x5x6xf64>) outs(%27 : tensor<2x5x5x6xf64>) {
    ^bb0(%in: f64, %in_38: f64, %out: f64):
      %88 = arith.mulf %in, %in_38 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x5x6xf64>
    %35 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%34 : tensor<2x5x5x6xf64>) outs(%30 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.addf %in, %out : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x5x1xf64>
    %36 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x5x5x1xf64>) outs(%29 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %88 = arith.divf %in, %cst_4 : f64
      linalg.yield %88 : f64
    } -> tensor<2x5x5x1xf64>
    %37 = tensor.empty() : tensor<2x5x5x1xf32>
    %38 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36 : tensor<2x5x5x1xf64>) outs(%37 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %88 = arith.truncf %in : f64 to f32
      linalg.yield %88 : f32
    } -> tensor<2x5x5x1xf32>
    %39 = linalg.fill ins(%cst_0 : f32) outs(%37 : tensor<2x5x5x1xf32>) -> tensor<2x5x5x1xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg1 : tensor<2x5x5x6xf32>) outs(%39 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %in, %out : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x5x1xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<2x5x5x1xf32>) outs(%37 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.divf %in, %cst_5 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x5x1xf32>
    %42 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<2x5x5x1xf32>) outs(%37 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.truncf %cst_3 : f64 to f32
      %89 = arith.addf %in, %88 : f32
      linalg.yield %89 : f32
    } -> tensor<2x5x5x1xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%42 : tensor<2x5x5x1xf32>) outs(%37 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.rsqrt %in : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x5x1xf32>
    %44 = tensor.empty() : tensor<2x5x5x6xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1, %41 : tensor<2x5x5x6xf32>, tensor<2x5x5x1xf32>) outs(%44 : tensor<2x5x5x6xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.subf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x5x6xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45, %43 : tensor<2x5x5x6xf32>, tensor<2x5x5x1xf32>) outs(%44 : tensor<2x5x5x6xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.mulf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x5x6xf32>
    %47 = tensor.empty() : tensor<6x2xf32>
    %transposed_11 = linalg.transpose ins(%arg8 : tensor<2x6xf32>) outs(%47 : tensor<6x2xf32>) permutation = [1, 0]
    %collapsed_12 = tensor.collapse_shape %46 [[0, 1, 2], [3]] : tensor<2x5x5x6xf32> into tensor<50x6xf32>
    %48 = tensor.empty() : tensor<50x2xf32>
    %49 = linalg.fill ins(%cst_0 : f32) outs(%48 : tensor<50x2xf32>) -> tensor<50x2xf32>
    %50 = linalg.matmul ins(%collapsed_12, %transposed_11 : tensor<50x6xf32>, tensor<6x2xf32>) outs(%49 : tensor<50x2xf32>) -> tensor<50x2xf32>
    %expanded_13 = tensor.expand_shape %50 [[0, 1, 2], [3]] output_shape [2, 5, 5, 2] : tensor<50x2xf32> into tensor<2x5x5x2xf32>
    %51 = tensor.empty() : tensor<2x2x5x5xf32>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<2x5x5x2xf32>) outs(%51 : tensor<2x2x5x5xf32>) permutation = [0, 3, 1, 2]
    %52 = tensor.empty() : tensor<2x5x2x4xf32>
    %53 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x5x2x4xf32>) outs(%52 : tensor<2x5x2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.mulf %in, %cst_6 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x2x4xf32>
    %expanded_15 = tensor.expand_shape %53 [[0], [1], [2], [3, 4]] output_shape [2, 5, 2, 4, 1] : tensor<2x5x2x4xf32> into tensor<2x5x2x4x1xf32>
    %expanded_16 = tensor.expand_shape %25 [[0, 1], [2, 3, 4]] output_shape [2, 5, 2, 4, 1] : tensor<10x8xf32> into tensor<2x5x2x4x1xf32>
    %54 = tensor.empty() : tensor<2x2x5x4x1xf32>
    %transposed_17 = linalg.transpose ins(%expanded_15 : tensor<2x5x2x4x1xf32>) outs(%54 : tensor<2x2x5x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed_18 = tensor.collapse_shape %transposed_17 [[0, 1], [2], [3, 4]] : tensor<2x2x5x4x1xf32> into tensor<4x5x4xf32>
    %55 = tensor.empty() : tensor<2x2x4x5x1xf32>
    %transposed_19 = linalg.transpose ins(%expanded_16 : tensor<2x5x2x4x1xf32>) outs(%55 : tensor<2x2x4x5x1xf32>) permutation = [0, 2, 3, 1, 4]
    %collapsed_20 = tensor.collapse_shape %transposed_19 [[0, 1], [2], [3, 4]] : tensor<2x2x4x5x1xf32> into tensor<4x4x5xf32>
    %56 = tensor.empty() : tensor<4x5x5xf32>
    %57 = linalg.fill ins(%cst_0 : f32) outs(%56 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %58 = linalg.batch_matmul ins(%collapsed_18, %collapsed_20 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%57 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %expanded_21 = tensor.expand_shape %58 [[0, 1], [2], [3, 4]] output_shape [2, 2, 5, 1, 5] : tensor<4x5x5xf32> into tensor<2x2x5x1x5xf32>
    %59 = tensor.empty() : tensor<2x2x5x5x1xf32>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<2x2x5x1x5xf32>) outs(%59 : tensor<2x2x5x5x1xf32>) permutation = [0, 1, 2, 4, 3]
    %collapsed_23 = tensor.collapse_shape %transposed_22 [[0], [1], [2], [3, 4]] : tensor<2x2x5x5x1xf32> into tensor<2x2x5x5xf32>
    %60 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_23, %transposed_14 : tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) outs(%51 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.addf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x2x5x5xf32>
    %61 = tensor.empty() : tensor<2x5xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%cst_8, %arg2 : tensor<i64>, tensor<2x5xf32>) outs(%61 : tensor<2x5xf32>) {
    ^bb0(%in: i64, %in_38: f32, %out: f32):
      %88 = arith.sitofp %in : i64 to f32
      %89 = arith.subf %88, %in_38 : f32
      linalg.yield %89 : f32
    } -> tensor<2x5xf32>
    %63 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%62 : tensor<2x5xf32>) outs(%61 : tensor<2x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.mulf %in, %cst_7 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5xf32>
    %expanded_24 = tensor.expand_shape %63 [[0], [1, 2, 3]] output_shape [2, 1, 1, 5] : tensor<2x5xf32> into tensor<2x1x1x5xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map7, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %expanded_24 : tensor<2x2x5x5xf32>, tensor<2x1x1x5xf32>) outs(%51 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.addf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x2x5x5xf32>
    %65 = tensor.empty() : tensor<2x2x5xi64>
    %66 = linalg.fill ins(%c0_i64 : i64) outs(%65 : tensor<2x2x5xi64>) -> tensor<2x2x5xi64>
    %67 = tensor.empty() : tensor<2x2x5xf32>
    %68 = linalg.fill ins(%cst_1 : f32) outs(%67 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
    %69:2 = linalg.generic {indexing_maps = [#map4, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%64 : tensor<2x2x5x5xf32>) outs(%68, %66 : tensor<2x2x5xf32>, tensor<2x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_38: i64):
      %88 = linalg.index 3 : index
      %89 = arith.index_cast %88 : index to i64
      %90 = arith.maximumf %in, %out : f32
      %91 = arith.cmpf ogt, %in, %out : f32
      %92 = arith.select %91, %89, %out_38 : i64
      linalg.yield %90, %92 : f32, i64
    } -> (tensor<2x2x5xf32>, tensor<2x2x5xi64>)
    %expanded_25 = tensor.expand_shape %69#0 [[0], [1], [2, 3]] output_shape [2, 2, 5, 1] : tensor<2x2x5xf32> into tensor<2x2x5x1xf32>
    %70 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64, %expanded_25 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%51 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.subf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x2x5x5xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70 : tensor<2x2x5x5xf32>) outs(%51 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = math.exp %in : f32
      linalg.yield %88 : f32
    } -> tensor<2x2x5x5xf32>
    %72 = tensor.empty() : tensor<2x2x5x1xf32>
    %73 = linalg.fill ins(%cst_0 : f32) outs(%72 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %74 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%71 : tensor<2x2x5x5xf32>) outs(%73 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.addf %in, %out : f32
      linalg.yield %88 : f32
    } -> tensor<2x2x5x1xf32>
    %75 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71, %74 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%51 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.divf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x2x5x5xf32>
    %expanded_26 = tensor.expand_shape %26 [[0, 1], [2, 3, 4]] output_shape [2, 5, 2, 4, 1] : tensor<10x8xf32> into tensor<2x5x2x4x1xf32>
    %collapsed_27 = tensor.collapse_shape %75 [[0, 1], [2], [3]] : tensor<2x2x5x5xf32> into tensor<4x5x5xf32>
    %transposed_28 = linalg.transpose ins(%expanded_26 : tensor<2x5x2x4x1xf32>) outs(%54 : tensor<2x2x5x4x1xf32>) permutation = [0, 2, 1, 3, 4]
    %collapsed_29 = tensor.collapse_shape %transposed_28 [[0, 1], [2], [3, 4]] : tensor<2x2x5x4x1xf32> into tensor<4x5x4xf32>
    %76 = tensor.empty() : tensor<4x5x4xf32>
    %77 = linalg.fill ins(%cst_0 : f32) outs(%76 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %78 = linalg.batch_matmul ins(%collapsed_27, %collapsed_29 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%77 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %expanded_30 = tensor.expand_shape %78 [[0, 1], [2], [3, 4]] output_shape [2, 2, 5, 1, 4] : tensor<4x5x4xf32> into tensor<2x2x5x1x4xf32>
    %79 = tensor.empty() : tensor<2x5x2x4x1xf32>
    %transposed_31 = linalg.transpose ins(%expanded_30 : tensor<2x2x5x1x4xf32>) outs(%79 : tensor<2x5x2x4x1xf32>) permutation = [0, 2, 1, 4, 3]
    %collapsed_32 = tensor.collapse_shape %transposed_31 [[0], [1], [2, 3, 4]] : tensor<2x5x2x4x1xf32> into tensor<2x5x8xf32>
    %transposed_33 = linalg.transpose ins(%arg7 : tensor<8x6xf32>) outs(%20 : tensor<6x8xf32>) permutation = [1, 0]
    %80 = linalg.matmul ins(%collapsed, %transposed_33 : tensor<10x6xf32>, tensor<6x8xf32>) outs(%22 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %expanded_34 = tensor.expand_shape %80 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %81 = tensor.empty() : tensor<2x5x8xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_34 : tensor<2x5x8xf32>) outs(%81 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %88 = arith.negf %in : f32
      %89 = math.exp %88 : f32
      %90 = arith.addf %89, %cst_2 : f32
      %91 = arith.divf %cst_2, %90 : f32
      linalg.yield %91 : f32
    } -> tensor<2x5x8xf32>
    %83 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%collapsed_32, %82 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%81 : tensor<2x5x8xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %88 = arith.mulf %in, %in_38 : f32
      linalg.yield %88 : f32
    } -> tensor<2x5x8xf32>
    %84 = tensor.empty() : tensor<8x6xf32>
    %transposed_35 = linalg.transpose ins(%arg9 : tensor<6x8xf32>) outs(%84 : tensor<8x6xf32>) permutation = [1, 0]
    %collapsed_36 = tensor.collapse_shape %83 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %85 = tensor.empty() : tensor<10x6xf32>
    %86 = linalg.fill ins(%cst_0 : f32) outs(%85 : tensor<10x6xf32>) -> tensor<10x6xf32>
    %87 = linalg.matmul ins(%collapsed_36, %transposed_35 : tensor<10x8xf32>, tensor<8x6xf32>) outs(%86 : tensor<10x6xf32>) -> tensor<10x6xf32>
    %expanded_37 = tensor.expand_shape %87 [[0, 1], [2]] output_shape [2, 5, 6] : tensor<10x6xf32> into tensor<2x5x6xf32>
    return %expanded_37 : tensor<2x5x6xf32>
  }
}
