// Tensors of host functions become memrefs of any strides, tiles of kernels stay.
// RUN: evoformer-opt %s --evoformer-bufferize-host | FileCheck %s

// What cannot live in memory is named.
// RUN: not evoformer-opt %S/Inputs/not-bufferized.mlir --evoformer-bufferize-host --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: op was not bufferized

// RUN: not evoformer-opt %S/Inputs/blocks.mlir --evoformer-bufferize-host 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: blocks.mlir:2:1: error: 'f' has several blocks: tensors become memrefs in functions of one block, whose control flow is scf's; run lift-cf-to-scf and canonicalize first

// CHECK-LABEL: evo_tile.kernel @k(
//       CHECK:   %[[T:.+]] = evo_tile.load %{{.+}} : memref<?xf32> -> tensor<16xf32>
//  CHECK-NEXT:   %[[S:.+]] = arith.addf %[[T]], %[[T]] : tensor<16xf32>
//  CHECK-NEXT:   evo_tile.store %[[S]]
evo_tile.kernel @k(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0] : memref<?xf32> -> tensor<16xf32>
  %s = arith.addf %t, %t : tensor<16xf32>
  evo_tile.store %s, %x[%c0] : tensor<16xf32>, memref<?xf32>
  evo_tile.return
}

// CHECK-LABEL: func.func @f(
//  CHECK-SAME:   %[[Q:[^:]+]]: memref<1x2x8x4x32xf16, strided<[?, ?, ?, ?, ?], offset: ?>>, %[[O:[^:]+]]: memref<1x2x8x4x32xf16, strided<[?, ?, ?, ?, ?], offset: ?>>)
//       CHECK:   evoformer.attention
//  CHECK-NEXT:     query(%[[Q]] : memref<
//       CHECK:     outs(%[[O]] : memref<
//       CHECK:   return %[[O]] : memref<
func.func @f(%q: tensor<1x2x8x4x32xf16>, %out: tensor<1x2x8x4x32xf16>) -> tensor<1x2x8x4x32xf16> {
  %0 = evoformer.attention
      query(%q : tensor<1x2x8x4x32xf16>)
      key(%q : tensor<1x2x8x4x32xf16>)
      value(%q : tensor<1x2x8x4x32xf16>)
      outs(%out : tensor<1x2x8x4x32xf16>)
  return %0 : tensor<1x2x8x4x32xf16>
}

// What a loop carries is written to one place, which is the caller's if it is a
// destination; what is none stays as it was.
// CHECK-LABEL: func.func @carried(
//  CHECK-SAME:   %[[X:[^:]+]]: memref<4xf32, {{[^%]*}}, %[[OUT:[^:]+]]: memref<4xf32,
//   CHECK-NOT: bufferization
//       CHECK:   %[[Z:.+]] = memref.alloc()
//       CHECK:   memref.copy %[[X]], %[[Z]]
//       CHECK:   scf.for %{{.+}} = {{[^{]*}} {
//       CHECK:     %[[E:.+]] = memref.alloc()
//       CHECK:     linalg.exp ins(%[[Z]] : {{.*}}) outs(%[[E]]
//       CHECK:     memref.copy %[[E]], %[[Z]]
//  CHECK-NEXT:   }
//       CHECK:   linalg.copy ins(%[[Z]] : {{.*}}) outs(%[[OUT]]
//       CHECK:   scf.for %{{.+}} = {{[^{]*}} {
//       CHECK:     linalg.exp ins(%[[X]] : {{.*}}) outs(%[[OUT]]
//   CHECK-NOT:     memref.copy
//       CHECK:   }
//       CHECK:   return %[[OUT]]
func.func @carried(%x: tensor<4xf32>, %out: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %1 = linalg.exp ins(%z : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %2 = linalg.copy ins(%0 : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%z = %2) -> tensor<4xf32> {
    %4 = linalg.exp ins(%x : tensor<4xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}

// An argument that is read and named as the destination by an elementwise op, or
// only seen by the function that is called, is the caller's to keep.
// CHECK-LABEL: func.func @kept(
//  CHECK-SAME:   %[[X:[^:]+]]: memref<4xf32, {{[^%]*}}, %[[OUT:[^:]+]]: memref<4xf32,
//       CHECK:   %[[SUM:.+]] = memref.alloc()
//       CHECK:   linalg.add ins(%[[X]], %[[X]] : {{.*}}) outs(%[[SUM]]
// What the sums of a chain only name as their destination they leave: there each has
// memory of its own.
//       CHECK:   %[[NEXT:.+]] = memref.alloc()
//       CHECK:   linalg.add ins(%[[SUM]], %[[X]] : {{.*}}) outs(%[[NEXT]]
//       CHECK:   call @callee({{.*}}%[[OUT]])
func.func @kept(%x: tensor<4xf32>, %out: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.add ins(%0, %x : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %1 = call @callee(%2, %out) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @callee(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What has tensors in kernels alone is left as it is.
// RUN: evoformer-opt %S/../Dialect/Tile/ops.mlir > %t.kernels
// RUN: evoformer-opt %t.kernels --evoformer-bufferize-host | diff %t.kernels -
