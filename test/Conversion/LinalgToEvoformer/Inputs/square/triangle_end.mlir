// ... around the ending node: rows and columns change places.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.
// Masks of 0 and 1: %arg1.

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, 0, d4)>
#map5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, 0, d2, d3, d4)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
module {
  func.func @triangle_end(%arg0: tensor<4x4x4x4xf32>, %arg1: tensor<4x4x4xf32>, %arg2: tensor<4x4xf32>, %arg3: tensor<16x4xf32>, %arg4: tensor<16x4xf32>, %arg5: tensor<16x4xf32>, %arg6: tensor<16x4xf32>, %arg7: tensor<4x16xf32>) -> tensor<4x4x4x4xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 1.000000e+09 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<4x4x4x4xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) permutation = [0, 2, 1, 3]
    %1 = tensor.empty() : tensor<4x4x4xf32>
    %transposed_4 = linalg.transpose ins(%arg1 : tensor<4x4x4xf32>) outs(%1 : tensor<4x4x4xf32>) permutation = [0, 2, 1]
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_4 : tensor<4x4x4xf32>) outs(%1 : tensor<4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.subf %in, %cst_1 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<4x4x4xf32>) outs(%1 : tensor<4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.mulf %in, %cst_2 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4xf32>
    %expanded = tensor.expand_shape %3 [[0], [1], [2, 3, 4]] output_shape [4, 4, 1, 1, 4] : tensor<4x4x4xf32> into tensor<4x4x1x1x4xf32>
    %4 = tensor.empty() : tensor<4x4xf32>
    %transposed_5 = linalg.transpose ins(%arg2 : tensor<4x4xf32>) outs(%4 : tensor<4x4xf32>) permutation = [1, 0]
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_5 : tensor<4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x4x4x4xf32>
    %collapsed_6 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %6 = tensor.empty() : tensor<16x4x4xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %8 = linalg.batch_matmul ins(%collapsed, %collapsed_6 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%7 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_7 = tensor.expand_shape %8 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) permutation = [0, 3, 1, 2]
    %expanded_9 = tensor.expand_shape %transposed_8 [[0], [1, 2], [3], [4]] output_shape [4, 1, 4, 4, 4] : tensor<4x4x4x4xf32> into tensor<4x1x4x4x4xf32>
    %9 = tensor.empty() : tensor<4x16xf32>
    %transposed_10 = linalg.transpose ins(%arg3 : tensor<16x4xf32>) outs(%9 : tensor<4x16xf32>) permutation = [1, 0]
    %10 = tensor.empty() : tensor<4x4x4x16xf32>
    %11 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_10 : tensor<4x16xf32>) outs(%10 : tensor<4x4x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x4x4x16xf32>
    %collapsed_11 = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<4x4x4x16xf32> into tensor<16x4x16xf32>
    %12 = tensor.empty() : tensor<16x4x16xf32>
    %13 = linalg.fill ins(%cst : f32) outs(%12 : tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %14 = linalg.batch_matmul ins(%collapsed, %collapsed_11 : tensor<16x4x4xf32>, tensor<16x4x16xf32>) outs(%13 : tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %expanded_12 = tensor.expand_shape %14 [[0, 1], [2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<16x4x16xf32> into tensor<4x4x4x4x4xf32>
    %15 = tensor.empty() : tensor<4x4x4x4x4xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<4x4x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 2, 4]
    %16 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_13 : tensor<4x4x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.divf %in, %cst_3 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x4xf32>
    %transposed_14 = linalg.transpose ins(%arg4 : tensor<16x4xf32>) outs(%9 : tensor<4x16xf32>) permutation = [1, 0]
    %17 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_14 : tensor<4x16xf32>) outs(%10 : tensor<4x4x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x4x4x16xf32>
    %collapsed_15 = tensor.collapse_shape %17 [[0, 1], [2], [3]] : tensor<4x4x4x16xf32> into tensor<16x4x16xf32>
    %18 = linalg.batch_matmul ins(%collapsed, %collapsed_15 : tensor<16x4x4xf32>, tensor<16x4x16xf32>) outs(%13 : tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %expanded_16 = tensor.expand_shape %18 [[0, 1], [2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<16x4x16xf32> into tensor<4x4x4x4x4xf32>
    %transposed_17 = linalg.transpose ins(%arg5 : tensor<16x4xf32>) outs(%9 : tensor<4x16xf32>) permutation = [1, 0]
    %19 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_17 : tensor<4x16xf32>) outs(%10 : tensor<4x4x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x4x4x16xf32>
    %collapsed_18 = tensor.collapse_shape %19 [[0, 1], [2], [3]] : tensor<4x4x4x16xf32> into tensor<16x4x16xf32>
    %20 = linalg.batch_matmul ins(%collapsed, %collapsed_18 : tensor<16x4x4xf32>, tensor<16x4x16xf32>) outs(%13 : tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %expanded_19 = tensor.expand_shape %20 [[0, 1], [2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<16x4x16xf32> into tensor<4x4x4x4x4xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<4x4x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_21 = linalg.transpose ins(%expanded_16 : tensor<4x4x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 4, 2]
    %collapsed_22 = tensor.collapse_shape %16 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %collapsed_23 = tensor.collapse_shape %transposed_21 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %21 = tensor.empty() : tensor<64x4x4xf32>
    %22 = linalg.fill ins(%cst : f32) outs(%21 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %23 = linalg.batch_matmul ins(%collapsed_22, %collapsed_23 : tensor<64x4x4xf32>, tensor<64x4x4xf32>) outs(%22 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %expanded_24 = tensor.expand_shape %23 [[0, 1, 2], [3], [4]] output_shape [4, 4, 4, 4, 4] : tensor<64x4x4xf32> into tensor<4x4x4x4x4xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24, %expanded : tensor<4x4x4x4x4xf32>, tensor<4x4x1x1x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %45 = arith.addf %in, %in_38 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x4xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%24, %expanded_9 : tensor<4x4x4x4x4xf32>, tensor<4x1x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %45 = arith.addf %in, %in_38 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x4xf32>
    %26 = tensor.empty() : tensor<4x4x4x4xi64>
    %27 = linalg.fill ins(%c0_i64 : i64) outs(%26 : tensor<4x4x4x4xi64>) -> tensor<4x4x4x4xi64>
    %28 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32>
    %29:2 = linalg.generic {indexing_maps = [#map3, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%25 : tensor<4x4x4x4x4xf32>) outs(%28, %27 : tensor<4x4x4x4xf32>, tensor<4x4x4x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_38: i64):
      %45 = linalg.index 4 : index
      %46 = arith.index_cast %45 : index to i64
      %47 = arith.maximumf %in, %out : f32
      %48 = arith.cmpf ogt, %in, %out : f32
      %49 = arith.select %48, %46, %out_38 : i64
      linalg.yield %47, %49 : f32, i64
    } -> (tensor<4x4x4x4xf32>, tensor<4x4x4x4xi64>)
    %expanded_25 = tensor.expand_shape %29#0 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 1] : tensor<4x4x4x4xf32> into tensor<4x4x4x4x1xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%25, %expanded_25 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x1xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %45 = arith.subf %in, %in_38 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x4xf32>
    %31 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<4x4x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = math.exp %in : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x4xf32>
    %32 = tensor.empty() : tensor<4x4x4x4x1xf32>
    %33 = linalg.fill ins(%cst : f32) outs(%32 : tensor<4x4x4x4x1xf32>) -> tensor<4x4x4x4x1xf32>
    %34 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%31 : tensor<4x4x4x4x4xf32>) outs(%33 : tensor<4x4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.addf %in, %out : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x1xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%31, %34 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x1xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %45 = arith.divf %in, %in_38 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x4xf32>
    %collapsed_26 = tensor.collapse_shape %35 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %collapsed_27 = tensor.collapse_shape %transposed_20 [[0, 1, 2], [3], [4]] : tensor<4x4x4x4x4xf32> into tensor<64x4x4xf32>
    %36 = linalg.batch_matmul ins(%collapsed_26, %collapsed_27 : tensor<64x4x4xf32>, tensor<64x4x4xf32>) outs(%22 : tensor<64x4x4xf32>) -> tensor<64x4x4xf32>
    %expanded_28 = tensor.expand_shape %36 [[0, 1, 2], [3], [4]] output_shape [4, 4, 4, 4, 4] : tensor<64x4x4xf32> into tensor<4x4x4x4x4xf32>
    %transposed_29 = linalg.transpose ins(%expanded_28 : tensor<4x4x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_30 = linalg.transpose ins(%arg6 : tensor<16x4xf32>) outs(%9 : tensor<4x16xf32>) permutation = [1, 0]
    %37 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_30 : tensor<4x16xf32>) outs(%10 : tensor<4x4x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x4x4x16xf32>
    %collapsed_31 = tensor.collapse_shape %37 [[0, 1], [2], [3]] : tensor<4x4x4x16xf32> into tensor<16x4x16xf32>
    %38 = linalg.batch_matmul ins(%collapsed, %collapsed_31 : tensor<16x4x4xf32>, tensor<16x4x16xf32>) outs(%13 : tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %expanded_32 = tensor.expand_shape %38 [[0, 1], [2], [3]] output_shape [4, 4, 4, 16] : tensor<16x4x16xf32> into tensor<4x4x4x16xf32>
    %39 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_32 : tensor<4x4x4x16xf32>) outs(%10 : tensor<4x4x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %45 = arith.negf %in : f32
      %46 = math.exp %45 : f32
      %47 = arith.addf %46, %cst_1 : f32
      %48 = arith.divf %cst_1, %47 : f32
      linalg.yield %48 : f32
    } -> tensor<4x4x4x16xf32>
    %expanded_33 = tensor.expand_shape %39 [[0], [1], [2], [3, 4]] output_shape [4, 4, 4, 4, 4] : tensor<4x4x4x16xf32> into tensor<4x4x4x4x4xf32>
    %40 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_29, %expanded_33 : tensor<4x4x4x4x4xf32>, tensor<4x4x4x4x4xf32>) outs(%15 : tensor<4x4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %45 = arith.mulf %in, %in_38 : f32
      linalg.yield %45 : f32
    } -> tensor<4x4x4x4x4xf32>
    %41 = tensor.empty() : tensor<16x4xf32>
    %transposed_34 = linalg.transpose ins(%arg7 : tensor<4x16xf32>) outs(%41 : tensor<16x4xf32>) permutation = [1, 0]
    %collapsed_35 = tensor.collapse_shape %40 [[0, 1, 2], [3, 4]] : tensor<4x4x4x4x4xf32> into tensor<64x16xf32>
    %42 = tensor.empty() : tensor<64x4xf32>
    %43 = linalg.fill ins(%cst : f32) outs(%42 : tensor<64x4xf32>) -> tensor<64x4xf32>
    %44 = linalg.matmul ins(%collapsed_35, %transposed_34 : tensor<64x16xf32>, tensor<16x4xf32>) outs(%43 : tensor<64x4xf32>) -> tensor<64x4xf32>
    %expanded_36 = tensor.expand_shape %44 [[0, 1, 2], [3]] output_shape [4, 4, 4, 4] : tensor<64x4xf32> into tensor<4x4x4x4xf32>
    %transposed_37 = linalg.transpose ins(%expanded_36 : tensor<4x4x4x4xf32>) outs(%0 : tensor<4x4x4x4xf32>) permutation = [0, 2, 1, 3]
    return %transposed_37 : tensor<4x4x4x4xf32>
  }
}
