// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm --split-input-file | FileCheck %s

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {native_bf16_convert, max_lds_static = 49152 : i64}>

// CHECK: llvm.mlir.global internal @{{.+}}() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<4096 x i8>
// CHECK-LABEL: llvm.func @math
// CHECK-SAME: nvvm.kernel
// CHECK-NOT: nvvm.maxntid
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
gpu.module @m attributes {evo_tile.target = #sm_80} {
  gpu.func @math(%x: memref<?xf32>, %y: memref<?xbf16>)
      workgroup(%lds: memref<4096xi8, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: nvvm.read.ptx.sreg.tid.x
    %i = gpu.thread_id x
    %a = vector.load %x[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
    // CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
    %b = math.exp2 %a : vector<4xf32>
    // CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"
    %c = math.log2 %b : vector<4xf32>
    // CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
    %d = arith.divf %a, %c fastmath<afn> : vector<4xf32>
    // CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"
    %e = math.rsqrt %d : vector<4xf32>
    // Conversions come in pairs, as the chip has them.
    // CHECK-COUNT-2: llvm.fptrunc %{{.+}} : vector<2xf32> to vector<2xbf16>
    %f = arith.truncf %e : vector<4xf32> to vector<4xbf16>
    // CHECK: llvm.store %{{.+}} {alignment = 8 : i64} : vector<4xbf16>, !llvm.ptr
    vector.store %f, %y[%i] {alignment = 8} : memref<?xbf16>, vector<4xbf16>
    %c0 = arith.constant 0 : index
    %v = memref.view %lds[%c0][] : memref<4096xi8, #gpu.address_space<workgroup>> to memref<1024xf32, #gpu.address_space<workgroup>>
    vector.store %e, %v[%i] {alignment = 16} : memref<1024xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    // CHECK: nvvm.barrier
    gpu.barrier
    gpu.return
  }
}

// -----

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {native_bf16_convert, max_lds_static = 49152 : i64}>

// Above the static limit the memory is the launch's, at 128-byte offsets.
// CHECK: llvm.mlir.global external @evo_dynamic_lds() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @dynamic
// CHECK-SAME: evo_tile.dynamic_lds_bytes = 65664 : i64
// CHECK: %[[OFFSET:.+]] = llvm.mlir.constant(128 : index)
// CHECK: llvm.mlir.addressof @evo_dynamic_lds : !llvm.ptr<3>
// CHECK: llvm.getelementptr %{{.+}}[%[[OFFSET]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
gpu.module @m attributes {evo_tile.target = #sm_80} {
  gpu.func @dynamic(%i: index)
      workgroup(%small: memref<100xi8, #gpu.address_space<workgroup>>,
                %large: memref<65536xi8, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %s = memref.view %small[%c0][] : memref<100xi8, #gpu.address_space<workgroup>> to memref<25xf32, #gpu.address_space<workgroup>>
    memref.store %z, %s[%i] : memref<25xf32, #gpu.address_space<workgroup>>
    %v = memref.view %large[%c0][] : memref<65536xi8, #gpu.address_space<workgroup>> to memref<16384xf32, #gpu.address_space<workgroup>>
    memref.store %z, %v[%i] : memref<16384xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Arithmetic stays arithmetic: no call into a math library.
#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {native_bf16_convert}>
gpu.module @m attributes {evo_tile.target = #sm_80} {
  // CHECK-LABEL: llvm.func @no_calls
  // CHECK: llvm.intr.fma
  // CHECK: llvm.intr.fabs
  // CHECK: llvm.intr.sqrt
  // CHECK: llvm.intr.floor
  // CHECK: llvm.intr.maxnum
  // CHECK-NOT: llvm.call @
  // CHECK: llvm.return
  gpu.func @no_calls(%x: f32, %m: memref<f32>) kernel {
    %a = math.fma %x, %x, %x : f32
    %b = math.absf %a : f32
    %c = math.sqrt %b : f32
    %d = math.floor %c : f32
    %e = arith.maxnumf %d, %x : f32
    memref.store %e, %m[] : memref<f32>
    gpu.return
  }
}

// -----

// Pairs of bf16 are extended within their register.
#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {native_bf16_convert}>
gpu.module @m attributes {evo_tile.target = #sm_80} {
  // CHECK-LABEL: llvm.func @extend
  // CHECK-DAG: %[[MASK:.+]] = llvm.mlir.constant(-65536 : i32)
  // CHECK-DAG: %[[HALF:.+]] = llvm.mlir.constant(16 : i32)
  // CHECK: %[[WORDS:.+]] = llvm.bitcast %{{.+}} : vector<4xbf16> to vector<2xi32>
  // CHECK-DAG: llvm.shl %{{.+}}, %[[HALF]]
  // CHECK-DAG: llvm.and %{{.+}}, %[[MASK]]
  // CHECK-NOT: llvm.fpext
  // CHECK: llvm.return
  gpu.func @extend(%x: memref<?xbf16>, %y: memref<?xf32>, %i: index) kernel {
    %a = vector.load %x[%i] {alignment = 8} : memref<?xbf16>, vector<4xbf16>
    %b = arith.extf %a : vector<4xbf16> to vector<4xf32>
    vector.store %b, %y[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

#early = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {early_starts, native_bf16_convert}>

// A kernel waits for the memory of those before it, then touches any. Functions
// that kernels call do not.
// CHECK-LABEL: llvm.func @callee
// CHECK-NOT:     griddepcontrol
// CHECK-LABEL: llvm.func @waits
// CHECK-SAME:    evo_tile.starts_early
// CHECK-NOT:     llvm.load
// CHECK:         llvm.inline_asm has_side_effects {{.*}}"griddepcontrol.wait;", "~{memory}"
// CHECK:         llvm.load
gpu.module @m attributes {evo_tile.target = #early} {
  gpu.func @callee(%x: memref<?xf32>) {
    gpu.return
  }
  gpu.func @waits(%x: memref<?xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = gpu.thread_id x
    %a = memref.load %x[%i] : memref<?xf32>
    memref.store %a, %x[%i] : memref<?xf32>
    gpu.return
  }
}
