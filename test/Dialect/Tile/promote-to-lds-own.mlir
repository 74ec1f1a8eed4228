// What a loop multiplies and does not change lies in registers, or, where the
// schedule says so, in workgroup memory, from which each loop that multiplies it
// reads it; work on it is done once, before.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [32], subgroups = [1, 2, 1], stages = 1' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds | FileCheck %s --check-prefixes=ALL,REGISTERS
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [32], subgroups = [1, 2, 1], stages = 1, own = lds' > %t.own
// RUN: evoformer-opt %t.own --evo-tile-assign-layouts --evo-tile-promote-to-lds | FileCheck %s --check-prefixes=ALL,OWN
// RUN: evoformer-opt %t.own --evo-tile-assign-layouts --evo-tile-promote-to-lds --remarks-filter=evo-tile-promote.* --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: promoted{{.*}}computed=yes{{.*}}reason="read by loops, and the schedule leaves it no registers"

// Kernels whose own operands lie in workgroup memory give the same numbers, with
// groups of heads, too, which load them anew for each head.
// RUN: evoformer-check --target=sm_80 --device=sim --guard-bytes=0 --schedule='key_value_grad:v1:q=32,k=64,subgroups=4x1,own=lds;query_grad:v1:q=64,k=32,subgroups=4x1,stages=1,own=lds' 'N=2 H=4 Sq=70 Sk=75 D=40 type=bf16 bias=bnk:i1:sparse bias=hqk:bf16:normal pass=backward' 'N=1 H=4 Sq=33 Sk=66 D=64 type=f16 group=2 bias=hqk:f16:infinite nan=some pass=backward'
// RUN: evoformer-check --target=sm_80 --device=sim --guard-bytes=0 --schedule='key_value_grad:v1:own=lds;query_grad:v1:own=lds' 'N=2 H=2 Sq=34 Sk=35 D=32 type=f32 bias=bnk:i1:sparse pass=backward'
// RUN: evoformer-check --target=gfx942 --device=sim --guard-bytes=0 --schedule='key_value_grad:v1:q=64,k=128,subgroups=4x1,stages=1,own=lds' 'N=2 H=2 Sq=70 Sk=75 D=32 type=bf16 bias=bnk:i1:sparse bias=hqk:bf16:normal pass=backward'

// RUN: evoformer-check --target=gfx1100 --device=sim --guard-bytes=0 'H=2 Sq=70 Sk=83 D=96 type=f16 bias=bnk:i1:sparse bias=bhqk:f16:infinite nan=some pass=backward' 'H=2 Sq=33 Sk=83 D=128 type=bf16 group=2 window=:i+1 bias=bnk:i1:sparse bias=bhqk:bf16:infinite nan=some pass=backward' 'H=2 Sq=33 Sk=41 D=96 type=f32 bias=bnk:i1:sparse bias=bhqk:f32:infinite nan=some pass=backward'

//       ALL-LABEL: evo_tile.kernel @own
//             ALL:   evo_tile.load %{{.*}} : memref<32x32xbf16
//             ALL:   arith.select
//             OWN:   evo_tile.store %{{.*}}, %[[BUFFER:[0-9]+]][
//        OWN-NEXT:   evo_tile.barrier
//   REGISTERS-NOT:   evo_tile.barrier
//             ALL:   scf.for
//             OWN:     evo_tile.load %[[BUFFER]]{{.*}} -> tensor<32x32xbf16, #{{frag.*}}>
//             ALL:     evo_tile.mma
//             ALL:   scf.for
//             OWN:     evo_tile.load %[[BUFFER]]
//             ALL:     evo_tile.mma
evo_tile.kernel @own(%a: memref<32x32xbf16>, %b: memref<?x32xbf16>, %o: memref<32x32xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %none = arith.constant dense<0.0> : tensor<32x32xbf16>
  %start = arith.constant dense<0.0> : tensor<32x32xf32>
  %x = evo_tile.load %a[%c0, %c0] {alignment = 16 : i64} : memref<32x32xbf16> -> tensor<32x32xbf16>
  %nan = arith.cmpf uno, %x, %x : tensor<32x32xbf16>
  %y = arith.select %nan, %none, %x : tensor<32x32xi1>, tensor<32x32xbf16>
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%sum = %start) -> tensor<32x32xf32> {
    %z = evo_tile.load %b[%i, %c0] {alignment = 16 : i64} : memref<?x32xbf16> -> tensor<32x32xbf16>
    %m = evo_tile.mma %y, %z, %sum : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
    scf.yield %m : tensor<32x32xf32>
  }
  %t = scf.for %i = %c0 to %n step %c32 iter_args(%sum = %s) -> tensor<32x32xf32> {
    %z = evo_tile.load %b[%i, %c0] {alignment = 16 : i64} : memref<?x32xbf16> -> tensor<32x32xbf16>
    %m = evo_tile.mma %y, %z, %sum : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
    scf.yield %m : tensor<32x32xf32>
  }
  evo_tile.store %t, %o[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  evo_tile.return
}
