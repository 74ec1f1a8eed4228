// Lanes that add up what they exchange in each step carry their own sums instead and
// exchange these after the loop. The sum may be multiplied, and in rare work, too; what it
// starts from is shared out. A sum that the loop reads itself stays, and so does one with a
// factor that lanes do not agree on.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 1, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-defer-lane-sums | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-defer-lane-sums --remarks-filter=evo-tile-defer.* --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: evoformer-opt %t.mlir --evo-tile-defer-lane-sums -o %t.once
// RUN: evoformer-opt %t.once --evo-tile-defer-lane-sums -o %t.twice
// RUN: diff %t.once %t.twice
//
// RUN: evoformer-opt %t.once --convert-tile-to-gpu --canonicalize | FileCheck %s --check-prefix=LANES
//
// Rows' sums of weights are such sums; so many keys are several steps, which two loops do
// where a window ends, and scores that grow have all rescaled.
// RUN: evoformer-check --target=sm_80 --device=sim --guard-bytes=0 'Sq=20 Sk=150 D=32 type=bf16 lse=1 stats=1' 'Sq=20 Sk=150 D=24 type=f32 lse=1 stats=1' 'H=8 Sq=40 Sk=200 D=32 type=f16 bias=hqk:f16:normal window=:i+sk-sq+1 score=alibi seed=2' 'H=8 Sq=40 Sk=200 D=32 type=bf16 bias=hqk:bf16:normal window=:i+sk-sq+1 score=alibi seed=2'
// RUN: evoformer-check --target=gfx1100 --device=sim --guard-bytes=0 'Sq=20 Sk=150 D=32 type=f16 lse=1 stats=1'

// Each row of 64 lies over four lanes, an element of a row's sum over the same.
#tile = #evo_tile.lane_map<registers = [[2, 0, 1], [8, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = [], inner = 1>
#rows = #evo_tile.slice<dim = 1, size = 64, #tile>
#other = #evo_tile.lane_map<registers = [[2, 1]], lanes = [[4, 2], [8, 0]], subgroups = []>
!tile = tensor<8x64xf32, #tile>
!rows = tensor<8xf32, #rows>
!x = memref<?x8x64xf32>

// REMARK: deferred{{.*}}sums=1
// REMARK: deferred{{.*}}sums=1
// REMARK: deferred{{.*}}sums=2
// REMARK-NOT: deferred

// CHECK-LABEL: evo_tile.kernel @once
//       CHECK:   %[[OWN:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
//       CHECK:     %[[PART:.*]] = evo_tile.reduce add %{{.*}} dim 1 held
//       CHECK:     %[[NEXT:.*]] = arith.addf %[[SUM]], %[[PART]]
//       CHECK:     scf.yield %[[NEXT]]
//       CHECK:   %[[WHOLE:.*]] = evo_tile.combine %[[OWN]] dim 1 of tensor<8x64xf32, #{{.*}}>
//       CHECK:   evo_tile.store %[[WHOLE]]
// LANES-LABEL: gpu.func @once
//       LANES:   %[[OWN:.*]] = scf.for
//   LANES-NOT:     gpu.shuffle
//       LANES:     scf.yield
//       LANES:   gpu.shuffle xor %{{.*}}, %c1_i32
//       LANES:   gpu.shuffle xor %{{.*}}, %c2_i32
//   LANES-NOT:   gpu.shuffle
//       LANES:   gpu.return
evo_tile.kernel @once(%x: !x, %out: memref<8xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !rows
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> !rows {
    %v = memref.subview %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : !x to memref<8x64xf32, strided<[64, 1], offset: ?>>
    %t = evo_tile.load %v[%c0, %c0] padding 0.0 : f32 {in_bounds = array<i1: true, true>} : memref<8x64xf32, strided<[64, 1], offset: ?>> -> !tile
    %part = evo_tile.reduce add %t dim 1 : !tile -> !rows
    %next = arith.addf %sum, %part : !rows
    scf.yield %next : !rows
  }
  evo_tile.store %s, %out[%c0] {in_bounds = array<i1: true>} : !rows, memref<8xf32>
  evo_tile.return
}

