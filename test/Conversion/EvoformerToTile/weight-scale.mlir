// A matrix unit that takes subnormal operands for 0 (gfx90a's) would lose small
// weights of f16: they are narrowed 2^15 times as large, which the factor of the
// result undoes. bf16 reaches down to f32's smallest numbers.

// RUN: evoformer-opt %s --evoformer-lower='target=gfx90a stop-after=tiles' | FileCheck %s
// RUN: evoformer-opt %s --evoformer-lower='target=gfx942 stop-after=tiles' | FileCheck %s --check-prefix=PLAIN
// RUN: sed s/f16/bf16/g %s > %t.mlir
// RUN: evoformer-opt %t.mlir --evoformer-lower='target=gfx90a stop-after=tiles' | FileCheck %s --check-prefix=PLAIN

// PLAIN-NOT: 3.276800e+04
// PLAIN-NOT: 3.05175781E-5

// CHECK-LABEL: evo_tile.kernel @forward_attention
// CHECK-DAG: %[[UP:.*]] = arith.constant dense<3.276800e+04>
// CHECK-DAG: %[[DOWN:.*]] = arith.constant dense<3.05175781E-5>
// CHECK: %[[RAISED:.*]] = arith.mulf %{{.*}}, %[[UP]]
// CHECK: arith.truncf %[[RAISED]] : {{.*}}f16>
// CHECK: arith.divf %[[DOWN]]
func.func @forward(%q: tensor<1x1x64x1x32xf16>, %k: tensor<1x1x64x1x32xf16>,
                   %v: tensor<1x1x64x1x32xf16>, %o: tensor<1x1x64x1x32xf16>)
    -> tensor<1x1x64x1x32xf16> {
  %r = evoformer.attention
      query(%q : tensor<1x1x64x1x32xf16>) key(%k : tensor<1x1x64x1x32xf16>)
      value(%v : tensor<1x1x64x1x32xf16>) outs(%o : tensor<1x1x64x1x32xf16>)
  return %r : tensor<1x1x64x1x32xf16>
}
