// ... in bf16 with a softmax in f32.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg1.

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, 0, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @triangle_bf16(%arg0: tensor<2x5x5x6xbf16>, %arg1: tensor<2x5x5xbf16>, %arg2: tensor<2x6xbf16>, %arg3: tensor<8x6xbf16>, %arg4: tensor<8x6xbf16>, %arg5: tensor<8x6xbf16>, %arg6: tensor<8x6xbf16>, %arg7: tensor<6x8xbf16>) -> tensor<2x5x5x6xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : bf16
    %cst_2 = arith.constant 1.000000e+09 : f64
    %cst_3 = arith.constant 2.000000e+00 : bf16
    %0 = tensor.empty() : tensor<2x5x5xbf16>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x5x5xbf16>) outs(%0 : tensor<2x5x5xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %62 = arith.subf %in, %cst_1 : bf16
      linalg.yield %62 : bf16
    } -> tensor<2x5x5xbf16>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<2x5x5xbf16>) outs(%0 : tensor<2x5x5xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %62 = arith.truncf %cst_2 : f64 to bf16
      %63 = arith.mulf %in, %62 : bf16
      linalg.yield %63 : bf16
    } -> tensor<2x5x5xbf16>
    %expanded = tensor.expand_shape %2 [[0], [1], [2, 3, 4]] output_shape [2, 5, 1, 1, 5] : tensor<2x5x5xbf16> into tensor<2x5x1x1x5xbf16>
    %3 = tensor.empty() : tensor<6x2xbf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<2x6xbf16>) outs(%3 : tensor<6x2xbf16>) permutation = [1, 0]
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2], [3]] : tensor<2x5x5x6xbf16> into tensor<50x6xbf16>
    %4 = tensor.empty() : tensor<50x2xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<50x2xf32>) -> tensor<50x2xf32>
    %6 = linalg.matmul ins(%collapsed, %transposed : tensor<50x6xbf16>, tensor<6x2xbf16>) outs(%5 : tensor<50x2xf32>) -> tensor<50x2xf32>
    %7 = tensor.empty() : tensor<50x2xbf16>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<50x2xf32>) outs(%7 : tensor<50x2xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<50x2xbf16>
    %expanded_4 = tensor.expand_shape %8 [[0, 1, 2], [3]] output_shape [2, 5, 5, 2] : tensor<50x2xbf16> into tensor<2x5x5x2xbf16>
    %9 = tensor.empty() : tensor<2x2x5x5xbf16>
    %transposed_5 = linalg.transpose ins(%expanded_4 : tensor<2x5x5x2xbf16>) outs(%9 : tensor<2x2x5x5xbf16>) permutation = [0, 3, 1, 2]
    %expanded_6 = tensor.expand_shape %transposed_5 [[0], [1, 2], [3], [4]] output_shape [2, 1, 2, 5, 5] : tensor<2x2x5x5xbf16> into tensor<2x1x2x5x5xbf16>
    %10 = tensor.empty() : tensor<6x8xbf16>
    %transposed_7 = linalg.transpose ins(%arg3 : tensor<8x6xbf16>) outs(%10 : tensor<6x8xbf16>) permutation = [1, 0]
    %11 = tensor.empty() : tensor<50x8xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %13 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<50x6xbf16>, tensor<6x8xbf16>) outs(%12 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %14 = tensor.empty() : tensor<50x8xbf16>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<50x8xf32>) outs(%14 : tensor<50x8xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<50x8xbf16>
    %expanded_8 = tensor.expand_shape %15 [[0, 1, 2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<50x8xbf16> into tensor<2x5x5x2x4xbf16>
    %16 = tensor.empty() : tensor<2x5x2x5x4xbf16>
    %transposed_9 = linalg.transpose ins(%expanded_8 : tensor<2x5x5x2x4xbf16>) outs(%16 : tensor<2x5x2x5x4xbf16>) permutation = [0, 1, 3, 2, 4]
    %17 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9 : tensor<2x5x2x5x4xbf16>) outs(%16 : tensor<2x5x2x5x4xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %62 = arith.divf %in, %cst_3 : bf16
      linalg.yield %62 : bf16
    } -> tensor<2x5x2x5x4xbf16>
    %transposed_10 = linalg.transpose ins(%arg4 : tensor<8x6xbf16>) outs(%10 : tensor<6x8xbf16>) permutation = [1, 0]
    %18 = linalg.matmul ins(%collapsed, %transposed_10 : tensor<50x6xbf16>, tensor<6x8xbf16>) outs(%12 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<50x8xf32>) outs(%14 : tensor<50x8xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<50x8xbf16>
    %expanded_11 = tensor.expand_shape %19 [[0, 1, 2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<50x8xbf16> into tensor<2x5x5x2x4xbf16>
    %transposed_12 = linalg.transpose ins(%arg5 : tensor<8x6xbf16>) outs(%10 : tensor<6x8xbf16>) permutation = [1, 0]
    %20 = linalg.matmul ins(%collapsed, %transposed_12 : tensor<50x6xbf16>, tensor<6x8xbf16>) outs(%12 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<50x8xf32>) outs(%14 : tensor<50x8xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<50x8xbf16>
    %expanded_13 = tensor.expand_shape %21 [[0, 1, 2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<50x8xbf16> into tensor<2x5x5x2x4xbf16>
    %transposed_14 = linalg.transpose ins(%expanded_13 : tensor<2x5x5x2x4xbf16>) outs(%16 : tensor<2x5x2x5x4xbf16>) permutation = [0, 1, 3, 2, 4]
    %22 = tensor.empty() : tensor<2x5x2x4x5xbf16>
    %transposed_15 = linalg.transpose ins(%expanded_11 : tensor<2x5x5x2x4xbf16>) outs(%22 : tensor<2x5x2x4x5xbf16>) permutation = [0, 1, 3, 4, 2]
    %collapsed_16 = tensor.collapse_shape %17 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x4xbf16> into tensor<20x5x4xbf16>
    %collapsed_17 = tensor.collapse_shape %transposed_15 [[0, 1, 2], [3], [4]] : tensor<2x5x2x4x5xbf16> into tensor<20x4x5xbf16>
    %23 = tensor.empty() : tensor<20x5x5xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<20x5x5xf32>) -> tensor<20x5x5xf32>
    %25 = linalg.batch_matmul ins(%collapsed_16, %collapsed_17 : tensor<20x5x4xbf16>, tensor<20x4x5xbf16>) outs(%24 : tensor<20x5x5xf32>) -> tensor<20x5x5xf32>
    %26 = tensor.empty() : tensor<20x5x5xbf16>
    %27 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25 : tensor<20x5x5xf32>) outs(%26 : tensor<20x5x5xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<20x5x5xbf16>
    %expanded_18 = tensor.expand_shape %27 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 5, 5] : tensor<20x5x5xbf16> into tensor<2x5x2x5x5xbf16>
    %28 = tensor.empty() : tensor<2x5x2x5x5xbf16>
    %29 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_18, %expanded : tensor<2x5x2x5x5xbf16>, tensor<2x5x1x1x5xbf16>) outs(%28 : tensor<2x5x2x5x5xbf16>) {
    ^bb0(%in: bf16, %in_30: bf16, %out: bf16):
      %62 = arith.addf %in, %in_30 : bf16
      linalg.yield %62 : bf16
    } -> tensor<2x5x2x5x5xbf16>
    %30 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%29, %expanded_6 : tensor<2x5x2x5x5xbf16>, tensor<2x1x2x5x5xbf16>) outs(%28 : tensor<2x5x2x5x5xbf16>) {
    ^bb0(%in: bf16, %in_30: bf16, %out: bf16):
      %62 = arith.addf %in, %in_30 : bf16
      linalg.yield %62 : bf16
    } -> tensor<2x5x2x5x5xbf16>
    %31 = tensor.empty() : tensor<2x5x2x5x5xf32>
    %32 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<2x5x2x5x5xbf16>) outs(%31 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %62 = arith.extf %in : bf16 to f32
      linalg.yield %62 : f32
    } -> tensor<2x5x2x5x5xf32>
    %33 = tensor.empty() : tensor<2x5x2x5xi64>
    %34 = linalg.fill ins(%c0_i64 : i64) outs(%33 : tensor<2x5x2x5xi64>) -> tensor<2x5x2x5xi64>
    %35 = tensor.empty() : tensor<2x5x2x5xf32>
    %36 = linalg.fill ins(%cst_0 : f32) outs(%35 : tensor<2x5x2x5xf32>) -> tensor<2x5x2x5xf32>
    %37:2 = linalg.generic {indexing_maps = [#map2, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<2x5x2x5x5xf32>) outs(%36, %34 : tensor<2x5x2x5xf32>, tensor<2x5x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_30: i64):
      %62 = linalg.index 4 : index
      %63 = arith.index_cast %62 : index to i64
      %64 = arith.maximumf %in, %out : f32
      %65 = arith.cmpf ogt, %in, %out : f32
      %66 = arith.select %65, %63, %out_30 : i64
      linalg.yield %64, %66 : f32, i64
    } -> (tensor<2x5x2x5xf32>, tensor<2x5x2x5xi64>)
    %expanded_19 = tensor.expand_shape %37#0 [[0], [1], [2], [3, 4]] output_shape [2, 5, 2, 5, 1] : tensor<2x5x2x5xf32> into tensor<2x5x2x5x1xf32>
    %38 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%32, %expanded_19 : tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>) outs(%31 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %62 = arith.subf %in, %in_30 : f32
      linalg.yield %62 : f32
    } -> tensor<2x5x2x5x5xf32>
    %39 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<2x5x2x5x5xf32>) outs(%31 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %62 = math.exp %in : f32
      linalg.yield %62 : f32
    } -> tensor<2x5x2x5x5xf32>
    %40 = tensor.empty() : tensor<2x5x2x5x1xf32>
    %41 = linalg.fill ins(%cst : f32) outs(%40 : tensor<2x5x2x5x1xf32>) -> tensor<2x5x2x5x1xf32>
    %42 = linalg.generic {indexing_maps = [#map2, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%39 : tensor<2x5x2x5x5xf32>) outs(%41 : tensor<2x5x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %62 = arith.addf %in, %out : f32
      linalg.yield %62 : f32
    } -> tensor<2x5x2x5x1xf32>
    %43 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%39, %42 : tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>) outs(%31 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %62 = arith.divf %in, %in_30 : f32
      linalg.yield %62 : f32
    } -> tensor<2x5x2x5x5xf32>
    %44 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<2x5x2x5x5xf32>) outs(%28 : tensor<2x5x2x5x5xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<2x5x2x5x5xbf16>
    %collapsed_20 = tensor.collapse_shape %44 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x5xbf16> into tensor<20x5x5xbf16>
    %collapsed_21 = tensor.collapse_shape %transposed_14 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x4xbf16> into tensor<20x5x4xbf16>
    %45 = tensor.empty() : tensor<20x5x4xf32>
    %46 = linalg.fill ins(%cst : f32) outs(%45 : tensor<20x5x4xf32>) -> tensor<20x5x4xf32>
    %47 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<20x5x5xbf16>, tensor<20x5x4xbf16>) outs(%46 : tensor<20x5x4xf32>) -> tensor<20x5x4xf32>
    %48 = tensor.empty() : tensor<20x5x4xbf16>
    %49 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%47 : tensor<20x5x4xf32>) outs(%48 : tensor<20x5x4xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<20x5x4xbf16>
    %expanded_22 = tensor.expand_shape %49 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 5, 4] : tensor<20x5x4xbf16> into tensor<2x5x2x5x4xbf16>
    %50 = tensor.empty() : tensor<2x5x5x2x4xbf16>
    %transposed_23 = linalg.transpose ins(%expanded_22 : tensor<2x5x2x5x4xbf16>) outs(%50 : tensor<2x5x5x2x4xbf16>) permutation = [0, 1, 3, 2, 4]
    %transposed_24 = linalg.transpose ins(%arg6 : tensor<8x6xbf16>) outs(%10 : tensor<6x8xbf16>) permutation = [1, 0]
    %51 = linalg.matmul ins(%collapsed, %transposed_24 : tensor<50x6xbf16>, tensor<6x8xbf16>) outs(%12 : tensor<50x8xf32>) -> tensor<50x8xf32>
    %52 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%51 : tensor<50x8xf32>) outs(%14 : tensor<50x8xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<50x8xbf16>
    %expanded_25 = tensor.expand_shape %52 [[0, 1, 2], [3]] output_shape [2, 5, 5, 8] : tensor<50x8xbf16> into tensor<2x5x5x8xbf16>
    %53 = tensor.empty() : tensor<2x5x5x8xbf16>
    %54 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_25 : tensor<2x5x5x8xbf16>) outs(%53 : tensor<2x5x5x8xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %62 = arith.negf %in : bf16
      %63 = math.exp %62 : bf16
      %64 = arith.addf %63, %cst_1 : bf16
      %65 = arith.divf %cst_1, %64 : bf16
      linalg.yield %65 : bf16
    } -> tensor<2x5x5x8xbf16>
    %expanded_26 = tensor.expand_shape %54 [[0], [1], [2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<2x5x5x8xbf16> into tensor<2x5x5x2x4xbf16>
    %55 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_23, %expanded_26 : tensor<2x5x5x2x4xbf16>, tensor<2x5x5x2x4xbf16>) outs(%50 : tensor<2x5x5x2x4xbf16>) {
    ^bb0(%in: bf16, %in_30: bf16, %out: bf16):
      %62 = arith.mulf %in, %in_30 : bf16
      linalg.yield %62 : bf16
    } -> tensor<2x5x5x2x4xbf16>
    %56 = tensor.empty() : tensor<8x6xbf16>
    %transposed_27 = linalg.transpose ins(%arg7 : tensor<6x8xbf16>) outs(%56 : tensor<8x6xbf16>) permutation = [1, 0]
    %collapsed_28 = tensor.collapse_shape %55 [[0, 1, 2], [3, 4]] : tensor<2x5x5x2x4xbf16> into tensor<50x8xbf16>
    %57 = tensor.empty() : tensor<50x6xf32>
    %58 = linalg.fill ins(%cst : f32) outs(%57 : tensor<50x6xf32>) -> tensor<50x6xf32>
    %59 = linalg.matmul ins(%collapsed_28, %transposed_27 : tensor<50x8xbf16>, tensor<8x6xbf16>) outs(%58 : tensor<50x6xf32>) -> tensor<50x6xf32>
    %60 = tensor.empty() : tensor<50x6xbf16>
    %61 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%59 : tensor<50x6xf32>) outs(%60 : tensor<50x6xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %62 = arith.truncf %in : f32 to bf16
      linalg.yield %62 : bf16
    } -> tensor<50x6xbf16>
    %expanded_29 = tensor.expand_shape %61 [[0, 1, 2], [3]] output_shape [2, 5, 5, 6] : tensor<50x6xbf16> into tensor<2x5x5x6xbf16>
    return %expanded_29 : tensor<2x5x5x6xbf16>
  }
}
