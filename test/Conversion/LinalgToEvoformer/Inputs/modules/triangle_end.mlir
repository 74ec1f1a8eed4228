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
  func.func @triangle_end(%arg0: tensor<2x5x5x6xf32>, %arg1: tensor<2x5x5xf32>, %arg2: tensor<2x6xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<8x6xf32>, %arg5: tensor<8x6xf32>, %arg6: tensor<8x6xf32>, %arg7: tensor<6x8xf32>) -> tensor<2x5x5x6xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 1.000000e+00 : f32
    %cst_2 = arith.constant 1.000000e+09 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x5x5x6xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<2x5x5x6xf32>) outs(%0 : tensor<2x5x5x6xf32>) permutation = [0, 2, 1, 3]
    %1 = tensor.empty() : tensor<2x5x5xf32>
    %transposed_4 = linalg.transpose ins(%arg1 : tensor<2x5x5xf32>) outs(%1 : tensor<2x5x5xf32>) permutation = [0, 2, 1]
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_4 : tensor<2x5x5xf32>) outs(%1 : tensor<2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %54 = arith.subf %in, %cst_1 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x5xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<2x5x5xf32>) outs(%1 : tensor<2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %54 = arith.mulf %in, %cst_2 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x5xf32>
    %expanded = tensor.expand_shape %3 [[0], [1], [2, 3, 4]] output_shape [2, 5, 1, 1, 5] : tensor<2x5x5xf32> into tensor<2x5x1x1x5xf32>
    %4 = tensor.empty() : tensor<6x2xf32>
    %transposed_5 = linalg.transpose ins(%arg2 : tensor<2x6xf32>) outs(%4 : tensor<6x2xf32>) permutation = [1, 0]
    %collapsed = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<2x5x5x6xf32> into tensor<10x5x6xf32>
    %5 = tensor.empty() : tensor<2x5x6x2xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_5 : tensor<6x2xf32>) outs(%5 : tensor<2x5x6x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x2xf32>
    %collapsed_6 = tensor.collapse_shape %6 [[0, 1], [2], [3]] : tensor<2x5x6x2xf32> into tensor<10x6x2xf32>
    %7 = tensor.empty() : tensor<10x5x2xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<10x5x2xf32>) -> tensor<10x5x2xf32>
    %9 = linalg.batch_matmul ins(%collapsed, %collapsed_6 : tensor<10x5x6xf32>, tensor<10x6x2xf32>) outs(%8 : tensor<10x5x2xf32>) -> tensor<10x5x2xf32>
    %expanded_7 = tensor.expand_shape %9 [[0, 1], [2], [3]] output_shape [2, 5, 5, 2] : tensor<10x5x2xf32> into tensor<2x5x5x2xf32>
    %10 = tensor.empty() : tensor<2x2x5x5xf32>
    %transposed_8 = linalg.transpose ins(%expanded_7 : tensor<2x5x5x2xf32>) outs(%10 : tensor<2x2x5x5xf32>) permutation = [0, 3, 1, 2]
    %expanded_9 = tensor.expand_shape %transposed_8 [[0], [1, 2], [3], [4]] output_shape [2, 1, 2, 5, 5] : tensor<2x2x5x5xf32> into tensor<2x1x2x5x5xf32>
    %11 = tensor.empty() : tensor<6x8xf32>
    %transposed_10 = linalg.transpose ins(%arg3 : tensor<8x6xf32>) outs(%11 : tensor<6x8xf32>) permutation = [1, 0]
    %12 = tensor.empty() : tensor<2x5x6x8xf32>
    %13 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_10 : tensor<6x8xf32>) outs(%12 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_11 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %14 = tensor.empty() : tensor<10x5x8xf32>
    %15 = linalg.fill ins(%cst : f32) outs(%14 : tensor<10x5x8xf32>) -> tensor<10x5x8xf32>
    %16 = linalg.batch_matmul ins(%collapsed, %collapsed_11 : tensor<10x5x6xf32>, tensor<10x6x8xf32>) outs(%15 : tensor<10x5x8xf32>) -> tensor<10x5x8xf32>
    %expanded_12 = tensor.expand_shape %16 [[0, 1], [2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<10x5x8xf32> into tensor<2x5x5x2x4xf32>
    %17 = tensor.empty() : tensor<2x5x2x5x4xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<2x5x5x2x4xf32>) outs(%17 : tensor<2x5x2x5x4xf32>) permutation = [0, 1, 3, 2, 4]
    %18 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_13 : tensor<2x5x2x5x4xf32>) outs(%17 : tensor<2x5x2x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %54 = arith.divf %in, %cst_3 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x2x5x4xf32>
    %transposed_14 = linalg.transpose ins(%arg4 : tensor<8x6xf32>) outs(%11 : tensor<6x8xf32>) permutation = [1, 0]
    %19 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_14 : tensor<6x8xf32>) outs(%12 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_15 = tensor.collapse_shape %19 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %20 = linalg.batch_matmul ins(%collapsed, %collapsed_15 : tensor<10x5x6xf32>, tensor<10x6x8xf32>) outs(%15 : tensor<10x5x8xf32>) -> tensor<10x5x8xf32>
    %expanded_16 = tensor.expand_shape %20 [[0, 1], [2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<10x5x8xf32> into tensor<2x5x5x2x4xf32>
    %transposed_17 = linalg.transpose ins(%arg5 : tensor<8x6xf32>) outs(%11 : tensor<6x8xf32>) permutation = [1, 0]
    %21 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_17 : tensor<6x8xf32>) outs(%12 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_18 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %22 = linalg.batch_matmul ins(%collapsed, %collapsed_18 : tensor<10x5x6xf32>, tensor<10x6x8xf32>) outs(%15 : tensor<10x5x8xf32>) -> tensor<10x5x8xf32>
    %expanded_19 = tensor.expand_shape %22 [[0, 1], [2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<10x5x8xf32> into tensor<2x5x5x2x4xf32>
    %transposed_20 = linalg.transpose ins(%expanded_19 : tensor<2x5x5x2x4xf32>) outs(%17 : tensor<2x5x2x5x4xf32>) permutation = [0, 1, 3, 2, 4]
    %23 = tensor.empty() : tensor<2x5x2x4x5xf32>
    %transposed_21 = linalg.transpose ins(%expanded_16 : tensor<2x5x5x2x4xf32>) outs(%23 : tensor<2x5x2x4x5xf32>) permutation = [0, 1, 3, 4, 2]
    %collapsed_22 = tensor.collapse_shape %18 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x4xf32> into tensor<20x5x4xf32>
    %collapsed_23 = tensor.collapse_shape %transposed_21 [[0, 1, 2], [3], [4]] : tensor<2x5x2x4x5xf32> into tensor<20x4x5xf32>
    %24 = tensor.empty() : tensor<20x5x5xf32>
    %25 = linalg.fill ins(%cst : f32) outs(%24 : tensor<20x5x5xf32>) -> tensor<20x5x5xf32>
    %26 = linalg.batch_matmul ins(%collapsed_22, %collapsed_23 : tensor<20x5x4xf32>, tensor<20x4x5xf32>) outs(%25 : tensor<20x5x5xf32>) -> tensor<20x5x5xf32>
    %expanded_24 = tensor.expand_shape %26 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 5, 5] : tensor<20x5x5xf32> into tensor<2x5x2x5x5xf32>
    %27 = tensor.empty() : tensor<2x5x2x5x5xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_24, %expanded : tensor<2x5x2x5x5xf32>, tensor<2x5x1x1x5xf32>) outs(%27 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %54 = arith.addf %in, %in_38 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x2x5x5xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%28, %expanded_9 : tensor<2x5x2x5x5xf32>, tensor<2x1x2x5x5xf32>) outs(%27 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %54 = arith.addf %in, %in_38 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x2x5x5xf32>
    %30 = tensor.empty() : tensor<2x5x2x5xi64>
    %31 = linalg.fill ins(%c0_i64 : i64) outs(%30 : tensor<2x5x2x5xi64>) -> tensor<2x5x2x5xi64>
    %32 = tensor.empty() : tensor<2x5x2x5xf32>
    %33 = linalg.fill ins(%cst_0 : f32) outs(%32 : tensor<2x5x2x5xf32>) -> tensor<2x5x2x5xf32>
    %34:2 = linalg.generic {indexing_maps = [#map3, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%29 : tensor<2x5x2x5x5xf32>) outs(%33, %31 : tensor<2x5x2x5xf32>, tensor<2x5x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_38: i64):
      %54 = linalg.index 4 : index
      %55 = arith.index_cast %54 : index to i64
      %56 = arith.maximumf %in, %out : f32
      %57 = arith.cmpf ogt, %in, %out : f32
      %58 = arith.select %57, %55, %out_38 : i64
      linalg.yield %56, %58 : f32, i64
    } -> (tensor<2x5x2x5xf32>, tensor<2x5x2x5xi64>)
    %expanded_25 = tensor.expand_shape %34#0 [[0], [1], [2], [3, 4]] output_shape [2, 5, 2, 5, 1] : tensor<2x5x2x5xf32> into tensor<2x5x2x5x1xf32>
    %35 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%29, %expanded_25 : tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>) outs(%27 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %54 = arith.subf %in, %in_38 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x2x5x5xf32>
    %36 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x5x2x5x5xf32>) outs(%27 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %54 = math.exp %in : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x2x5x5xf32>
    %37 = tensor.empty() : tensor<2x5x2x5x1xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%37 : tensor<2x5x2x5x1xf32>) -> tensor<2x5x2x5x1xf32>
    %39 = linalg.generic {indexing_maps = [#map3, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%36 : tensor<2x5x2x5x5xf32>) outs(%38 : tensor<2x5x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %54 = arith.addf %in, %out : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x2x5x1xf32>
    %40 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%36, %39 : tensor<2x5x2x5x5xf32>, tensor<2x5x2x5x1xf32>) outs(%27 : tensor<2x5x2x5x5xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %54 = arith.divf %in, %in_38 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x2x5x5xf32>
    %collapsed_26 = tensor.collapse_shape %40 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x5xf32> into tensor<20x5x5xf32>
    %collapsed_27 = tensor.collapse_shape %transposed_20 [[0, 1, 2], [3], [4]] : tensor<2x5x2x5x4xf32> into tensor<20x5x4xf32>
    %41 = tensor.empty() : tensor<20x5x4xf32>
    %42 = linalg.fill ins(%cst : f32) outs(%41 : tensor<20x5x4xf32>) -> tensor<20x5x4xf32>
    %43 = linalg.batch_matmul ins(%collapsed_26, %collapsed_27 : tensor<20x5x5xf32>, tensor<20x5x4xf32>) outs(%42 : tensor<20x5x4xf32>) -> tensor<20x5x4xf32>
    %expanded_28 = tensor.expand_shape %43 [[0, 1, 2], [3], [4]] output_shape [2, 5, 2, 5, 4] : tensor<20x5x4xf32> into tensor<2x5x2x5x4xf32>
    %44 = tensor.empty() : tensor<2x5x5x2x4xf32>
    %transposed_29 = linalg.transpose ins(%expanded_28 : tensor<2x5x2x5x4xf32>) outs(%44 : tensor<2x5x5x2x4xf32>) permutation = [0, 1, 3, 2, 4]
    %transposed_30 = linalg.transpose ins(%arg6 : tensor<8x6xf32>) outs(%11 : tensor<6x8xf32>) permutation = [1, 0]
    %45 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_30 : tensor<6x8xf32>) outs(%12 : tensor<2x5x6x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x5x6x8xf32>
    %collapsed_31 = tensor.collapse_shape %45 [[0, 1], [2], [3]] : tensor<2x5x6x8xf32> into tensor<10x6x8xf32>
    %46 = linalg.batch_matmul ins(%collapsed, %collapsed_31 : tensor<10x5x6xf32>, tensor<10x6x8xf32>) outs(%15 : tensor<10x5x8xf32>) -> tensor<10x5x8xf32>
    %expanded_32 = tensor.expand_shape %46 [[0, 1], [2], [3]] output_shape [2, 5, 5, 8] : tensor<10x5x8xf32> into tensor<2x5x5x8xf32>
    %47 = tensor.empty() : tensor<2x5x5x8xf32>
    %48 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_32 : tensor<2x5x5x8xf32>) outs(%47 : tensor<2x5x5x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %54 = arith.negf %in : f32
      %55 = math.exp %54 : f32
      %56 = arith.addf %55, %cst_1 : f32
      %57 = arith.divf %cst_1, %56 : f32
      linalg.yield %57 : f32
    } -> tensor<2x5x5x8xf32>
    %expanded_33 = tensor.expand_shape %48 [[0], [1], [2], [3, 4]] output_shape [2, 5, 5, 2, 4] : tensor<2x5x5x8xf32> into tensor<2x5x5x2x4xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%transposed_29, %expanded_33 : tensor<2x5x5x2x4xf32>, tensor<2x5x5x2x4xf32>) outs(%44 : tensor<2x5x5x2x4xf32>) {
    ^bb0(%in: f32, %in_38: f32, %out: f32):
      %54 = arith.mulf %in, %in_38 : f32
      linalg.yield %54 : f32
    } -> tensor<2x5x5x2x4xf32>
    %50 = tensor.empty() : tensor<8x6xf32>
    %transposed_34 = linalg.transpose ins(%arg7 : tensor<6x8xf32>) outs(%50 : tensor<8x6xf32>) permutation = [1, 0]
    %collapsed_35 = tensor.collapse_shape %49 [[0, 1, 2], [3, 4]] : tensor<2x5x5x2x4xf32> into tensor<50x8xf32>
    %51 = tensor.empty() : tensor<50x6xf32>
    %52 = linalg.fill ins(%cst : f32) outs(%51 : tensor<50x6xf32>) -> tensor<50x6xf32>
    %53 = linalg.matmul ins(%collapsed_35, %transposed_34 : tensor<50x8xf32>, tensor<8x6xf32>) outs(%52 : tensor<50x6xf32>) -> tensor<50x6xf32>
    %expanded_36 = tensor.expand_shape %53 [[0, 1, 2], [3]] output_shape [2, 5, 5, 6] : tensor<50x6xf32> into tensor<2x5x5x6xf32>
    %transposed_37 = linalg.transpose ins(%expanded_36 : tensor<2x5x5x6xf32>) outs(%0 : tensor<2x5x5x6xf32>) permutation = [0, 2, 1, 3]
    return %transposed_37 : tensor<2x5x5x6xf32>
  }
}
