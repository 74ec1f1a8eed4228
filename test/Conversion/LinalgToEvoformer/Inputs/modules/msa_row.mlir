// OpenFold's MSA row attention with a pair bias.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg2.

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, 0, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @msa_row(%arg0: tensor<2x3x5x6xf32>, %arg1: tensor<2x2x5x5xf32>, %arg2: tensor<2x3x5xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<8x6xf32>, %arg5: tensor<8x6xf32>, %arg6: tensor<8x6xf32>, %arg7: tensor<6x8xf32>) -> tensor<2x3x5x6xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 1.000000e+09 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x3x5xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x3x5xf32>) outs(%0 : tensor<2x3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.subf %in, %cst_1 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x5xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<2x3x5xf32>) outs(%0 : tensor<2x3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.mulf %in, %cst_2 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x5xf32>
    %expanded = tensor.expand_shape %2 [[0], [1], [2, 3, 4]] output_shape [2, 3, 1, 1, 5] : tensor<2x3x5xf32> into tensor<2x3x1x1x5xf32>
    %expanded_4 = tensor.expand_shape %arg1 [[0], [1, 2], [3], [4]] output_shape [2, 1, 2, 5, 5] : tensor<2x2x5x5xf32> into tensor<2x1x2x5x5xf32>
    %3 = tensor.empty() : tensor<6x8xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<8x6xf32>) outs(%3 : tensor<6x8xf32>) permutation = [1, 0]
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2], [3]] : tensor<2x3x5x6xf32> into tensor<30x6xf32>
    %4 = tensor.empty() : tensor<30x8xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<30x8xf32>) -> tensor<30x8xf32>
    %6 = linalg.matmul ins(%collapsed, %transposed : tensor<30x6xf32>, tensor<6x8xf32>) outs(%5 : tensor<30x8xf32>) -> tensor<30x8xf32>
    %expanded_5 = tensor.expand_shape %6 [[0, 1, 2], [3, 4]] output_shape [2, 3, 5, 2, 4] : tensor<30x8xf32> into tensor<2x3x5x2x4xf32>
    %7 = tensor.empty() : tensor<2x3x2x5x4xf32>
    %transposed_6 = linalg.transpose ins(%expanded_5 : tensor<2x3x5x2x4xf32>) outs(%7 : tensor<2x3x2x5x4xf32>) permutation = [0, 1, 3, 2, 4]
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_6 : tensor<2x3x2x5x4xf32>) outs(%7 : tensor<2x3x2x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.divf %in, %cst_3 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x2x5x4xf32>
    %transposed_7 = linalg.transpose ins(%arg4 : tensor<8x6xf32>) outs(%3 : tensor<6x8xf32>) permutation = [1, 0]
    %9 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<30x6xf32>, tensor<6x8xf32>) outs(%5 : tensor<30x8xf32>) -> tensor<30x8xf32>
    %expanded_8 = tensor.expand_shape %9 [[0, 1, 2], [3, 4]] output_shape [2, 3, 5, 2, 4] : tensor<30x8xf32> into tensor<2x3x5x2x4xf32>
    %transposed_9 = linalg.transpose ins(%arg5 : tensor<8x6xf32>) outs(%3 : tensor<6x8xf32>) permutation = [1, 0]
    %10 = linalg.matmul ins(%collapsed, %transposed_9 : tensor<30x6xf32>, tensor<6x8xf32>) outs(%5 : tensor<30x8xf32>) -> tensor<30x8xf32>
    %expanded_10 = tensor.expand_shape %10 [[0, 1, 2], [3, 4]] output_shape [2, 3, 5, 2, 4] : tensor<30x8xf32> into tensor<2x3x5x2x4xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x3x5x2x4xf32>) outs(%7 : tensor<2x3x2x5x4xf32>) permutation = [0, 1, 3, 2, 4]
    %11 = tensor.empty() : tensor<2x3x2x4x5xf32>
    %transposed_12 = linalg.transpose ins(%expanded_8 : tensor<2x3x5x2x4xf32>) outs(%11 : tensor<2x3x2x4x5xf32>) permutation = [0, 1, 3, 4, 2]
    %collapsed_13 = tensor.collapse_shape %8 [[0, 1, 2], [3], [4]] : tensor<2x3x2x5x4xf32> into tensor<12x5x4xf32>
    %collapsed_14 = tensor.collapse_shape %transposed_12 [[0, 1, 2], [3], [4]] : tensor<2x3x2x4x5xf32> into tensor<12x4x5xf32>
    %12 = tensor.empty() : tensor<12x5x5xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<12x5x5xf32>) -> tensor<12x5x5xf32>
    %14 = linalg.batch_matmul ins(%collapsed_13, %collapsed_14 : tensor<12x5x4xf32>, tensor<12x4x5xf32>) outs(%13 : tensor<12x5x5xf32>) -> tensor<12x5x5xf32>
    %expanded_15 = tensor.expand_shape %14 [[0, 1, 2], [3], [4]] output_shape [2, 3, 2, 5, 5] : tensor<12x5x5xf32> into tensor<2x3x2x5x5xf32>
    %15 = tensor.empty() : tensor<2x3x2x5x5xf32>
    %16 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15, %expanded : tensor<2x3x2x5x5xf32>, tensor<2x3x1x1x5xf32>) outs(%15 : tensor<2x3x2x5x5xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %41 = arith.addf %in, %in_27 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x2x5x5xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%16, %expanded_4 : tensor<2x3x2x5x5xf32>, tensor<2x1x2x5x5xf32>) outs(%15 : tensor<2x3x2x5x5xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %41 = arith.addf %in, %in_27 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x2x5x5xf32>
    %18 = tensor.empty() : tensor<2x3x2x5xi64>
    %19 = linalg.fill ins(%c0_i64 : i64) outs(%18 : tensor<2x3x2x5xi64>) -> tensor<2x3x2x5xi64>
    %20 = tensor.empty() : tensor<2x3x2x5xf32>
    %21 = linalg.fill ins(%cst_0 : f32) outs(%20 : tensor<2x3x2x5xf32>) -> tensor<2x3x2x5xf32>
    %22:2 = linalg.generic {indexing_maps = [#map1, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%17 : tensor<2x3x2x5x5xf32>) outs(%21, %19 : tensor<2x3x2x5xf32>, tensor<2x3x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_27: i64):
      %41 = linalg.index 4 : index
      %42 = arith.index_cast %41 : index to i64
      %43 = arith.maximumf %in, %out : f32
      %44 = arith.cmpf ogt, %in, %out : f32
      %45 = arith.select %44, %42, %out_27 : i64
      linalg.yield %43, %45 : f32, i64
    } -> (tensor<2x3x2x5xf32>, tensor<2x3x2x5xi64>)
    %expanded_16 = tensor.expand_shape %22#0 [[0], [1], [2], [3, 4]] output_shape [2, 3, 2, 5, 1] : tensor<2x3x2x5xf32> into tensor<2x3x2x5x1xf32>
    %23 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%17, %expanded_16 : tensor<2x3x2x5x5xf32>, tensor<2x3x2x5x1xf32>) outs(%15 : tensor<2x3x2x5x5xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %41 = arith.subf %in, %in_27 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x2x5x5xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%23 : tensor<2x3x2x5x5xf32>) outs(%15 : tensor<2x3x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = math.exp %in : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x2x5x5xf32>
    %25 = tensor.empty() : tensor<2x3x2x5x1xf32>
    %26 = linalg.fill ins(%cst : f32) outs(%25 : tensor<2x3x2x5x1xf32>) -> tensor<2x3x2x5x1xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%24 : tensor<2x3x2x5x5xf32>) outs(%26 : tensor<2x3x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %in, %out : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x2x5x1xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%24, %27 : tensor<2x3x2x5x5xf32>, tensor<2x3x2x5x1xf32>) outs(%15 : tensor<2x3x2x5x5xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %41 = arith.divf %in, %in_27 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x2x5x5xf32>
    %collapsed_17 = tensor.collapse_shape %28 [[0, 1, 2], [3], [4]] : tensor<2x3x2x5x5xf32> into tensor<12x5x5xf32>
    %collapsed_18 = tensor.collapse_shape %transposed_11 [[0, 1, 2], [3], [4]] : tensor<2x3x2x5x4xf32> into tensor<12x5x4xf32>
    %29 = tensor.empty() : tensor<12x5x4xf32>
    %30 = linalg.fill ins(%cst : f32) outs(%29 : tensor<12x5x4xf32>) -> tensor<12x5x4xf32>
    %31 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<12x5x5xf32>, tensor<12x5x4xf32>) outs(%30 : tensor<12x5x4xf32>) -> tensor<12x5x4xf32>
    %expanded_19 = tensor.expand_shape %31 [[0, 1, 2], [3], [4]] output_shape [2, 3, 2, 5, 4] : tensor<12x5x4xf32> into tensor<2x3x2x5x4xf32>
    %32 = tensor.empty() : tensor<2x3x5x2x4xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<2x3x2x5x4xf32>) outs(%32 : tensor<2x3x5x2x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_21 = linalg.transpose ins(%arg6 : tensor<8x6xf32>) outs(%3 : tensor<6x8xf32>) permutation = [1, 0]
    %33 = linalg.matmul ins(%collapsed, %transposed_21 : tensor<30x6xf32>, tensor<6x8xf32>) outs(%5 : tensor<30x8xf32>) -> tensor<30x8xf32>
    %expanded_22 = tensor.expand_shape %33 [[0, 1, 2], [3]] output_shape [2, 3, 5, 8] : tensor<30x8xf32> into tensor<2x3x5x8xf32>
    %34 = tensor.empty() : tensor<2x3x5x8xf32>
    %35 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22 : tensor<2x3x5x8xf32>) outs(%34 : tensor<2x3x5x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.negf %in : f32
      %42 = math.exp %41 : f32
      %43 = arith.addf %42, %cst_1 : f32
      %44 = arith.divf %cst_1, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<2x3x5x8xf32>
    %expanded_23 = tensor.expand_shape %35 [[0], [1], [2], [3, 4]] output_shape [2, 3, 5, 2, 4] : tensor<2x3x5x8xf32> into tensor<2x3x5x2x4xf32>
    %36 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_20, %expanded_23 : tensor<2x3x5x2x4xf32>, tensor<2x3x5x2x4xf32>) outs(%32 : tensor<2x3x5x2x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %41 = arith.mulf %in, %in_27 : f32
      linalg.yield %41 : f32
    } -> tensor<2x3x5x2x4xf32>
    %37 = tensor.empty() : tensor<8x6xf32>
    %transposed_24 = linalg.transpose ins(%arg7 : tensor<6x8xf32>) outs(%37 : tensor<8x6xf32>) permutation = [1, 0]
    %collapsed_25 = tensor.collapse_shape %36 [[0, 1, 2], [3, 4]] : tensor<2x3x5x2x4xf32> into tensor<30x8xf32>
    %38 = tensor.empty() : tensor<30x6xf32>
    %39 = linalg.fill ins(%cst : f32) outs(%38 : tensor<30x6xf32>) -> tensor<30x6xf32>
    %40 = linalg.matmul ins(%collapsed_25, %transposed_24 : tensor<30x8xf32>, tensor<8x6xf32>) outs(%39 : tensor<30x6xf32>) -> tensor<30x6xf32>
    %expanded_26 = tensor.expand_shape %40 [[0, 1, 2], [3]] output_shape [2, 3, 5, 6] : tensor<30x6xf32> into tensor<2x3x5x6xf32>
    return %expanded_26 : tensor<2x3x5x6xf32>
  }
}
