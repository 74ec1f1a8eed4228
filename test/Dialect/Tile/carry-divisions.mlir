// Quotients and remainders of a loop's variable are carried from an iteration to
// the next, those of a quotient too, and of what the last iteration reads ahead.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 1, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-carry-divisions | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-carry-divisions --remarks-filter=evo-tile-carry.* --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: evoformer-opt %t.mlir --evo-tile-carry-divisions -o %t.once
// RUN: evoformer-opt %t.once --evo-tile-carry-divisions -o %t.twice
// RUN: diff %t.once %t.twice
//
// Steps through two and three summed dimensions give the numbers of the
// reference, whatever a step is divided into.
// RUN: evoformer-check --target=sm_80 --device=sim --guard-bytes=0 'B=3 N=5 H=2 Sq=17 Sk=19 D=16 type=bf16 bias=qk:f32:normal bias=bhqk:bf16:normal pass=backward' 'B=2 N=1 H=3 Sq=20 Sk=9 D=72 type=f16 bias=hk:f32:normal bias=nq:f16:normal pass=backward'
// RUN: evoformer-check --target=gfx942 --device=sim --guard-bytes=0 'B=3 N=5 H=2 Sq=17 Sk=19 D=16 type=bf16 bias=qk:f32:normal bias=bhqk:bf16:normal pass=backward'

// REMARK: carried{{.*}}divisions=2
// REMARK: carried{{.*}}divisions=2

// The divisor may be 0 where the loop does nothing.
// CHECK-LABEL: evo_tile.kernel @places
//       CHECK:   %[[SAFE:.*]] = arith.maxui %[[N:.*]], %{{.*}}
//       CHECK:   %[[Q0:.*]] = arith.divui %{{.*}}, %[[SAFE]]
//       CHECK:   %[[R0:.*]] = arith.remui %{{.*}}, %[[SAFE]]
//       CHECK:   scf.for {{.*}} iter_args(%[[Q:.*]] = %[[Q0]], %[[R:.*]] = %[[R0]], %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (index, index, index, index)
//   CHECK-NOT:     arith.divui
//   CHECK-NOT:     arith.remui
//       CHECK:     memref.store %{{.*}}, %{{.*}}[%[[R]]]
//       CHECK:     %[[SUM:.*]] = arith.addi %[[R]], %{{.*}}
//       CHECK:     %[[OVER:.*]] = arith.cmpi uge, %[[SUM]], %[[N]]
//       CHECK:     %[[LESS:.*]] = arith.subi %[[SUM]], %[[N]]
//       CHECK:     %[[BIT:.*]] = arith.index_castui %[[OVER]]
//       CHECK:     %[[NEXT:.*]] = arith.addi %{{.*}}, %[[BIT]]
//       CHECK:     arith.select %[[OVER]], %[[LESS]], %[[SUM]]
evo_tile.kernel @places(%m: memref<?xindex>, %from: index, %to: index, %n: index, %h: index) attributes {target = #target, schedule = #schedule} {
  %c3 = arith.constant 3 : index
  scf.for %i = %from to %to step %c3 {
    %q = arith.divui %i, %n : index
    %r = arith.remui %i, %n : index
    %b = arith.divui %q, %h : index
    %c = arith.remui %q, %h : index
    memref.store %b, %m[%r] : memref<?xindex>
    memref.store %b, %m[%c] : memref<?xindex>
  }
  evo_tile.return
}

// One ahead, but nothing in the last iteration: a choice of two that are carried.
// CHECK-LABEL: evo_tile.kernel @ahead
//       CHECK:   scf.for {{.*}} iter_args(%[[AQ:.*]] = %{{.*}}, %[[AR:.*]] = %{{.*}}, %[[BQ:.*]] = %{{.*}}, %[[BR:.*]] = %{{.*}})
//   CHECK-NOT:     arith.remui
//       CHECK:     arith.select %{{.*}}, %[[AR]], %[[BR]]
evo_tile.kernel @ahead(%m: memref<?xindex>, %to: index, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %to step %c1 {
    %next = arith.addi %i, %c1 : index
    %inside = arith.cmpi slt, %next, %to : index
    %step = arith.select %inside, %c1, %c0 : index
    %at = arith.addi %i, %step : index
    %r = arith.remui %at, %n : index
    memref.store %at, %m[%r] : memref<?xindex>
  }
  evo_tile.return
}

// What is divided, or divides, changes otherwise.
// CHECK-LABEL: evo_tile.kernel @others
//       CHECK:   scf.for
//       CHECK:     arith.remui
//       CHECK:     arith.divui
evo_tile.kernel @others(%m: memref<?xindex>, %to: index, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %to step %c1 {
    %square = arith.muli %i, %i : index
    %r = arith.remui %square, %n : index
    %d = arith.addi %i, %c1 : index
    %q = arith.divui %n, %d : index
    memref.store %q, %m[%r] : memref<?xindex>
  }
  evo_tile.return
}
