// Lanes that add up what they exchange in each step exchange their sums after the
// loop instead. A sum that the loop reads itself stays, and so does one of numbers
// that something else reads as well.
// RUN: evoformer-opt %s --pass-pipeline="builtin.module(gpu.module(evo-gpu-defer-lane-sums))" | FileCheck %s
// RUN: evoformer-opt %s --pass-pipeline="builtin.module(gpu.module(evo-gpu-defer-lane-sums))" -o %t.once
// RUN: evoformer-opt %t.once --pass-pipeline="builtin.module(gpu.module(evo-gpu-defer-lane-sums))" -o %t.twice
// RUN: diff %t.once %t.twice
//
// Rows' sums of weights are such sums; so many keys are several steps.
// RUN: evoformer-check --target=sm_80 --device=sim --guard-bytes=0 'Sq=20 Sk=150 D=32 type=bf16 lse=1 stats=1' 'Sq=20 Sk=150 D=24 type=f32 lse=1 stats=1'
// RUN: evoformer-check --target=gfx1100 --device=sim --guard-bytes=0 'Sq=20 Sk=150 D=32 type=f16 lse=1 stats=1'

gpu.module @kernels {
// CHECK-LABEL: gpu.func @once
//       CHECK:   %[[OWN:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<2xf32>)
//   CHECK-NOT:     gpu.shuffle
//       CHECK:     %[[BOTH:.*]] = vector.interleave
//       CHECK:     %[[NEXT:.*]] = arith.addf %[[SUM]], %[[BOTH]] : vector<2xf32>
//       CHECK:     scf.yield %[[NEXT]]
//       CHECK:   %[[X:.*]] = vector.extract %[[OWN]][0]
//       CHECK:   %[[A:.*]], %{{.*}} = gpu.shuffle xor %[[X]], %{{.*}}, %{{.*}} : f32
//       CHECK:   %[[XA:.*]] = arith.addf %[[X]], %[[A]]
//       CHECK:   %[[B:.*]], %{{.*}} = gpu.shuffle xor %[[XA]], %{{.*}}, %{{.*}} : f32
//       CHECK:   %[[XB:.*]] = arith.addf %[[XA]], %[[B]]
//       CHECK:   %[[Y:.*]] = vector.extract %[[OWN]][1]
//       CHECK:   %[[C:.*]], %{{.*}} = gpu.shuffle xor %[[Y]]
//       CHECK:   %[[YC:.*]] = arith.addf %[[Y]], %[[C]]
//       CHECK:   %[[SUMS:.*]] = vector.from_elements %[[XB]], %[[YC]] : vector<2xf32>
//       CHECK:   vector.store %[[SUMS]]
gpu.func @once(%x: memref<?xf32>, %n: index, %out: memref<?xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %lanes = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> vector<2xf32> {
    %p = memref.load %x[%i] : memref<?xf32>
    %a, %va = gpu.shuffle xor %p, %one, %lanes : f32
    %pa = arith.addf %p, %a : f32
    %b, %vb = gpu.shuffle xor %pa, %two, %lanes : f32
    %pb = arith.addf %pa, %b : f32
    %q = memref.load %x[%i] : memref<?xf32>
    %c, %vc = gpu.shuffle xor %q, %one, %lanes : f32
    %qc = arith.addf %q, %c : f32
    %u = vector.broadcast %pb : f32 to vector<1xf32>
    %v = vector.broadcast %qc : f32 to vector<1xf32>
    %w = vector.interleave %u, %v : vector<1xf32> -> vector<2xf32>
    %next = arith.addf %sum, %w : vector<2xf32>
    scf.yield %next : vector<2xf32>
  }
  vector.store %s, %out[%c0] : memref<?xf32>, vector<2xf32>
  gpu.return
}

// What the sum starts from is added once.
// CHECK-LABEL: gpu.func @start
//  CHECK-SAME:   %[[START:[^:]*]]: f32
//       CHECK:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
//       CHECK:   %[[OWN:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]])
//       CHECK:   %[[A:.*]], %{{.*}} = gpu.shuffle xor %[[OWN]]
//       CHECK:   %[[ALL:.*]] = arith.addf %[[OWN]], %[[A]]
//       CHECK:   %[[SUM:.*]] = arith.addf %[[START]], %[[ALL]]
//       CHECK:   memref.store %[[SUM]]
gpu.func @start(%start: f32, %x: memref<?xf32>, %n: index, %out: memref<f32>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %lanes = arith.constant 32 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> f32 {
    %p = memref.load %x[%i] : memref<?xf32>
    %a, %va = gpu.shuffle xor %p, %one, %lanes : f32
    %pa = arith.addf %p, %a : f32
    %next = arith.addf %sum, %pa : f32
    scf.yield %next : f32
  }
  memref.store %s, %out[] : memref<f32>
  gpu.return
}

// CHECK-LABEL: gpu.func @stays
//       CHECK:   scf.for
//       CHECK:     gpu.shuffle
//       CHECK:     gpu.shuffle
//       CHECK:     scf.yield
//   CHECK-NOT:   gpu.shuffle
gpu.func @stays(%x: memref<?xf32>, %n: index, %out: memref<2xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %lanes = arith.constant 32 : i32
  %zero = arith.constant 0.0 : f32
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %other = %zero) -> (f32, f32) {
    %p = memref.load %x[%i] : memref<?xf32>
    %a, %va = gpu.shuffle xor %p, %one, %lanes : f32
    %pa = arith.addf %p, %a : f32
    %next = arith.addf %sum, %pa : f32
    memref.store %sum, %x[%i] : memref<?xf32>
    %q = memref.load %x[%c0] : memref<?xf32>
    %b, %vb = gpu.shuffle xor %q, %one, %lanes : f32
    %qb = arith.addf %q, %b : f32
    memref.store %q, %x[%i] : memref<?xf32>
    %more = arith.addf %other, %qb : f32
    scf.yield %next, %more : f32, f32
  }
  memref.store %s#0, %out[%c0] : memref<2xf32>
  memref.store %s#1, %out[%c1] : memref<2xf32>
  gpu.return
}
}
