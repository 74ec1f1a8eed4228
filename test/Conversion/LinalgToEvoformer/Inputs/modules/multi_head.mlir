// torch.nn.functional.multi_head_attention_forward without its weights.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @multi_head(%arg0: tensor<5x2x8xf32>, %arg1: tensor<24x8xf32>, %arg2: tensor<24xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8xf32>) -> tensor<5x2x8xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x2x5x5xf32>
    %cst_2 = arith.constant 0xFFF0000000000000 : f64
    %cst_3 = arith.constant 0.70710678118654757 : f64
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<5x2x8xf32> into tensor<10x8xf32>
    %0 = tensor.empty() : tensor<8x24xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<24x8xf32>) outs(%0 : tensor<8x24xf32>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<10x24xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %3 = linalg.matmul ins(%collapsed, %transposed : tensor<10x8xf32>, tensor<8x24xf32>) outs(%2 : tensor<10x24xf32>) -> tensor<10x24xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %arg2 : tensor<10x24xf32>, tensor<24xf32>) outs(%1 : tensor<10x24xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %40 = arith.addf %in, %in_30 : f32
      linalg.yield %40 : f32
    } -> tensor<10x24xf32>
    %expanded = tensor.expand_shape %4 [[0, 1, 2], [3, 4]] output_shape [1, 5, 2, 3, 8] : tensor<10x24xf32> into tensor<1x5x2x3x8xf32>
    %5 = tensor.empty() : tensor<3x5x2x1x8xf32>
    %transposed_4 = linalg.transpose ins(%expanded : tensor<1x5x2x3x8xf32>) outs(%5 : tensor<3x5x2x1x8xf32>) permutation = [3, 1, 2, 0, 4]
    %collapsed_5 = tensor.collapse_shape %transposed_4 [[0], [1], [2, 3], [4]] : tensor<3x5x2x1x8xf32> into tensor<3x5x2x8xf32>
    %extracted_slice = tensor.extract_slice %collapsed_5[0, 0, 0, 0] [1, 5, 2, 8] [1, 1, 1, 1] : tensor<3x5x2x8xf32> to tensor<1x5x2x8xf32>
    %extracted_slice_6 = tensor.extract_slice %collapsed_5[1, 0, 0, 0] [1, 5, 2, 8] [1, 1, 1, 1] : tensor<3x5x2x8xf32> to tensor<1x5x2x8xf32>
    %extracted_slice_7 = tensor.extract_slice %collapsed_5[2, 0, 0, 0] [1, 5, 2, 8] [1, 1, 1, 1] : tensor<3x5x2x8xf32> to tensor<1x5x2x8xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice [[0, 1], [2, 3]] : tensor<1x5x2x8xf32> into tensor<5x16xf32>
    %expanded_9 = tensor.expand_shape %collapsed_8 [[0], [1, 2]] output_shape [5, 4, 4] : tensor<5x16xf32> into tensor<5x4x4xf32>
    %6 = tensor.empty() : tensor<4x5x4xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<5x4x4xf32>) outs(%6 : tensor<4x5x4xf32>) permutation = [1, 0, 2]
    %collapsed_11 = tensor.collapse_shape %extracted_slice_6 [[0, 1], [2, 3]] : tensor<1x5x2x8xf32> into tensor<5x16xf32>
    %expanded_12 = tensor.expand_shape %collapsed_11 [[0], [1, 2]] output_shape [5, 4, 4] : tensor<5x16xf32> into tensor<5x4x4xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<5x4x4xf32>) outs(%6 : tensor<4x5x4xf32>) permutation = [1, 0, 2]
    %collapsed_14 = tensor.collapse_shape %extracted_slice_7 [[0, 1], [2, 3]] : tensor<1x5x2x8xf32> into tensor<5x16xf32>
    %expanded_15 = tensor.expand_shape %collapsed_14 [[0], [1, 2]] output_shape [5, 4, 4] : tensor<5x16xf32> into tensor<5x4x4xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<5x4x4xf32>) outs(%6 : tensor<4x5x4xf32>) permutation = [1, 0, 2]
    %expanded_17 = tensor.expand_shape %transposed_10 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %expanded_18 = tensor.expand_shape %transposed_13 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %7 = tensor.empty() : tensor<2x2x5x4xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<2x2x5x4xf32>) outs(%7 : tensor<2x2x5x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.truncf %cst_3 : f64 to f32
      %41 = arith.mulf %in, %40 : f32
      linalg.yield %41 : f32
    } -> tensor<2x2x5x4xf32>
    %9 = tensor.empty() : tensor<2x2x4x5xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<2x2x5x4xf32>) outs(%9 : tensor<2x2x4x5xf32>) permutation = [0, 1, 3, 2]
    %10 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_19 : tensor<2x2x4x5xf32>) outs(%9 : tensor<2x2x4x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.truncf %cst_3 : f64 to f32
      %41 = arith.mulf %in, %40 : f32
      linalg.yield %41 : f32
    } -> tensor<2x2x4x5xf32>
    %collapsed_20 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %collapsed_21 = tensor.collapse_shape %10 [[0, 1], [2], [3]] : tensor<2x2x4x5xf32> into tensor<4x4x5xf32>
    %11 = tensor.empty() : tensor<4x5x5xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %13 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%12 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %expanded_22 = tensor.expand_shape %13 [[0, 1], [2], [3]] output_shape [2, 2, 5, 5] : tensor<4x5x5xf32> into tensor<2x2x5x5xf32>
    %14 = tensor.empty() : tensor<2x2x5xi64>
    %15 = linalg.fill ins(%c0_i64 : i64) outs(%14 : tensor<2x2x5xi64>) -> tensor<2x2x5xi64>
    %16 = tensor.empty() : tensor<2x2x5xf32>
    %17 = linalg.fill ins(%cst_0 : f32) outs(%16 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
    %18:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_22 : tensor<2x2x5x5xf32>) outs(%17, %15 : tensor<2x2x5xf32>, tensor<2x2x5xi64>) {
    ^bb0(%in: f32, %out: f32, %out_30: i64):
      %40 = linalg.index 3 : index
      %41 = arith.index_cast %40 : index to i64
      %42 = arith.maximumf %in, %out : f32
      %43 = arith.cmpf ogt, %in, %out : f32
      %44 = arith.select %43, %41, %out_30 : i64
      linalg.yield %42, %44 : f32, i64
    } -> (tensor<2x2x5xf32>, tensor<2x2x5xi64>)
    %expanded_23 = tensor.expand_shape %18#0 [[0], [1], [2, 3]] output_shape [2, 2, 5, 1] : tensor<2x2x5xf32> into tensor<2x2x5x1xf32>
    %19 = tensor.empty() : tensor<2x2x5x5xf32>
    %20 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22, %expanded_23 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%19 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %40 = arith.subf %in, %in_30 : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x5xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<2x2x5x5xf32>) outs(%19 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = math.exp %in : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x5xf32>
    %22 = tensor.empty() : tensor<2x2x5x1xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<2x2x5x1xf32>) -> tensor<2x2x5x1xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%21 : tensor<2x2x5x5xf32>) outs(%23 : tensor<2x2x5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %40 = arith.addf %in, %out : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x1xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %24 : tensor<2x2x5x5xf32>, tensor<2x2x5x1xf32>) outs(%19 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %40 = arith.divf %in, %in_30 : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x5xf32>
    %26 = tensor.empty() : tensor<2x2x5x5xi1>
    %27 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22 : tensor<2x2x5x5xf32>) outs(%26 : tensor<2x2x5x5xi1>) {
    ^bb0(%in: f32, %out: i1):
      %40 = arith.extf %in : f32 to f64
      %41 = arith.cmpf oeq, %40, %cst_2 : f64
      linalg.yield %41 : i1
    } -> tensor<2x2x5x5xi1>
    %28 = tensor.empty() : tensor<2x2x5x1xi1>
    %29 = linalg.fill ins(%true : i1) outs(%28 : tensor<2x2x5x1xi1>) -> tensor<2x2x5x1xi1>
    %30 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%27 : tensor<2x2x5x5xi1>) outs(%29 : tensor<2x2x5x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %40 = arith.andi %in, %out : i1
      linalg.yield %40 : i1
    } -> tensor<2x2x5x1xi1>
    %31 = linalg.generic {indexing_maps = [#map4, #map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30, %cst_1, %25 : tensor<2x2x5x1xi1>, tensor<2x2x5x5xf32>, tensor<2x2x5x5xf32>) outs(%19 : tensor<2x2x5x5xf32>) {
    ^bb0(%in: i1, %in_30: f32, %in_31: f32, %out: f32):
      %40 = arith.select %in, %in_30, %in_31 : f32
      linalg.yield %40 : f32
    } -> tensor<2x2x5x5xf32>
    %collapsed_24 = tensor.collapse_shape %31 [[0, 1], [2], [3]] : tensor<2x2x5x5xf32> into tensor<4x5x5xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%6 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %33 = linalg.batch_matmul ins(%collapsed_24, %transposed_16 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%32 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %expanded_25 = tensor.expand_shape %33 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %34 = tensor.empty() : tensor<5x2x2x4xf32>
    %transposed_26 = linalg.transpose ins(%expanded_25 : tensor<2x2x5x4xf32>) outs(%34 : tensor<5x2x2x4xf32>) permutation = [2, 0, 1, 3]
    %collapsed_27 = tensor.collapse_shape %transposed_26 [[0, 1], [2, 3]] : tensor<5x2x2x4xf32> into tensor<10x8xf32>
    %35 = tensor.empty() : tensor<8x8xf32>
    %transposed_28 = linalg.transpose ins(%arg3 : tensor<8x8xf32>) outs(%35 : tensor<8x8xf32>) permutation = [1, 0]
    %36 = tensor.empty() : tensor<10x8xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %38 = linalg.matmul ins(%collapsed_27, %transposed_28 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%37 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %arg4 : tensor<10x8xf32>, tensor<8xf32>) outs(%36 : tensor<10x8xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %40 = arith.addf %in, %in_30 : f32
      linalg.yield %40 : f32
    } -> tensor<10x8xf32>
    %expanded_29 = tensor.expand_shape %39 [[0, 1], [2]] output_shape [5, 2, 8] : tensor<10x8xf32> into tensor<5x2x8xf32>
    return %expanded_29 : tensor<5x2x8xf32>
  }
}
