// A product that is rarely needed loads rows of its second operand from memory itself: its
// lanes hold elements that lie side by side there, 16 bytes of them, and the result is
// exchanged once. Not where two products would have their results exchanged, where rows lie
// along what is summed, or where the fragments of a subgroup are no power of two: lanes
// would begin between vectors.
//
// Own operands in workgroup memory (own = lds) are read in the instruction's order by the
// usual product, and in runs by a rare one whose other operand comes from memory itself,
// unless there are two of them.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s "block = [64, 16], subgroups = [1, 4, 1], stages = 2, own = lds" > %t
// RUN: evoformer-opt %t --evo-tile-assign-layouts | FileCheck %s
//
// Operands that subgroups share in workgroup memory are read as matrices; where a rare
// product loads them from memory itself they lie in runs.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s "block = [64, 64], subgroups = [1, 2, 2], stages = 2" > %t.shared
// RUN: evoformer-opt %t.shared --evo-tile-assign-layouts | FileCheck %s --check-prefix=SHARED
//
// On AMD's chips products are transposed: the second operand is the instruction's first.
//
// RUN: %python %S/Inputs/with_target.py gfx1201 %s "block = [64, 16], subgroups = [1, 4, 1], stages = 2" > %t.amd
// RUN: evoformer-opt %t.amd --evo-tile-assign-layouts | FileCheck %s --check-prefix=AMD

// CHECK-DAG: #[[ACROSS:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, B, {{.*}}order = [array<i64{{.*}}>, array<i64: 8, 8, 8, 1>]>
// CHECK-DAG: #[[DEPTH:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, A, {{.*}}order = [array<i64>, array<i64: 2, 1, 4, 16, 2, 2, 4, 4>]>
// CHECK-DAG: #[[USUAL:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, A, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>

// SHARED-DAG: #[[DEPTH:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, A, dims = [0, 1], subgroups = [2, -1, 2, 0], order = [array<i64>, array<i64: 2, 1, 4, 16, 2, 2, 4, 4>]>
// SHARED-DAG: #[[USUAL:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, A, dims = [0, 1], subgroups = [2, -1, 2, 0], order = [array<i64>, array<i64>]>

// AMD-DAG: #[[ACROSS:.+]] = #evo_tile.frag<#{{.+}}, {{[AB]}}, {{.*}}array<i64: 16, 4, 4, 1>]>

