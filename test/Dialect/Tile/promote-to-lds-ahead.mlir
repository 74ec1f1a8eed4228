// A tile that only the subgroup that loads it needs comes by asynchronous copies
// where registers could not hold it an iteration ahead of its use: it is larger
// than their share, or the schedule leaves none. Loops without stages load it.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 2' > %t.two
// RUN: evoformer-opt %t.two --evo-tile-promote-to-lds --remarks-filter='evo-tile-promote.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 2, resident = 3' > %t.resident
// RUN: evoformer-opt %t.resident --evo-tile-promote-to-lds | FileCheck %s --check-prefix=BOTH
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 1' > %t.one
// RUN: evoformer-opt %t.one --evo-tile-promote-to-lds | FileCheck %s --check-prefix=NONE
// Two slots of both, 20480 bytes, must leave room for as many workgroups as the
// schedule asks for, with the 1024 bytes that each takes besides.
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 2, resident = 8' > %t.crowded
// RUN: evoformer-opt %t.crowded --evo-tile-promote-to-lds | FileCheck %s --check-prefix=NONE
// Where there are no asynchronous copies registers must do.
// RUN: %python %S/Inputs/with_target.py gfx1100 %s 'block = [1], subgroups = [1, 4, 1], stages = 2' > %t.gfx1100
// RUN: evoformer-opt %t.gfx1100 --evo-tile-promote-to-lds | FileCheck %s --check-prefix=NONE

#large = #evo_tile.lane_map<registers = [[8, 0, 1], [4, 8, 0]], lanes = [[4, 0, 8], [8, 1, 0]], subgroups = [[4, 32, 0]]>
#small = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[4, 0, 8], [8, 1, 0]], subgroups = [[4, 8, 0]]>

// 16 registers of a lane, and 4.
// LARGE-DAG: remark: [Missed] direct-load | Category:evo-tile-promote-to-lds | reason="not shared, and wide enough"
// LARGE-DAG: remark: [Passed] promoted | {{.+}}reason="too large to be loaded ahead in registers"
// LARGE-LABEL: evo_tile.kernel @own
//       LARGE:   scf.for
//       LARGE:     evo_tile.async_copy %arg0
//   LARGE-NOT:     evo_tile.async_copy
//       LARGE:     evo_tile.load %arg1
// BOTH-LABEL: evo_tile.kernel @own
//       BOTH:   scf.for
//       BOTH:     evo_tile.async_copy %arg0
//       BOTH:     evo_tile.async_copy %arg1
// NONE-LABEL: evo_tile.kernel @own
//   NONE-NOT:   evo_tile.alloc_lds
//   NONE-NOT:   evo_tile.async_copy
//       NONE:   evo_tile.return
evo_tile.kernel @own(%m: memref<?x32xf16>, %s: memref<?x32xf16>, %o: memref<?x32xf16>, %p: memref<?x32xf16>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c128 {
    %x = evo_tile.load %m[%i, %c0] {alignment = 16 : i64} : memref<?x32xf16> -> tensor<128x32xf16, #large>
    %y = evo_tile.load %s[%i, %c0] {alignment = 16 : i64} : memref<?x32xf16> -> tensor<32x32xf16, #small>
    evo_tile.store %x, %o[%i, %c0] : tensor<128x32xf16, #large>, memref<?x32xf16>
    evo_tile.store %y, %p[%i, %c0] : tensor<32x32xf16, #small>, memref<?x32xf16>
  }
  evo_tile.return
}
