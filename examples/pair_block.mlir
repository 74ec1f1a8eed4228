// A block of a pair representation (AlphaFold 2, algorithms 13 and 15), with 128
// channels, 4 heads of 32: layer norm, projections, triangle attention with its key
// mask, pair bias and gate, the output's projection, a transition, both with their
// residual. Everything around the attention is linalg, arith on tensors and reshapes,
// as torch-mlir lowers a model.
#full = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#channel = affine_map<(d0, d1, d2) -> (d2)>
#flat = affine_map<(d0, d1) -> (d0, d1)>

func.func @pair_block(
    %pair: tensor<64x64x128xf32>, %mask: tensor<1x64x1x1x64xi1>,
    %gamma: tensor<128xf32>, %beta: tensor<128xf32>,
    %w_query: tensor<128x128xf32>, %w_key: tensor<128x128xf32>,
    %w_value: tensor<128x128xf32>, %w_gate: tensor<128x128xf32>,
    %w_bias: tensor<128x4xf32>, %w_out: tensor<128x128xf32>,
    %w_in: tensor<128x512xf32>, %w_back: tensor<512x128xf32>,
    %out: tensor<64x64x128xf32>) -> tensor<64x64x128xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %channels = arith.constant 1.280000e+02 : f32
  %epsilon = arith.constant 9.99999974E-6 : f32

  // Layer norm of %pair.
  %x_empty = tensor.empty() : tensor<64x64x1xf32>
  %x_zeros = linalg.fill ins(%zero : f32) outs(%x_empty : tensor<64x64x1xf32>) -> tensor<64x64x1xf32>
  %x_sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%pair : tensor<64x64x128xf32>) outs(%x_zeros : tensor<64x64x1xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %x_full = tensor.empty() : tensor<64x64x128xf32>
  %x_centred = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%pair, %x_sum : tensor<64x64x128xf32>, tensor<64x64x1xf32>) outs(%x_full : tensor<64x64x128xf32>) {
  ^bb0(%in: f32, %total: f32, %o: f32):
    %mean = arith.divf %total, %channels : f32
    %d = arith.subf %in, %mean : f32
    linalg.yield %d : f32
  } -> tensor<64x64x128xf32>
  %x_squares = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x_centred : tensor<64x64x128xf32>) outs(%x_zeros : tensor<64x64x1xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %q = arith.mulf %in, %in : f32
    %s = arith.addf %q, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %x = linalg.generic {indexing_maps = [#full, #row, #channel, #channel, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x_centred, %x_squares, %gamma, %beta : tensor<64x64x128xf32>, tensor<64x64x1xf32>, tensor<128xf32>, tensor<128xf32>)
      outs(%x_full : tensor<64x64x128xf32>) {
  ^bb0(%in: f32, %q: f32, %g: f32, %b: f32, %o: f32):
    %variance = arith.divf %q, %channels : f32
    %safe = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %safe : f32
    %n = arith.mulf %in, %scale : f32
    %ng = arith.mulf %n, %g : f32
    %r = arith.addf %ng, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x64x128xf32>
  %x_rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<64x64x128xf32> into tensor<4096x128xf32>

  // Projections.
  %query_empty = tensor.empty() : tensor<4096x128xf32>
  %query_zeros = linalg.fill ins(%zero : f32) outs(%query_empty : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %query_rows = linalg.matmul ins(%x_rows, %w_query : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%query_zeros : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %query = tensor.expand_shape %query_rows [[0, 1, 2], [3, 4]] output_shape [1, 64, 64, 4, 32] : tensor<4096x128xf32> into tensor<1x64x64x4x32xf32>
  %key_empty = tensor.empty() : tensor<4096x128xf32>
  %key_zeros = linalg.fill ins(%zero : f32) outs(%key_empty : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %key_rows = linalg.matmul ins(%x_rows, %w_key : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%key_zeros : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %key = tensor.expand_shape %key_rows [[0, 1, 2], [3, 4]] output_shape [1, 64, 64, 4, 32] : tensor<4096x128xf32> into tensor<1x64x64x4x32xf32>
  %value_empty = tensor.empty() : tensor<4096x128xf32>
  %value_zeros = linalg.fill ins(%zero : f32) outs(%value_empty : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %value_rows = linalg.matmul ins(%x_rows, %w_value : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%value_zeros : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %value = tensor.expand_shape %value_rows [[0, 1, 2], [3, 4]] output_shape [1, 64, 64, 4, 32] : tensor<4096x128xf32> into tensor<1x64x64x4x32xf32>
  %gate_empty = tensor.empty() : tensor<4096x128xf32>
  %gate_zeros = linalg.fill ins(%zero : f32) outs(%gate_empty : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %gate_rows = linalg.matmul ins(%x_rows, %w_gate : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%gate_zeros : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %gate = tensor.expand_shape %gate_rows [[0, 1, 2], [3, 4]] output_shape [1, 64, 64, 4, 32] : tensor<4096x128xf32> into tensor<1x64x64x4x32xf32>
  %bias_empty = tensor.empty() : tensor<4096x4xf32>
  %bias_zeros = linalg.fill ins(%zero : f32) outs(%bias_empty : tensor<4096x4xf32>) -> tensor<4096x4xf32>
  %bias_rows = linalg.matmul ins(%x_rows, %w_bias : tensor<4096x128xf32>, tensor<128x4xf32>)
      outs(%bias_zeros : tensor<4096x4xf32>) -> tensor<4096x4xf32>
  %bias_pairs = tensor.expand_shape %bias_rows [[0, 1], [2]] output_shape [64, 64, 4] : tensor<4096x4xf32> into tensor<64x64x4xf32>
  %bias_heads = tensor.empty() : tensor<4x64x64xf32>
  %bias_moved = linalg.transpose ins(%bias_pairs : tensor<64x64x4xf32>) outs(%bias_heads : tensor<4x64x64xf32>) permutation = [2, 0, 1]
  %bias = tensor.expand_shape %bias_moved [[0, 1, 2], [3], [4]] output_shape [1, 1, 4, 64, 64] : tensor<4x64x64xf32> into tensor<1x1x4x64x64xf32>

  %attended_empty = tensor.empty() : tensor<1x64x64x4x32xf32>
  %attended = evoformer.attention
      query(%query : tensor<1x64x64x4x32xf32>)
      key(%key : tensor<1x64x64x4x32xf32>)
      value(%value : tensor<1x64x64x4x32xf32>)
      bias(%mask : tensor<1x64x1x1x64xi1>)
      bias(%bias : tensor<1x1x4x64x64xf32>)
      gate(%gate : tensor<1x64x64x4x32xf32>)
      outs(%attended_empty : tensor<1x64x64x4x32xf32>)
  %attended_rows = tensor.collapse_shape %attended [[0, 1, 2], [3, 4]] : tensor<1x64x64x4x32xf32> into tensor<4096x128xf32>
  %update_empty = tensor.empty() : tensor<4096x128xf32>
  %update_zeros = linalg.fill ins(%zero : f32) outs(%update_empty : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %update_rows = linalg.matmul ins(%attended_rows, %w_out : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%update_zeros : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %update = tensor.expand_shape %update_rows [[0, 1], [2]] output_shape [64, 64, 128] : tensor<4096x128xf32> into tensor<64x64x128xf32>
  %between = arith.addf %pair, %update : tensor<64x64x128xf32>

  // Layer norm of %between.
  %y_empty = tensor.empty() : tensor<64x64x1xf32>
  %y_zeros = linalg.fill ins(%zero : f32) outs(%y_empty : tensor<64x64x1xf32>) -> tensor<64x64x1xf32>
  %y_sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%between : tensor<64x64x128xf32>) outs(%y_zeros : tensor<64x64x1xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %s = arith.addf %in, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %y_full = tensor.empty() : tensor<64x64x128xf32>
  %y_centred = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%between, %y_sum : tensor<64x64x128xf32>, tensor<64x64x1xf32>) outs(%y_full : tensor<64x64x128xf32>) {
  ^bb0(%in: f32, %total: f32, %o: f32):
    %mean = arith.divf %total, %channels : f32
    %d = arith.subf %in, %mean : f32
    linalg.yield %d : f32
  } -> tensor<64x64x128xf32>
  %y_squares = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y_centred : tensor<64x64x128xf32>) outs(%y_zeros : tensor<64x64x1xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %q = arith.mulf %in, %in : f32
    %s = arith.addf %q, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #channel, #channel, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y_centred, %y_squares, %gamma, %beta : tensor<64x64x128xf32>, tensor<64x64x1xf32>, tensor<128xf32>, tensor<128xf32>)
      outs(%y_full : tensor<64x64x128xf32>) {
  ^bb0(%in: f32, %q: f32, %g: f32, %b: f32, %o: f32):
    %variance = arith.divf %q, %channels : f32
    %safe = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %safe : f32
    %n = arith.mulf %in, %scale : f32
    %ng = arith.mulf %n, %g : f32
    %r = arith.addf %ng, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x64x128xf32>
  %y_rows = tensor.collapse_shape %y [[0, 1], [2]] : tensor<64x64x128xf32> into tensor<4096x128xf32>

  // The transition.
  %wide_empty = tensor.empty() : tensor<4096x512xf32>
  %wide_zeros = linalg.fill ins(%zero : f32) outs(%wide_empty : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %wide_rows = linalg.matmul ins(%y_rows, %w_in : tensor<4096x128xf32>, tensor<128x512xf32>)
      outs(%wide_zeros : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %relu = linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]}
      ins(%wide_rows : tensor<4096x512xf32>) outs(%wide_empty : tensor<4096x512xf32>) {
  ^bb0(%in: f32, %o: f32):
    %positive = arith.cmpf ugt, %in, %zero : f32
    %r = arith.select %positive, %in, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4096x512xf32>
  %narrow_empty = tensor.empty() : tensor<4096x128xf32>
  %narrow_zeros = linalg.fill ins(%zero : f32) outs(%narrow_empty : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %narrow_rows = linalg.matmul ins(%relu, %w_back : tensor<4096x512xf32>, tensor<512x128xf32>)
      outs(%narrow_zeros : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %change = tensor.expand_shape %narrow_rows [[0, 1], [2]] output_shape [64, 64, 128] : tensor<4096x128xf32> into tensor<64x64x128xf32>
  %sum = arith.addf %between, %change : tensor<64x64x128xf32>
  %result = linalg.copy ins(%sum : tensor<64x64x128xf32>) outs(%out : tensor<64x64x128xf32>) -> tensor<64x64x128xf32>
  return %result : tensor<64x64x128xf32>
}
