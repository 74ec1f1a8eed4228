// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm --split-input-file | FileCheck %s

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [],
  properties = {packed_f32}>

// CHECK: llvm.mlir.global internal @[[LDS:.+]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x i8>
// CHECK-LABEL: llvm.func @math
// CHECK-SAME: gpu.kernel
// CHECK-SAME: passthrough = {{\[}}["amdgpu-ieee", "false"]]
// CHECK-SAME: rocdl.flat_work_group_size = "256,256"
// CHECK-SAME: rocdl.kernel
// CHECK-SAME: rocdl.reqd_work_group_size = array<i32: 256, 1, 1>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @math(%x: memref<?xf32>, %h: memref<?xf16>)
      workgroup(%lds: memref<4096xi8, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK: rocdl.workitem.id.x range <i32, 0, 256>
    %i = gpu.thread_id x
    // CHECK: %[[A:.+]] = llvm.load %{{.+}} {alignment = 16 : i64}
    %a = vector.load %x[%i] {alignment = 16} : memref<?xf32>, vector<2xf32>
    // CHECK: %[[A0:.+]] = llvm.extractelement %[[A]]
    // CHECK: llvm.call_intrinsic "llvm.amdgcn.exp2.f32"(%[[A0]]) : (f32) -> f32
    // CHECK: %[[A1:.+]] = llvm.extractelement %[[A]]
    // CHECK: llvm.call_intrinsic "llvm.amdgcn.exp2.f32"(%[[A1]])
    %b = math.exp2 %a : vector<2xf32>
    // CHECK-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.log.f32"
    %c = math.log2 %b : vector<2xf32>
    // CHECK-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.rcp.f32"
    // CHECK: llvm.fmul
    %d = arith.divf %a, %c fastmath<arcp> : vector<2xf32>
    // CHECK: llvm.fdiv
    %e = arith.divf %d, %c : vector<2xf32>
    // CHECK-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.rsq.f32"
    %f = math.rsqrt %e : vector<2xf32>
    vector.store %f, %x[%i] {alignment = 16} : memref<?xf32>, vector<2xf32>
    // Narrow types go through f32.
    %g = memref.load %h[%i] : memref<?xf16>
    // CHECK: llvm.fpext %{{.+}} : f16 to f32
    // CHECK: llvm.amdgcn.exp2.f32
    // CHECK: llvm.fptrunc %{{.+}} : f32 to f16
    %k = math.exp2 %g : f16
    memref.store %k, %h[%i] : memref<?xf16>
    // CHECK: llvm.getelementptr %{{.+}} : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
    %c0 = arith.constant 0 : index
    %v = memref.view %lds[%c0][] : memref<4096xi8, #gpu.address_space<workgroup>> to memref<1024xf32, #gpu.address_space<workgroup>>
    // CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
    vector.store %f, %v[%i] {alignment = 8} : memref<1024xf32, #gpu.address_space<workgroup>>, vector<2xf32>
    // CHECK: rocdl.s.barrier
    gpu.barrier
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [],
  properties = {packed_f32}>

// Loads through a buffer resource are bounds checked by the hardware.
// CHECK-LABEL: llvm.func @buffer
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @buffer(%x: memref<?x32xbf16, strided<[?, 1], offset: ?>>, %n: index) kernel {
    // CHECK: %[[ELEMENTS:.+]] = llvm.intr.umax
    // CHECK: %[[BYTES:.+]] = llvm.mul %[[ELEMENTS]], %{{.+}} : i64
    // CHECK: rocdl.make.buffer.rsrc %{{.+}}, %{{.+}}, %[[BYTES]], %{{.+}} : !llvm.ptr to <7>
    %b = amdgpu.fat_raw_buffer_cast %x resetOffset : memref<?x32xbf16, strided<[?, 1], offset: ?>> to memref<?x32xbf16, strided<[?, 1]>, #amdgpu.address_space<fat_raw_buffer>>
    %c0 = arith.constant 0 : index
    // CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<7> -> vector<8xbf16>
    %v = vector.load %b[%n, %c0] {alignment = 16} : memref<?x32xbf16, strided<[?, 1]>, #amdgpu.address_space<fat_raw_buffer>>, vector<8xbf16>
    vector.store %v, %x[%n, %c0] {alignment = 16} : memref<?x32xbf16, strided<[?, 1], offset: ?>>, vector<8xbf16>
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>

// Slices of vectors become shuffles, vectors of two dimensions arrays or
// shuffles; no vector op survives.
// CHECK-LABEL: llvm.func @vectors
// CHECK-NOT: vector.{{[a-z]}}
// CHECK: llvm.shufflevector %{{.+}} [4, 5, 6, 7] : vector<8xf32>
// CHECK: llvm.return
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @vectors(%x: memref<?xf32>, %i: index) kernel {
    %a = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
    %b = vector.extract_strided_slice %a {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    %c = vector.insert_strided_slice %b, %a {offsets = [2], strides = [1]} : vector<4xf32> into vector<8xf32>
    %d = vector.shape_cast %c : vector<8xf32> to vector<2x4xf32>
    %e = vector.transpose %d, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
    %f = vector.shape_cast %e : vector<4x2xf32> to vector<8xf32>
    vector.store %f, %x[%i] : memref<?xf32>, vector<8xf32>
    gpu.return
  }
}

// -----

// Rounding to bf16 in integers; NaN costs a compare and a select.
#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  // CHECK-LABEL: llvm.func @to_nearest_even
  // CHECK-DAG: %[[BIAS:.+]] = llvm.mlir.constant(32767 : i32)
  // CHECK: %[[BITS:.+]] = llvm.bitcast %[[X:.+]] : f32 to i32
  // CHECK: %[[HIGH:.+]] = llvm.lshr %[[BITS]]
  // CHECK: %[[ODD:.+]] = llvm.and %[[HIGH]]
  // CHECK: %[[SUM:.+]] = llvm.add %[[BITS]], %[[ODD]]
  // CHECK: %[[UP:.+]] = llvm.add %[[SUM]], %[[BIAS]]
  // CHECK: %[[TEST:.+]] = llvm.fcmp "uno" %[[X]], %[[X]]
  // CHECK: %[[NAN:.+]] = llvm.or %[[BITS]]
  // CHECK: llvm.select %[[TEST]], %[[NAN]], %[[UP]]
  // CHECK-NOT: fptrunc
  // CHECK: llvm.return
  gpu.func @to_nearest_even(%x: f32, %m: memref<bf16>) kernel {
    %a = arith.truncf %x : f32 to bf16
    memref.store %a, %m[] : memref<bf16>
    gpu.return
  }
  // CHECK-LABEL: llvm.func @no_nan
  // CHECK-NOT: llvm.fcmp
  // CHECK: llvm.return
  gpu.func @no_nan(%x: vector<4xf32>, %m: memref<4xbf16>, %i: index) kernel {
    %a = arith.truncf %x fastmath<nnan> : vector<4xf32> to vector<4xbf16>
    vector.store %a, %m[%i] : memref<4xbf16>, vector<4xbf16>
    gpu.return
  }
  // CHECK-LABEL: llvm.func @toward_zero
  // CHECK-NOT: llvm.add
  // CHECK: llvm.lshr
  // CHECK-NEXT: llvm.trunc
  // CHECK-NEXT: llvm.bitcast
  gpu.func @toward_zero(%x: f32, %m: memref<bf16>) kernel {
    %a = arith.truncf %x toward_zero fastmath<nnan> : f32 to bf16
    memref.store %a, %m[] : memref<bf16>
    gpu.return
  }
}
