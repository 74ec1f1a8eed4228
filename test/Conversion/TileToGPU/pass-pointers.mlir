// Lowered kernels take a pointer a memref, then what they have to be told as i32.
// RUN: evoformer-opt %s --split-input-file --verify-diagnostics --evo-tile-pass-pointers | FileCheck %s

gpu.module @kernels {
  // What no launch knows as a number and the kernel reads is left: the stride.
  // CHECK-LABEL: llvm.func @read(
  // CHECK-SAME:      %[[P:.*]]: !llvm.ptr, %[[STRIDE:.*]]: i32, %[[MASK:.*]]: i32, %[[X:.*]]: i32, %[[EXTENT:.*]]: i32)
  // CHECK-DAG:     %[[WIDE:.*]] = llvm.zext %[[STRIDE]] : i32 to i64
  // CHECK-DAG:     %[[BIT:.*]] = llvm.trunc %[[MASK]] : i32 to i1
  // CHECK-DAG:     %[[REAL:.*]] = llvm.bitcast %[[X]] : i32 to f32
  // CHECK-DAG:     %[[COUNT:.*]] = llvm.zext %[[EXTENT]] : i32 to i64
  // CHECK-DAG:     %[[SIZE:.*]] = llvm.mlir.constant(4 : i64) : i64
  // CHECK:         llvm.call @use(%[[P]], %[[SIZE]], %[[WIDE]], %[[BIT]], %[[REAL]], %[[COUNT]])
  llvm.func @use(!llvm.ptr, i64, i64, i1, f32, i64)
  llvm.func @read(%allocated: !llvm.ptr, %aligned: !llvm.ptr, %offset: i64,
                  %size: i64, %stride: i64, %mask: i1, %x: f32, %extent: i64) {
    llvm.call @use(%aligned, %size, %stride, %mask, %x, %extent)
        : (!llvm.ptr, i64, i64, i1, f32, i64) -> ()
    llvm.return
  }
}

// CHECK-LABEL: func.func @host(
// CHECK-SAME:      %[[MEMORY:[a-z0-9]*]]: memref<4xf32, strided<[?], offset: ?>>
// CHECK:         %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[MEMORY]]
// CHECK:         cf.assert %{{.*}}, "kernel 'read' takes sizes, strides and offsets as i32: one is negative or more than 2147483647"
// CHECK:         evo_tile.launch @read space(%{{.*}}) args(%[[ADDRESS]], %{{.*}} : index, i32, i32, i32, i32) {evo_tile.pointers}
func.func @host(%memory: memref<4xf32, strided<[?], offset: ?>>, %mask: i1,
                %x: f32, %n: index) {
  evo_tile.launch @read space(%n)
      args(%memory, %mask, %x : memref<4xf32, strided<[?], offset: ?>>, i1, f32)
  return
}

// -----

gpu.module @kernels {
  llvm.func @k(%x: i64) { llvm.return }
}
func.func @wide(%x: i64) {
  // expected-error @+1 {{passes argument #0 of type 'i64'; with abi=pointers a kernel takes memrefs, index and scalars of up to 32 bits}}
  evo_tile.launch @k space() args(%x : i64)
  return
}

// -----

gpu.module @kernels {
  llvm.func @k(%x: i32) { llvm.return }
}
func.func @more(%x: i32) {
  // expected-error @+1 {{passes 2 arguments to 'k', which takes 1}}
  evo_tile.launch @k space() args(%x, %x : i32, i32)
  return
}

// -----

gpu.module @kernels {
  llvm.func @k(%x: i32) { llvm.return }
}
func.func @others(%x: i32, %y: f32) {
  evo_tile.launch @k space() args(%x : i32)
  // expected-error @+1 {{passes other types to 'k' than another launch}}
  evo_tile.launch @k space() args(%y : f32)
  return
}

// -----

evo_tile.kernel @k(%x: i32) { evo_tile.return }
func.func @early(%x: i32) {
  // expected-error @+1 {{'k' is not in the LLVM dialect of a GPU; run convert-gpu-lanes-to-llvm first}}
  evo_tile.launch @k space() args(%x : i32)
  return
}
