// Between the fences of a barrier is a wait for workgroup memory that the code
// generator keeps: lgkmcnt(0) in each generation's encoding, dscnt(0) on gfx12.
// test/Target/barriers.py looks at the final code.
// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm --split-input-file | FileCheck %s

#gfx90a = #evo_tile.target<chip = "gfx90a", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 256,
  lds_bytes = 65536, lds_banks = 32, matrix = []>
// CHECK-LABEL: llvm.func @gfx90a
// CHECK-NEXT:    llvm.fence syncscope("workgroup") release {llvm.mmra = #[[LOCAL:.+]]}
// CHECK-NEXT:    rocdl.s.waitcnt 49279
// CHECK-NEXT:    rocdl.s.barrier
// CHECK-NEXT:    llvm.fence syncscope("workgroup") acquire {llvm.mmra = #[[LOCAL]]}
// CHECK-NEXT:    llvm.fence syncscope("workgroup") release{{$}}
// CHECK-NEXT:    rocdl.s.waitcnt 49279
// CHECK-NEXT:    rocdl.s.barrier
// CHECK-NEXT:    llvm.fence syncscope("workgroup") acquire{{$}}
gpu.module @m attributes {evo_tile.target = #gfx90a} {
  gpu.func @gfx90a() kernel {
    amdgpu.lds_barrier
    gpu.barrier
    gpu.return
  }
}

// -----

#gfx1100 = #evo_tile.target<chip = "gfx1100", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256,
  lds_bytes = 65536, lds_banks = 32, matrix = []>
// CHECK-LABEL: llvm.func @gfx1100
// CHECK-NEXT:    llvm.fence syncscope("workgroup") release {llvm.mmra = #[[LOCAL:.+]]}
// CHECK-NEXT:    rocdl.s.waitcnt 64519
// CHECK-NEXT:    rocdl.s.barrier
// CHECK-NEXT:    llvm.fence syncscope("workgroup") acquire {llvm.mmra = #[[LOCAL]]}
// CHECK-NEXT:    llvm.fence syncscope("workgroup") release{{$}}
// CHECK-NEXT:    rocdl.s.waitcnt 64519
// CHECK-NEXT:    rocdl.s.barrier
// CHECK-NEXT:    llvm.fence syncscope("workgroup") acquire{{$}}
gpu.module @m attributes {evo_tile.target = #gfx1100} {
  gpu.func @gfx1100() kernel {
    amdgpu.lds_barrier
    gpu.barrier
    gpu.return
  }
}

// -----

#gfx1201 = #evo_tile.target<chip = "gfx1201", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256,
  lds_bytes = 65536, lds_banks = 32, matrix = []>
// CHECK-LABEL: llvm.func @gfx1201
// CHECK-NEXT:    llvm.fence syncscope("workgroup") release {llvm.mmra = #[[LOCAL:.+]]}
// CHECK-NEXT:    rocdl.s.wait.dscnt 0
// CHECK-NEXT:    rocdl.s.barrier.signal id = -1
// CHECK-NEXT:    rocdl.s.barrier.wait id = -1
// CHECK-NEXT:    llvm.fence syncscope("workgroup") acquire {llvm.mmra = #[[LOCAL]]}
// CHECK-NEXT:    llvm.fence syncscope("workgroup") release{{$}}
// CHECK-NEXT:    rocdl.s.wait.dscnt 0
// CHECK-NEXT:    rocdl.s.barrier.signal id = -1
// CHECK-NEXT:    rocdl.s.barrier.wait id = -1
// CHECK-NEXT:    llvm.fence syncscope("workgroup") acquire{{$}}
gpu.module @m attributes {evo_tile.target = #gfx1201} {
  gpu.func @gfx1201() kernel {
    amdgpu.lds_barrier
    gpu.barrier
    gpu.return
  }
}
