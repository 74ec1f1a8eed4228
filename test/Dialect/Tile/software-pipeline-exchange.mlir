// A loop whose products need what other subgroups have made: the tile passes through
// workgroup memory by an exchange, amid which subgroups wait for each other, and copies
// still run ahead. What the step before has read there is read before the barrier at the
// top; without copies a barrier of its own stands before the exchange.
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [64, 64, 32], subgroups = [1, 4, 1], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds | FileCheck %s --check-prefix=STAGED
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES

// STAGED-LABEL: evo_tile.kernel @turned
//       STAGED:   scf.for
//       STAGED:     evo_tile.async_copy
//       STAGED:     evo_tile.wait
//       STAGED:     evo_tile.mma
//       STAGED:     evo_tile.barrier
//  STAGED-NEXT:     evo_tile.exchange %{{.*}} : tensor<64x64xbf16, #{{.*}}> -> tensor<64x64xbf16, #{{.*}}>, memref<64x64xbf16,

// CHECK-LABEL: evo_tile.kernel @turned
//       CHECK:   evo_tile.async_copy
//       CHECK:   scf.for
//       CHECK:     evo_tile.wait
//       CHECK:     evo_tile.barrier
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     evo_tile.mma
//   CHECK-NOT:     evo_tile.barrier
//       CHECK:     evo_tile.exchange
//       CHECK:     evo_tile.mma
//       CHECK:     scf.yield
// RUN: %python %S/Inputs/with_target.py gfx942 %s 'block = [64, 64, 32], subgroups = [1, 4, 1], stages = 2' > %t.amd.mlir
// RUN: evoformer-opt %t.amd.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds | sed '/@turned/,/^  }/d' > %t.staged.mlir
// RUN: evoformer-opt %t.staged.mlir --evo-tile-software-pipeline=prefetch-registers=64 | FileCheck %s --check-prefix=ALONE
// The barrier need not stand next to it.
// RUN: sed 's/.*= evo_tile.exchange/%%idle = arith.constant 7 : index\n&/' %t.staged.mlir | evoformer-opt --evo-tile-software-pipeline=prefetch-registers=64 | FileCheck %s --check-prefix=ALONE
// ALONE-LABEL: evo_tile.kernel @alone
//  ALONE-SAME:   evo_tile.pipelined
//       ALONE:   scf.for
//       ALONE:     evo_tile.mma
//       ALONE:     evo_tile.barrier
//       ALONE:     evo_tile.exchange
//       ALONE:     scf.yield

// Between writes and reads that take matrices.
// LANES-LABEL: gpu.func @turned
//       LANES:   scf.for
//       LANES:     gpu.barrier
//   LANES-NOT:     gpu.barrier
//       LANES:     llvm.store {{.*}} !llvm.ptr<3>
//       LANES:     gpu.barrier
//       LANES:     llvm.nvvm.ldmatrix
//   LANES-NOT:     gpu.barrier
//       LANES:     scf.yield
evo_tile.kernel @turned(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %size = memref.dim %a, %c1 : memref<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %size step %c32 iter_args(%acc = %none) -> tensor<64x32xf32> {
    %ta = evo_tile.load %a[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x32xbf16>
    %tb = evo_tile.load %b[%k, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<32x64xbf16>
    %product = evo_tile.mma %ta, %tb, %zero : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %narrow = arith.truncf %product : tensor<64x64xf32> to tensor<64x64xbf16>
    %turned = evo_tile.transpose %narrow [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %next = evo_tile.mma %turned, %ta, %acc : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  evo_tile.store %sum, %c[%c0, %c0] : tensor<64x32xf32>, memref<?x?xf32>
  evo_tile.return
}

evo_tile.kernel @alone(%a: memref<?x?xbf16>, %b: memref<32x64xbf16>, %c: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %size = memref.dim %a, %c1 : memref<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %tb = evo_tile.load %b[%c0, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<32x64xbf16> -> tensor<32x64xbf16>
  %sum = scf.for %k = %c0 to %size step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %ta = evo_tile.load %a[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x32xbf16>
    %product = evo_tile.mma %ta, %tb, %zero : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %turned = evo_tile.transpose %product [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %both = arith.addf %turned, %product : tensor<64x64xf32>
    %next = arith.addf %both, %acc : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  evo_tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  evo_tile.return
}
