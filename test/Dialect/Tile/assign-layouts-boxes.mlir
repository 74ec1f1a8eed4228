// Where each step of a loop brings all operands, as boxes may, a result's registers lie as
// the instruction has them, and tiles of operands as boxes bring them; what is stored once
// is stored in narrower pieces. Not where rows are too narrow for boxes, an operand stays,
// the loop loads what lies along the result, or a chip has no boxes.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s "block = [64, 64], subgroups = [1, 4, 1], stages = 2" > %t.sm_90
// RUN: evoformer-opt %t.sm_90 --evo-tile-assign-layouts | FileCheck %s
// RUN: %python %S/Inputs/with_target.py sm_80 %s "block = [64, 64], subgroups = [1, 4, 1], stages = 2" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts | FileCheck %s --check-prefix=NONE

// CHECK-DAG: #[[RUNS:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, C, {{.*}}order = [array<i64>, array<i64: {{.+}}>]>
// NONE-DAG:  #[[RUNS:.+]] = #evo_tile.frag<#mma_m16n8k16_bf16, C, {{.*}}order = [array<i64>, array<i64: {{.+}}>]>

// CHECK-LABEL: @anew
//   CHECK-NOT: evo_tile.mma {{.+}} tensor<64x32xf32, #[[RUNS]]>
// NONE-LABEL: @anew
//       NONE: evo_tile.mma {{.+}} tensor<64x32xf32, #[[RUNS]]>
evo_tile.kernel @anew(%x: memref<?x?xbf16>, %v: memref<32x?xbf16>, %y: memref<?x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
    %a = evo_tile.load %x[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = evo_tile.load %v[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<32x?xbf16> -> tensor<32x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = evo_tile.mma %a, %t, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %s : tensor<64x32xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  evo_tile.return
}

// CHECK-LABEL: @narrow
//       CHECK: evo_tile.mma {{.+}} tensor<64x32xf32, #[[RUNS]]>
evo_tile.kernel @narrow(%x: memref<?x?xbf16>, %v: memref<32x?xbf16>, %y: memref<?x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
    %a = evo_tile.load %x[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = evo_tile.load %v[%c0, %k] padding 0.0 : bf16 {alignment = 4 : i64} : memref<32x?xbf16> -> tensor<32x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = evo_tile.mma %a, %t, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %s : tensor<64x32xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  evo_tile.return
}

// CHECK-LABEL: @own
//       CHECK: evo_tile.mma {{.+}} tensor<64x32xf32, #[[RUNS]]>
evo_tile.kernel @own(%x: memref<?x64xbf16>, %v: memref<32x?xbf16>, %y: memref<?x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %a = evo_tile.load %x[%c0, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
    %b = evo_tile.load %v[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<32x?xbf16> -> tensor<32x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = evo_tile.mma %a, %t, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    scf.yield %s : tensor<64x32xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  evo_tile.return
}

// CHECK-LABEL: @along
//       CHECK: evo_tile.mma {{.+}} tensor<64x32xf32, #[[RUNS]]>
evo_tile.kernel @along(%x: memref<?x?xbf16>, %v: memref<32x?xbf16>, %z: memref<?x32xf32>, %y: memref<?x32xf32>, %n: index)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%c = %zero) -> tensor<64x32xf32> {
    %a = evo_tile.load %x[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x64xbf16>
    %b = evo_tile.load %v[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<32x?xbf16> -> tensor<32x64xbf16>
    %t = evo_tile.transpose %b [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
    %s = evo_tile.mma %a, %t, %c : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
    %beside = evo_tile.load %z[%k, %c0] : memref<?x32xf32> -> tensor<64x32xf32>
    %next = arith.addf %s, %beside : tensor<64x32xf32>
    scf.yield %next : tensor<64x32xf32>
  }
  evo_tile.store %sum, %y[%c0, %c0] : tensor<64x32xf32>, memref<?x32xf32>
  evo_tile.return
}
