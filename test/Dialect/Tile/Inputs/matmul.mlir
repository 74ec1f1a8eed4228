// C = A * B, 64 x 64 of C a work item, in steps of 32 along K. Sizes are the
// arguments'; what lies outside reads as zero.
evo_tile.kernel @matmul(%a: memref<?x?xbf16>,
                        %b: memref<?x?xbf16>,
                        %c: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %x = evo_tile.work_item_id 0
  %y = evo_tile.work_item_id 1
  %i = arith.muli %x, %c64 : index
  %j = arith.muli %y, %c64 : index
  %size = memref.dim %a, %c1 : memref<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %size step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %ta = evo_tile.load %a[%i, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x32xbf16>
    %tb = evo_tile.load %b[%k, %j] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<32x64xbf16>
    %next = evo_tile.mma %ta, %tb, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  evo_tile.store %sum, %c[%i, %j] : tensor<64x64xf32>, memref<?x?xf32>
  evo_tile.return
}

func.func @run_matmul(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = memref.dim %c, %c0 : memref<?x?xf32>
  %n = memref.dim %c, %c1 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c64 : index
  %columns = arith.ceildivui %n, %c64 : index
  evo_tile.launch @matmul space(%rows, %columns)
    args(%a, %b, %c : memref<?x?xbf16>, memref<?x?xbf16>, memref<?x?xf32>)
  return
}
