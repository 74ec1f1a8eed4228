// Tensors of host functions become memrefs of any strides, tiles of kernels stay.
// RUN: evoformer-opt %s --evoformer-bufferize-host | FileCheck %s

// What cannot live in memory is named.
// RUN: not evoformer-opt %S/Inputs/not-bufferized.mlir --evoformer-bufferize-host --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: op was not bufferized

// RUN: not evoformer-opt %S/Inputs/blocks.mlir --evoformer-bufferize-host 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: blocks.mlir:2:1: error: 'f' has several blocks: tensors become memrefs in functions of one block, whose control flow is scf's

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

// What has tensors in kernels alone is left as it is.
// RUN: evoformer-opt %S/../Dialect/Tile/ops.mlir > %t.kernels
// RUN: evoformer-opt %t.kernels --evoformer-bufferize-host | diff %t.kernels -
