// RUN: evoformer-opt %s --split-input-file --verify-diagnostics --convert-tile-launch-to-gpu | FileCheck %s

// The grid is the product of the extents, which follow the arguments. Memory of the
// function is the device's, also what is constant.

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "+x", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>

// CHECK: memref.global "private" constant @data
memref.global "private" constant @data : memref<4xf32> = dense<1.0>
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:.+]]: memref<?xf32>, %[[LENGTH:.+]]: index, %[[S:.+]]: i32)
func.func @dynamic(%x: memref<?xf32>, %n: index, %s: i32) {
  // CHECK: %[[Y:.+]] = gpu.alloc (%[[LENGTH]]) : memref<?xf32>
  // CHECK: %[[HOST:.+]] = memref.get_global @data
  // CHECK: %[[DATA:.+]] = gpu.alloc () : memref<4xf32>
  // CHECK: gpu.memcpy %[[DATA]], %[[HOST]]
  // CHECK: %[[N:.+]] = arith.muli %[[LENGTH]], %c5
  // CHECK: %[[SOME:.+]] = arith.cmpi ne, %[[N]]
  // CHECK: scf.if %[[SOME]]
  // CHECK:   gpu.launch_func @kernels::@k blocks in (%[[N]], %[[ONE:.+]], %[[ONE]]) threads in (%c128{{.*}}, %[[ONE]], %[[ONE]]) dynamic_shared_memory_size %c70000_i32{{.*}} args(%[[X]] : memref<?xf32>, %[[DATA]] : memref<4xf32>, %[[S]] : i32, %[[LENGTH]] : index, %c5 : index)
  // CHECK: gpu.dealloc %[[DATA]]
  // CHECK: gpu.memcpy %[[Y]], %[[X]]
  // CHECK: gpu.dealloc %[[Y]]
  %y = memref.alloc(%n) : memref<?xf32>
  %c5 = arith.constant 5 : index
  %data = memref.get_global @data : memref<4xf32>
  evo_tile.launch @k space(%n, %c5) args(%x, %data, %s : memref<?xf32>, memref<4xf32>, i32)
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  memref.dealloc %y : memref<?xf32>
  return
}

// What nobody frees is freed after its last use, through whichever view; what
// leaves the block is not.
// CHECK-LABEL: func.func @unowned
// CHECK: %[[A:.+]] = gpu.alloc
// CHECK: %[[B:.+]] = gpu.alloc
// CHECK: %[[VIEW:.+]] = memref.cast %[[A]]
// CHECK: gpu.launch_func {{.*}} args(%[[VIEW]]
// CHECK-NEXT: }
// CHECK-NEXT: gpu.dealloc %[[A]]
// CHECK: gpu.launch_func
// CHECK-NOT: gpu.dealloc
// CHECK: return %[[B]]
func.func @unowned(%n: index) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %view = memref.cast %a : memref<4xf32> to memref<?xf32>
  evo_tile.launch @k space(%n) args(%view : memref<?xf32>)
  evo_tile.launch @k space(%n) args(%b : memref<4xf32>)
  return %b : memref<4xf32>
}

// CHECK-LABEL: func.func @blocks
// CHECK: gpu.alloc
// CHECK-NOT: gpu.dealloc
// CHECK: return
func.func @blocks(%n: index, %c: i1) {
  %a = memref.alloc() : memref<4xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  evo_tile.launch @k space(%n) args(%a : memref<4xf32>)
  cf.br ^bb2
^bb2:
  return
}

// A function without launches is the host's affair.
// CHECK-LABEL: func.func @other
// CHECK: memref.alloc
// CHECK: memref.store
func.func @other(%v: f32, %i: index) -> memref<4xf32> {
  %y = memref.alloc() : memref<4xf32>
  memref.store %v, %y[%i] : memref<4xf32>
  return %y : memref<4xf32>
}

// Neither launches, but what they allocate or pass on is what kernels use.
// CHECK-LABEL: func.func @caller
// CHECK: gpu.alloc
// CHECK: call @launches
// CHECK: gpu.dealloc
func.func @caller(%n: index) {
  %y = memref.alloc() : memref<4xf32>
  call @launches(%n, %y) : (index, memref<4xf32>) -> ()
  return
}
func.func private @launches(%n: index, %y: memref<4xf32>) {
  evo_tile.launch @k space(%n) args(%y : memref<4xf32>)
  call @callee(%y) : (memref<4xf32>) -> ()
  return
}
// CHECK-LABEL: func.func private @callee
// CHECK: gpu.memcpy
// CHECK: gpu.dealloc
func.func private @callee(%y: memref<4xf32>) {
  %z = memref.alloc() : memref<4xf32>
  memref.copy %y, %z : memref<4xf32> to memref<4xf32>
  return
}

