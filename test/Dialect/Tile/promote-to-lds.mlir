// A matrix product's operands are shared by subgroups: they go through LDS.
// RUN: %python %S/Inputs/with_target.py gfx942 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --evo-tile-promote-to-lds | FileCheck %s --check-prefix=STAGED
// RUN: %python %S/Inputs/with_target.py gfx1100 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.gfx1100
// RUN: evoformer-opt %t.gfx1100 --evo-tile-assign-layouts --evo-tile-promote-to-lds | FileCheck %s --check-prefix=STAGED

// What is staged stays as it is; so does a copy whose accesses are narrow.
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --evo-tile-promote-to-lds > %t.once
// RUN: evoformer-opt %t.once --evo-tile-promote-to-lds | diff %t.once -
// RUN: evoformer-opt %examples/triangle_attention.mlir --evoformer-lower='target=gfx942 stop-after=staged' > %t.attention
// RUN: evoformer-opt %t.attention > %t.attention.once
// RUN: evoformer-opt %t.attention --evo-tile-promote-to-lds | diff %t.attention.once -

// The first operand keeps memory's order, the second one's fragments run
// across it: its buffer is transposed, its copy takes blocks of
// four rows, wide enough to keep all lanes busy and no wider.
//       STAGED: #[[COPY_B:.+]] = #evo_tile.lane_map<registers = {{\[}}[{{2|4}}, 0, 1], [4, 1, 0]]
// STAGED-LABEL: evo_tile.kernel @matmul
//   STAGED-DAG: %[[LDS_A:.+]] = evo_tile.alloc_lds : memref<64x32xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8]>>
//   STAGED-DAG: %[[LDS_B:.+]] = evo_tile.alloc_lds : memref<32x64xbf16, strided<[1, 32]>, #evo_tile.swizzled_lds<base = 4, from = [7, {{8, 9|10}}]>>
//       STAGED: scf.for
//  STAGED-NEXT:   %[[A:.+]] = evo_tile.load %{{.+}} padding 0.000000e+00 : bf16 {alignment = 16 : i64} : {{.+}} -> tensor<64x32xbf16, #lanes{{[0-9]*}}>
//  STAGED-NEXT:   %[[B:.+]] = evo_tile.load %{{.+}} padding 0.000000e+00 : bf16 {alignment = 16 : i64} : {{.+}} -> tensor<32x64xbf16, #[[COPY_B]]>
//  STAGED-NEXT:   evo_tile.barrier
//  STAGED-NEXT:   evo_tile.store %[[A]], %[[LDS_A]][%c0, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>}
//  STAGED-NEXT:   evo_tile.store %[[B]], %[[LDS_B]][%c0, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>}
//  STAGED-NEXT:   evo_tile.barrier
//  STAGED-NEXT:   %[[FA:.+]] = evo_tile.load %[[LDS_A]][%c0, %c0] padding 0.000000e+00 {{.+}} -> tensor<64x32xbf16, #frag_{{[ab]}}>
//  STAGED-NEXT:   %[[FB:.+]] = evo_tile.load %[[LDS_B]][%c0, %c0] padding 0.000000e+00 {{.+}} -> tensor<32x64xbf16, #frag_{{[ab]}}>
//  STAGED-NEXT:   evo_tile.mma %[[FA]], %[[FB]]
//   STAGED-NOT: evo_tile.barrier
//       STAGED: evo_tile.return

// Nothing changes a second time.
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --evo-tile-promote-to-lds > %t.once
// RUN: evoformer-opt %t.once --evo-tile-promote-to-lds | diff %t.once -

// Where there are asynchronous copies, aligned tiles in memory's order use them.
// RUN: %python %S/Inputs/with_target.py sm_80 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --evo-tile-promote-to-lds | FileCheck %s --check-prefix=ASYNC

// ASYNC-LABEL: evo_tile.kernel @matmul
// Lanes read the second operand across its rows, by matrix reads.
//       ASYNC: %[[LDS_A:.+]] = evo_tile.alloc_lds : memref<64x32xbf16
//       ASYNC: evo_tile.alloc_lds : memref<32x64xbf16, strided<[72, 1]>, #gpu.address_space<workgroup>>
//       ASYNC: scf.for
//       ASYNC:   evo_tile.barrier
//  ASYNC-NEXT:   %[[COPY:.+]] = evo_tile.async_copy %{{.+}} to %[[LDS_A]][%c0, %c0] padding 0.000000e+00 : bf16 as tensor<64x32xbf16, #lanes{{[0-9]*}}> {alignment = 16 : i64}
//  ASYNC-NEXT:   %[[OTHER:.+]] = evo_tile.async_copy
//  ASYNC-NEXT:   %[[GROUP:.+]] = evo_tile.async_group(%[[COPY]], %[[OTHER]])
//       ASYNC:   evo_tile.wait %[[GROUP]]
//  ASYNC-NEXT:   evo_tile.barrier
//  ASYNC-NEXT:   evo_tile.load %[[LDS_A]]

// Without the promise of alignment no piece is certain to be copyable.
// RUN: sed 's/{alignment = 16 : i64}//' %t.sm_80 | evoformer-opt --evo-tile-assign-layouts --evo-tile-promote-to-lds | FileCheck %s --check-prefix=UNALIGNED
// UNALIGNED-NOT: evo_tile.async_copy
//     UNALIGNED: evo_tile.alloc_lds
// UNALIGNED-NOT: evo_tile.async_copy

// Remarks tell what was decided, and the bank conflicts that remain.
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --evo-tile-promote-to-lds --remarks-filter='evo-tile-promote.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: [Passed] promoted | Category:evo-tile-promote-to-lds | computed=no, copy="through registers", copy_bytes=16, lds_bytes=4096, {{.*}}reason="shared by subgroups", row_padding=0, sharing=2, swizzle="7 8", transposed=no
// REMARK: remark: [Passed] promoted | Category:evo-tile-promote-to-lds | computed=no, copy="through registers", copy_bytes=4, lds_bytes=4096, read_conflicts={{[12]}}.00, {{.*}}transposed=yes

// One subgroup shares nothing: rows in memory's order stay direct, those across
// it would be read in pieces of two bytes and are staged.
// RUN: %python %S/Inputs/with_target.py gfx942 %S/Inputs/matmul.mlir 'block = [64, 64, 32], subgroups = [1, 1, 1], stages = 1' > %t.one
// RUN: evoformer-opt %t.one --evo-tile-assign-layouts --evo-tile-promote-to-lds --remarks-filter='evo-tile-promote.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ALONE
//     ALONE: remark: [Missed] direct-load | Category:evo-tile-promote-to-lds | reason="not shared, and wide enough"
//     ALONE: remark: [Passed] promoted | {{.*}}reason="narrow accesses to memory"
//     ALONE: evo_tile.alloc_lds : memref<32x64xbf16, strided<[1,
// ALONE-NOT: evo_tile.alloc_lds
