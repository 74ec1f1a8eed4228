// What becomes of a score's region: a sum is what products start from, distances are
// differences of numbers, functions take few operations, and where logits may grow along
// a row the reference of its weights is raised: of f16 before its weights are made, of
// bf16, which holds large ones, after they were added.
//
// RUN: split-file %s %t
// RUN: evoformer-opt %t/alibi.mlir --convert-evoformer-to-tile="target=sm_80" | FileCheck %t/alibi.mlir
// RUN: sed s/bf16/f16/g %t/alibi.mlir | evoformer-opt --convert-evoformer-to-tile="target=sm_80" | FileCheck %t/alibi.mlir --check-prefix=F16
// RUN: evoformer-opt %t/alibi.mlir --convert-evoformer-to-tile="target=cpu" | FileCheck %t/alibi.mlir --check-prefix=CPU
// RUN: evoformer-opt %t/softcap.mlir --convert-evoformer-to-tile="target=gfx942" | FileCheck %t/softcap.mlir

//--- alibi.mlir

// The slope meets the scale before the loop.
// CHECK-LABEL: evo_tile.kernel @alibi_attention(
//       CHECK:   scf.for
//   CHECK-NOT:     arith.sitofp {{.*}} : tensor<1x{{[0-9]+}}x{{[0-9]+}}xi32>
//       CHECK:     %[[DISTANCE:.*]] = arith.subf {{.*}} : tensor<1x[[TILE:[0-9]+x[0-9]+]]xf32>
//       CHECK:     %[[SIZE:.*]] = math.absf %[[DISTANCE]]
//       CHECK:     %[[SUMMAND:.*]] = arith.mulf {{.*}}%[[SIZE]]
//       CHECK:     %[[LOGITS:.*]] = evo_tile.mma {{.*}}, %[[SUMMAND]]
//   CHECK-NOT:     arith.mulf %[[LOGITS]],

// The first block with a key.
//       CHECK:     %[[REFERENCE:.*]] = evo_tile.where
//       CHECK:       evo_tile.reduce max %[[LOGITS]] dim 2 :

//       CHECK:     %[[WEIGHTS:.*]] = math.exp2
//       CHECK:     %[[PART:.*]] = evo_tile.reduce add %[[WEIGHTS]] dim 2 :
//       CHECK:     %[[SUM:.*]] = arith.addf %{{.*}}, %[[PART]]
//       CHECK:     %[[OUT:.*]] = evo_tile.mma

// A block whose weights are large.
//       CHECK:     %[[HELD:.*]] = evo_tile.reduce add %[[WEIGHTS]] dim 2 held
//       CHECK:     %[[LARGE:.*]] = arith.cmpf ogt, %[[HELD]],
//       CHECK:     %[[NEXT:.*]]:3 = evo_tile.where %[[LARGE]], %[[OUT]], %[[REFERENCE]], %[[SUM]] {
//       CHECK:       %[[ALL:.*]] = evo_tile.reduce add %[[WEIGHTS]] dim 2 :
//       CHECK:       %[[HALF:.*]] = arith.mulf %[[ALL]],
//       CHECK:       %[[LOG:.*]] = math.log2 %[[HALF]]
//       CHECK:       arith.subf %[[REFERENCE]], %[[LOG]]
//       CHECK:     scf.yield %[[NEXT]]#0, %[[NEXT]]#1, %[[NEXT]]#2

// A block whose largest logits are much larger than those before, or that has the first key.
// F16-LABEL: evo_tile.kernel @alibi_attention(
//       F16:     %[[LOGITS:.*]] = evo_tile.mma
//       F16:     %[[MAX:.*]] = evo_tile.reduce max %[[LOGITS]] dim 2 held
//       F16:     %[[EXPONENT:.*]] = math.fma %[[MAX]],
//       F16:     %[[GROWS:.*]] = arith.cmpf ogt, %[[EXPONENT]],
//       F16:     %[[ISFIRST:.*]] = arith.cmpf oeq, %{{.*}}, %{{.*}} : tensor<1x128xf32>
//       F16:     %[[AND:.*]] = arith.andi %{{.*}}, %[[ISFIRST]]
//       F16:     %[[NEW:.*]] = arith.ori %[[GROWS]], %[[AND]]
//       F16:     evo_tile.where %[[NEW]],
//       F16:       evo_tile.reduce max %[[LOGITS]] dim 2 :

// CPU-LABEL: evo_tile.kernel @alibi_attention(
//       CPU:   %[[LOGITS:.*]] = evo_tile.mma {{.*}} %cst
//       CPU:   math.absf
//   CPU-NOT:   evo_tile.where
func.func @alibi(%query: memref<1x1x128x4x32xbf16>, %key: memref<1x1x128x4x32xbf16>,
                 %value: memref<1x1x128x4x32xbf16>, %slopes: memref<1x1x4x1x1xf32>,
                 %out: memref<1x1x128x4x32xbf16>) {
  evoformer.attention
      query(%query : memref<1x1x128x4x32xbf16>)
      key(%key : memref<1x1x128x4x32xbf16>)
      value(%value : memref<1x1x128x4x32xbf16>)
      capture(%slopes : memref<1x1x4x1x1xf32>)
      outs(%out : memref<1x1x128x4x32xbf16>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32,
            %slope: f32) {
        %last = arith.addi %i, %sk : i32
        %place = arith.subi %last, %sq : i32
        %behind = arith.subi %place, %j : i32
        %steps = arith.sitofp %behind : i32 to f32
        %distance = math.absf %steps : f32
        %term = arith.mulf %slope, %distance : f32
        %logit = arith.subf %x, %term : f32
        evoformer.yield %logit : f32
      }
  return
}

//--- softcap.mlir

// Two functions and no division.
// CHECK-LABEL: evo_tile.kernel @softcap_attention(
//       CHECK:   scf.for
//       CHECK:     %[[SCORES:.*]] = evo_tile.mma
//   CHECK-NOT:     arith.divf {{.*}} : tensor<1x{{[0-9]+}}x{{[0-9]+}}xf32>
//       CHECK:     %[[POWER:.*]] = math.exp2
//       CHECK:     arith.divf {{.*}} fastmath<arcp> : tensor
//       CHECK:     math.copysign
//   CHECK-NOT:     arith.divf {{.*}} : tensor<1x{{[0-9]+}}x{{[0-9]+}}xf32>
//       CHECK:     arith.select
//   CHECK-NOT:     arith.divf {{.*}} : tensor<1x{{[0-9]+}}x{{[0-9]+}}xf32>
//       CHECK:     evo_tile.mma
func.func @softcap(%query: memref<1x1x128x4x32xbf16>, %key: memref<1x1x128x4x32xbf16>,
                   %value: memref<1x1x128x4x32xbf16>, %out: memref<1x1x128x4x32xbf16>) {
  evoformer.attention
      query(%query : memref<1x1x128x4x32xbf16>)
      key(%key : memref<1x1x128x4x32xbf16>)
      value(%value : memref<1x1x128x4x32xbf16>)
      outs(%out : memref<1x1x128x4x32xbf16>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32) {
        %cap = arith.constant 30.0 : f32
        %share = arith.divf %x, %cap : f32
        %tanh = math.tanh %share : f32
        %logit = arith.mulf %tanh, %cap : f32
        evoformer.yield %logit : f32
      }
  return
}