// Four lanes start with a fourth each. What only rare work reads is made there.
// CHECK-LABEL: evo_tile.kernel @grows
//       CHECK:   %[[SHARE:.*]] = arith.constant dense<2.500000e-01> : tensor<8xf32, #{{.*}}>
//       CHECK:   %[[START:.*]] = arith.mulf %{{.*}}, %[[SHARE]]
//       CHECK:   %[[OWN:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[START]])
//       CHECK:     %[[FACTOR:.*]] = evo_tile.load
//       CHECK:     %[[SMALL:.*]] = arith.mulf %[[SUM]], %[[FACTOR]]
//       CHECK:     %[[PART:.*]] = evo_tile.reduce add %{{.*}} dim 1 held
//       CHECK:     %[[BOTH:.*]] = arith.addf %[[PART]], %[[SMALL]]
//   CHECK-NOT:     evo_tile.reduce add %{{.*}} dim 1 :
//       CHECK:     %[[NEXT:.*]] = evo_tile.where %{{.*}}, %[[BOTH]] {
//       CHECK:       %[[ALL:.*]] = evo_tile.reduce add %{{.*}} dim 1 :
//       CHECK:       %[[LESS:.*]] = arith.mulf %[[BOTH]], %[[ALL]]
//       CHECK:       evo_tile.yield %[[LESS]]
//       CHECK:     scf.yield %[[NEXT]]
//       CHECK:   evo_tile.combine %[[OWN]]
evo_tile.kernel @grows(%x: !x, %out: memref<8xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = evo_tile.load %out[%c0] padding 0.0 : f32 {in_bounds = array<i1: true>} : memref<8xf32> -> !rows
  %large = arith.constant dense<100.0> : !rows
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> !rows {
    %factor = evo_tile.load %out[%c0] padding 0.0 : f32 {in_bounds = array<i1: true>} : memref<8xf32> -> !rows
    %small = arith.mulf %sum, %factor : !rows
    %v = memref.subview %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : !x to memref<8x64xf32, strided<[64, 1], offset: ?>>
    %t = evo_tile.load %v[%c0, %c0] padding 0.0 : f32 {in_bounds = array<i1: true, true>} : memref<8x64xf32, strided<[64, 1], offset: ?>> -> !tile
    %part = evo_tile.reduce add %t dim 1 : !tile -> !rows
    %both = arith.addf %part, %small : !rows
    %held = evo_tile.reduce add %t dim 1 held : !tile -> !rows
    %isLarge = arith.cmpf ogt, %held, %large : !rows
    %next = evo_tile.where %isLarge, %both {
      %less = arith.mulf %both, %part : !rows
      evo_tile.yield %less : !rows
    } : tensor<8xi1, #rows>, !rows
    scf.yield %next : !rows
  }
  evo_tile.store %s, %out[%c0] {in_bounds = array<i1: true>} : !rows, memref<8xf32>
  evo_tile.return
}

