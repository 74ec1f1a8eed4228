// Subgroups without anything that counts go through a loop of their own, which leaves
// out what evo_tile.skip_idle may; where loops over the parts of a step make that, these
// are left out in the loop. Whether a subgroup has something is asked before it.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-skip-idle-subgroups | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-skip-idle-subgroups --remarks-filter=evo-tile-skip.* --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: evoformer-opt %t.mlir --evo-tile-skip-idle-subgroups -o %t.once
// RUN: evoformer-opt %t.once --evo-tile-skip-idle-subgroups -o %t.twice
// RUN: diff %t.once %t.twice
//
// Lanes compute all where the pass has not run.
// RUN: evoformer-opt %t.mlir --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES
// LANES-NOT: skip_idle
// LANES-NOT: subgroup_reduce
// LANES: gpu.func @none
//
// Two barriers beside each other stay two.
// RUN: evoformer-opt %t.once --convert-tile-to-gpu --canonicalize | FileCheck %s --check-prefix=TWO
// TWO-LABEL: gpu.func @work
// TWO:         scf.for
// TWO:           gpu.barrier
// TWO-NEXT:      llvm.call_intrinsic "llvm.sideeffect"()
// TWO:           gpu.barrier
// TWO-NEXT:      llvm.call_intrinsic "llvm.sideeffect"()
// TWO-NOT:       gpu.barrier
// TWO:         } else {
// TWO:           gpu.barrier
// TWO-NEXT:      llvm.call_intrinsic "llvm.sideeffect"()
// TWO:           gpu.barrier
// TWO-NEXT:      llvm.call_intrinsic "llvm.sideeffect"()
//
// A count that differs from subgroup to subgroup.
// RUN: evoformer-opt %t.once --convert-tile-to-gpu | FileCheck %s --check-prefix=VOTE
// VOTE-LABEL: gpu.func @work
// VOTE:         %[[START:.*]] = arith.muli %{{.*}}, %c16_i32
// VOTE:         %[[INDEX:.*]] = arith.index_cast %[[START]]
// VOTE:         %[[BEFORE:.*]] = arith.cmpi slt, %[[INDEX]], %{{.*}} : index
// VOTE:         gpu.subgroup_reduce or %[[BEFORE]] uniform

#rows = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[16, 1, 0], [2, 0, 8]], subgroups = [[4, 16, 0]], inner = 1>
#all = #evo_tile.lane_map<registers = [[16, 1, 0], [2, 0, 1]], lanes = [[32, 0, 2]], subgroups = [[4, 0, 0]], inner = 1>

// REMARK: skipped{{.*}}tiles=2
// REMARK: skipped{{.*}}tiles=1
// REMARK: skipped{{.*}}tiles=1
// REMARK: skipped{{.*}}tiles=1
// REMARK-NOT: skipped

