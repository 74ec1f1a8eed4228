// What kernels cannot address is refused before any of them runs: rows of `%v`
// whose distance, the size of `%far` in 4 GiB, is known then only.
// RUN: evoformer-run %s --random=1 --shape=far=0 --device=sim --target=gfx942 | FileCheck %s --check-prefix=NEAR
// RUN: not evoformer-run %s --random=1 --shape=far=1 --device=sim --target=gfx942 2>&1 | FileCheck %s --check-prefix=FAR
// NEAR: ran 'far_apart'
// FAR: value: elements of one batch, row and head must lie within 4 GiB, in the order of their indices

func.func @far_apart(%q: memref<1x1x4x1x8xf32> {evoformer.name = "q"},
                     %far: memref<?xf32> {evoformer.name = "far"},
                     %out: memref<1x1x4x1x8xf32> {evoformer.name = "out"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c30 = arith.constant 1073741824 : index
  %distance = memref.dim %far, %c0 : memref<?xf32>
  %elements = arith.muli %distance, %c30 : index
  %stride = arith.addi %elements, %c8 : index
  %v = memref.reinterpret_cast %q to offset: [0], sizes: [1, 1, 4, 1, 8], strides: [32, 32, %stride, 8, 1]
      : memref<1x1x4x1x8xf32> to memref<1x1x4x1x8xf32, strided<[32, 32, ?, 8, 1]>>
  evoformer.attention
      query(%q : memref<1x1x4x1x8xf32>)
      key(%q : memref<1x1x4x1x8xf32>)
      value(%v : memref<1x1x4x1x8xf32, strided<[32, 32, ?, 8, 1]>>)
      outs(%out : memref<1x1x4x1x8xf32>)
  return
}
