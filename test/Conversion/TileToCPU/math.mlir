// RUN: evoformer-opt %s --evo-cpu-expand-exp2 --evo-cpu-drop-cast-flags | FileCheck %s
// RUN: evoformer-opt %s --evo-cpu-expand-exp2=scale-bits=128 | FileCheck %s --check-prefix=SCALE

// Vectors of the processor's registers are scaled by one instruction.
// SCALE-LABEL: func.func @exp2(
//       SCALE:   arith.shrsi
//       SCALE:   llvm.call_intrinsic "llvm.ldexp"(%{{.+}}, %{{.+}}) : (vector<4xf32>, vector<4xi32>) -> vector<4xf32>

// Only f32 has the polynomial.
// CHECK-LABEL: func.func @exp2(
//   CHECK-NOT:   math.exp2 %{{.+}} : f32
//   CHECK-NOT:   math.exp2 %{{.+}} : vector<4xf32>
//       CHECK:   math.exp2 %{{.+}} : f64
func.func @exp2(%a: f32, %b: vector<4xf32>, %c: f64) -> (f32, vector<4xf32>, f64) {
  %x = math.exp2 %a : f32
  %y = math.exp2 %b : vector<4xf32>
  %z = math.exp2 %c : f64
  return %x, %y, %z : f32, vector<4xf32>, f64
}

// CHECK-LABEL: func.func @casts(
//  CHECK-SAME:   %[[A:.+]]: f32)
//  CHECK-NEXT:   %[[B:.+]] = arith.truncf %[[A]] : f32 to f16
//  CHECK-NEXT:   arith.extf %[[B]] : f16 to f32
func.func @casts(%a: f32) -> f32 {
  %b = arith.truncf %a fastmath<nnan> : f32 to f16
  %c = arith.extf %b fastmath<nnan> : f16 to f32
  return %c : f32
}
