// The gradients of pair_block.mlir's block with respect to its input and all weights,
// as a framework's automatic differentiation writes them: the forward pass up to the
// transition once more, then matrix products with turned operands, sums over rows and
// evoformer.attention_backward.
#full = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#channel = affine_map<(d0, d1, d2) -> (d2)>
#flat = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(m, n, k) -> (m, k)>
#left_turned = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#right_turned = affine_map<(m, n, k) -> (n, k)>
#product = affine_map<(m, n, k) -> (m, n)>

func.func @pair_block_backward(
    %pair: tensor<64x64x128xf32>, %mask: tensor<1x64x1x1x64xi1>,
    %gamma: tensor<128xf32>, %beta: tensor<128xf32>,
    %w_query: tensor<128x128xf32>, %w_key: tensor<128x128xf32>,
    %w_value: tensor<128x128xf32>, %w_gate: tensor<128x128xf32>,
    %w_bias: tensor<128x4xf32>, %w_out: tensor<128x128xf32>,
    %w_in: tensor<128x512xf32>, %w_back: tensor<512x128xf32>,
    %out_grad: tensor<64x64x128xf32>,
    %pair_grad_out: tensor<64x64x128xf32>,
    %gamma_grad_out: tensor<128xf32>,
    %beta_grad_out: tensor<128xf32>,
    %w_query_grad_out: tensor<128x128xf32>,
    %w_key_grad_out: tensor<128x128xf32>,
    %w_value_grad_out: tensor<128x128xf32>,
    %w_gate_grad_out: tensor<128x128xf32>,
    %w_bias_grad_out: tensor<128x4xf32>,
    %w_out_grad_out: tensor<128x128xf32>,
    %w_in_grad_out: tensor<128x512xf32>,
    %w_back_grad_out: tensor<512x128xf32>)
    -> (tensor<64x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x4xf32>, tensor<128x128xf32>, tensor<128x512xf32>, tensor<512x128xf32>) {
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
  %stats_empty = tensor.empty() : tensor<2x1x64x4x64xf32>
  %attended, %stats = evoformer.attention
      query(%query : tensor<1x64x64x4x32xf32>)
      key(%key : tensor<1x64x64x4x32xf32>)
      value(%value : tensor<1x64x64x4x32xf32>)
      bias(%mask : tensor<1x64x1x1x64xi1>)
      bias(%bias : tensor<1x1x4x64x64xf32>)
      gate(%gate : tensor<1x64x64x4x32xf32>)
      outs(%attended_empty : tensor<1x64x64x4x32xf32>)
      stats(%stats_empty : tensor<2x1x64x4x64xf32>)
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

  // Backward: through the transition.
  %out_grad_rows = tensor.collapse_shape %out_grad [[0, 1], [2]] : tensor<64x64x128xf32> into tensor<4096x128xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%w_back_grad_out : tensor<512x128xf32>) -> tensor<512x128xf32>
  %w_back_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%relu, %out_grad_rows : tensor<4096x512xf32>, tensor<4096x128xf32>)
      outs(%z1 : tensor<512x128xf32>) -> tensor<512x128xf32>
  %e2 = tensor.empty() : tensor<4096x512xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %relu_grad = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%out_grad_rows, %w_back : tensor<4096x128xf32>, tensor<512x128xf32>)
      outs(%z2 : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %wide_grad = linalg.generic {indexing_maps = [#flat, #flat, #flat], iterator_types = ["parallel", "parallel"]}
      ins(%relu_grad, %wide_rows : tensor<4096x512xf32>, tensor<4096x512xf32>)
      outs(%wide_empty : tensor<4096x512xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %positive = arith.cmpf ugt, %a1, %zero : f32
    %r = arith.select %positive, %a0, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4096x512xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%w_in_grad_out : tensor<128x512xf32>) -> tensor<128x512xf32>
  %w_in_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%y_rows, %wide_grad : tensor<4096x128xf32>, tensor<4096x512xf32>)
      outs(%z3 : tensor<128x512xf32>) -> tensor<128x512xf32>
  %e4 = tensor.empty() : tensor<4096x128xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %y_grad_rows = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%wide_grad, %w_in : tensor<4096x512xf32>, tensor<128x512xf32>)
      outs(%z4 : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %y_grad = tensor.expand_shape %y_grad_rows [[0, 1], [2]] output_shape [64, 64, 128] : tensor<4096x128xf32> into tensor<64x64x128xf32>
  %z5 = linalg.fill ins(%zero : f32) outs(%gamma_grad_out : tensor<128xf32>) -> tensor<128xf32>
  %z6 = linalg.fill ins(%zero : f32) outs(%beta_grad_out : tensor<128xf32>) -> tensor<128xf32>

  // Through the layer norm of %y: its normalised rows, then sums of the gradient over
  // rows and over channels.
  %y_normal = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y_centred, %y_squares : tensor<64x64x128xf32>, tensor<64x64x1xf32>)
      outs(%y_full : tensor<64x64x128xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %variance = arith.divf %a1, %channels : f32
    %safe = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %safe : f32
    %n = arith.mulf %a0, %scale : f32
    linalg.yield %n : f32
  } -> tensor<64x64x128xf32>
  %y_gamma_grad = linalg.generic {indexing_maps = [#full, #full, #channel], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%y_grad, %y_normal : tensor<64x64x128xf32>, tensor<64x64x128xf32>)
      outs(%z5 : tensor<128xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %y_beta_grad = linalg.generic {indexing_maps = [#full, #channel], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%y_grad : tensor<64x64x128xf32>)
      outs(%z6 : tensor<128xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %s = arith.addf %a0, %o : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %y_first = linalg.generic {indexing_maps = [#full, #channel, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y_grad, %gamma : tensor<64x64x128xf32>, tensor<128xf32>)
      outs(%y_zeros : tensor<64x64x1xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %y_second = linalg.generic {indexing_maps = [#full, #channel, #full, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y_grad, %gamma, %y_normal : tensor<64x64x128xf32>, tensor<128xf32>, tensor<64x64x128xf32>)
      outs(%y_zeros : tensor<64x64x1xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %q = arith.mulf %p, %a2 : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %between_grad = linalg.generic {indexing_maps = [#full, #channel, #full, #row, #row, #row, #full, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y_grad, %gamma, %y_normal, %y_first, %y_second, %y_squares, %out_grad : tensor<64x64x128xf32>, tensor<128xf32>, tensor<64x64x128xf32>, tensor<64x64x1xf32>, tensor<64x64x1xf32>, tensor<64x64x1xf32>, tensor<64x64x128xf32>)
      outs(%y_full : tensor<64x64x128xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %m = arith.divf %a3, %channels : f32
    %m2 = arith.divf %a4, %channels : f32
    %along = arith.mulf %a2, %m2 : f32
    %c = arith.subf %p, %m : f32
    %d = arith.subf %c, %along : f32
    %variance = arith.divf %a5, %channels : f32
    %safe = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %safe : f32
    %g = arith.mulf %d, %scale : f32
    %r = arith.addf %g, %a6 : f32
    linalg.yield %r : f32
  } -> tensor<64x64x128xf32>

  // Through the output's projection and attention.
  %update_grad = tensor.collapse_shape %between_grad [[0, 1], [2]] : tensor<64x64x128xf32> into tensor<4096x128xf32>
  %z7 = linalg.fill ins(%zero : f32) outs(%w_out_grad_out : tensor<128x128xf32>) -> tensor<128x128xf32>
  %w_out_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%attended_rows, %update_grad : tensor<4096x128xf32>, tensor<4096x128xf32>)
      outs(%z7 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %e8 = tensor.empty() : tensor<4096x128xf32>
  %z8 = linalg.fill ins(%zero : f32) outs(%e8 : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %attended_grad_rows = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%update_grad, %w_out : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%z8 : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %attended_grad = tensor.expand_shape %attended_grad_rows [[0, 1, 2], [3, 4]] output_shape [1, 64, 64, 4, 32] : tensor<4096x128xf32> into tensor<1x64x64x4x32xf32>
  %query_grad_empty = tensor.empty() : tensor<1x64x64x4x32xf32>
  %key_grad_empty = tensor.empty() : tensor<1x64x64x4x32xf32>
  %value_grad_empty = tensor.empty() : tensor<1x64x64x4x32xf32>
  %gate_grad_empty = tensor.empty() : tensor<1x64x64x4x32xf32>
  %bias_grad_empty = tensor.empty() : tensor<1x1x4x64x64xf32>
  %query_grad, %key_grad, %value_grad, %bias_grad, %gate_grad = evoformer.attention_backward
      query(%query : tensor<1x64x64x4x32xf32>)
      key(%key : tensor<1x64x64x4x32xf32>)
      value(%value : tensor<1x64x64x4x32xf32>)
      bias(%mask : tensor<1x64x1x1x64xi1>)
      bias(%bias : tensor<1x1x4x64x64xf32>)
      gate(%gate : tensor<1x64x64x4x32xf32>)
      output(%attended : tensor<1x64x64x4x32xf32>)
      stats(%stats : tensor<2x1x64x4x64xf32>)
      output_grad(%attended_grad : tensor<1x64x64x4x32xf32>)
      query_grad(%query_grad_empty : tensor<1x64x64x4x32xf32>)
      key_grad(%key_grad_empty : tensor<1x64x64x4x32xf32>)
      value_grad(%value_grad_empty : tensor<1x64x64x4x32xf32>)
      bias_grad[1](%bias_grad_empty : tensor<1x1x4x64x64xf32>)
      gate_grad(%gate_grad_empty : tensor<1x64x64x4x32xf32>)

  // Through the projections.
  %e9 = tensor.empty() : tensor<4096x128xf32>
  %z9 = linalg.fill ins(%zero : f32) outs(%e9 : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %query_grad_rows = tensor.collapse_shape %query_grad [[0, 1, 2], [3, 4]] : tensor<1x64x64x4x32xf32> into tensor<4096x128xf32>
  %z10 = linalg.fill ins(%zero : f32) outs(%w_query_grad_out : tensor<128x128xf32>) -> tensor<128x128xf32>
  %w_query_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%x_rows, %query_grad_rows : tensor<4096x128xf32>, tensor<4096x128xf32>)
      outs(%z10 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %x_grad_query = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%query_grad_rows, %w_query : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%z9 : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %key_grad_rows = tensor.collapse_shape %key_grad [[0, 1, 2], [3, 4]] : tensor<1x64x64x4x32xf32> into tensor<4096x128xf32>
  %z11 = linalg.fill ins(%zero : f32) outs(%w_key_grad_out : tensor<128x128xf32>) -> tensor<128x128xf32>
  %w_key_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%x_rows, %key_grad_rows : tensor<4096x128xf32>, tensor<4096x128xf32>)
      outs(%z11 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %x_grad_key = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%key_grad_rows, %w_key : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%x_grad_query : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %value_grad_rows = tensor.collapse_shape %value_grad [[0, 1, 2], [3, 4]] : tensor<1x64x64x4x32xf32> into tensor<4096x128xf32>
  %z12 = linalg.fill ins(%zero : f32) outs(%w_value_grad_out : tensor<128x128xf32>) -> tensor<128x128xf32>
  %w_value_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%x_rows, %value_grad_rows : tensor<4096x128xf32>, tensor<4096x128xf32>)
      outs(%z12 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %x_grad_value = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%value_grad_rows, %w_value : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%x_grad_key : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %gate_grad_rows = tensor.collapse_shape %gate_grad [[0, 1, 2], [3, 4]] : tensor<1x64x64x4x32xf32> into tensor<4096x128xf32>
  %z13 = linalg.fill ins(%zero : f32) outs(%w_gate_grad_out : tensor<128x128xf32>) -> tensor<128x128xf32>
  %w_gate_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%x_rows, %gate_grad_rows : tensor<4096x128xf32>, tensor<4096x128xf32>)
      outs(%z13 : tensor<128x128xf32>) -> tensor<128x128xf32>
  %x_grad_gate = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%gate_grad_rows, %w_gate : tensor<4096x128xf32>, tensor<128x128xf32>)
      outs(%x_grad_value : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %bias_grad_heads = tensor.collapse_shape %bias_grad [[0, 1, 2], [3], [4]] : tensor<1x1x4x64x64xf32> into tensor<4x64x64xf32>
  %bias_grad_pairs_empty = tensor.empty() : tensor<64x64x4xf32>
  %bias_grad_pairs = linalg.transpose ins(%bias_grad_heads : tensor<4x64x64xf32>) outs(%bias_grad_pairs_empty : tensor<64x64x4xf32>) permutation = [1, 2, 0]
  %bias_grad_rows = tensor.collapse_shape %bias_grad_pairs [[0, 1], [2]] : tensor<64x64x4xf32> into tensor<4096x4xf32>
  %z14 = linalg.fill ins(%zero : f32) outs(%w_bias_grad_out : tensor<128x4xf32>) -> tensor<128x4xf32>
  %w_bias_grad = linalg.matmul indexing_maps = [#left_turned, #right, #product] ins(%x_rows, %bias_grad_rows : tensor<4096x128xf32>, tensor<4096x4xf32>)
      outs(%z14 : tensor<128x4xf32>) -> tensor<128x4xf32>
  %x_grad_rows = linalg.matmul indexing_maps = [#left, #right_turned, #product] ins(%bias_grad_rows, %w_bias : tensor<4096x4xf32>, tensor<128x4xf32>)
      outs(%x_grad_gate : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %x_grad = tensor.expand_shape %x_grad_rows [[0, 1], [2]] output_shape [64, 64, 128] : tensor<4096x128xf32> into tensor<64x64x128xf32>

  // Through the layer norm of %x: its normalised rows, then sums of the gradient over
  // rows and over channels.
  %x_normal = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x_centred, %x_squares : tensor<64x64x128xf32>, tensor<64x64x1xf32>)
      outs(%x_full : tensor<64x64x128xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %variance = arith.divf %a1, %channels : f32
    %safe = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %safe : f32
    %n = arith.mulf %a0, %scale : f32
    linalg.yield %n : f32
  } -> tensor<64x64x128xf32>
  %x_gamma_grad = linalg.generic {indexing_maps = [#full, #full, #channel], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%x_grad, %x_normal : tensor<64x64x128xf32>, tensor<64x64x128xf32>)
      outs(%y_gamma_grad : tensor<128xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x_beta_grad = linalg.generic {indexing_maps = [#full, #channel], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%x_grad : tensor<64x64x128xf32>)
      outs(%y_beta_grad : tensor<128xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %s = arith.addf %a0, %o : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  %x_first = linalg.generic {indexing_maps = [#full, #channel, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x_grad, %gamma : tensor<64x64x128xf32>, tensor<128xf32>)
      outs(%x_zeros : tensor<64x64x1xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %x_second = linalg.generic {indexing_maps = [#full, #channel, #full, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x_grad, %gamma, %x_normal : tensor<64x64x128xf32>, tensor<128xf32>, tensor<64x64x128xf32>)
      outs(%x_zeros : tensor<64x64x1xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %q = arith.mulf %p, %a2 : f32
    %s = arith.addf %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x64x1xf32>
  %pair_grad = linalg.generic {indexing_maps = [#full, #channel, #full, #row, #row, #row, #full, #full], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x_grad, %gamma, %x_normal, %x_first, %x_second, %x_squares, %between_grad : tensor<64x64x128xf32>, tensor<128xf32>, tensor<64x64x128xf32>, tensor<64x64x1xf32>, tensor<64x64x1xf32>, tensor<64x64x1xf32>, tensor<64x64x128xf32>)
      outs(%pair_grad_out : tensor<64x64x128xf32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %o: f32):
    %p = arith.mulf %a0, %a1 : f32
    %m = arith.divf %a3, %channels : f32
    %m2 = arith.divf %a4, %channels : f32
    %along = arith.mulf %a2, %m2 : f32
    %c = arith.subf %p, %m : f32
    %d = arith.subf %c, %along : f32
    %variance = arith.divf %a5, %channels : f32
    %safe = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %safe : f32
    %g = arith.mulf %d, %scale : f32
    %r = arith.addf %g, %a6 : f32
    linalg.yield %r : f32
  } -> tensor<64x64x128xf32>
  return %pair_grad, %x_gamma_grad, %x_beta_grad, %w_query_grad, %w_key_grad, %w_value_grad, %w_gate_grad, %w_bias_grad, %w_out_grad, %w_in_grad, %w_back_grad :
      tensor<64x64x128xf32>, tensor<128xf32>, tensor<128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x4xf32>, tensor<128x128xf32>, tensor<128x512xf32>, tensor<512x128xf32>
}
