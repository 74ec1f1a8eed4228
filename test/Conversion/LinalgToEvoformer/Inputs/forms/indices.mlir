// Logits computed with indices: causal, a slope a head, and one of the index of
// batch and head together, which the op has apart.
func.func @indices(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x5x4xf32>, %v: tensor<2x3x5x4xf32>, %slope: tensor<3xf32>) -> tensor<2x3x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 0.01 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<6x5x5xf32>
  %er = tensor.empty() : tensor<6x5xf32>
  %eo = tensor.empty() : tensor<6x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<6x5x5xf32>) -> tensor<6x5x5xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<6x5xf32>) -> tensor<6x5xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x5x4xf32> into tensor<6x5x4xf32>
  %k3 = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x3x5x4xf32> into tensor<6x5x4xf32>
  %v3 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x5x4xf32> into tensor<6x5x4xf32>
  %s3 = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>] ins(%q3, %k3 : tensor<6x5x4xf32>, tensor<6x5x4xf32>) outs(%zs : tensor<6x5x5xf32>) -> tensor<6x5x5xf32>
  %t3 = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s3 : tensor<6x5x5xf32>) outs(%es : tensor<6x5x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %b = linalg.index 0 : index
    %j = linalg.index 2 : index
    %product = arith.muli %b, %j : index
    %number = arith.index_cast %product : index to i32
    %float = arith.sitofp %number : i32 to f32
    %bias = arith.mulf %float, %small : f32
    %x = arith.subf %in, %bias : f32
    linalg.yield %x : f32
  } -> tensor<6x5x5xf32>
  %s = tensor.expand_shape %t3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 5] : tensor<6x5x5xf32> into tensor<2x3x5x5xf32>
  %es4 = tensor.empty() : tensor<2x3x5x5xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (h)>, affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %slope : tensor<2x3x5x5xf32>, tensor<3xf32>) outs(%es4 : tensor<2x3x5x5xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %distance = arith.subi %j, %i : index
    %number = arith.index_cast %distance : index to i32
    %float = arith.sitofp %number : i32 to f32
    %bias = arith.mulf %float, %m : f32
    %x = arith.addf %in, %bias : f32
    %keep = arith.cmpi sle, %j, %i : index
    %y = arith.select %keep, %x, %lowest : f32
    %z = math.exp %y : f32
    linalg.yield %z : f32
  } -> tensor<2x3x5x5xf32>
  %e3 = tensor.collapse_shape %e [[0, 1], [2], [3]] : tensor<2x3x5x5xf32> into tensor<6x5x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e3 : tensor<6x5x5xf32>) outs(%zr : tensor<6x5xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<6x5xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e3, %r : tensor<6x5x5xf32>, tensor<6x5xf32>) outs(%es : tensor<6x5x5xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %w = arith.divf %in, %total : f32
    linalg.yield %w : f32
  } -> tensor<6x5x5xf32>
  %o = linalg.batch_matmul ins(%p, %v3 : tensor<6x5x5xf32>, tensor<6x5x4xf32>) outs(%zo : tensor<6x5x4xf32>) -> tensor<6x5x4xf32>
  %o4 = tensor.expand_shape %o [[0, 1], [2], [3]] output_shape [2, 3, 5, 4] : tensor<6x5x4xf32> into tensor<2x3x5x4xf32>
  return %o4 : tensor<2x3x5x4xf32>
}