// Both loops meet at the barriers, two beside each other in that of idle subgroups; what
// is stored and where the next step reads stay, reads and sums go. An extent is known
// before the loop.
// CHECK-LABEL: evo_tile.kernel @work
//       CHECK:   %[[EXTENT:.*]] = arith.subi
//       CHECK:   %[[WORKS:.*]] = evo_tile.holds_within[%[[EXTENT]]] along [0] of tensor<64x16xf32, #{{.*}}>
//       CHECK:   %[[SUMS:.*]]:2 = scf.if %[[WORKS]]
//       CHECK:     %[[BUSY:.*]]:3 = scf.for %{{.*}} = %c0 to %[[END:.*]] step %c1 iter_args(%[[X:.*]] = %[[ZERO:.*]], %{{.*}} = %[[ZERO]], %{{.*}} = %c0)
//       CHECK:       evo_tile.store
//       CHECK:       evo_tile.barrier apart
//       CHECK:       evo_tile.load
//       CHECK:       arith.addf %[[X]]
//       CHECK:       evo_tile.barrier apart
//       CHECK:     scf.yield %[[BUSY]]#0, %[[BUSY]]#1
//       CHECK:   } else {
//       CHECK:     scf.for %{{.*}} = %c0 to %[[END]] step %c1 iter_args(%[[SLOT:.*]] = %c0)
//  CHECK-NEXT:       %[[STORED:.*]] = math.exp2 %[[ZERO]]
//  CHECK-NEXT:       evo_tile.store %[[STORED]], %{{.*}}[%[[SLOT]], %c0]
//  CHECK-NEXT:       evo_tile.barrier apart
//  CHECK-NEXT:       %[[NEXT:.*]] = arith.addi %[[SLOT]], %c1
//  CHECK-NEXT:       evo_tile.barrier apart
//  CHECK-NEXT:       scf.yield %[[NEXT]]
//       CHECK:     scf.yield %[[ZERO]], %[[ZERO]]
//       CHECK:   evo_tile.store %[[SUMS]]#0
//       CHECK:   evo_tile.store %[[SUMS]]#1
evo_tile.kernel @work(%out: memref<64x16xf32>, %changing: memref<?x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %sums:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero, %slot = %c0) -> (tensor<64x16xf32, #rows>, tensor<64x16xf32, #rows>, index) {
    %stored = math.exp2 %x : tensor<64x16xf32, #rows>
    evo_tile.store %stored, %changing[%slot, %c0] {in_bounds = array<i1: false, true>} : tensor<64x16xf32, #rows>, memref<?x16xf32>
    evo_tile.barrier
    %extent = arith.subi %n, %c1 : index
    %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %first = arith.addf %x, %read : tensor<64x16xf32, #rows>
    %second = arith.subf %y, %read : tensor<64x16xf32, #rows>
    %a = evo_tile.skip_idle %first else %x within [%extent] along [0] : tensor<64x16xf32, #rows>
    %b = evo_tile.skip_idle %second else %y within [%extent] along [0] : tensor<64x16xf32, #rows>
    %next = arith.addi %slot, %c1 : index
    evo_tile.barrier
    scf.yield %a, %b, %next : tensor<64x16xf32, #rows>, tensor<64x16xf32, #rows>, index
  }
  evo_tile.store %sums#0, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.store %sums#1, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// Nothing is left of a loop that only computes.
// CHECK-LABEL: evo_tile.kernel @nothing
//       CHECK:   scf.if
//       CHECK:     scf.for
//       CHECK:   } else {
//  CHECK-NEXT:     scf.yield
evo_tile.kernel @nothing(%out: memref<64x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x16xf32, #rows>) {
    %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %next = arith.addf %x, %read : tensor<64x16xf32, #rows>
    %a = evo_tile.skip_idle %next else %x within [%n] along [0] : tensor<64x16xf32, #rows>
    scf.yield %a : tensor<64x16xf32, #rows>
  }
  evo_tile.store %sum, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// What else a loop leaves would differ; a count of the step's own is not known before; and
// a sum that is stored in each step has others that need it.
// CHECK-LABEL: evo_tile.kernel @all
//   CHECK-NOT:   scf.if
//   CHECK-NOT:   skip_idle
evo_tile.kernel @all(%out: memref<64x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %at = %c0) -> (tensor<64x16xf32, #rows>, index) {
    %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %next = arith.addf %x, %read : tensor<64x16xf32, #rows>
    %a = evo_tile.skip_idle %next else %x within [%n] along [0] : tensor<64x16xf32, #rows>
    scf.yield %a, %i : tensor<64x16xf32, #rows>, index
  }
  evo_tile.store %sum#0, %out[%sum#1, %c0] {in_bounds = array<i1: false, true>} : tensor<64x16xf32, #rows>, memref<64x16xf32>
  %own = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x16xf32, #rows>) {
    %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %next = arith.addf %x, %read : tensor<64x16xf32, #rows>
    %a = evo_tile.skip_idle %next else %x within [%i] along [0] : tensor<64x16xf32, #rows>
    scf.yield %a : tensor<64x16xf32, #rows>
  }
  %stored = scf.for %i = %c0 to %n step %c1 iter_args(%x = %own) -> (tensor<64x16xf32, #rows>) {
    %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %next = arith.addf %x, %read : tensor<64x16xf32, #rows>
    %a = evo_tile.skip_idle %next else %x within [%n] along [0] : tensor<64x16xf32, #rows>
    evo_tile.store %a, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
    scf.yield %a : tensor<64x16xf32, #rows>
  }
  evo_tile.store %stored, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// The loop over parts, and what only it needs; the read behind which memory changes, and
