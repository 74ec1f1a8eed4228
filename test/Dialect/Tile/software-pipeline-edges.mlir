// RUN: evoformer-opt %s --evo-tile-software-pipeline | FileCheck %s
// RUN: evoformer-opt %s --evo-tile-software-pipeline --remarks-filter='evo-tile-software.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: evoformer-opt %s --evo-tile-software-pipeline=prefetch-registers=0 | FileCheck %s --check-prefix=NONE

// 2048 bytes of workgroup memory, one subgroup of 32 lanes, 128 registers.
#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 128, lds_bytes = 2048, lds_banks = 32, matrix = [], properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>}>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 2>
#five = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 5>
// 16x16 f16: 512 bytes, 4 registers.
#rows = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = []>
#wide = #evo_tile.lane_map<registers = [[8, 0, 1], [16, 16, 0]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [], inner = 1>
#block = #evo_tile.lane_map<registers = [[8, 0, 0, 1]], lanes = [[2, 0, 0, 8], [16, 0, 1, 0]], subgroups = []>
#row = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[16, 1], [2, 0]], subgroups = []>
!lds = memref<16x16xf16, #gpu.address_space<workgroup>>
!tile = tensor<16x16xf16, #rows>

// Five stages do not fit, four do.
// CHECK-LABEL: evo_tile.kernel @fewer_stages
//       CHECK:   evo_tile.alloc_lds : memref<4x16x16xf16
//       CHECK:   evo_tile.wait
//      REMARK: remark: [Passed] pipelined | {{.*}}copies=asynchronous, {{.*}}lds_bytes=2048, {{.*}}slots=4, stages=4, wanted_stages=5
evo_tile.kernel @fewer_stages(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #five} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// Where a third slot does not fit, a second barrier frees the second one.
// CHECK-LABEL: evo_tile.kernel @two_slots
//       CHECK:   evo_tile.alloc_lds : memref<2x16x16xf16
//       CHECK:   scf.for
//       CHECK:     evo_tile.async_copy
//  CHECK-NEXT:     %{{.+}} = evo_tile.async_group
//  CHECK-NEXT:     evo_tile.wait
//  CHECK-NEXT:     evo_tile.barrier
//       CHECK:     evo_tile.store
//  CHECK-NEXT:     evo_tile.barrier
//  CHECK-NEXT:     scf.yield
//      REMARK: remark: [Passed] pipelined | {{.*}}copies=asynchronous, {{.*}}lds_bytes=1568, {{.*}}slots=2, stages=2, wanted_stages=2
evo_tile.kernel @two_slots(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %other = evo_tile.alloc_lds : memref<32x8xf16, #gpu.address_space<workgroup>>
  %more = evo_tile.alloc_lds : memref<2x8xf16, #gpu.address_space<workgroup>>
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// Where two slots do not fit the loop stays as it is.
// CHECK-LABEL: evo_tile.kernel @does_not_fit
//       CHECK:   scf.for
//       CHECK:     evo_tile.wait
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="two stages need 2560 bytes of workgroup memory, there are 2048"
evo_tile.kernel @does_not_fit(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %other = evo_tile.alloc_lds : memref<96x8xf16, #gpu.address_space<workgroup>>
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// Known bounds need no guard; copies that are known to be beyond the end are
// not made, their group is empty. What depends on a loaded tile runs after
// compute. In an outer loop a barrier keeps the prologue from what slower
// subgroups still read.
// CHECK-LABEL: evo_tile.kernel @nested
//       CHECK:   scf.for
//  CHECK-NEXT:     evo_tile.barrier
//   CHECK-NOT:     scf.if
//       CHECK:     %[[FIRST:.+]] = evo_tile.load %arg0
//  CHECK-NEXT:     %[[DOUBLE:.+]] = arith.addf %[[FIRST]], %[[FIRST]]
//  CHECK-NEXT:     memref.subview
//  CHECK-NEXT:     evo_tile.store %[[DOUBLE]]
//   CHECK-NOT:     scf.if
//       CHECK:     scf.for
//       CHECK:       %[[NEXT:.+]] = evo_tile.load %arg0
//   CHECK-NOT:       arith.addf
//       CHECK:       evo_tile.barrier
//       CHECK:       evo_tile.store %{{.+}}, %arg1
//       CHECK:       %[[SUM:.+]] = arith.addf %[[NEXT]], %[[NEXT]]
//       CHECK:       evo_tile.store %[[SUM]], %{{.+}}workgroup
//      REMARK: remark: [Passed] pipelined | {{.*}}copies="through registers"
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="a nested region copies or synchronises itself"
evo_tile.kernel @nested(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %j = %c0 to %n step %c16 {
    scf.for %i = %c0 to %c48 step %c16 {
      %t = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> !tile
      %d = arith.addf %t, %t : !tile
      evo_tile.barrier
      evo_tile.store %d, %lds[%c0, %c0] : !tile, !lds
      evo_tile.barrier
      %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
      evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
    }
  }
  evo_tile.return
}

// Two known iterations: the copies of the third are left out of the prologue.
// CHECK-LABEL: evo_tile.kernel @two_iterations
//       CHECK:   evo_tile.async_copy
//       CHECK:   evo_tile.async_group(
//       CHECK:   evo_tile.async_copy
//       CHECK:   evo_tile.async_group(
//   CHECK-NOT:   evo_tile.async_copy
//       CHECK:   evo_tile.async_group()
//       CHECK:   scf.for
//      REMARK: remark: [Passed] pipelined | {{.*}}stages=4
evo_tile.kernel @two_iterations(%m: memref<?x16xf16>, %o: memref<?x16xf16>) attributes {target = #tiny, schedule = #five} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %c32 step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// A copy's own predicate is kept.
// CHECK-LABEL: evo_tile.kernel @predicate
//       CHECK:   scf.for
//       CHECK:     %[[INSIDE:.+]] = arith.cmpi slt, %{{.+}}, %arg3
//       CHECK:     %[[BOTH:.+]] = arith.andi %arg2, %[[INSIDE]]
//       CHECK:     evo_tile.async_copy {{.+}} if %[[BOTH]]
//      REMARK: remark: [Passed] pipelined
evo_tile.kernel @predicate(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %p: i1, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] if %p as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// Direct loads are carried from the iteration before, and loaded again as soon
// as their registers are free: here once widened. Row vectors are issued before
// the copies of the next iteration, what is too large stays where it is.
// CHECK-LABEL: evo_tile.kernel @prefetch
//       CHECK:   %[[FIRST:.+]] = scf.if %{{.+}} -> (tensor<16x16xf16, #{{.+}}>) {
//       CHECK:   } else {
//  CHECK-NEXT:     %[[ZERO:.+]] = arith.constant dense<0.000000e+00>
//  CHECK-NEXT:     scf.yield %[[ZERO]]
//       CHECK:   scf.for %{{.+}} iter_args(%[[NOW:.+]] = %[[FIRST]], %
//       CHECK:     evo_tile.load %arg3
//       CHECK:     %[[NEXT:.+]] = arith.addi %[[I:.+]], %[[STEP:.+]] : index
//  CHECK-NEXT:     %[[INSIDE:.+]] = arith.cmpi slt, %[[NEXT]],
//  CHECK-NEXT:     %[[BY:.+]] = arith.select %[[INSIDE]], %[[STEP]], %{{.+}} : index
//  CHECK-NEXT:     %[[CLAMPED:.+]] = arith.addi %[[I]], %[[BY]]
//       CHECK:     evo_tile.load %arg0[%[[CLAMPED]]
//       CHECK:     evo_tile.barrier
//       CHECK:     %[[WIDE:.+]] = arith.extf %[[NOW]]
//       CHECK:     arith.addf %{{.+}}, %[[WIDE]]
//  CHECK-NEXT:     %[[NEXT:.+]] = evo_tile.load %arg1[%[[CLAMPED]]
//       CHECK:     evo_tile.load %arg2
//       CHECK:     scf.yield %[[NEXT]], %
//      REMARK: remark: [Passed] pipelined | {{.*}}prefetch_registers=4, prefetched_loads=1
//  NONE-LABEL: evo_tile.kernel @prefetch
//    NONE-NOT:   scf.if {{.+}} ->
//        NONE:   scf.for
//        NONE:     evo_tile.barrier
//        NONE:     evo_tile.load %arg1
evo_tile.kernel @prefetch(%m: memref<?x16xf16>, %b: memref<?x16xf16>, %w: memref<?x16xf16>, %v: memref<?xf16>, %o: memref<?x16xf16>, %u: memref<?x16xf16>, %r: memref<?xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %t = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    %bias = evo_tile.load %b[%i, %c0] : memref<?x16xf16> -> !tile
    %widex = arith.extf %x : !tile to tensor<16x16xf32, #rows>
    %wide = arith.extf %bias : !tile to tensor<16x16xf32, #rows>
    %s = arith.addf %widex, %wide : tensor<16x16xf32, #rows>
    %narrow = arith.truncf %s : tensor<16x16xf32, #rows> to !tile
    evo_tile.store %narrow, %o[%i, %c0] : !tile, memref<?x16xf16>
    %large = evo_tile.load %w[%i, %c0] : memref<?x16xf16> -> tensor<256x16xf16, #wide>
    evo_tile.store %large, %u[%i, %c0] : tensor<256x16xf16, #wide>, memref<?x16xf16>
    %vector = evo_tile.load %v[%i] : memref<?xf16> -> tensor<16xf16, #row>
    evo_tile.store %vector, %r[%i] : tensor<16xf16, #row>, memref<?xf16>
  }
  evo_tile.return
}

// Copies whose place depends on what the loop carries cannot run ahead.
// CHECK-LABEL: evo_tile.kernel @carried
//       CHECK:   evo_tile.wait
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="copies depend on values that the loop carries"
evo_tile.kernel @carried(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  %end = scf.for %i = %c0 to %n step %c16 iter_args(%at = %c0) -> index {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%at, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
    %next = arith.addi %at, %i : index
    scf.yield %next : index
  }
  evo_tile.return
}

// Nor what the loop itself may have written just before.
// CHECK-LABEL: evo_tile.kernel @written
//       CHECK:   evo_tile.wait
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="the loop may write the memory that is read ahead"
evo_tile.kernel @written(%m: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    %next = arith.addi %i, %c16 : index
    evo_tile.store %x, %m[%next, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// A buffer that is read after the loop keeps its place.
// CHECK-LABEL: evo_tile.kernel @read_later
//       CHECK:   evo_tile.alloc_lds : memref<16x16xf16
//       CHECK:   evo_tile.wait
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="a buffer has other uses than copies and later reads"
evo_tile.kernel @read_later(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
  }
  %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
  evo_tile.store %x, %o[%c0, %c0] : !tile, memref<?x16xf16>
  evo_tile.return
}

// Where the loop's tiles leave too few registers, loads come after the barrier,
// so that a scheduler may sink them.
// CHECK-LABEL: evo_tile.kernel @no_room
//       CHECK:   scf.for
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.load %arg0
//      REMARK: remark: [Passed] pipelined | {{.*}}estimated_registers=192, {{.*}}loads="after the barrier"
evo_tile.kernel @no_room(%m: memref<?x16xf16>, %w: memref<?x16xf16>, %o: memref<?x16xf16>, %u: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  %held = evo_tile.load %w[%c0, %c0] : memref<?x16xf16> -> tensor<256x16xf16, #wide>
  scf.for %i = %c0 to %n step %c16 {
    %t = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
    %now = evo_tile.load %w[%i, %c0] : memref<?x16xf16> -> tensor<256x16xf16, #wide>
    %sum = arith.addf %now, %held : tensor<256x16xf16, #wide>
    evo_tile.store %sum, %u[%i, %c0] : tensor<256x16xf16, #wide>, memref<?x16xf16>
  }
  evo_tile.return
}

// Where a block lies may stand in a table: what the table says of the next block is
// read ahead, too, of blocks that there are.
// CHECK-LABEL: evo_tile.kernel @table(
//  CHECK-SAME:   %{{[^,]+}}: memref<?x16xf16>, %[[TABLE:[^:]+]]: memref<?xindex>
//       CHECK:   %[[FIRST:.+]] = scf.if %[[RUNS:.+]] -> (index) {
//       CHECK:     memref.load %[[TABLE]][%c0]
//       CHECK:   evo_tile.async_copy %{{.+}}[%[[FIRST]], %c0] {{.+}} if %[[RUNS]]
//       CHECK:   scf.for %[[I:[^ ]+]] =
//       CHECK:     %[[NEXT:.+]] = arith.addi %[[I]], %c16
//       CHECK:     %[[INSIDE:.+]] = arith.cmpi slt, %[[NEXT]], %
//       CHECK:     %[[PLACE:.+]] = scf.if %[[INSIDE]] -> (index) {
//       CHECK:       memref.load %[[TABLE]][%[[NEXT]]]
//       CHECK:     evo_tile.async_copy %{{.+}}[%[[PLACE]], %c0] {{.+}} if %[[INSIDE]]
//       CHECK:     evo_tile.wait
//      REMARK: remark: [Passed] pipelined | {{.*}}copies=asynchronous
evo_tile.kernel @table(%m: memref<?x16xf16>, %at: memref<?xindex>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %j = memref.load %at[%i] : memref<?xindex>
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%j, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// The same through registers, where the last block is read again instead.
// CHECK-LABEL: evo_tile.kernel @table_registers(
//       CHECK:   scf.if
//       CHECK:     memref.load
//       CHECK:   scf.for
//       CHECK:     memref.load
//       CHECK:     evo_tile.load %arg0
//       CHECK:     evo_tile.barrier
//      REMARK: remark: [Passed] pipelined | {{.*}}copies="through registers"
evo_tile.kernel @table_registers(%m: memref<?x16xf16>, %at: memref<?xindex>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %j = memref.load %at[%i] : memref<?xindex>
    %t = evo_tile.load %m[%j, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// Where a divisor changes it may be 0 beyond the last iteration.
// CHECK-LABEL: evo_tile.kernel @changing_divisor
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="copies depend on an op that cannot run ahead: arith.divui"
evo_tile.kernel @changing_divisor(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %left = arith.subi %n, %i : index
    %j = arith.divui %n, %left : index
    %t = evo_tile.load %m[%j, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// A counter that stands for two dimensions is divided ahead, too: what divides it
// is the same in every iteration. Before the loop, which may have none, the divisor
// may be 0.
// CHECK-LABEL: evo_tile.kernel @two_dimensions(
//  CHECK-SAME:   %{{[^,]+}}: memref<?x?x16xf16>, %{{[^,]+}}: memref<?x16xf16>, %[[ROWS:[^,]+]]: index
//       CHECK:   %[[ONE:.+]] = arith.constant 1 : index
//       CHECK:   %[[SAFE:.+]] = arith.maxui %[[ROWS]], %[[ONE]]
//       CHECK:   arith.divui %{{.+}}, %[[SAFE]]
//       CHECK:   scf.for %[[I:[^ ]+]] =
//       CHECK:     %[[NEXT:.+]] = arith.addi %[[I]], %c1
//       CHECK:     arith.divui %[[NEXT]], %[[ROWS]]
//       CHECK:     arith.remui %[[NEXT]], %[[ROWS]]
//       CHECK:     evo_tile.async_copy
//      REMARK: remark: [Passed] pipelined | {{.*}}copies=asynchronous
evo_tile.kernel @two_dimensions(%m: memref<?x?x16xf16>, %o: memref<?x16xf16>, %rows: index, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lds = evo_tile.alloc_lds : memref<1x16x16xf16, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %n step %c1 {
    %batch = arith.divui %i, %rows : index
    %row = arith.remui %i, %rows : index
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%batch, %row, %c0] to %lds[%c0, %c0, %c0] as tensor<1x16x16xf16, #block> {alignment = 16 : i64} : memref<?x?x16xf16>, memref<1x16x16xf16, #gpu.address_space<workgroup>>
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0, %c0] : memref<1x16x16xf16, #gpu.address_space<workgroup>> -> tensor<1x16x16xf16, #block>
    %y = arith.negf %x : tensor<1x16x16xf16, #block>
    %sum = evo_tile.reduce add %y dim 0 : tensor<1x16x16xf16, #block> -> tensor<16x16xf16, #evo_tile.slice<dim = 0, size = 1, #block>>
    evo_tile.store %sum, %o[%i, %c0] : tensor<16x16xf16, #evo_tile.slice<dim = 0, size = 1, #block>>, memref<?x16xf16>
  }
  evo_tile.return
}

// Unsigned loops may run beyond the largest signed number.
// CHECK-LABEL: evo_tile.kernel @unsigned
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="the loop compares without sign"
evo_tile.kernel @unsigned(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for unsigned %i = %c0 to %n step %c16 {
    %t = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// Where to read is known only once something else is read.
// CHECK-LABEL: evo_tile.kernel @indirect
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="a load depends on another load"
evo_tile.kernel @indirect(%m: memref<?x16xf16>, %at: memref<?xi32>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    %places = evo_tile.load %at[%i] : memref<?xi32> -> tensor<16xi32, #row>
    %place = tensor.extract %places[%c0] : tensor<16xi32, #row>
    %j = arith.index_cast %place : i32 to index
    %t = evo_tile.load %m[%j, %c0] : memref<?x16xf16> -> !tile
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0, %c0] : !tile, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// What the loop itself loads for its next iteration runs ahead already: it is
// left, however it is made ready for that iteration. The other load is prefetched.
// CHECK-LABEL: evo_tile.kernel @carries_a_load
//  CHECK-SAME:   attributes {evo_tile.pipelined,
//       CHECK:   scf.for
//   CHECK-NOT:     evo_tile.load %arg0
//       CHECK:     arith.addf
//  CHECK-NEXT:     evo_tile.load %arg1
//   CHECK-NOT:     evo_tile.load %arg1
//       CHECK:     evo_tile.load %arg0
//   CHECK-NOT:     evo_tile.load
//       CHECK:     scf.yield
evo_tile.kernel @carries_a_load(%m: memref<?x16xf16>, %a: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %first = evo_tile.load %m[%c0, %c0] : memref<?x16xf16> -> !tile
  %last = scf.for %i = %c0 to %n step %c16 iter_args(%now = %first) -> !tile {
    %x = evo_tile.load %a[%i, %c0] : memref<?x16xf16> -> !tile
    %sum = arith.addf %now, %x : !tile
    evo_tile.store %sum, %o[%i, %c0] : !tile, memref<?x16xf16>
    %next = arith.addi %i, %c16 : index
    %later = evo_tile.load %m[%next, %c0] : memref<?x16xf16> -> !tile
    %negative = arith.negf %later : !tile
    scf.yield %negative : !tile
  }
  evo_tile.store %last, %o[%c0, %c0] : !tile, memref<?x16xf16>
  evo_tile.return
}

// Copies that run ahead already stay as they are.
// CHECK-LABEL: evo_tile.kernel @ahead_already
//       CHECK:   scf.for {{.+}} iter_args(%[[NOW:.+]] = %{{.+}}) -> (!evo_tile.token)
//       CHECK:     evo_tile.wait %[[NOW]]
//      REMARK: remark: [Missed] not-pipelined | {{.*}}reason="an iteration does not await what it copies itself, and nothing else"
evo_tile.kernel @ahead_already(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %lds = evo_tile.alloc_lds : !lds
  %copy = evo_tile.async_copy %m[%c0, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
  %first = evo_tile.async_group(%copy)
  %last = scf.for %i = %c0 to %n step %c16 iter_args(%now = %first) -> !evo_tile.token {
    evo_tile.wait %now
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
    evo_tile.barrier
    %next = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %later = evo_tile.async_group(%next)
    scf.yield %later : !evo_tile.token
  }
  evo_tile.return
}

// A pipelined kernel stays as it is.
// CHECK-LABEL: evo_tile.kernel @again
//   CHECK-NOT:   iter_args
//       CHECK:   evo_tile.return
evo_tile.kernel @again(%a: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {evo_tile.pipelined, target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %x = evo_tile.load %a[%i, %c0] : memref<?x16xf16> -> !tile
    %y = arith.negf %x : !tile
    evo_tile.store %y, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}

// A loop of one iteration at most has none to copy ahead of; one of two may.
//       CHECK: evo_tile.kernel @one_at_most({{[^{]*}} attributes {schedule
//   CHECK-NOT:   memref<{{.}}x16x16xf16
//       CHECK:   evo_tile.alloc_lds : memref<16x16xf16
// CHECK-LABEL: evo_tile.kernel @two_at_most
//       CHECK:   evo_tile.alloc_lds : memref<3x16x16xf16
evo_tile.kernel @one_at_most(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %c: i1) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = arith.select %c, %c16, %c0 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}
evo_tile.kernel @two_at_most(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %c: i1) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c17 = arith.constant 17 : index
  %n = arith.select %c, %c17, %c0 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c16 {
    evo_tile.barrier
    %copy = evo_tile.async_copy %m[%i, %c0] to %lds[%c0, %c0] as !tile {alignment = 16 : i64} : memref<?x16xf16>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] : !lds -> !tile
    evo_tile.store %x, %o[%i, %c0] : !tile, memref<?x16xf16>
  }
  evo_tile.return
}
