// c = a * b, bf16 in, f32 out: a kernel of one's own on the tile dialect, which takes the
// passes that attention takes. Any number of rows; rows of a, b and c are multiples of 16
// bytes and start at such. Blocks of 128 by 128 in steps of 64, eight subgroups, copies two
// steps ahead, and, where the chip has these, instructions of several subgroups.
//
//   evoformer-run matmul.mlir --target=sm_90 --device=cuda --input=a=a.npy --input=b=b.npy \
//     --shape=c=4096x4096 --output=c=c.npy

evo_tile.kernel @matmul(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>,
                        %c: memref<?x?xf32>) attributes {schedule = #evo_tile.schedule<v1, block = [1, 128, 128], subgroups = [1, 8, 1], stages = 3, products = group>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %i = evo_tile.work_item_id 0
  %j = evo_tile.work_item_id 1
  %row = arith.muli %i, %c128 : index
  %column = arith.muli %j, %c128 : index
  %depth = memref.dim %a, %c1 : memref<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %depth step %c64 iter_args(%acc = %zero) -> tensor<128x128xf32> {
    %at = evo_tile.load %a[%row, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<128x64xbf16>
    %bt = evo_tile.load %b[%k, %column] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x128xbf16>
    %next = evo_tile.mma %at, %bt, %acc : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  evo_tile.store %sum, %c[%row, %column] {alignment = 16 : i64} : tensor<128x128xf32>, memref<?x?xf32>
  evo_tile.return
}

func.func @product(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %m = memref.dim %c, %c0 : memref<?x?xf32>
  %n = memref.dim %c, %c1 : memref<?x?xf32>
  %rows = arith.ceildivui %m, %c128 : index
  %columns = arith.ceildivui %n, %c128 : index
  evo_tile.launch @matmul space(%rows, %columns)
    args(%a, %b, %c : memref<?x?xbf16>, memref<?x?xbf16>, memref<?x?xf32>)
  return
}
