// What becomes an attention, whatever ops it is made of.
//
// RUN: evoformer-opt %s --evoformer-raise-attention --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --evoformer-raise-attention --evoformer-lower="target=gfx942 stop-after=tiles" | FileCheck %s --check-prefix=LOWERED
// LOWERED-COUNT-8: evo_tile.kernel

#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#p = affine_map<(b, i, d, j) -> (b, i, j)>
#v = affine_map<(b, i, d, j) -> (b, j, d)>
#o = affine_map<(b, i, d, j) -> (b, i, d)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>

// Named ops, sizes that are not known, and a softmax that is one op.
// CHECK-LABEL: func.func @named(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x4xf32>, %[[K:.*]]: tensor<?x?x4xf32>, %[[V:.*]]: tensor<?x?x3xf32>
// CHECK-NOT: linalg
// CHECK: evoformer.attention
// CHECK-NEXT: query(%{{.*}} as bnhsd : tensor<1x1x?x?x4xf32>)
// CHECK-NEXT: key(%{{.*}} as bnhsd : tensor<1x1x?x?x4xf32>)
// CHECK-NEXT: value(%{{.*}} as bnhsd : tensor<1x1x?x?x3xf32>)
// CHECK-NEXT: outs(%{{.*}} as bnhsd : tensor<1x1x?x?x3xf32>)
// CHECK-NEXT: scale(1.000000e+00)
// CHECK-NOT: linalg
// CHECK: return
func.func @named(%q: tensor<?x?x4xf32>, %k: tensor<?x?x4xf32>, %v: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x4xf32>
  %i = tensor.dim %q, %c1 : tensor<?x?x4xf32>
  %j = tensor.dim %k, %c1 : tensor<?x?x4xf32>
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty(%b, %i, %j) : tensor<?x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x?x4xf32>, tensor<?x?x4xf32>) outs(%zs : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<?x?x?xf32>) outs(%es : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %eo = tensor.empty(%b, %i) : tensor<?x?x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<?x?x?xf32>, tensor<?x?x3xf32>) outs(%zo : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %o : tensor<?x?x3xf32>
}

// One op computes logits, exponentials and their sum; another the weights and
// their product with values. Ends in a sigmoid written the other way.
// CHECK-LABEL: func.func @fused(
// CHECK: %[[BIAS:.*]] = linalg.generic
// CHECK: arith.mulf %{{.*}}, %cst
// CHECK: evoformer.attention
// CHECK: bias(%{{.*}} : tensor<1x1x2x5x7xf32>)
// CHECK-NEXT: gate(%{{.*}} as bnhsd : tensor<1x1x2x5x4xf32>)
// CHECK: scale(0.173286796)
// CHECK-NOT: linalg
// CHECK: return
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

