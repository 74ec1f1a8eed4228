// Loops that copy to workgroup memory and whose tiles take more than half of
// the registers are not unrolled: iterations side by side would need twice as
// many.
// RUN: evoformer-opt %s --convert-tile-to-gpu | FileCheck %s
// RUN: evoformer-opt %s --pass-pipeline='builtin.module(convert-tile-to-gpu,gpu.module(convert-gpu-lanes-to-llvm))' | FileCheck %s --check-prefix=LLVM

#target = #evo_tile.target<chip = "gfx1100", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 2>
#large = #evo_tile.lane_map<registers = [[4, 1], [33, 128]], lanes = [[32, 4]], subgroups = [], inner = 1>
#small = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[32, 4]], subgroups = []>
!lds = memref<128xf32, #gpu.address_space<workgroup>>

// CHECK: #[[UNROLL:.+]] = #llvm.loop_unroll<disable = true>
// CHECK: #[[ROLLED:.+]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>

// 132 registers of 256, and a copy.
// CHECK-LABEL: gpu.func @large
//       CHECK:   } {llvm.loop_annotation = #[[ROLLED]]}
//       CHECK:   gpu.return
// LLVM-LABEL: llvm.func @large
//       LLVM:   llvm.br ^{{.+}} {loop_annotation = #{{.+}}}
//   LLVM-NOT:   llvm.loop_annotation
evo_tile.kernel @large(%m: memref<?xf32>, %o: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %t = evo_tile.load %m[%i] : memref<?xf32> -> tensor<128xf32, #small>
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0] : tensor<128xf32, #small>, !lds
    evo_tile.barrier
    %x = evo_tile.load %m[%i] : memref<?xf32> -> tensor<4224xf32, #large>
    evo_tile.store %x, %o[%i] : tensor<4224xf32, #large>, memref<?xf32>
  }
  evo_tile.return
}

// Nothing is copied.
// CHECK-LABEL: gpu.func @no_copy
//   CHECK-NOT:   loop_annotation
//       CHECK:   gpu.return
evo_tile.kernel @no_copy(%m: memref<?xf32>, %o: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = evo_tile.load %m[%i] : memref<?xf32> -> tensor<4224xf32, #large>
    evo_tile.store %x, %o[%i] : tensor<4224xf32, #large>, memref<?xf32>
  }
  evo_tile.return
}

// Few registers.
// CHECK-LABEL: gpu.func @small
//   CHECK-NOT:   loop_annotation
//       CHECK:   gpu.return
// LLVM-LABEL: llvm.func @small
//   LLVM-NOT:   loop_annotation
//       LLVM:   llvm.return
evo_tile.kernel @small(%m: memref<?xf32>, %o: memref<?xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %c1 {
    %t = evo_tile.load %m[%i] : memref<?xf32> -> tensor<128xf32, #small>
    evo_tile.barrier
    evo_tile.store %t, %lds[%c0] : tensor<128xf32, #small>, !lds
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0] : !lds -> tensor<128xf32, #small>
    evo_tile.store %x, %o[%i] : tensor<128xf32, #small>, memref<?xf32>
  }
  evo_tile.return
}
