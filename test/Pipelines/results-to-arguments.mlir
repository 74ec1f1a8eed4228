// RUN: evoformer-opt %s --evoformer-results-to-arguments | FileCheck %s

// CHECK-LABEL: func.func @same(
// CHECK-SAME:    %{{[^:]*}}: memref<?xf32>) {
// CHECK:         return{{$}}
func.func @same(%x: memref<?xf32>) -> memref<?xf32> {
  return %x : memref<?xf32>
}

// CHECK-LABEL: func.func @new(
// CHECK-SAME:    %{{[^:]*}}: index, %{{[^:]*}}: memref<?xf32>) {
// CHECK-NOT:     alloc
// CHECK-NOT:     copy
// CHECK:         return{{$}}
func.func @new(%n: index) -> memref<?xf32> {
  %0 = memref.alloc(%n) : memref<?xf32>
  return %0 : memref<?xf32>
}

// What a caller sees changes with it.
// CHECK-LABEL: func.func @caller(
// CHECK:         call @same(%{{.*}}) : (memref<?xf32>) -> ()
func.func @caller(%x: memref<?xf32>) {
  %0 = call @same(%x) : (memref<?xf32>) -> memref<?xf32>
  return
}

// CHECK: func.func private @declared() -> memref<f32>
func.func private @declared() -> memref<f32>
