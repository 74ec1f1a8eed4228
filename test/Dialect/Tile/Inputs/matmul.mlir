// C = A * B, 64 x 64 of C a work item, in steps of 32 along K. Sizes are the
// arguments'; what lies outside reads as zero.
evo_tile.kernel @matmul(%a: memref<?x?xbf16, strided<[?, 1], offset: ?>>,
                        %b: memref<?x?xbf16, strided<[?, 1], offset: ?>>,
                        %c: memref<?x?xf32, strided<[?, 1], offset: ?>>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %x = evo_tile.work_item_id 0
  %y = evo_tile.work_item_id 1
  %i = arith.muli %x, %c64 : index
  %j = arith.muli %y, %c64 : index
  %size = memref.dim %a, %c1 : memref<?x?xbf16, strided<[?, 1], offset: ?>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %size step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %ta = evo_tile.load %a[%i, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16, strided<[?, 1], offset: ?>> -> tensor<64x32xbf16>
    %tb = evo_tile.load %b[%k, %j] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16, strided<[?, 1], offset: ?>> -> tensor<32x64xbf16>
    %next = evo_tile.mma %ta, %tb, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  evo_tile.store %sum, %c[%i, %j] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>
  evo_tile.return
}
