// What rarely run work becomes in each pass.
//
// RUN: %python %S/Inputs/with_target.py gfx942 %s 'block = [1, 16, 64], subgroups = [1, 2, 1], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir | evoformer-opt | FileCheck %s --check-prefix=TILES
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts | FileCheck %s --check-prefix=LAYOUTS
// RUN: evoformer-opt %t.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,evo-tile-promote-to-lds,evo-tile-software-pipeline)' \
// RUN:   -o %t.staged
// RUN: FileCheck %s --check-prefix=STAGED --input-file=%t.staged
// RUN: evoformer-opt %t.mlir --pass-pipeline='builtin.module(evo-tile-assign-layouts,evo-tile-promote-to-lds,evo-tile-software-pipeline,convert-tile-to-gpu)' | FileCheck %s --check-prefix=LANES

// LAYOUTS: #slice = #evo_tile.slice<dim = 1, size = 32, #frag_c>

// Products inside choose as those outside do, and do not choose for them; the
// condition gets the rows that a subgroup has results of.
// LAYOUTS-LABEL: evo_tile.kernel @repeat
//       LAYOUTS:   %[[SUM:.+]] = scf.for {{.*}} -> (tensor<32x32xf32, #[[C:.+]]>)
//       LAYOUTS:   evo_tile.where %{{.+}}, %[[SUM]] {
//       LAYOUTS:     evo_tile.mma {{.*}} tensor<32x32xf32, #[[C]]>
//       LAYOUTS:     evo_tile.yield %{{.+}} : tensor<32x32xf32, #[[C]]>
//       LAYOUTS:   } : tensor<32xi1, #slice>, tensor<32x32xf32, #[[C]]>

// Nothing inside is staged or pipelined: subgroups do not wait for each other.
// STAGED-LABEL: evo_tile.kernel @repeat
//       STAGED:   evo_tile.alloc_lds
//       STAGED:   evo_tile.barrier
//       STAGED:   evo_tile.where
//   STAGED-NOT:     workgroup
//   STAGED-NOT:     evo_tile.barrier
//       STAGED:     scf.for
//   STAGED-NOT:     workgroup
//   STAGED-NOT:     evo_tile.barrier
//       STAGED:     evo_tile.yield

// A subgroup votes.
// LANES-LABEL: gpu.func @repeat
//       LANES:   %[[ANY:.+]] = gpu.subgroup_reduce  or %{{.+}} uniform : (i1) -> i1
//       LANES:   %[[RARE:.+]] = llvm.intr.expect %[[ANY]], %false{{.*}} : i1
//       LANES:   scf.if %[[RARE]] -> (vector<4xf32>
//       LANES:     scf.for
//       LANES:   } else {
//       LANES:     scf.yield

// TILES-LABEL: evo_tile.kernel @repeat
//       TILES:   %[[AGAIN:.+]] = evo_tile.where %{{.+}}, %{{.+}} {
//       TILES:     evo_tile.yield %{{.+}} : tensor<32x32xf32>
//       TILES:   } : tensor<32xi1>, tensor<32x32xf32>
//       TILES:   evo_tile.store %[[AGAIN]]
evo_tile.kernel @repeat(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<32x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<32x32xf32>) {
    %x = evo_tile.load %a[%c0, %k] : memref<?x?xbf16> -> tensor<32x32xbf16>
    %y = evo_tile.load %b[%k, %c0] : memref<?x?xbf16> -> tensor<32x32xbf16>
    %next = evo_tile.mma %x, %y, %s : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  %row = evo_tile.reduce max %sum dim 1 : tensor<32x32xf32> -> tensor<32xf32>
  %limit = arith.constant dense<1.0e+4> : tensor<32xf32>
  %large = arith.cmpf ogt, %row, %limit : tensor<32xf32>
  %again = evo_tile.where %large, %sum {
    %half = arith.constant dense<0.5> : tensor<32x32xbf16>
    %slow = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<32x32xf32>) {
      %x = evo_tile.load %a[%c0, %k] : memref<?x?xbf16> -> tensor<32x32xbf16>
      %y = evo_tile.load %b[%k, %c0] : memref<?x?xbf16> -> tensor<32x32xbf16>
      %z = arith.mulf %y, %half : tensor<32x32xbf16>
      %next = evo_tile.mma %x, %z, %s : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
      scf.yield %next : tensor<32x32xf32>
    }
    evo_tile.yield %slow : tensor<32x32xf32>
  } : tensor<32xi1>, tensor<32x32xf32>
  evo_tile.store %again, %c[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  evo_tile.return
}

// All products whose results meet choose as those outside do, through choices
// too; and what is read in two layouts is read twice, choices and all, instead
// of exchanged.
// LAYOUTS-LABEL: evo_tile.kernel @combine
//       LAYOUTS:   evo_tile.where
//   LAYOUTS-NOT:     evo_tile.convert_layout
// LAYOUTS-COUNT-2:   evo_tile.load %{{.*}} memref<?x32xbf16> -> tensor<32x32xbf16
//   LAYOUTS-NOT:     evo_tile.convert_layout
//       LAYOUTS:     evo_tile.yield
evo_tile.kernel @combine(%a: memref<32x32xbf16>, %b: memref<?x32xbf16>, %bias: memref<?xf32>, %c: memref<32x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %none = arith.constant dense<0.0> : tensor<32x32xbf16>
  %limit = arith.constant dense<0.0> : tensor<32xf32>
  %x = evo_tile.load %a[%c0, %c0] : memref<32x32xbf16> -> tensor<32x32xbf16>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<32x32xf32>) {
    %y = evo_tile.load %b[%k, %c0] : memref<?x32xbf16> -> tensor<32x32xbf16>
    %t = evo_tile.transpose %y [1, 0] : tensor<32x32xbf16> -> tensor<32x32xbf16>
    %p = evo_tile.mma %x, %t, %zero : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
    %q = evo_tile.mma %x, %y, %zero : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
    %next = math.fma %p, %q, %s : tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  %bad = arith.cmpf uno, %sum, %sum : tensor<32x32xf32>
  %again = evo_tile.where %bad, %sum {
    %slow = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero) -> (tensor<32x32xf32>) {
      %read = evo_tile.load %b[%k, %c0] : memref<?x32xbf16> -> tensor<32x32xbf16>
      %bs = evo_tile.load %bias[%k] : memref<?xf32> -> tensor<32xf32>
      %drop = arith.cmpf olt, %bs, %limit : tensor<32xf32>
      %drops = evo_tile.broadcast %drop dim 1 : tensor<32xi1> -> tensor<32x32xi1>
      %kept = arith.select %drops, %none, %read : tensor<32x32xi1>, tensor<32x32xbf16>
      %t = evo_tile.transpose %kept [1, 0] : tensor<32x32xbf16> -> tensor<32x32xbf16>
      %nan = arith.cmpf uno, %kept, %kept : tensor<32x32xbf16>
      %y = arith.select %nan, %none, %kept : tensor<32x32xi1>, tensor<32x32xbf16>
      %p = evo_tile.mma %x, %t, %zero : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
      %isNaN = arith.cmpf uno, %p, %p : tensor<32x32xf32>
      %w = arith.select %isNaN, %zero, %p : tensor<32x32xi1>, tensor<32x32xf32>
      %q = evo_tile.mma %x, %y, %zero : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
      %next = math.fma %w, %q, %s : tensor<32x32xf32>
      scf.yield %next : tensor<32x32xf32>
    }
    evo_tile.yield %slow : tensor<32x32xf32>
  } : tensor<32x32xi1>, tensor<32x32xf32>
  evo_tile.store %again, %c[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  evo_tile.return
}