// Of four sums two are deferred: not one that is stored, nor one that rare work replaces.
// CHECK-LABEL: evo_tile.kernel @stays
//       CHECK:   %[[SUMS:.*]]:4 = scf.for
//   CHECK-DAG:   evo_tile.combine %[[SUMS]]#1
//   CHECK-DAG:   evo_tile.combine %[[SUMS]]#3
//   CHECK-NOT:   evo_tile.combine
//       CHECK:   evo_tile.return
evo_tile.kernel @stays(%x: !x, %out: memref<8xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !rows
  %s:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero, %c = %zero, %d = %zero) -> (!rows, !rows, !rows, !rows) {
    %v = memref.subview %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : !x to memref<8x64xf32, strided<[64, 1], offset: ?>>
    %t = evo_tile.load %v[%c0, %c0] padding 0.0 : f32 {in_bounds = array<i1: true, true>} : memref<8x64xf32, strided<[64, 1], offset: ?>> -> !tile
    %part = evo_tile.reduce add %t dim 1 : !tile -> !rows
    evo_tile.store %a, %out[%c0] {in_bounds = array<i1: true>} : !rows, memref<8xf32>
    %nextA = arith.addf %a, %part : !rows
    %nextB = arith.addf %b, %part : !rows
    %isLarge = arith.cmpf ogt, %part, %zero : !rows
    %sumC = arith.addf %c, %part : !rows
    %nextC = evo_tile.where %isLarge, %sumC {
      evo_tile.yield %part : !rows
    } : tensor<8xi1, #rows>, !rows
    %nextD = arith.addf %d, %part : !rows
    scf.yield %nextA, %nextB, %nextC, %nextD : !rows, !rows, !rows, !rows
  }
  %ab = arith.addf %s#0, %s#1 : !rows
  %cd = arith.addf %s#2, %s#3 : !rows
  %all = arith.addf %ab, %cd : !rows
  evo_tile.store %all, %out[%c0] {in_bounds = array<i1: true>} : !rows, memref<8xf32>
  evo_tile.return
}

// What lanes hold each for themselves is no factor.
// CHECK-LABEL: evo_tile.kernel @factor
//   CHECK-NOT:   evo_tile.combine
//       CHECK:   evo_tile.return
evo_tile.kernel @factor(%x: !x, %out: memref<8xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !rows
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> !rows {
    %v = memref.subview %x[%i, 0, 0] [1, 8, 64] [1, 1, 1] : !x to memref<8x64xf32, strided<[64, 1], offset: ?>>
    %t = evo_tile.load %v[%c0, %c0] padding 0.0 : f32 {in_bounds = array<i1: true, true>} : memref<8x64xf32, strided<[64, 1], offset: ?>> -> !tile
    %part = evo_tile.reduce add %t dim 1 : !tile -> !rows
    %held = evo_tile.reduce max %t dim 1 held : !tile -> !rows
    %factor = math.exp2 %held : !rows
    %less = arith.mulf %sum, %factor : !rows
    %next = arith.addf %less, %part : !rows
    scf.yield %next : !rows
  }
  evo_tile.store %s, %out[%c0] {in_bounds = array<i1: true>} : !rows, memref<8xf32>
  evo_tile.return
}

// Where a layout is changed on the way to the question, all lanes ask the same.
// LANES-LABEL: gpu.func @converted
//       LANES:   gpu.shuffle xor %{{.*}}, %c1_i32
//       LANES:   gpu.shuffle xor %{{.*}}, %c2_i32
//       LANES:   gpu.subgroup_reduce or
evo_tile.kernel @converted(%x: memref<8x64xf32>, %out: memref<8xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %large = arith.constant dense<100.0> : !rows
  %zero = arith.constant dense<0.0> : tensor<8xf32, #other>
  %t = evo_tile.load %x[%c0, %c0] padding 0.0 : f32 {in_bounds = array<i1: true, true>} : memref<8x64xf32> -> !tile
  %held = evo_tile.reduce max %t dim 1 held : !tile -> !rows
  %isLarge = arith.cmpf ogt, %held, %large : !rows
  %asked = evo_tile.convert_layout %isLarge : tensor<8xi1, #rows> -> tensor<8xi1, #other>
  %y = evo_tile.where %asked, %zero {
    %one = arith.constant dense<1.0> : tensor<8xf32, #other>
    evo_tile.yield %one : tensor<8xf32, #other>
  } : tensor<8xi1, #other>, tensor<8xf32, #other>
  evo_tile.store %y, %out[%c0] {in_bounds = array<i1: true>} : tensor<8xf32, #other>, memref<8xf32>
  evo_tile.return
}
