// What looks like attention and is none: left as it is, with a remark that says
// why. Each function differs in one thing from one that is raised.
//
// RUN: evoformer-opt %s --evoformer-raise-attention --remarks-filter="evoformer-raise.*" --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: evoformer-opt %s --evoformer-raise-attention | FileCheck %s --check-prefix=NONE
// RUN: evoformer-opt %s --evoformer-raise-attention="rows-without-keys=zero drop-below=-1e9" --remarks-filter="evoformer-raise.*" --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=OPTIONS
// NONE-NOT: evoformer.attention
// OPTIONS-COUNT-2: [Passed] raised
// OPTIONS-NOT: [Passed] raised
// The last function comes first.
// CHECK: [Missed] used |
// CHECK: [Missed] depth |
// CHECK: [Missed] layout |
// CHECK: [Missed] inexpressible |
// CHECK: [Missed] bias-dimensions |
// CHECK: [Missed] dimensions |
// CHECK: [Missed] scale |
// CHECK: [Missed] element-type |
// CHECK: [Missed] rounding |
// CHECK: [Missed] zeroed-weights |
// CHECK: [Missed] rows-without-keys |
// CHECK: [Missed] finite-mask |
// CHECK: [Missed] two-scores |
// CHECK: [Missed] no-score |
// CHECK: [Missed] coefficient |
// CHECK: [Missed] factor |
// CHECK: [Missed] different-sum |
// CHECK: [Missed] no-sum |
// CHECK-NOT: {{\[Missed\]|\[Passed\]}}
// CHECK: module

#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>

// Weights that nothing divides.
func.func @no_sum(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %out: f32):
    %e = math.exp %x0 : f32
    linalg.yield %e : f32
  } -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// The sum is one of other exponentials.
func.func @different_sum(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %out: f32):
    %y = math.exp %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %e2 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %out: f32):
    %y = math.exp2 %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x5xf32>) -> tensor<2x5xf32>
  %r = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e2 : tensor<2x5x7xf32>) outs(%zr : tensor<2x5xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<2x5xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %r : tensor<2x5x7xf32>, tensor<2x5xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: f32, %out: f32):
    %y = arith.divf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Weights are multiplied by numbers, as dropout does.
func.func @factor(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %m: tensor<2x5x7xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %m : tensor<2x5x7xf32>, tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: f32, %out: f32):
    %y = arith.mulf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Weights are doubled.
func.func @coefficient(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %two = arith.constant 2.0 : f32
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %out: f32):
    %y = arith.mulf %x0, %two : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Logits through a cap.
func.func @no_score(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %out: f32):
    %y = math.tanh %x0 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Two products of queries and keys.
func.func @two_scores(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %q2: tensor<2x5x4xf32>, %k2: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %s2 = linalg.contract indexing_maps = [#q, #k, #s] ins(%q2, %k2 : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %s2 : tensor<2x5x7xf32>, tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: f32, %out: f32):
    %y = arith.addf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// A mask by the lowest number: a row without keys is the mean of values.
func.func @finite_mask(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %m: tensor<2x5x7xi1>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %low = arith.constant -1.0e+9 : f32
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<2x5x7xf32>, tensor<2x5x7xi1>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: i1, %out: f32):
    %y = arith.select %x1, %x0, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// A mask by minus infinity: a row without keys is NaN.
func.func @rows_without_keys(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %m: tensor<2x5x7xi1>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %low = arith.constant 0xFF800000 : f32
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<2x5x7xf32>, tensor<2x5x7xi1>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: i1, %out: f32):
    %y = arith.select %x1, %x0, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// A mask after the softmax.
func.func @zeroed_weights(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %m: tensor<2x5x7xi1>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %w = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %m : tensor<2x5x7xf32>, tensor<2x5x7xi1>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: i1, %out: f32):
    %y = arith.select %x1, %x0, %zero : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Logits of f32 operands in bf16.
func.func @rounding(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %out: f32):
    %y = arith.truncf %x0 : f32 to bf16
    %z = arith.extf %y : bf16 to f32
    linalg.yield %z : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Operands of f64.
func.func @element_type(%q: tensor<2x5x4xf64>, %k: tensor<2x7x4xf64>, %v: tensor<2x7x4xf64>) -> tensor<2x5x4xf64> {
  %zero = arith.constant 0.0 : f64
  %es = tensor.empty() : tensor<2x5x7xf64>
  %er = tensor.empty() : tensor<2x5xf64>
  %eo = tensor.empty() : tensor<2x5x4xf64>
  %zs = linalg.fill ins(%zero : f64) outs(%es : tensor<2x5x7xf64>) -> tensor<2x5x7xf64>
  %zo = linalg.fill ins(%zero : f64) outs(%eo : tensor<2x5x4xf64>) -> tensor<2x5x4xf64>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf64>, tensor<2x7x4xf64>) outs(%zs : tensor<2x5x7xf64>) -> tensor<2x5x7xf64>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x7xf64>) outs(%es : tensor<2x5x7xf64>) -> tensor<2x5x7xf64>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf64>, tensor<2x7x4xf64>) outs(%zo : tensor<2x5x4xf64>) -> tensor<2x5x4xf64>
  return %o : tensor<2x5x4xf64>
}

