// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm --split-input-file | FileCheck %s

// Exchanges stay in the vector unit where the chip can.
#gfx1100 = #evo_tile.target<chip = "gfx1100", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {permlane_x16}>
gpu.module @rdna attributes {evo_tile.target = #gfx1100} {
  // CHECK-LABEL: llvm.func @rdna
  gpu.func @rdna(%x: f32, %m: memref<f32>) kernel {
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %c32 = arith.constant 32 : i32
    // row_xmask:1 and row_xmask:4
    // CHECK: rocdl.update.dpp %[[X:.+]], %[[X]] with 353, 15, 15, true : f32
    %a, %p = gpu.shuffle xor %x, %c1, %c32 : f32
    // CHECK: rocdl.update.dpp %{{.+}}, %{{.+}} with 356, 15, 15, true : f32
    %b, %q = gpu.shuffle xor %a, %c4, %c32 : f32
    // CHECK: rocdl.permlanex16
    %c, %r = gpu.shuffle xor %b, %c16, %c32 : f32
    memref.store %c, %m[] : memref<f32>
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @cdna attributes {evo_tile.target = #gfx942} {
  // CHECK-LABEL: llvm.func @cdna
  gpu.func @cdna(%x: f32, %m: memref<f32>) kernel {
    %c2 = arith.constant 2 : i32
    %c16 = arith.constant 16 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    // quad_perm:[2,3,0,1]
    // CHECK: rocdl.update.dpp %{{.+}}, %{{.+}} with 78, 15, 15, true : f32
    %a, %p = gpu.shuffle xor %x, %c2, %c64 : f32
    // CHECK: rocdl.ds_swizzle
    %b, %q = gpu.shuffle xor %a, %c16, %c64 : f32
    // CHECK: rocdl.ds_bpermute
    %c, %r = gpu.shuffle xor %b, %c32, %c64 : f32
    memref.store %c, %m[] : memref<f32>
    gpu.return
  }
  // CHECK-LABEL: llvm.func @reduce
  // CHECK: rocdl.update.dpp
  // CHECK-NOT: gpu.subgroup_reduce
  // CHECK: llvm.return
  gpu.func @reduce(%x: f32, %m: memref<f32>) kernel {
    %a = gpu.subgroup_reduce maxnumf %x : (f32) -> f32
    memref.store %a, %m[] : memref<f32>
    gpu.return
  }
}

// -----

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {}>
gpu.module @nv attributes {evo_tile.target = #sm_80} {
  // CHECK-LABEL: llvm.func @nv
  // CHECK: nvvm.shfl.sync bfly
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  gpu.func @nv(%x: f32, %m: memref<f32>) kernel {
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %a, %p = gpu.shuffle xor %x, %c2, %c32 : f32
    %b = gpu.subgroup_reduce add %a : (f32) -> f32
    memref.store %b, %m[] : memref<f32>
    gpu.return
  }
}

// -----

// Whether a bit is set in any lane: one vote.
#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @vote_amd attributes {evo_tile.target = #gfx942} {
  // CHECK-LABEL: llvm.func @vote_amd
  gpu.func @vote_amd(%bit: i1, %m: memref<i1>) kernel {
    // CHECK: %[[LANES:.+]] = rocdl.ballot %{{.+}} : i64
    // CHECK: llvm.icmp "ne" %[[LANES]]
    %any = gpu.subgroup_reduce or %bit uniform : (i1) -> i1
    memref.store %any, %m[] : memref<i1>
    gpu.return
  }
}

// -----

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 166912, lds_banks = 32, matrix = [], properties = {}>
gpu.module @vote_nvidia attributes {evo_tile.target = #sm_80} {
  // CHECK-LABEL: llvm.func @vote_nvidia
  gpu.func @vote_nvidia(%bit: i1, %m: memref<i1>) kernel {
    // CHECK: nvvm.vote.sync any %{{.+}}, %{{.+}} -> i1
    %any = gpu.subgroup_reduce or %bit uniform : (i1) -> i1
    memref.store %any, %m[] : memref<i1>
    gpu.return
  }
}
