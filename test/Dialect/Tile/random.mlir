// RUN: evoformer-opt %s --split-input-file --verify-diagnostics --verify-roundtrip | FileCheck %s

// CHECK-LABEL: evo_tile.kernel @draws(
// CHECK:         evo_tile.random %{{.*}}, %{{.*}}, %{{.*}} at[%{{.*}} along 0, %{{.*}} along 1] threshold 6554 : tensor<8x16xi1>
// CHECK:         evo_tile.random %{{.*}}, %{{.*}}, %{{.*}} at[%{{.*}} along 2, %{{.*}} along 1] threshold 65535 multiple 64 : tensor<1x64x8xi1>
evo_tile.kernel @draws(%seed: i64, %offset: i64, %x: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %i = evo_tile.work_item_id 0
  %a = evo_tile.random %seed, %offset, %i at [%i along 0, %c0 along 1] threshold 6554 : tensor<8x16xi1>
  %b = evo_tile.random %seed, %offset, %i at [%i along 2, %c0 along 1] threshold 65535 multiple 64 : tensor<1x64x8xi1>
  %one = arith.constant dense<1.0> : tensor<8x16xf32>
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %c = arith.select %a, %one, %zero : tensor<8x16xi1>, tensor<8x16xf32>
  evo_tile.store %c, %x[%c0, %c0] : tensor<8x16xf32>, memref<8x16xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @dimension(%seed: i64, %offset: i64) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{dimension 2 of a tile of rank 2}}
  %a = evo_tile.random %seed, %offset, %c0 at [%c0 along 0, %c0 along 2] threshold 1 : tensor<8x16xi1>
  evo_tile.return
}

// -----

evo_tile.kernel @dimensions(%seed: i64, %offset: i64) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{rows and columns are along different dimensions, not both along 1}}
  %a = evo_tile.random %seed, %offset, %c0 at [%c0 along 1, %c0 along 1] threshold 1 : tensor<8x16xi1>
  evo_tile.return
}

// -----

evo_tile.kernel @multiple(%seed: i64, %offset: i64) {
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  // expected-error @+1 {{the column 12 is no multiple of 8}}
  %a = evo_tile.random %seed, %offset, %c0 at [%c0 along 0, %c12 along 1] threshold 1 multiple 8 : tensor<8x16xi1>
  evo_tile.return
}

// -----

evo_tile.kernel @threshold(%seed: i64, %offset: i64) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute 'threshold' failed to satisfy constraint}}
  %a = evo_tile.random %seed, %offset, %c0 at [%c0 along 0, %c0 along 1] threshold 65536 : tensor<8x16xi1>
  evo_tile.return
}

// -----

evo_tile.kernel @element(%seed: i64, %offset: i64) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{result #0 must be statically shaped tensor of 1-bit signless integer values}}
  %a = evo_tile.random %seed, %offset, %c0 at [%c0 along 0, %c0 along 1] threshold 1 : tensor<8x16xi16>
  evo_tile.return
}
