// Products of f32 become products of the terms that the target's instruction
// multiplies: three of tf32 on sm_80, six of bf16 on a chip that says so. Terms
// are made once for a tile, and outside of the loop that multiplies it.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s "block = [1, 16, 32], subgroups = [1, 1, 1], stages = 1" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --evo-tile-split-products | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --evo-tile-split-products --remarks-filter='evo-tile-split.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: instruction=mma_m16n8k8_tf32, products=3, terms=2
//
// Its own result it leaves alone, and what it finds split another pass lowers.
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --evo-tile-split-products -o %t.once
// RUN: evoformer-opt %t.once --evo-tile-split-products -o %t.again
// RUN: diff %t.once %t.again
// RUN: evoformer-opt %t.once --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES
// LANES-LABEL: gpu.func @chain
// LANES: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"
// LANES-NOT: llvm.fma.f32
//
// Unsplit it is refused there.
// RUN: not evoformer-opt %t.sm_80 --evo-tile-assign-layouts --convert-tile-to-gpu 2>&1 | FileCheck %s --check-prefix=UNSPLIT
// UNSPLIT: error: 'evo_tile.mma' op multiplies 'f32', but mma_m16n8k8_tf32 multiplies 'tf32'; evo-tile-split-products makes one of the other
//
// A chip whose bf16 instruction serves f32 by three terms, cut off so that none
// is infinite.
// RUN: sed -e 's/intrinsic = "llvm.nvvm.mma.m16n8k16.row.col.bf16"/&, terms = 3/' -e 's/#mma_m16n8k8_tf32, //' %t.sm_80 > %t.bf16
// RUN: evoformer-opt %t.bf16 --evo-tile-assign-layouts --evo-tile-split-products | FileCheck %s --check-prefixes=CHECK,BF16
//
// Where products are to be exact there is nothing to split.
// RUN: sed 's/target = #target, //' %t.sm_80 > %t.untargeted
// RUN: evoformer-opt %t.untargeted --evoformer-lower='target=sm_80 f32-products=exact stop-after=pipelined' | FileCheck %s --check-prefix=EXACT
// EXACT-NOT: tf32
// EXACT: fma_f32_8x4x1
// RUN: not evoformer-opt %t.untargeted --evoformer-lower='target=sm_80 f32-products=tf32' 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: f32-products is split or exact, not 'tf32'

// CHECK-LABEL: evo_tile.kernel @chain
// TF32: %[[Q:.*]] = evo_tile.load
// TF32-NEXT: %[[BITS:.*]] = arith.bitcast %[[Q]]
// TF32: %[[UP:.*]] = arith.addi %[[BITS]], %
// TF32: %[[CUT:.*]] = arith.andi %[[UP]], %
// TF32-NEXT: %[[Q0:.*]] = arith.bitcast %[[CUT]]
// TF32-NEXT: %[[Q1:.*]] = arith.subf %[[Q]], %[[Q0]]
// TF32: scf.for
// TF32: %[[K0:.*]] = arith.bitcast {{.*}} to tensor<16x32xf32
// TF32-NEXT: %[[K1:.*]] = arith.subf
// The initial value is no zero: it is added to the small products.
// TF32-DAG: %[[X:.*]] = evo_tile.mma %[[Q0]], %[[K1]], %{{[^ ]*}} {reads = tf32}
// TF32-DAG: %[[Y:.*]] = evo_tile.mma %[[Q1]], %[[K0]], %{{[^ ]*}} {reads = tf32}
// TF32: %[[SMALL:.*]] = arith.addf %[[X]], %[[Y]]
// TF32: %[[SUM:.*]] = arith.addf %{{.*}}, %[[SMALL]]
// TF32: evo_tile.mma %[[Q0]], %[[K0]], %[[SUM]] {reads = tf32}

// BF16: %[[Q:.*]] = evo_tile.load
// BF16-NEXT: %[[Q0:.*]] = arith.truncf %[[Q]] toward_zero
// BF16-NEXT: %[[W0:.*]] = arith.extf %[[Q0]]
// BF16-NEXT: %[[R0:.*]] = arith.subf %[[Q]], %[[W0]]
// BF16-NEXT: %[[Q1:.*]] = arith.truncf %[[R0]] toward_zero
// BF16-NEXT: %[[W1:.*]] = arith.extf %[[Q1]]
// BF16-NEXT: %[[R1:.*]] = arith.subf %[[R0]], %[[W1]]
// BF16-NEXT: %[[Q2:.*]] = arith.truncf %[[R1]] toward_zero
// BF16: scf.for
// BF16-COUNT-6: evo_tile.mma {{.*}} : tensor<16x16xbf16
// BF16-NOT: evo_tile.mma
// BF16: scf.yield
evo_tile.kernel @chain(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %q = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %c64 step %c32 iter_args(%acc = %one) -> tensor<16x32xf32> {
    %k = evo_tile.load %x[%c0, %i] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x32xf32>
    %s = evo_tile.mma %q, %k, %acc : tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>
    scf.yield %s : tensor<16x32xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<16x32xf32>, memref<?x?xf32>
  evo_tile.return
}

// In rare work a product that is NaN is that of what the instruction reads.
// CHECK-LABEL: evo_tile.kernel @rare
// CHECK: evo_tile.where
// TF32: %[[D:.*]] = evo_tile.mma {{.*}} {reads = tf32}
// TF32: %[[D:.*]] = evo_tile.mma {{.*}} {reads = tf32}
// TF32: %[[D:.*]] = evo_tile.mma {{.*}} {reads = tf32}
// TF32-NEXT: %[[FIRST:.*]] = evo_tile.mma %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {reads = tf32}
// TF32-NEXT: %[[NAN:.*]] = arith.cmpf uno, %[[D]], %[[D]]
// TF32-NEXT: arith.select %[[NAN]], %[[FIRST]], %[[D]]
evo_tile.kernel @rare(%x: memref<?x?xf32>, %y: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %q = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x16xf32>
  %k = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 : memref<?x?xf32> -> tensor<16x32xf32>
  %s = evo_tile.mma %q, %k, %zero : tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  %nan = arith.cmpf uno, %s, %s : tensor<16x32xf32>
  %r = evo_tile.where %nan, %s {
    %again = evo_tile.mma %q, %k, %zero : tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>
    evo_tile.yield %again : tensor<16x32xf32>
  } : tensor<16x32xi1>, tensor<16x32xf32>
  evo_tile.store %r, %y[%c0, %c0] : tensor<16x32xf32>, memref<?x?xf32>
  evo_tile.return
}
