// What evo_tile.skip_idle may leave out goes where subgroups without anything that
// counts do not come by; the rest, and what others use, is computed by all. Whether a
// subgroup has something is asked before the loop.
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
// REMARK-NOT: skipped

// The read, its arithmetic and what both tiles need; the read behind which memory
// changes, and what is stored, stay.
// CHECK-LABEL: evo_tile.kernel @work
//       CHECK:   %[[WORKS:.*]] = evo_tile.holds_within[%{{.*}}] along [0] of tensor<64x16xf32, #{{.*}}>
//       CHECK:   scf.for %{{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
//       CHECK:     %[[EARLY:.*]] = evo_tile.load %arg1
//       CHECK:     %[[STORED:.*]] = math.exp2
//       CHECK:     evo_tile.store %[[STORED]]
//       CHECK:     %[[STEPS:.*]] = arith.select %[[WORKS]]
//       CHECK:     %[[NEXT:.*]]:2 = scf.for {{.*}} to %[[STEPS]] {{.*}} iter_args(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[Y]])
//       CHECK:       %[[READ:.*]] = evo_tile.load %arg2
//       CHECK:       %[[BOTH:.*]] = arith.mulf %[[READ]], %[[EARLY]]
//       CHECK:       %[[FIRST:.*]] = arith.addf %[[A]], %[[BOTH]]
//       CHECK:       %[[SECOND:.*]] = arith.subf %[[B]], %[[BOTH]]
//       CHECK:       scf.yield %[[FIRST]], %[[SECOND]]
//       CHECK:     scf.yield %[[NEXT]]#0, %[[NEXT]]#1
evo_tile.kernel @work(%out: memref<64x16xf32>, %changing: memref<64x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero) -> (tensor<64x16xf32, #rows>, tensor<64x16xf32, #rows>) {
    %early = evo_tile.load %changing[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %stored = math.exp2 %x : tensor<64x16xf32, #rows>
    evo_tile.store %stored, %changing[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
    %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %both = arith.mulf %read, %early : tensor<64x16xf32, #rows>
    %first = arith.addf %x, %both : tensor<64x16xf32, #rows>
    %second = arith.subf %y, %both : tensor<64x16xf32, #rows>
    %a = evo_tile.skip_idle %first else %x within [%n] along [0] : tensor<64x16xf32, #rows>
    %b = evo_tile.skip_idle %second else %y within [%n] along [0] : tensor<64x16xf32, #rows>
    scf.yield %a, %b : tensor<64x16xf32, #rows>, tensor<64x16xf32, #rows>
  }
  evo_tile.store %sums#0, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.store %sums#1, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// Loops that only read are work; extents are needed before it.
// CHECK-LABEL: evo_tile.kernel @loops
//       CHECK:   %[[EXTENT:.*]] = arith.subi
//       CHECK:   evo_tile.holds_within[%[[EXTENT]], %{{.*}}] along [0, 1]
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:       evo_tile.load
evo_tile.kernel @loops(%out: memref<64x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %extent = arith.subi %n, %c1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<64x16xf32, #rows>) {
    %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
    %next = arith.addf %x, %read : tensor<64x16xf32, #rows>
    scf.yield %next : tensor<64x16xf32, #rows>
  }
  %a = evo_tile.skip_idle %sum else %zero within [%extent, %n] along [0, 1] : tensor<64x16xf32, #rows>
  evo_tile.store %a, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// Every subgroup holds all of it; and what the second one could leave out is read
// before memory changes, by a store and by an op that stores besides what is in it.
// CHECK-LABEL: evo_tile.kernel @none
//   CHECK-NOT:   holds_within
//       CHECK:   %[[SUM:.*]] = arith.addf
//       CHECK:   evo_tile.store %[[SUM]]
//       CHECK:   %[[READ:.*]] = evo_tile.load
//       CHECK:   memref.store
//       CHECK:   %[[AGAIN:.*]] = evo_tile.load
//       CHECK:   linalg.fill
//       CHECK:   evo_tile.store %[[AGAIN]]
//       CHECK:   evo_tile.store %[[READ]]
evo_tile.kernel @none(%out: memref<16x64xf32>, %rows: memref<64x16xf32>, %flag: memref<f32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %number = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<16x64xf32, #all>
  %x = evo_tile.load %out[%c0, %c0] : memref<16x64xf32> -> tensor<16x64xf32, #all>
  %sum = arith.addf %x, %one : tensor<16x64xf32, #all>
  %a = evo_tile.skip_idle %sum else %one within [%n] along [0] : tensor<16x64xf32, #all>
  evo_tile.store %a, %out[%c0, %c0] : tensor<16x64xf32, #all>, memref<16x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %read = evo_tile.load %rows[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
  memref.store %number, %flag[] : memref<f32>
  %again = evo_tile.load %rows[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
  linalg.fill ins(%number : f32) outs(%rows : memref<64x16xf32>)
  %c = evo_tile.skip_idle %again else %zero within [%n] along [0] : tensor<64x16xf32, #rows>
  evo_tile.store %c, %rows[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  %b = evo_tile.skip_idle %read else %zero within [%n] along [0] : tensor<64x16xf32, #rows>
  evo_tile.store %b, %rows[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}

// Of two only one can be left out, as the other is stored, too; a constant stays one in
// what is.
// CHECK-LABEL: evo_tile.kernel @some
//       CHECK:   %[[ZERO:.*]] = arith.constant dense<0.0
//       CHECK:   %[[BOTH:.*]] = evo_tile.load
//       CHECK:   %[[SUM:.*]] = scf.for
//   CHECK-NEXT:     arith.addf %{{.*}}, %[[ZERO]]
//       CHECK:   evo_tile.store %[[SUM]]
//       CHECK:   evo_tile.store %[[BOTH]]
evo_tile.kernel @some(%out: memref<64x16xf32>, %in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x16xf32, #rows>
  %read = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32, #rows>
  %sum = arith.addf %read, %zero : tensor<64x16xf32, #rows>
  %a = evo_tile.skip_idle %sum else %zero within [%n] along [0] : tensor<64x16xf32, #rows>
  %b = evo_tile.skip_idle %read else %zero within [%n] along [0] : tensor<64x16xf32, #rows>
  evo_tile.store %a, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.store %b, %out[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.store %read, %in[%c0, %c0] : tensor<64x16xf32, #rows>, memref<64x16xf32>
  evo_tile.return
}
