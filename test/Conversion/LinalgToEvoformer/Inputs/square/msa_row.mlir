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
  func.func @msa_row(%arg0: tensor<4x4x4x4xf32>, %arg1: tensor<4x4x4x4xf32>, %arg2: tensor<4x4x4xf32>, %arg3: tensor<16x4xf32>, %arg4: tensor<16x4xf32>, %arg5: tensor<16x4xf32>, %arg6: tensor<16x4xf32>, %arg7: tensor<4x16xf32>) -> tensor<4x4x4x4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 1.000000e+09 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x4x4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg2 : tensor<4x4x4xf32>) outs(%0 : tensor<4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.subf %in, %cst_1 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<4x4x4xf32>) outs(%0 : tensor<4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.mulf %in, %cst_2 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4xf32>
    %expanded = tensor.expand_shape %2 [[0], [1], [2, 3, 4]] output_shape [4, 4, 1, 1, 4] : tensor<4x4x4xf32> into tensor<4x4x1x1x4xf32>
    %expanded_4 = tensor.expand_shape %arg1 [[0], [1, 2], [3], [4]] output_shape [4, 1, 4, 4, 4] : tensor<4x4x4x4xf32> into tensor<4x1x4x4x4xf32>
    %3 = tensor.empty() : tensor<4x16xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<16x4xf32>) outs(%3 : tensor<4x16xf32>) permutation = [1, 0]
    %collapsed = tensor.collapse_shape %arg0 [[0, 1, 2], [3]] : tensor<4x4x4x4xf32> into tensor<64x4xf32>
    %4 = tensor.empty() : tensor<64x16xf32>
    %5 = linalg.fill ins(%cst : f32) outs(%4 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %6 = linalg.matmul ins(%collapsed, %transposed : tensor<64x4xf32>, tensor<4x16xf32>) outs(%5 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_5 = tensor.expand_shape %6 [[0, 1, 2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<64x16xf32> into tensor<4x4x4x4x4xf32>
    %7 = tensor.empty() : tensor<4x4x4x4x4xf32>
    %transposed_6 = linalg.transpose ins(%expanded_5 : tensor<4x4x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 2, 4]
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_6 : tensor<4x4x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.divf %in, %cst_3 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x4xf32>
    %transposed_7 = linalg.transpose ins(%arg4 : tensor<16x4xf32>) outs(%3 : tensor<4x16xf32>) permutation = [1, 0]
    %9 = linalg.matmul ins(%collapsed, %transposed_7 : tensor<64x4xf32>, tensor<4x16xf32>) outs(%5 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_8 = tensor.expand_shape %9 [[0, 1, 2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<64x16xf32> into tensor<4x4x4x4x4xf32>
    %transposed_9 = linalg.transpose ins(%arg5 : tensor<16x4xf32>) outs(%3 : tensor<4x16xf32>) permutation = [1, 0]
    %10 = linalg.matmul ins(%collapsed, %transposed_9 : tensor<64x4xf32>, tensor<4x16xf32>) outs(%5 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_10 = tensor.expand_shape %10 [[0, 1, 2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<64x16xf32> into tensor<4x4x4x4x4xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<4x4x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_12 = linalg.transpose ins(%expanded_8 : tensor<4x4x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 4, 2]
    %collapsed_13 = tensor.collapse_shape %8 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %collapsed_14 = tensor.collapse_shape %transposed_12 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %11 = tensor.empty() : tensor<64x4x4xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %13 = linalg.batch_matmul ins(%collapsed_13, %collapsed_14 : tensor<64x4x4xf32>, tensor<64x4x4xf32>) outs(%12 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %expanded_15 = tensor.expand_shape %13 [[0, 1, 2], [3], [4]] output_shape [4, 4, 4, 4, 4] : tensor<64x4x4xf32> into tensor<4x4x4x4x4xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_15, %expanded : tensor<4x4x4x4x4xf32>, tensor<4x4x1x1x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %36 = arith.addf %in, %in_27 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x4xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%14, %expanded_4 : tensor<4x4x4x4x4xf32>, tensor<4x1x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %36 = arith.addf %in, %in_27 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x4xf32>
    %16 = tensor.empty() : tensor<4x4x4x4xi64>
    %17 = linalg.fill ins(%c0_i64 : i64) outs(%16 : tensor<4x4x4x4xi64>) -> tensor<4x4x4x4xi64>
    %18 = tensor.empty() : tensor<4x4x4x4xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32>
    %20:2 = linalg.generic {indexing_maps = [#map1, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%15 : tensor<4x4x4x4x4xf32>) outs(%19, %17 : tensor<4x4x4x4xf32>, tensor<4x4x4x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_27: i64):
      %36 = linalg.index 4 : index
      %37 = arith.index_cast %36 : index to i64
      %38 = arith.maximumf %in, %out : f32
      %39 = arith.cmpf ogt, %in, %out : f32
      %40 = arith.select %39, %37, %out_27 : i64
      linalg.yield %38, %40 : f32, i64
    } -> (tensor<4x4x4x4xf32>, tensor<4x4x4x4xi64>)
    %expanded_16 = tensor.expand_shape %20#0 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<4x4x4x4xf32> into tensor<4x4x4x4x1xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%15, %expanded_16 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x1xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %36 = arith.subf %in, %in_27 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x4xf32>
    %22 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%21 : tensor<4x4x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.exp %in : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x4xf32>
    %23 = tensor.empty() : tensor<4x4x4x4x1xf32>
    %24 = linalg.fill ins(%cst : f32) outs(%23 : tensor<4x4x4x4x1xf32>) -> tensor<4x4x4x4x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%22 : tensor<4x4x4x4x4xf32>) outs(%24 : tensor<4x4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %in, %out : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x1xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%22, %25 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x1xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %36 = arith.divf %in, %in_27 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x4xf32>
    %collapsed_17 = tensor.collapse_shape %26 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %collapsed_18 = tensor.collapse_shape %transposed_11 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %27 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<64x4x4xf32>, tensor<64x4x4xf32>) outs(%12 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %expanded_19 = tensor.expand_shape %27 [[0, 1, 2], [3], [4]] output_shape [4, 4, 4, 4, 4] : tensor<64x4x4xf32> into tensor<4x4x4x4x4xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<4x4x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_21 = linalg.transpose ins(%arg6 : tensor<16x4xf32>) outs(%3 : tensor<4x16xf32>) permutation = [1, 0]
    %28 = linalg.matmul ins(%collapsed, %transposed_21 : tensor<64x4xf32>, tensor<4x16xf32>) outs(%5 : tensor<64x16xf32>) -> tensor<64x16xf32>
    %expanded_22 = tensor.expand_shape %28 [[0, 1, 2], [3]] output_shape [4, 4, 4, 16] : tensor<64x16xf32> into tensor<4x4x4x16xf32>
    %29 = tensor.empty() : tensor<4x4x4x16xf32>
    %30 = linalg.generic {indexing_maps = [#map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22 : tensor<4x4x4x16xf32>) outs(%29 : tensor<4x4x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.negf %in : f32
      %37 = math.exp %36 : f32
      %38 = arith.addf %37, %cst_1 : f32
      %39 = arith.divf %cst_1, %38 : f32
      linalg.yield %39 : f32
    } -> tensor<4x4x4x16xf32>
    %expanded_23 = tensor.expand_shape %30 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<4x4x4x16xf32> into tensor<4x4x4x4x4xf32>
    %31 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_20, %expanded_23 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x4xf32>) outs(%7 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_27: f32, %out: f32):
      %36 = arith.mulf %in, %in_27 : f32
      linalg.yield %36 : f32
    } -> tensor<4x4x4x4x4xf32>
    %32 = tensor.empty() : tensor<16x4xf32>
    %transposed_24 = linalg.transpose ins(%arg7 : tensor<4x16xf32>) outs(%32 : tensor<16x4xf32>) permutation = [1, 0]
    %collapsed_25 = tensor.collapse_shape %31 [[0, 1, 2], [3, 4]] : tensor<4x4x4x4x4xf32> into tensor<64x16xf32>
    %33 = tensor.empty() : tensor<64x4xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<64x4xf32>) -> tensor<64x4xf32>
    %35 = linalg.matmul ins(%collapsed_25, %transposed_24 : tensor<64x16xf32>, tensor<16x4xf32>) outs(%34 : tensor<64x4xf32>) -> tensor<64x4xf32>
    %expanded_26 = tensor.expand_shape %35 [[0, 1, 2], [3]] output_shape [4, 4, 4, 4] : tensor<64x4xf32> into tensor<4x4x4x4xf32>
    return %expanded_26 : tensor<4x4x4x4xf32>
  }
}
