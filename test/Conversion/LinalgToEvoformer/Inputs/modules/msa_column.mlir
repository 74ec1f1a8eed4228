// OpenFold's MSA column attention.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg1.

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, 0, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
module {
  func.func @msa_column(%arg0: tensor<2x3x5x6xf32>, %arg1: tensor<2x3x5xf32>, %arg2: tensor<8x6xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<8x6xf32>, %arg5: tensor<8x6xf32>, %arg6: tensor<6x8xf32>) -> tensor<2x3x5x6xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 1.000000e+09 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x5x3x6xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<2x3x5x6xf32>) outs(%0 : tensor<2x5x3x6xf32>) permutation = [0, 2, 1, 3]
    %1 = tensor.empty() : tensor<2x5x3xf32>
    %transposed_4 = linalg.transpose ins(%arg1 : tensor<2x3x5xf32>) outs(%1 : tensor<2x5x3xf32>) permutation = [0, 2, 1]
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_4 : tensor<2x5x3xf32>) outs(%1 : tensor<2x5x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.subf %in, %cst_1 : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x3xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<2x5x3xf32>) outs(%1 : tensor<2x5x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.mulf %in, %cst_2 : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x3xf32>
    %expanded = tensor.expand_shape %3 [[0], [1], [2, 3, 4]] output_shape [2, 5, 1, 1, 3] : tensor<2x5x3xf32> into tensor<2x5x1x1x3xf32>
    %4 = tensor.empty() : tensor<6x8xf32>
    %transposed_5 = linalg.transpose ins(%arg2 : tensor<8x6xf32>) outs(%4 : tensor<6x8xf32>) permutation = [1, 0]
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x5x3x6xf32> into tensor<10x3x6xf32>
    %5 = tensor.empty() : tensor<2x5x6x8xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_5 : tensor<6x8xf32>) outs(%5 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_6 = tensor.collapse_shape %6 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %7 = tensor.empty() : tensor<10x3x8xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<10x3x8xf32>) -> tensor<10x3x8xf32>
    %9 = linalg.batch_matmul ins(%collapsed, %collapsed_6 : tensor<10x3x6xf32>, tensor<10x6x8xf32>) outs(%8 : tensor<10x3x8xf32>) -> tensor<10x3x8xf32>
    %expanded_7 = tensor.expand_shape %9 [[0, 1], [2], [3, 4]] output_shape [2, 5, 3, 2, 4] : tensor<10x3x8xf32> into tensor<2x5x3x2x4xf32>
    %10 = tensor.empty() : tensor<2x5x2x3x4xf32>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x5x3x2x4xf32>) outs(%10 : tensor<2x5x2x3x4xf32>) permutation = [0, 1, 3, 2, 4]
    %11 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_8 : tensor<2x5x2x3x4xf32>) outs(%10 : tensor<2x5x2x3x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.divf %in, %cst_3 : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x2x3x4xf32>
    %transposed_9 = linalg.transpose ins(%arg3 : tensor<8x6xf32>) outs(%4 : tensor<6x8xf32>) permutation = [1, 0]
    %12 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_9 : tensor<6x8xf32>) outs(%5 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_10 = tensor.collapse_shape %12 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %13 = linalg.batch_matmul ins(%collapsed, %collapsed_10 : tensor<10x3x6xf32>, tensor<10x6x8xf32>) outs(%8 : tensor<10x3x8xf32>) -> tensor<10x3x8xf32>
    %expanded_11 = tensor.expand_shape %13 [[0, 1], [2], [3, 4]] output_shape [2, 5, 3, 2, 4] : tensor<10x3x8xf32> into tensor<2x5x3x2x4xf32>
    %transposed_12 = linalg.transpose ins(%arg4 : tensor<8x6xf32>) outs(%4 : tensor<6x8xf32>) permutation = [1, 0]
    %14 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_12 : tensor<6x8xf32>) outs(%5 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_13 = tensor.collapse_shape %14 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %15 = linalg.batch_matmul ins(%collapsed, %collapsed_13 : tensor<10x3x6xf32>, tensor<10x6x8xf32>) outs(%8 : tensor<10x3x8xf32>) -> tensor<10x3x8xf32>
    %expanded_14 = tensor.expand_shape %15 [[0, 1], [2], [3, 4]] output_shape [2, 5, 3, 2, 4] : tensor<10x3x8xf32> into tensor<2x5x3x2x4xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<2x5x3x2x4xf32>) outs(%10 : tensor<2x5x2x3x4xf32>) permutation = [0, 1, 3, 2, 4]
    %16 = tensor.empty() : tensor<2x5x2x4x3xf32>
    %transposed_16 = linalg.transpose ins(%expanded_11 : tensor<2x5x3x2x4xf32>) outs(%16 : tensor<2x5x2x4x3xf32>) permutation = [0, 1, 3, 4, 2]
    %collapsed_17 = tensor.collapse_shape %11 [[0, 1, 2], [3], [4]] : tensor<2x5x2x3x4xf32> into tensor<20x3x4xf32>
    %collapsed_18 = tensor.collapse_shape %transposed_16 [[0, 1, 2], [3], [4]] : tensor<2x5x2x4x3xf32> into tensor<20x4x3xf32>
    %17 = tensor.empty() : tensor<20x3x3xf32>
    %18 = linalg.fill ins(%cst : f32) outs(%17 : tensor<20x3x3xf32>) -> tensor<20x3x3xf32>
    %19 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<20x3x4xf32>, tensor<20x4x3xf32>) outs(%18 : tensor<20x3x3xf32>) -> tensor<20x3x3xf32>
    %expanded_19 = tensor.expand_shape %19 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 3, 3] : tensor<20x3x3xf32> into tensor<2x5x2x3x3xf32>
    %20 = tensor.empty() : tensor<2x5x2x3x3xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19, %expanded : tensor<2x5x2x3x3xf32>, tensor<2x5x1x1x3xf32>) outs(%20 : tensor<2x5x2x3x3xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %47 = arith.addf %in, %in_33 : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x2x3x3xf32>
    %22 = tensor.empty() : tensor<2x5x2x3xi64>
    %23 = linalg.fill ins(%c0_i64 : i64) outs(%22 : tensor<2x5x2x3xi64>) -> tensor<2x5x2x3xi64>
    %24 = tensor.empty() : tensor<2x5x2x3xf32>
    %25 = linalg.fill ins(%cst_0 : f32) outs(%24 : tensor<2x5x2x3xf32>) -> tensor<2x5x2x3xf32>
    %26:2 = linalg.generic {indexing_maps = [#map3, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%21 : tensor<2x5x2x3x3xf32>) outs(%25, %23 : tensor<2x5x2x3xf32>, tensor<2x5x2x3xi64>) {
    ^bb0(%in: f32, %out: f32, %out_33: i64):
      %47 = linalg.index 4 : index
      %48 = arith.index_cast %47 : index to i64
      %49 = arith.maximumf %in, %out : f32
      %50 = arith.cmpf ogt, %in, %out : f32
      %51 = arith.select %50, %48, %out_33 : i64
      linalg.yield %49, %51 : f32, i64
    } -> (tensor<2x5x2x3xf32>, tensor<2x5x2x3xi64>)
    %expanded_20 = tensor.expand_shape %26#0 [[0], [1], [2], [3, 4]] output_shape [2, 5, 2, 3, 1] : tensor<2x5x2x3xf32> into tensor<2x5x2x3x1xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%21, %expanded_20 : tensor<2x5x2x3x3xf32>, tensor<2x5x2x3x1xf32>) outs(%20 : tensor<2x5x2x3x3xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %47 = arith.subf %in, %in_33 : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x2x3x3xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%27 : tensor<2x5x2x3x3xf32>) outs(%20 : tensor<2x5x2x3x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = math.exp %in : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x2x3x3xf32>
    %29 = tensor.empty() : tensor<2x5x2x3x1xf32>
    %30 = linalg.fill ins(%cst : f32) outs(%29 : tensor<2x5x2x3x1xf32>) -> tensor<2x5x2x3x1xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<2x5x2x3x3xf32>) outs(%30 : tensor<2x5x2x3x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.addf %in, %out : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x2x3x1xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map6, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%28, %31 : tensor<2x5x2x3x3xf32>, tensor<2x5x2x3x1xf32>) outs(%20 : tensor<2x5x2x3x3xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %47 = arith.divf %in, %in_33 : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x2x3x3xf32>
    %collapsed_21 = tensor.collapse_shape %32 [[0, 1, 2], [3], [4]] : tensor<2x5x2x3x3xf32> into tensor<20x3x3xf32>
    %collapsed_22 = tensor.collapse_shape %transposed_15 [[0, 1, 2], [3], [4]] : tensor<2x5x2x3x4xf32> into tensor<20x3x4xf32>
    %33 = tensor.empty() : tensor<20x3x4xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<20x3x4xf32>) -> tensor<20x3x4xf32>
    %35 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<20x3x3xf32>, tensor<20x3x4xf32>) outs(%34 : tensor<20x3x4xf32>) -> tensor<20x3x4xf32>
    %expanded_23 = tensor.expand_shape %35 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 3, 4] : tensor<20x3x4xf32> into tensor<2x5x2x3x4xf32>
    %36 = tensor.empty() : tensor<2x5x3x2x4xf32>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<2x5x2x3x4xf32>) outs(%36 : tensor<2x5x3x2x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_25 = linalg.transpose ins(%arg5 : tensor<8x6xf32>) outs(%4 : tensor<6x8xf32>) permutation = [1, 0]
    %37 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_25 : tensor<6x8xf32>) outs(%5 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_26 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %38 = linalg.batch_matmul ins(%collapsed, %collapsed_26 : tensor<10x3x6xf32>, tensor<10x6x8xf32>) outs(%8 : tensor<10x3x8xf32>) -> tensor<10x3x8xf32>
    %expanded_27 = tensor.expand_shape %38 [[0, 1], [2], [3]] output_shape [2, 5, 3, 8] : tensor<10x3x8xf32> into tensor<2x5x3x8xf32>
    %39 = tensor.empty() : tensor<2x5x3x8xf32>
    %40 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_27 : tensor<2x5x3x8xf32>) outs(%39 : tensor<2x5x3x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %47 = arith.negf %in : f32
      %48 = math.exp %47 : f32
      %49 = arith.addf %48, %cst_1 : f32
      %50 = arith.divf %cst_1, %49 : f32
      linalg.yield %50 : f32
    } -> tensor<2x5x3x8xf32>
    %expanded_28 = tensor.expand_shape %40 [[0], [1], [2], [3, 4]] output_shape [2, 5, 3, 2, 4] : tensor<2x5x3x8xf32> into tensor<2x5x3x2x4xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_24, %expanded_28 : tensor<2x5x3x2x4xf32>, tensor<2x5x3x2x4xf32>) outs(%36 : tensor<2x5x3x2x4xf32>) {
    ^bb0(%in: f32, %in_33: f32, %out: f32):
      %47 = arith.mulf %in, %in_33 : f32
      linalg.yield %47 : f32
    } -> tensor<2x5x3x2x4xf32>
    %42 = tensor.empty() : tensor<8x6xf32>
    %transposed_29 = linalg.transpose ins(%arg6 : tensor<6x8xf32>) outs(%42 : tensor<8x6xf32>) permutation = [1, 0]
    %collapsed_30 = tensor.collapse_shape %41 [[0, 1, 2], [3, 4]] : tensor<2x5x3x2x4xf32> into tensor<30x8xf32>
    %43 = tensor.empty() : tensor<30x6xf32>
    %44 = linalg.fill ins(%cst : f32) outs(%43 : tensor<30x6xf32>) -> tensor<30x6xf32>
    %45 = linalg.matmul ins(%collapsed_30, %transposed_29 : tensor<30x8xf32>, tensor<8x6xf32>) outs(%44 : tensor<30x6xf32>) -> tensor<30x6xf32>
    %expanded_31 = tensor.expand_shape %45 [[0, 1, 2], [3]] output_shape [2, 5, 3, 6] : tensor<30x6xf32> into tensor<2x5x3x6xf32>
    %46 = tensor.empty() : tensor<2x3x5x6xf32>
    %transposed_32 = linalg.transpose ins(%expanded_31 : tensor<2x5x3x6xf32>) outs(%46 : tensor<2x3x5x6xf32>) permutation = [0, 2, 1, 3]
    return %transposed_32 : tensor<2x3x5x6xf32>
  }
}