// A scale that f32 does not hold.
func.func @scale(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %huge = arith.constant 1.0e+30 : f32
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %out: f32):
    %y = arith.mulf %x0, %huge : f32
    %z = arith.mulf %y, %huge : f32
    linalg.yield %z : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Queries that all batches share.
func.func @dimensions(%q: tensor<5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, i, j, d) -> (i, d)>, #k, #s] ins(%q, %k : tensor<5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// A bias read along a diagonal.
func.func @bias_dimensions(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %t: tensor<5x5x7xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, affine_map<(b, i, j) -> (i, i, j)>, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %t : tensor<2x5x7xf32>, tensor<5x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: f32, %out: f32):
    %y = arith.addf %x0, %x1 : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// The same, multiplied by something.
func.func @inexpressible(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %t: tensor<5x5x7xf32>) -> tensor<2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %x = linalg.generic {indexing_maps = [#all, affine_map<(b, i, j) -> (i, i, j)>, affine_map<(b, i, j) -> (i, i, j)>, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %t, %t : tensor<2x5x7xf32>, tensor<5x5x7xf32>, tensor<5x5x7xf32>) outs(%es : tensor<2x5x7xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32, %out: f32):
    %z = arith.mulf %x1, %x2 : f32
    %y = arith.addf %x0, %z : f32
    linalg.yield %y : f32
  } -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// Queries that lie on both sides of the batch.
func.func @layout(%q: tensor<3x2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> tensor<3x2x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<3x2x5x7xf32>
  %eo = tensor.empty() : tensor<3x2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<3x2x5x7xf32>) -> tensor<3x2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<3x2x5x4xf32>) -> tensor<3x2x5x4xf32>
  %s = linalg.contract indexing_maps = [affine_map<(h, b, i, j, d) -> (h, b, i, d)>, affine_map<(h, b, i, j, d) -> (b, j, d)>, affine_map<(h, b, i, j, d) -> (h, b, i, j)>] ins(%q, %k : tensor<3x2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<3x2x5x7xf32>) -> tensor<3x2x5x7xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<3x2x5x7xf32>) outs(%es : tensor<3x2x5x7xf32>) -> tensor<3x2x5x7xf32>
  %o = linalg.contract indexing_maps = [affine_map<(h, b, i, d, j) -> (h, b, i, j)>, affine_map<(h, b, i, d, j) -> (b, j, d)>, affine_map<(h, b, i, d, j) -> (h, b, i, d)>] ins(%p, %v : tensor<3x2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<3x2x5x4xf32>) -> tensor<3x2x5x4xf32>
  return %o : tensor<3x2x5x4xf32>
}

// A depth above 256.
func.func @depth(%q: tensor<2x5x300xf32>, %k: tensor<2x7x300xf32>, %v: tensor<2x7x300xf32>) -> tensor<2x5x300xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x300xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x300xf32>) -> tensor<2x5x300xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x300xf32>, tensor<2x7x300xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x300xf32>) outs(%zo : tensor<2x5x300xf32>) -> tensor<2x5x300xf32>
  return %o : tensor<2x5x300xf32>
}

// The weights are a result too.
func.func @used(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x5x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x5x7xf32>
  %er = tensor.empty() : tensor<2x5xf32>
  %eo = tensor.empty() : tensor<2x5x4xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<2x5x4xf32>, tensor<2x7x4xf32>) outs(%zs : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x5x7xf32>) outs(%es : tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x5x7xf32>, tensor<2x7x4xf32>) outs(%zo : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %o, %p : tensor<2x5x4xf32>, tensor<2x5x7xf32>
}