// CHECK-LABEL: @one
//   AMD-LABEL: @one
//         AMD: evo_tile.where
//         AMD: evo_tile.mma {{.+}}, tensor<16x64xbf16, #[[ACROSS]]>
//       CHECK: evo_tile.mma {{.+}} : tensor<64x64xbf16, #[[USUAL]]>
//       CHECK: evo_tile.where
//       CHECK: evo_tile.mma {{.+}} : tensor<64x64xbf16, #[[DEPTH]]>
//       CHECK: evo_tile.mma {{.+}}, tensor<16x64xbf16, #[[ACROSS]]>
//       CHECK: evo_tile.convert_layout
//       CHECK: evo_tile.yield
evo_tile.kernel @one(%x: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %y: memref<?x64xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%c = %zero) -> tensor<64x64xf32> {
    %b = evo_tile.load %k[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
    %s = evo_tile.mma %a, %t, %none : tensor<64x64xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
    %p = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xbf16>
    %w = evo_tile.load %v[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
    %o = evo_tile.mma %p, %w, %c : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    scf.yield %o : tensor<64x64xf32>
  }
  %total = evo_tile.reduce add %sum dim 1 : tensor<64x64xf32> -> tensor<64xf32>
  %nan = arith.cmpf uno, %total, %total : tensor<64xf32>
  %again = evo_tile.where %nan, %sum {
    %new = scf.for %i = %c0 to %n step %c16 iter_args(%c = %zero) -> tensor<64x64xf32> {
      %b = evo_tile.load %k[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
      %t = evo_tile.transpose %b [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
      %s = evo_tile.mma %a, %t, %none : tensor<64x64xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
      %p = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xbf16>
      %w = evo_tile.load %v[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
      %o = evo_tile.mma %p, %w, %c : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
      scf.yield %o : tensor<64x64xf32>
    }
    evo_tile.yield %new : tensor<64x64xf32>
  } : tensor<64xi1>, tensor<64x64xf32>
  evo_tile.store %again, %y[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  evo_tile.return
}

// CHECK-LABEL: @two
//       CHECK: evo_tile.where
//   CHECK-NOT: #[[ACROSS]]
//   CHECK-NOT: #[[DEPTH]]
//       CHECK: evo_tile.return
evo_tile.kernel @two(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %y: memref<?x64xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
  %d = evo_tile.load %z[%c0, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
  %sum:2 = scf.for %i = %c0 to %n step %c16 iter_args(%c = %zero, %e = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %b = evo_tile.load %k[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
    %s = evo_tile.mma %a, %t, %none : tensor<64x64xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
    %p = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xbf16>
    %w = evo_tile.load %v[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
    %u = evo_tile.transpose %w [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
    %r = evo_tile.mma %d, %u, %none : tensor<64x64xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
    %q = arith.truncf %r : tensor<64x16xf32> to tensor<64x16xbf16>
    %o = evo_tile.mma %p, %w, %c : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    %f = evo_tile.mma %q, %b, %e : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
    scf.yield %o, %f : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %total = evo_tile.reduce add %sum#0 dim 1 : tensor<64x64xf32> -> tensor<64xf32>
  %nan = arith.cmpf uno, %total, %total : tensor<64xf32>
  %again:2 = evo_tile.where %nan, %sum#0, %sum#1 {
    %new:2 = scf.for %i = %c0 to %n step %c16 iter_args(%c = %zero, %e = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %b = evo_tile.load %k[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
      %t = evo_tile.transpose %b [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
      %s = evo_tile.mma %a, %t, %none : tensor<64x64xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
      %p = arith.truncf %s : tensor<64x16xf32> to tensor<64x16xbf16>
      %w = evo_tile.load %v[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<16x64xbf16>
      %u = evo_tile.transpose %w [1, 0] : tensor<16x64xbf16> -> tensor<64x16xbf16>
      %r = evo_tile.mma %d, %u, %none : tensor<64x64xbf16>, tensor<64x16xbf16>, tensor<64x16xf32>
      %q = arith.truncf %r : tensor<64x16xf32> to tensor<64x16xbf16>
      %o = evo_tile.mma %p, %w, %c : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
      %f = evo_tile.mma %q, %b, %e : tensor<64x16xbf16>, tensor<16x64xbf16>, tensor<64x64xf32>
      scf.yield %o, %f : tensor<64x64xf32>, tensor<64x64xf32>
    }
    evo_tile.yield %new#0, %new#1 : tensor<64x64xf32>, tensor<64x64xf32>
  } : tensor<64xi1>, tensor<64x64xf32>, tensor<64x64xf32>
  evo_tile.store %again#0, %y[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  evo_tile.store %again#1, %y[%c0, %c0] : tensor<64x64xf32>, memref<?x64xf32>
  evo_tile.return
}

// CHECK-LABEL: @ragged
//       CHECK: evo_tile.where
//   CHECK-NOT: #[[ACROSS]]
//       CHECK: evo_tile.return
evo_tile.kernel @ragged(%p: memref<?x16xbf16>, %v: memref<?x72xbf16>, %y: memref<?x72xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<64x72xf32>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%c = %zero) -> tensor<64x72xf32> {
    %a = evo_tile.load %p[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x16xbf16> -> tensor<64x16xbf16>
    %w = evo_tile.load %v[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x72xbf16> -> tensor<16x72xbf16>
    %o = evo_tile.mma %a, %w, %c : tensor<64x16xbf16>, tensor<16x72xbf16>, tensor<64x72xf32>
    scf.yield %o : tensor<64x72xf32>
  }
  %total = evo_tile.reduce add %sum dim 1 : tensor<64x72xf32> -> tensor<64xf32>
  %nan = arith.cmpf uno, %total, %total : tensor<64xf32>
  %again = evo_tile.where %nan, %sum {
    %new = scf.for %i = %c0 to %n step %c16 iter_args(%c = %zero) -> tensor<64x72xf32> {
      %a = evo_tile.load %p[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x16xbf16> -> tensor<64x16xbf16>
      %w = evo_tile.load %v[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x72xbf16> -> tensor<16x72xbf16>
      %o = evo_tile.mma %a, %w, %c : tensor<64x16xbf16>, tensor<16x72xbf16>, tensor<64x72xf32>
      scf.yield %o : tensor<64x72xf32>
    }
    evo_tile.yield %new : tensor<64x72xf32>
  } : tensor<64xi1>, tensor<64x72xf32>
  evo_tile.store %again, %y[%c0, %c0] : tensor<64x72xf32>, memref<?x72xf32>
  evo_tile.return
}

// SHARED-LABEL: @shared
//       SHARED: evo_tile.mma {{.+}} : tensor<64x64xbf16, #[[USUAL]]>
//       SHARED: evo_tile.where
//       SHARED: evo_tile.mma {{.+}} : tensor<64x64xbf16, #[[DEPTH]]>
evo_tile.kernel @shared(%x: memref<?x?xbf16>, %v: memref<32x?xbf16>, %y: memref<?x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
    %a = evo_tile.load %x[%c0, %i] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = evo_tile.load %v[%c0, %i] padding 0.0 : bf16 {alignment = 16 : i64} : memref<32x?xbf16> -> tensor<32x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = evo_tile.mma %a, %t, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %s : tensor<64x32xf32>
  }
  %nan = arith.cmpf uno, %sum, %sum : tensor<64x32xf32>
  %again = evo_tile.where %nan, %sum {
    %new = scf.for %i = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
      %a = evo_tile.load %x[%c0, %i] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x64xbf16>
      %b = evo_tile.load %v[%c0, %i] padding 0.0 : bf16 {alignment = 16 : i64} : memref<32x?xbf16> -> tensor<32x64xbf16>
      %t = evo_tile.transpose %b [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
      %s = evo_tile.mma %a, %t, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
      scf.yield %s : tensor<64x32xf32>
    }
    evo_tile.yield %new : tensor<64x32xf32>
  } : tensor<64x32xi1>, tensor<64x32xf32>
  evo_tile.store %again, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  evo_tile.return
}
