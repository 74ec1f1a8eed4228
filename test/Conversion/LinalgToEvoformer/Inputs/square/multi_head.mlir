// torch.nn.functional.multi_head_attention_forward without its weights.
// Made by Inputs/export_modules.py; torch 2.11.0+cu130.

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @multi_head(%arg0: tensor<4x4x16xf32>, %arg1: tensor<48x16xf32>, %arg2: tensor<48xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<16xf32>) -> tensor<4x4x16xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<4x4x4x4xf32>
    %cst_2 = arith.constant 0xFFF0000000000000 : f64
    %cst_3 = arith.constant 0.70710678118654757 : f64
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<4x4x16xf32> into tensor<16x16xf32>
    %0 = tensor.empty() : tensor<16x48xf32>
    %transposed = linalg.transpose ins(%arg1 : tensor<48x16xf32>) outs(%0 : tensor<16x48xf32>) permutation = [1, 0]
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<16x48xf32>) -> tensor<16x48xf32>
    %2 = linalg.matmul ins(%collapsed, %transposed : tensor<16x16xf32>, tensor<16x48xf32>) outs(%1 : tensor<16x48xf32>) -> tensor<16x48xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<16x48xf32>, tensor<48xf32>) outs(%0 : tensor<16x48xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %33 = arith.addf %in, %in_30 : f32
      linalg.yield %33 : f32
    } -> tensor<16x48xf32>
    %expanded = tensor.expand_shape %3 [[0, 1, 2], [3, 4]] output_shape [1, 4, 4, 3, 16] : tensor<16x48xf32> into tensor<1x4x4x3x16xf32>
    %4 = tensor.empty() : tensor<3x4x4x1x16xf32>
    %transposed_4 = linalg.transpose ins(%expanded : tensor<1x4x4x3x16xf32>) outs(%4 : tensor<3x4x4x1x16xf32>) permutation = [3, 1, 2, 0, 4]
    %collapsed_5 = tensor.collapse_shape %transposed_4 [[0], [1], [2, 3], [4]] : tensor<3x4x4x1x16xf32> into tensor<3x4x4x16xf32>
    %extracted_slice = tensor.extract_slice %collapsed_5[0, 0, 0, 0] [1, 4, 4, 16] [1, 1, 1, 1] : tensor<3x4x4x16xf32> to tensor<1x4x4x16xf32>
    %extracted_slice_6 = tensor.extract_slice %collapsed_5[1, 0, 0, 0] [1, 4, 4, 16] [1, 1, 1, 1] : tensor<3x4x4x16xf32> to tensor<1x4x4x16xf32>
    %extracted_slice_7 = tensor.extract_slice %collapsed_5[2, 0, 0, 0] [1, 4, 4, 16] [1, 1, 1, 1] : tensor<3x4x4x16xf32> to tensor<1x4x4x16xf32>
    %collapsed_8 = tensor.collapse_shape %extracted_slice [[0, 1], [2, 3]] : tensor<1x4x4x16xf32> into tensor<4x64xf32>
    %expanded_9 = tensor.expand_shape %collapsed_8 [[0], [1, 2]] output_shape [4, 16, 4] : tensor<4x64xf32> into tensor<4x16x4xf32>
    %5 = tensor.empty() : tensor<16x4x4xf32>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<4x16x4xf32>) outs(%5 : tensor<16x4x4xf32>) permutation = [1, 0, 2]
    %collapsed_11 = tensor.collapse_shape %extracted_slice_6 [[0, 1], [2, 3]] : tensor<1x4x4x16xf32> into tensor<4x64xf32>
    %expanded_12 = tensor.expand_shape %collapsed_11 [[0], [1, 2]] output_shape [4, 16, 4] : tensor<4x64xf32> into tensor<4x16x4xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<4x16x4xf32>) outs(%5 : tensor<16x4x4xf32>) permutation = [1, 0, 2]
    %collapsed_14 = tensor.collapse_shape %extracted_slice_7 [[0, 1], [2, 3]] : tensor<1x4x4x16xf32> into tensor<4x64xf32>
    %expanded_15 = tensor.expand_shape %collapsed_14 [[0], [1, 2]] output_shape [4, 16, 4] : tensor<4x64xf32> into tensor<4x16x4xf32>
    %transposed_16 = linalg.transpose ins(%expanded_15 : tensor<4x16x4xf32>) outs(%5 : tensor<16x4x4xf32>) permutation = [1, 0, 2]
    %expanded_17 = tensor.expand_shape %transposed_10 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %expanded_18 = tensor.expand_shape %transposed_13 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %6 = tensor.empty() : tensor<4x4x4x4xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<4x4x4x4xf32>) outs(%6 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.truncf %cst_3 : f64 to f32
      %34 = arith.mulf %in, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<4x4x4x4xf32>
    %transposed_19 = linalg.transpose ins(%expanded_18 : tensor<4x4x4x4xf32>) outs(%6 : tensor<4x4x4x4xf32>) permutation = [0, 1, 3, 2]
    %8 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_19 : tensor<4x4x4x4xf32>) outs(%6 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.truncf %cst_3 : f64 to f32
      %34 = arith.mulf %in, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<4x4x4x4xf32>
    %collapsed_20 = tensor.collapse_shape %7 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %collapsed_21 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %9 = linalg.fill ins(%cst : f32) outs(%5 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %10 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%9 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_22 = tensor.expand_shape %10 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %11 = tensor.empty() : tensor<4x4x4xi64>
    %12 = linalg.fill ins(%c0_i64 : i64) outs(%11 : tensor<4x4x4xi64>) -> tensor<4x4x4xi64>
    %13 = tensor.empty() : tensor<4x4x4xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %15:2 = linalg.generic {indexing_maps = [#map2, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%expanded_22 : tensor<4x4x4x4xf32>) outs(%14, %12 : tensor<4x4x4xf32>, tensor<4x4x4xi64>) {
    ^bb0(%in: f32, %out: f32, %out_30: i64):
      %33 = linalg.index 3 : index
      %34 = arith.index_cast %33 : index to i64
      %35 = arith.maximumf %in, %out : f32
      %36 = arith.cmpf ogt, %in, %out : f32
      %37 = arith.select %36, %34, %out_30 : i64
      linalg.yield %35, %37 : f32, i64
    } -> (tensor<4x4x4xf32>, tensor<4x4x4xi64>)
    %expanded_23 = tensor.expand_shape %15#0 [[0], [1], [2, 3]] output_shape [4, 4, 4, 1] : tensor<4x4x4xf32> into tensor<4x4x4x1xf32>
    %16 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22, %expanded_23 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%6 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %33 = arith.subf %in, %in_30 : f32
      linalg.yield %33 : f32
    } -> tensor<4x4x4x4xf32>
    %17 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<4x4x4x4xf32>) outs(%6 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = math.exp %in : f32
      linalg.yield %33 : f32
    } -> tensor<4x4x4x4xf32>
    %18 = tensor.empty() : tensor<4x4x4x1xf32>
    %19 = linalg.fill ins(%cst : f32) outs(%18 : tensor<4x4x4x1xf32>) -> tensor<4x4x4x1xf32>
    %20 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%17 : tensor<4x4x4x4xf32>) outs(%19 : tensor<4x4x4x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<4x4x4x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%17, %20 : tensor<4x4x4x4xf32>, tensor<4x4x4x1xf32>) outs(%6 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %33 = arith.divf %in, %in_30 : f32
      linalg.yield %33 : f32
    } -> tensor<4x4x4x4xf32>
    %22 = tensor.empty() : tensor<4x4x4x4xi1>
    %23 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22 : tensor<4x4x4x4xf32>) outs(%22 : tensor<4x4x4x4xi1>) {
    ^bb0(%in: f32, %out: i1):
      %33 = arith.extf %in : f32 to f64
      %34 = arith.cmpf oeq, %33, %cst_2 : f64
      linalg.yield %34 : i1
    } -> tensor<4x4x4x4xi1>
    %24 = tensor.empty() : tensor<4x4x4x1xi1>
    %25 = linalg.fill ins(%true : i1) outs(%24 : tensor<4x4x4x1xi1>) -> tensor<4x4x4x1xi1>
    %26 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%23 : tensor<4x4x4x4xi1>) outs(%25 : tensor<4x4x4x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %33 = arith.andi %in, %out : i1
      linalg.yield %33 : i1
    } -> tensor<4x4x4x1xi1>
    %27 = linalg.generic {indexing_maps = [#map4, #map2, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%26, %cst_1, %21 : tensor<4x4x4x1xi1>, tensor<4x4x4x4xf32>, tensor<4x4x4x4xf32>) outs(%6 : tensor<4x4x4x4xf32>) {
    ^bb0(%in: i1, %in_30: f32, %in_31: f32, %out: f32):
      %33 = arith.select %in, %in_30, %in_31 : f32
      linalg.yield %33 : f32
    } -> tensor<4x4x4x4xf32>
    %collapsed_24 = tensor.collapse_shape %27 [[0, 1], [2], [3]] : tensor<4x4x4x4xf32> into tensor<16x4x4xf32>
    %28 = linalg.batch_matmul ins(%collapsed_24, %transposed_16 : tensor<16x4x4xf32>, tensor<16x4x4xf32>) outs(%9 : tensor<16x4x4xf32>) -> tensor<16x4x4xf32>
    %expanded_25 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [4, 4, 4, 4] : tensor<16x4x4xf32> into tensor<4x4x4x4xf32>
    %transposed_26 = linalg.transpose ins(%expanded_25 : tensor<4x4x4x4xf32>) outs(%6 : tensor<4x4x4x4xf32>) permutation = [2, 0, 1, 3]
    %collapsed_27 = tensor.collapse_shape %transposed_26 [[0, 1], [2, 3]] : tensor<4x4x4x4xf32> into tensor<16x16xf32>
    %29 = tensor.empty() : tensor<16x16xf32>
    %transposed_28 = linalg.transpose ins(%arg3 : tensor<16x16xf32>) outs(%29 : tensor<16x16xf32>) permutation = [1, 0]
    %30 = linalg.fill ins(%cst : f32) outs(%29 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %31 = linalg.matmul ins(%collapsed_27, %transposed_28 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%30 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%31, %arg4 : tensor<16x16xf32>, tensor<16xf32>) outs(%29 : tensor<16x16xf32>) {
    ^bb0(%in: f32, %in_30: f32, %out: f32):
      %33 = arith.addf %in, %in_30 : f32
      linalg.yield %33 : f32
    } -> tensor<16x16xf32>
    %expanded_29 = tensor.expand_shape %32 [[0, 1], [2]] output_shape [4, 4, 16] : tensor<16x16xf32> into tensor<4x4x16xf32>
    return %expanded_29 : tensor<4x4x16xf32>
  }
}