// what is stored, stay. Extents are needed before.
// CHECK-LABEL: evo_tile.kernel @parts
//       CHECK:   %[[EXTENT:.*]] = arith.subi
//       CHECK:   %[[WORKS:.*]] = evo_tile.holds_within[%[[EXTENT]], %{{.*}}] along [0, 1]
//       CHECK:   scf.for %{{.*}} iter_args(%[[X:.*]] = %{{.*}})
//       CHECK:     evo_tile.load %arg1
//       CHECK:     evo_tile.store
//       CHECK:     %[[STEPS:.*]] = arith.select %[[WORKS]]
//       CHECK:     %[[NEXT:.*]] = scf.for {{.*}} to %[[STEPS]] {{.*}} iter_args(%[[A:.*]] = %[[X]])
//       CHECK:       %[[SCALE:.*]] = evo_tile.load %arg2
//       CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[A]])
//       CHECK:         arith.mulf %{{.*}}, %[[SCALE]]
//       CHECK:     scf.yield %[[NEXT]]
evo_tile.kernel @parts(%out: memref<64x16xf32>, %changing: memref<64x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %all = scf.for %step = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x16xf32, #rows>) {
    %early = evo_tile.load %changing[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %stored = math.exp2 %x : tensor<64x16xf32, #rows>
    evo_tile.store %stored, %changing[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
    %scale = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<64x16xf32, #rows>) {
      %some = arith.mulf %early, %scale : tensor<64x16xf32, #rows>
      %next = arith.addf %y, %some : tensor<64x16xf32, #rows>
      scf.yield %next : tensor<64x16xf32, #rows>
    }
    %extent = arith.subi %n, %c1 : index
    %a = evo_tile.skip_idle %sum else %x within [%extent, %n] along [0, 1] : tensor<64x16xf32, #rows>
    scf.yield %a : tensor<64x16xf32, #rows>
  }
  evo_tile.store %all, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// Of two sums of parts only one can be left out, as the other is stored, too; a constant
// stays one in what is.
// CHECK-LABEL: evo_tile.kernel @some
//       CHECK:   %[[ZERO:.*]] = arith.constant dense<0.0
//       CHECK:   %[[STORED:.*]] = scf.for
//       CHECK:   %[[SUM:.*]] = scf.for
//       CHECK:     scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]])
//       CHECK:   evo_tile.store %[[SUM]]
//       CHECK:   evo_tile.store %[[STORED]]
evo_tile.kernel @some(%out: memref<64x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
  %stored = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x16xf32, #rows>) {
    %next = arith.subf %x, %read : tensor<64x16xf32, #rows>
    scf.yield %next : tensor<64x16xf32, #rows>
  }
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x16xf32, #rows>) {
    %next = arith.addf %x, %read : tensor<64x16xf32, #rows>
    scf.yield %next : tensor<64x16xf32, #rows>
  }
  %a = evo_tile.skip_idle %sum else %zero within [%n] along [0] : tensor<64x16xf32, #rows>
  %b = evo_tile.skip_idle %stored else %zero within [%n] along [0] : tensor<64x16xf32, #rows>
  evo_tile.store %a, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.store %b, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.store %stored, %in[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// Every subgroup holds all of it.
// CHECK-LABEL: evo_tile.kernel @none
//   CHECK-NOT:   holds_within
evo_tile.kernel @none(%out: memref<16x64xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x64xf32, #all>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<16x64xf32, #all>) {
    %next = math.exp2 %x : tensor<16x64xf32, #all>
    %a = evo_tile.skip_idle %next else %x within [%n] along [0] : tensor<16x64xf32, #all>
    scf.yield %a : tensor<16x64xf32, #all>
  }
  evo_tile.store %sum, %out[%c0, %c0] : tensor<16x64xf32, #all>, memref<16x64xf32>
  evo_tile.return
}
