// Where the buffers of a kernel go.
//
// RUN: evoformer-opt %s --evo-cpu-place-buffers --split-input-file --verify-diagnostics | FileCheck %s

// %a and %c are never needed together, %b lives with both; %d is needed by
// every iteration of the inner loop.
// CHECK-LABEL: func.func @shares(
//   CHECK-NOT:   cpu_kernel
//   CHECK-DAG:   %[[BLOCK:.+]] = memref.alloc() {alignment = 64 : i64} : memref<640xi8>
//   CHECK-DAG:   memref.view %[[BLOCK]][%[[A:.+]]][] : memref<640xi8> to memref<64xf32>
//   CHECK-DAG:   %[[A]] = arith.constant 0 : index
//   CHECK-DAG:   memref.view %[[BLOCK]][%[[B:.+]]][] : memref<640xi8> to memref<63xf32>
//   CHECK-DAG:   %[[B]] = arith.constant 256 : index
//   CHECK-DAG:   memref.view %[[BLOCK]][%[[D:.+]]][] : memref<640xi8> to memref<30xf32>
//   CHECK-DAG:   %[[D]] = arith.constant 512 : index
//   CHECK-DAG:   memref.view %[[BLOCK]][%[[C:.+]]][] : memref<640xi8> to memref<16xf32>
//   CHECK-DAG:   %[[C]] = arith.constant 0 : index
//       CHECK:   memref.dealloc %[[BLOCK]]
func.func @shares(%n: index, %x: f32, %out: memref<?xf32>) attributes {evo_tile.cpu_kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %d = memref.alloc() : memref<3x8xf32, strided<[11, 1]>>
    %a = memref.alloc() : memref<64xf32>
    %b = memref.alloc() : memref<63xf32>
    memref.store %x, %a[%c0] : memref<64xf32>
    %u = memref.load %a[%c0] : memref<64xf32>
    memref.store %u, %b[%c0] : memref<63xf32>
    %c = memref.alloc() : memref<16xf32>
    memref.store %x, %c[%c0] : memref<16xf32>
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %b[%c0] : memref<63xf32>
      memref.store %v, %d[%c0, %c0] : memref<3x8xf32, strided<[11, 1]>>
      %w = memref.load %c[%c0] : memref<16xf32>
      memref.store %w, %out[%j] : memref<?xf32>
    }
  }
  return
}

// -----

// A choice of two is both; what a function frees is its own.
// CHECK-LABEL: func.func @names(
//       CHECK:   memref.alloc() {alignment = 64 : i64} : memref<192xi8>
//       CHECK:   memref.alloc() : memref<2xf32>
func.func @names(%flag: i1, %x: f32, %out: memref<?xf32>) attributes {evo_tile.cpu_kernel} {
  %c0 = arith.constant 0 : index
  %own = memref.alloc() : memref<2xf32>
  memref.dealloc %own : memref<2xf32>
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %chosen = scf.if %flag -> memref<16xf32> {
    scf.yield %a : memref<16xf32>
  } else {
    scf.yield %b : memref<16xf32>
  }
  %c = memref.alloc() : memref<16xf32>
  memref.store %x, %c[%c0] : memref<16xf32>
  %v = memref.load %chosen[%c0] : memref<16xf32>
  memref.store %v, %out[%c0] : memref<?xf32>
  return
}

// -----

func.func @dynamic(%n: index, %x: f32) attributes {evo_tile.cpu_kernel} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{a buffer of type 'memref<?xf32>' has no static place; static strides, offset 0 and integer or float elements do}}
  %a = memref.alloc(%n) : memref<?xf32>
  memref.store %x, %a[%c0] : memref<?xf32>
  return
}

// -----

// Host functions keep their buffers.
// CHECK-LABEL: func.func @host(
//       CHECK:   memref.alloc() : memref<16xf32>
func.func @host() -> memref<16xf32> {
  %a = memref.alloc() : memref<16xf32>
  return %a : memref<16xf32>
}
