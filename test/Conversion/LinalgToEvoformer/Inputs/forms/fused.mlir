#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#p = affine_map<(b, i, d, j) -> (b, i, j)>
#v = affine_map<(b, i, d, j) -> (b, j, d)>
#o = affine_map<(b, i, d, j) -> (b, i, d)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>

// One op computes logits, exponentials and their sum; another the weights and
// their product with values. Ends in a sigmoid written the other way.
func.func @fused(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %bias: tensor<2x5x7xf32>, %g: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %quarter = arith.constant 0.25 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x5xf32>) -> tensor<2x5xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %r = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %bias : tensor<2x5x7xf32>, tensor<2x5x7xf32>) outs(%zr : tensor<2x5xf32>) {
  ^bb0(%score: f32, %b: f32, %acc: f32):
    %x = arith.addf %score, %b : f32
    %y = arith.mulf %x, %quarter : f32
    %e = math.exp2 %y : f32
    %sum = arith.addf %acc, %e : f32
    linalg.yield %sum : f32
  } -> tensor<2x5xf32>
  %o = linalg.generic {indexing_maps = [#p, #p, #v, affine_map<(b, i, d, j) -> (b, i)>, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %bias, %v, %r : tensor<2x5x7xf32>, tensor<2x5x7xf32>, tensor<2x7x4xf32>, tensor<2x5xf32>) outs(%zo : tensor<2x5x4xf32>) {
  ^bb0(%score: f32, %b: f32, %value: f32, %total: f32, %acc: f32):
    %x = arith.addf %b, %score : f32
    %y = arith.mulf %quarter, %x : f32
    %e = math.exp2 %y : f32
    %w = arith.divf %e, %total : f32
    %term = arith.mulf %w, %value : f32
    %sum = arith.addf %acc, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x5x4xf32>
  %gated = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %g : tensor<2x5x4xf32>, tensor<2x5x4xf32>) outs(%eo : tensor<2x5x4xf32>) {
  ^bb0(%in: f32, %gate: f32, %out: f32):
    %e = math.exp %gate : f32
    %d = arith.addf %one, %e : f32
    %sigmoid = arith.divf %e, %d : f32
    %r0 = arith.mulf %in, %sigmoid : f32
    linalg.yield %r0 : f32
  } -> tensor<2x5x4xf32>
  return %gated : tensor<2x5x4xf32>
}
