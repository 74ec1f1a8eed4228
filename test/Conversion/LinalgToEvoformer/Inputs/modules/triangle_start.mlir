// OpenFold's triangle attention around the starting node, f32.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg1.

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, 0, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, d4)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
module {
  func.func @triangle_start(%arg0: tensor<2x5x5x6xf32>, %arg1: tensor<2x5x5xf32>, %arg2: tensor<2x6xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<8x6xf32>, %arg5: tensor<8x6xf32>, %arg6: tensor<8x6xf32>, %arg7: tensor<6x8xf32>) -> tensor<2x5x5x6xf32> {
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 1.000000e-05 : f64
    %cst_4 = arith.constant 6.000000e+00 : f64
    %cst_5 = arith.constant 6.000000e+00 : f32
    %cst_6 = arith.constant 1.000000e+09 : f32
    %cst_7 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x5x5x6xf64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x5x5x6xf32>) outs(%0 : tensor<2x5x5x6xf64>) {
    ^bb0(%in: f32, %out: f64):
      %66 = arith.extf %in : f32 to f64
      linalg.yield %66 : f64
    } -> tensor<2x5x5x6xf64>
    %2 = tensor.empty() : tensor<2x5x5x1xf64>
    %3 = linalg.fill ins(%cst : f64) outs(%2 : tensor<2x5x5x1xf64>) -> tensor<2x5x5x1xf64>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1 : tensor<2x5x5x6xf64>) outs(%3 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %66 = arith.addf %in, %out : f64
      linalg.yield %66 : f64
    } -> tensor<2x5x5x1xf64>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<2x5x5x1xf64>) outs(%2 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %66 = arith.divf %in, %cst_4 : f64
      linalg.yield %66 : f64
    } -> tensor<2x5x5x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1, %5 : tensor<2x5x5x6xf64>, tensor<2x5x5x1xf64>) outs(%0 : tensor<2x5x5x6xf64>) {
    ^bb0(%in: f64, %in_34: f64, %out: f64):
      %66 = arith.subf %in, %in_34 : f64
      linalg.yield %66 : f64
    } -> tensor<2x5x5x6xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %6 : tensor<2x5x5x6xf64>, tensor<2x5x5x6xf64>) outs(%0 : tensor<2x5x5x6xf64>) {
    ^bb0(%in: f64, %in_34: f64, %out: f64):
      %66 = arith.mulf %in, %in_34 : f64
      linalg.yield %66 : f64
    } -> tensor<2x5x5x6xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%7 : tensor<2x5x5x6xf64>) outs(%3 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %66 = arith.addf %in, %out : f64
      linalg.yield %66 : f64
    } -> tensor<2x5x5x1xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<2x5x5x1xf64>) outs(%2 : tensor<2x5x5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %66 = arith.divf %in, %cst_4 : f64
      linalg.yield %66 : f64
    } -> tensor<2x5x5x1xf64>
    %10 = tensor.empty() : tensor<2x5x5x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<2x5x5x1xf64>) outs(%10 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %66 = arith.truncf %in : f64 to f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5x1xf32>
    %12 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<2x5x5x1xf32>) -> tensor<2x5x5x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x5x5x6xf32>) outs(%12 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.addf %in, %out : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13 : tensor<2x5x5x1xf32>) outs(%10 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.divf %in, %cst_5 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<2x5x5x1xf32>) outs(%10 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.truncf %cst_3 : f64 to f32
      %67 = arith.addf %in, %66 : f32
      linalg.yield %67 : f32
    } -> tensor<2x5x5x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<2x5x5x1xf32>) outs(%10 : tensor<2x5x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.rsqrt %in : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5x1xf32>
    %17 = tensor.empty() : tensor<2x5x5x6xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %14 : tensor<2x5x5x6xf32>, tensor<2x5x5x1xf32>) outs(%17 : tensor<2x5x5x6xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %66 = arith.subf %in, %in_34 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5x6xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %16 : tensor<2x5x5x6xf32>, tensor<2x5x5x1xf32>) outs(%17 : tensor<2x5x5x6xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %66 = arith.mulf %in, %in_34 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5x6xf32>
    %20 = tensor.empty() : tensor<2x5x5xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x5x5xf32>) outs(%20 : tensor<2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.subf %in, %cst_2 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21 : tensor<2x5x5xf32>) outs(%20 : tensor<2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.mulf %in, %cst_6 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5xf32>
    %expanded = tensor.expand_shape %22 [[0], [1], [2, 3, 4]] output_shape [2, 5, 1, 1, 5] : tensor<2x5x5xf32> into tensor<2x5x1x1x5xf32>
    %23 = tensor.empty() : tensor<6x2xf32>
    %transposed = linalg.transpose ins(%arg2 : tensor<2x6xf32>) outs(%23 : tensor<6x2xf32>) permutation = [1, 0]
    %collapsed = tensor.collapse_shape %19 [[0, 1, 2], [3]] : tensor<2x5x5x6xf32> into tensor<50x6xf32>
    %24 = tensor.empty() : tensor<50x2xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%24 : tensor<50x2xf32>) -> tensor<50x2xf32>
    %26 = linalg.matmul ins(%collapsed, %transposed : tensor<50x6xf32>, tensor<6x2xf32>) outs(%25 : tensor<50x2xf32>) -> tensor<50x2xf32>
    %expanded_8 = tensor.expand_shape %26 [[0, 1, 2], [3]] output_shape [2, 5, 5, 2] : tensor<50x2xf32> into tensor<2x5x5x2xf32>
    %27 = tensor.empty() : tensor<2x2x5x5xf32>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x5x5x2xf32>) outs(%27 : tensor<2x2x5x5xf32>) permutation = [0, 3, 1, 2]
    %expanded_10 = tensor.expand_shape %transposed_9 [[0], [1, 2], [3], [4]] output_shape [2, 1, 2, 5, 5] : tensor<2x2x5x5xf32> into tensor<2x1x2x5x5xf32>
    %28 = tensor.empty() : tensor<6x8xf32>
    %transposed_11 = linalg.transpose ins(%arg3 : tensor<8x6xf32>) outs(%28 : tensor<6x8xf32>) permutation = [1, 0]
    %29 = tensor.empty() : tensor<50x8xf32>
    %30 = linalg.fill ins(%cst_0 : f32) outs(%29 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %31 = linalg.matmul ins(%collapsed, %transposed_11 : tensor<50x6xf32>, tensor<6x8xf32>) outs(%30 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %expanded_12 = tensor.expand_shape %31 [[0, 1, 2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<50x8xf32> into tensor<2x5x5x2x4xf32>
    %32 = tensor.empty() : tensor<2x5x2x5x4xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<2x5x5x2x4xf32>) outs(%32 : tensor<2x5x2x5x4xf32>) permutation = [0, 1, 3, 2, 4]
    %33 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_13 : tensor<2x5x2x5x4xf32>) outs(%32 : tensor<2x5x2x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.divf %in, %cst_7 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x2x5x4xf32>
    %transposed_14 = linalg.transpose ins(%arg4 : tensor<8x6xf32>) outs(%28 : tensor<6x8xf32>) permutation = [1, 0]
    %34 = linalg.matmul ins(%collapsed, %transposed_14 : tensor<50x6xf32>, tensor<6x8xf32>) outs(%30 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %expanded_15 = tensor.expand_shape %34 [[0, 1, 2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<50x8xf32> into tensor<2x5x5x2x4xf32>
    %transposed_16 = linalg.transpose ins(%arg5 : tensor<8x6xf32>) outs(%28 : tensor<6x8xf32>) permutation = [1, 0]
    %35 = linalg.matmul ins(%collapsed, %transposed_16 : tensor<50x6xf32>, tensor<6x8xf32>) outs(%30 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %expanded_17 = tensor.expand_shape %35 [[0, 1, 2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<50x8xf32> into tensor<2x5x5x2x4xf32>
    %transposed_18 = linalg.transpose ins(%expanded_17 : tensor<2x5x5x2x4xf32>) outs(%32 : tensor<2x5x2x5x4xf32>) permutation = [0, 1, 3, 2, 4]
    %36 = tensor.empty() : tensor<2x5x2x4x5xf32>
    %transposed_19 = linalg.transpose ins(%expanded_15 : tensor<2x5x5x2x4xf32>) outs(%36 : tensor<2x5x2x4x5xf32>) permutation = [0, 1, 3, 4, 2]
    %collapsed_20 = tensor.collapse_shape %33 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x4xf32> into tensor<20x5x4xf32>
    %collapsed_21 = tensor.collapse_shape %transposed_19 [[0, 1, 2], [3], [4]] : tensor<2x5x2x4x5xf32> into tensor<20x4x5xf32>
    %37 = tensor.empty() : tensor<20x5x5xf32>
    %38 = linalg.fill ins(%cst_0 : f32) outs(%37 : tensor<20x5x5xf32>) -> tensor<20x5x5xf32>
    %39 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<20x5x4xf32>, tensor<20x4x5xf32>) outs(%38 : tensor<20x5x5xf32>) -> tensor<20x5x5xf32>
    %expanded_22 = tensor.expand_shape %39 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 5, 5] : tensor<20x5x5xf32> into tensor<2x5x2x5x5xf32>
    %40 = tensor.empty() : tensor<2x5x2x5x5xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22, %expanded : tensor<2x5x2x5x5xf32>, tensor<2x5x1x1x5xf32>) outs(%40 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %66 = arith.addf %in, %in_34 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x2x5x5xf32>
    %42 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%41, %expanded_10 : tensor<2x5x2x5x5xf32>, tensor<2x1x2x5x5xf32>) outs(%40 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %66 = arith.addf %in, %in_34 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x2x5x5xf32>
    %43 = tensor.empty() : tensor<2x5x2x5xi64>
    %44 = linalg.fill ins(%c0_i64 : i64) outs(%43 : tensor<2x5x2x5xi64>) -> tensor<2x5x2x5xi64>
    %45 = tensor.empty() : tensor<2x5x2x5xf32>
    %46 = linalg.fill ins(%cst_1 : f32) outs(%45 : tensor<2x5x2x5xf32>) -> tensor<2x5x2x5xf32>
    %47:2 = linalg.generic {indexing_maps = [#map3, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%42 : tensor<2x5x2x5x5xf32>) outs(%46, %44 : tensor<2x5x2x5xf32>, tensor<2x5x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_34: i64):
      %66 = linalg.index 4 : index
      %67 = arith.index_cast %66 : index to i64
      %68 = arith.maximumf %in, %out : f32
      %69 = arith.cmpf ogt, %in, %out : f32
      %70 = arith.select %69, %67, %out_34 : i64
      linalg.yield %68, %70 : f32, i64
    } -> (tensor<2x5x2x5xf32>, tensor<2x5x2x5xi64>)
    %expanded_23 = tensor.expand_shape %47#0 [[0], [1], [2], [3, 4]] output_shape [2, 5, 2, 5, 1] : tensor<2x5x2x5xf32> into tensor<2x5x2x5x1xf32>
    %48 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%42, %expanded_23 : tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>) outs(%40 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %66 = arith.subf %in, %in_34 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x2x5x5xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%48 : tensor<2x5x2x5x5xf32>) outs(%40 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.exp %in : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x2x5x5xf32>
    %50 = tensor.empty() : tensor<2x5x2x5x1xf32>
    %51 = linalg.fill ins(%cst_0 : f32) outs(%50 : tensor<2x5x2x5x1xf32>) -> tensor<2x5x2x5x1xf32>
    %52 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%49 : tensor<2x5x2x5x5xf32>) outs(%51 : tensor<2x5x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.addf %in, %out : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x2x5x1xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%49, %52 : tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>) outs(%40 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %66 = arith.divf %in, %in_34 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x2x5x5xf32>
    %collapsed_24 = tensor.collapse_shape %53 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x5xf32> into tensor<20x5x5xf32>
    %collapsed_25 = tensor.collapse_shape %transposed_18 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x4xf32> into tensor<20x5x4xf32>
    %54 = tensor.empty() : tensor<20x5x4xf32>
    %55 = linalg.fill ins(%cst_0 : f32) outs(%54 : tensor<20x5x4xf32>) -> tensor<20x5x4xf32>
    %56 = linalg.batch_matmul ins(%collapsed_24, %collapsed_25 : tensor<20x5x5xf32>, tensor<20x5x4xf32>) outs(%55 : tensor<20x5x4xf32>) -> tensor<20x5x4xf32>
    %expanded_26 = tensor.expand_shape %56 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 5, 4] : tensor<20x5x4xf32> into tensor<2x5x2x5x4xf32>
    %57 = tensor.empty() : tensor<2x5x5x2x4xf32>
    %transposed_27 = linalg.transpose ins(%expanded_26 : tensor<2x5x2x5x4xf32>) outs(%57 : tensor<2x5x5x2x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_28 = linalg.transpose ins(%arg6 : tensor<8x6xf32>) outs(%28 : tensor<6x8xf32>) permutation = [1, 0]
    %58 = linalg.matmul ins(%collapsed, %transposed_28 : tensor<50x6xf32>, tensor<6x8xf32>) outs(%30 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %expanded_29 = tensor.expand_shape %58 [[0, 1, 2], [3]] output_shape [2, 5, 5, 8] : tensor<50x8xf32> into tensor<2x5x5x8xf32>
    %59 = tensor.empty() : tensor<2x5x5x8xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_29 : tensor<2x5x5x8xf32>) outs(%59 : tensor<2x5x5x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.negf %in : f32
      %67 = math.exp %66 : f32
      %68 = arith.addf %67, %cst_2 : f32
      %69 = arith.divf %cst_2, %68 : f32
      linalg.yield %69 : f32
    } -> tensor<2x5x5x8xf32>
    %expanded_30 = tensor.expand_shape %60 [[0], [1], [2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<2x5x5x8xf32> into tensor<2x5x5x2x4xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_27, %expanded_30 : tensor<2x5x5x2x4xf32>, tensor<2x5x5x2x4xf32>) outs(%57 : tensor<2x5x5x2x4xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %66 = arith.mulf %in, %in_34 : f32
      linalg.yield %66 : f32
    } -> tensor<2x5x5x2x4xf32>
    %62 = tensor.empty() : tensor<8x6xf32>
    %transposed_31 = linalg.transpose ins(%arg7 : tensor<6x8xf32>) outs(%62 : tensor<8x6xf32>) permutation = [1, 0]
    %collapsed_32 = tensor.collapse_shape %61 [[0, 1, 2], [3, 4]] : tensor<2x5x5x2x4xf32> into tensor<50x8xf32>
    %63 = tensor.empty() : tensor<50x6xf32>
    %64 = linalg.fill ins(%cst_0 : f32) outs(%63 : tensor<50x6xf32>) -> tensor<50x6xf32>
    %65 = linalg.matmul ins(%collapsed_32, %transposed_31 : tensor<50x8xf32>, tensor<8x6xf32>) outs(%64 : tensor<50x6xf32>) -> tensor<50x6xf32>
    %expanded_33 = tensor.expand_shape %65 [[0, 1, 2], [3]] output_shape [2, 5, 5, 6] : tensor<50x6xf32> into tensor<2x5x5x6xf32>
    return %expanded_33 : tensor<2x5x5x6xf32>
  }
}