// Constant data that leaves the block is not freed.
// CHECK-LABEL: func.func @constant_result
// CHECK: %[[DATA:.+]] = gpu.alloc
// CHECK: gpu.memcpy %[[DATA]]
// CHECK-NOT: gpu.dealloc
// CHECK: return %[[DATA]]
func.func @constant_result(%n: index) -> memref<4xf32> {
  %data = memref.get_global @data : memref<4xf32>
  evo_tile.launch @k space(%n) args(%data : memref<4xf32>)
  return %data : memref<4xf32>
}

// CHECK: gpu.module @kernels [#rocdl.target<O = 3, chip = "gfx942", features = "+x">]
gpu.module @kernels attributes {evo_tile.target = #gfx942} {
  llvm.func @k(%p: !llvm.ptr) attributes {gpu.kernel, rocdl.kernel,
      rocdl.reqd_work_group_size = array<i32: 128, 1, 1>,
      evo_tile.dynamic_lds_bytes = 70000 : i64} {
    llvm.return
  }
}

// -----

// Nothing asks whether extents that are known are 0.

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
// CHECK-LABEL: func.func @static
// CHECK-NOT: scf.if
// CHECK: gpu.launch_func @kernels::@k blocks in (%c6{{.*}}, %[[ONE:.+]], %[[ONE]]) threads in (%c64{{.*}}, %[[ONE]], %[[ONE]]) args(%{{.+}} : memref<?xf32>, %c2 : index, %c3 : index)
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80">]
func.func @static(%x: memref<?xf32>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  evo_tile.launch @k space(%c2, %c3) args(%x : memref<?xf32>)
  return
}
gpu.module @kernels attributes {evo_tile.target = #sm_80} {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64>} {
    llvm.return
  }
}

// -----

func.func @not_lowered(%n: index) {
  // expected-error @+1 {{'k' is not in the LLVM dialect of a GPU; run convert-gpu-lanes-to-llvm first}}
  evo_tile.launch @k space(%n) args(%n : index)
  return
}
gpu.module @kernels {
  gpu.func @k(%n: index) kernel {
    gpu.return
  }
}

// -----

func.func @no_threads(%n: index) {
  evo_tile.launch @k space(%n) args(%n : index)
  return
}
gpu.module @kernels {
  // expected-error @+1 {{does not say how many threads a workgroup has}}
  llvm.func @k() attributes {gpu.kernel} {
    llvm.return
  }
}

// -----

func.func @on_the_host(%n: index, %x: memref<?xf32>) {
  evo_tile.launch @k space(%n) args(%n : index)
  // expected-error @+1 {{'memref.load' op uses memory on the host in a function that launches kernels or shares memory with one that does: it is the device's; run convert-linalg-to-tile first, or do it in the caller}}
  %0 = memref.load %x[%n] : memref<?xf32>
  return
}
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.reqntid = array<i32: 64>} {
    llvm.return
  }
}

// -----

func.func @strided(%n: index, %x: memref<?xf32>, %y: memref<?xf32, strided<[?]>>) {
  evo_tile.launch @k space(%n) args(%n : index)
  // expected-error @+1 {{copies memory with strides, which no copy between devices does; make it a linalg.copy and run convert-linalg-to-tile first}}
  memref.copy %x, %y : memref<?xf32> to memref<?xf32, strided<[?]>>
  return
}
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.reqntid = array<i32: 64>} {
    llvm.return
  }
}

// -----

memref.global "private" @state : memref<4xf32> = dense<1.0>
func.func @mutable(%n: index) {
  // expected-error @+1 {{'memref.get_global' op 'state' is no constant with a value: the host's memory is no kernel's, and what one writes would be lost}}
  %0 = memref.get_global @state : memref<4xf32>
  evo_tile.launch @k space(%n) args(%0 : memref<4xf32>)
  return
}
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.reqntid = array<i32: 64>} {
    llvm.return
  }
}

// -----

func.func @reallocated(%n: index, %x: memref<?xf32>) {
  evo_tile.launch @k space(%n) args(%x : memref<?xf32>)
  // expected-error @+1 {{'memref.realloc' op uses memory on the host in a function that launches kernels or shares memory with one that does: it is the device's; run convert-linalg-to-tile first, or do it in the caller}}
  %0 = memref.realloc %x : memref<?xf32> to memref<8xf32>
  return
}
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.reqntid = array<i32: 64>} {
    llvm.return
  }
}

// -----

func.func @reads(%x: memref<?xf32>, %n: index) -> f32 {
  // expected-error @+1 {{'memref.load' op uses memory on the host in a function that launches kernels or shares memory with one that does}}
  %0 = memref.load %x[%n] : memref<?xf32>
  return %0 : f32
}
func.func @calls(%n: index, %x: memref<?xf32>) -> f32 {
  evo_tile.launch @k space(%n) args(%x : memref<?xf32>)
  %0 = call @reads(%x, %n) : (memref<?xf32>, index) -> f32
  return %0 : f32
}
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.reqntid = array<i32: 64>} {
    llvm.return
  }
}
