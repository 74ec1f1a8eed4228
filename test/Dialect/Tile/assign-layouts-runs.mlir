// A result's registers lie in runs, which makes stores wide, unless an operand
// that a loop reads moves more for that: 8x8 matrix reads across rows give each
// lane the columns that the instruction has.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s "block = [64, 64], subgroups = [1, 4, 1], stages = 2" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts | FileCheck %s --check-prefix=MATRIX
// RUN: %python %S/Inputs/with_target.py gfx942 %s "block = [64, 64], subgroups = [1, 4, 1], stages = 2" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts | FileCheck %s --check-prefix=RUNS

// MATRIX-DAG: #[[ACROSS:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, B, {{.*}}, array<i64>]>
// MATRIX-DAG: #[[ALONG:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, C, {{.*}}order = [array<i64>, array<i64: {{.+}}>]>
// RUNS-DAG: #[[SUM:.+]] = #evo_tile.frag<{{.+}}, C, {{.*}}order = [{{.*}}array<i64: {{.+}}>

// MATRIX-LABEL: @across
//       MATRIX: evo_tile.mma {{.+}}, tensor<64x32xbf16, #[[ACROSS]]>,
// RUNS-LABEL: @across
//       RUNS: evo_tile.mma {{.+}} tensor<64x32xf32, #[[SUM]]>
evo_tile.kernel @across(%x: memref<?x?xbf16>, %v: memref<?x32xbf16>, %y: memref<?x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
    %a = evo_tile.load %x[%c0, %k] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = evo_tile.load %v[%k, %c0] padding 0.0 : bf16 : memref<?x32xbf16> -> tensor<64x32xbf16>
    %s = evo_tile.mma %a, %b, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %s : tensor<64x32xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  evo_tile.return
}

// The operand's rows are read along: nothing speaks against wide stores.
// MATRIX-LABEL: @along
//       MATRIX: evo_tile.mma {{.+}} tensor<64x32xf32, #[[ALONG]]>
evo_tile.kernel @along(%x: memref<?x?xbf16>, %v: memref<32x?xbf16>, %y: memref<?x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
    %a = evo_tile.load %x[%c0, %k] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = evo_tile.load %v[%c0, %k] padding 0.0 : bf16 : memref<32x?xbf16> -> tensor<32x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = evo_tile.mma %a, %t, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %s : tensor<64x32xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  evo_tile.return
}
