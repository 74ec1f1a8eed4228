// RUN: evoformer-opt %s --convert-tile-to-cpu --split-input-file --verify-diagnostics
// The pipeline says the same.
// RUN: not evoformer-opt %s --evo-tile-to-cpu-llvm --split-input-file -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: 'evo_tile.mma' op sums products of 'f32' in 'i32'

evo_tile.kernel @mixed(%c: memref<2x2xi32>) {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<1.0> : tensor<2x2xf32>
  %s = arith.constant dense<1> : tensor<2x2xi32>
  // expected-error @below {{sums products of 'f32' in 'i32'; on the CPU operands are of the sum's type or a narrower one}}
  %r = evo_tile.mma %a, %a, %s : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xi32>
  evo_tile.store %r, %c[%c0, %c0] : tensor<2x2xi32>, memref<2x2xi32>
  evo_tile.return
}

// -----

evo_tile.kernel @extents() {
  evo_tile.return
}

func.func @host(%n: index) {
  // expected-note @below {{the other launch}}
  evo_tile.launch @extents space(%n) args()
  // expected-error @below {{has 2 extents, another launch of 'extents' has 1}}
  evo_tile.launch @extents space(%n, %n) args()
  return
}

// -----

evo_tile.kernel @third() {
  %i = evo_tile.work_item_id 2
  evo_tile.return
}

func.func @host(%n: index) {
  // expected-error @below {{has 1 extents, 'third' uses 3}}
  evo_tile.launch @third space(%n) args()
  return
}

// -----

evo_tile.kernel @element(%x: memref<4xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{makes a tile of 'f8E4M3FN'; the CPU has integers of up to 64 bits, f16, bf16, f32, f64}}
  %t = evo_tile.load %x[%c0] : memref<4xf8E4M3FN> -> tensor<4xf8E4M3FN>
  evo_tile.return
}

// -----

// expected-error @below {{'evo_tile.num_extents' must be from 0 to 16, got 9223372036854775807}}
evo_tile.kernel @count() attributes {evo_tile.num_extents = 9223372036854775807 : i64} {
  evo_tile.return
}

// -----

evo_tile.kernel @constant(%y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{a constant tile must be a dense elements attribute}}
  %t = arith.constant dense_resource<none> : tensor<4xf32, #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>>
  evo_tile.return
}

// -----

evo_tile.kernel @nested(%n: index) {
  // expected-error @below {{has no lowering to the CPU}}
  evo_tile.launch @nested space(%n) args(%n : index)
  evo_tile.return
}

// -----

evo_tile.kernel @rounding(%x: memref<4xf32>, %y: memref<4xf16>) {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0] : memref<4xf32> -> tensor<4xf32>
  // expected-error @below {{with rounding mode upward is not supported; f32 to bf16 can round to_nearest_even, to_nearest_away and toward_zero, other types to_nearest_even}}
  %n = arith.truncf %t upward : tensor<4xf32> to tensor<4xf16>
  evo_tile.store %n, %y[%c0] : tensor<4xf16>, memref<4xf16>
  evo_tile.return
}

// -----

evo_tile.kernel @rounding_scalar(%x: f32, %y: memref<4xf16>) {
  // expected-error @below {{with rounding mode toward_zero is not supported}}
  %n = arith.truncf %x toward_zero : f32 to f16
  evo_tile.return
}

// -----

evo_tile.kernel @reduce(%y: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<1> : tensor<4x4xindex>
  // expected-error @below {{reduces floats and integers on the CPU, not 'index'}}
  %s = evo_tile.reduce add %t dim 0 : tensor<4x4xindex> -> tensor<4xindex>
  evo_tile.store %s, %y[%c0] : tensor<4xindex>, memref<4xindex>
  evo_tile.return
}