// arith and math on tensors, bf16 with a softmax in f32, weights rounded to bf16.
// The key is scaled and lies transposed.
// CHECK-LABEL: func.func @rounded(
// CHECK: evoformer.attention
// CHECK-NEXT: query(%{{.*}} as bnhsd : tensor<1x1x2x5x4xbf16>)
// CHECK-NEXT: key(%{{.*}} as bnhds : tensor<1x1x2x4x7xbf16>)
// CHECK: outs(%{{.*}} as bnhsd : tensor<1x1x2x5x4xbf16>)
// CHECK-NEXT: scale(5.000000e-01)
func.func @rounded(%q: tensor<2x5x4xbf16>, %k: tensor<2x4x7xbf16>, %v: tensor<2x7x4xbf16>) -> tensor<2x5x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %zero32 = arith.constant 0.0 : f32
  %half = arith.constant dense<0.5> : tensor<2x4x7xbf16>
  %k0 = arith.mulf %k, %half : tensor<2x4x7xbf16>
  %es = tensor.empty() : tensor<2x5x7xbf16>
  %er = tensor.empty() : tensor<2x5x1xf32>
  %eo = tensor.empty() : tensor<2x5x4xbf16>
  %zs = linalg.fill ins(%zero : bf16) outs(%es : tensor<2x5x7xbf16>) -> tensor<2x5x7xbf16>
  %zr = linalg.fill ins(%zero32 : f32) outs(%er : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %zo = linalg.fill ins(%zero : bf16) outs(%eo : tensor<2x5x4xbf16>) -> tensor<2x5x4xbf16>
  %s = linalg.batch_matmul ins(%q, %k0 : tensor<2x5x4xbf16>, tensor<2x4x7xbf16>) outs(%zs : tensor<2x5x7xbf16>) -> tensor<2x5x7xbf16>
  %s32 = arith.extf %s : tensor<2x5x7xbf16> to tensor<2x5x7xf32>
  %e = math.exp %s32 : tensor<2x5x7xf32>
  %r = linalg.generic {indexing_maps = [#all, affine_map<(b, i, j) -> (b, i, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x5x7xf32>) outs(%zr : tensor<2x5x1xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %sum = arith.addf %in, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x5x1xf32>
  %es32 = tensor.empty() : tensor<2x5x7xf32>
  %r0 = tensor.collapse_shape %r [[0], [1, 2]] : tensor<2x5x1xf32> into tensor<2x5xf32>
  %r1 = linalg.broadcast ins(%r0 : tensor<2x5xf32>) outs(%es32 : tensor<2x5x7xf32>) dimensions = [2]
  %w = arith.divf %e, %r1 : tensor<2x5x7xf32>
  %w16 = arith.truncf %w : tensor<2x5x7xf32> to tensor<2x5x7xbf16>
  %o = linalg.batch_matmul ins(%w16, %v : tensor<2x5x7xbf16>, tensor<2x7x4xbf16>) outs(%zo : tensor<2x5x4xbf16>) -> tensor<2x5x4xbf16>
  return %o : tensor<2x5x4xbf16>
}

// Weights that a mask leaves out of their sum, over rows that torch's safe
// softmax zeroes; heads that share keys, and a pair bias without the group.
// CHECK-LABEL: func.func @grouped(
// CHECK: %[[DROP:.*]] = linalg.generic
// CHECK: arith.xori
// CHECK: evoformer.attention
// CHECK-NEXT: query(%{{.*}} as bnhsd : tensor<1x1x6x5x4xf32>)
// CHECK-NEXT: key(%{{.*}} as bnhsd : tensor<1x1x2x7x4xf32>)
// CHECK-NEXT: value(%{{.*}} as bnhsd : tensor<1x1x2x7x4xf32>)
// CHECK-NEXT: bias(%{{.*}} : tensor<1x1x1x5x7xi1>)
// CHECK: group_size(3)
func.func @grouped(%q: tensor<2x3x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %drop: tensor<5x7xi1>) -> tensor<2x3x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %true = arith.constant true
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x3x5x7xf32>
  %er = tensor.empty() : tensor<2x3x5xf32>
  %eb = tensor.empty() : tensor<2x3x5xi1>
  %eo = tensor.empty() : tensor<2x3x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %zb = linalg.fill ins(%true : i1) outs(%eb : tensor<2x3x5xi1>) -> tensor<2x3x5xi1>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %s = linalg.contract indexing_maps = [affine_map<(h, g, i, j, d) -> (h, g, i, d)>, affine_map<(h, g, i, j, d) -> (h, j, d)>, affine_map<(h, g, i, j, d) -> (h, g, i, j)>] ins(%q, %k : tensor<2x3x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(h, g, i, j) -> (h, g, i, j)>, affine_map<(h, g, i, j) -> (i, j)>, affine_map<(h, g, i, j) -> (h, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %drop : tensor<2x3x5x7xf32>, tensor<5x7xi1>) outs(%es : tensor<2x3x5x7xf32>) {
  ^bb0(%in: f32, %m: i1, %out: f32):
    %y = arith.select %m, %lowest, %in : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x7xf32>
  %none = linalg.generic {indexing_maps = [affine_map<(h, g, i, j) -> (h, g, i, j)>, affine_map<(h, g, i, j) -> (h, g, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x : tensor<2x3x5x7xf32>) outs(%zb : tensor<2x3x5xi1>) {
  ^bb0(%in: f32, %acc: i1):
    %same = arith.cmpf oeq, %in, %lowest : f32
    %and = arith.andi %same, %acc : i1
    linalg.yield %and : i1
  } -> tensor<2x3x5xi1>
  %p = linalg.softmax dimension(3) ins(%x : tensor<2x3x5x7xf32>) outs(%es : tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(h, g, i, j) -> (h, g, i, j)>, affine_map<(h, g, i, j) -> (h, g, i)>, affine_map<(h, g, i, j) -> (h, g, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %none : tensor<2x3x5x7xf32>, tensor<2x3x5xi1>) outs(%es : tensor<2x3x5x7xf32>) {
  ^bb0(%in: f32, %m: i1, %out: f32):
    %y = arith.select %m, %zero, %in : f32
    linalg.yield %y : f32
  } -> tensor<2x3x5x7xf32>
  %o = linalg.contract indexing_maps = [affine_map<(h, g, i, d, j) -> (h, g, i, j)>, affine_map<(h, g, i, d, j) -> (h, j, d)>, affine_map<(h, g, i, d, j) -> (h, g, i, d)>] ins(%w, %v : tensor<2x3x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  return %o : tensor<2x3x5x4xf32>
}
