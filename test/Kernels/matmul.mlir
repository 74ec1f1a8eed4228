// c = a * b, bf16 in, f32 out, any sizes: 64x64 blocks, 32 deep.
//
// RUN: cat %s %S/Inputs/check-matmul.mlir | evoformer-opt --evo-tile-to-cpu-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -O2 \
// RUN:       -shared-libs=%mlir_lib/libmlir_c_runner_utils.so | FileCheck %s

// All inputs are small multiples of 1/8, so every sum is exact.
// CHECK:      128 x 128 x 64
// CHECK-NEXT: wrong: 0 of 16384
// CHECK-NEXT: 64 x 192 x 96
// CHECK-NEXT: wrong: 0 of 12288
// CHECK-NEXT: 65 x 33 x 17
// CHECK-NEXT: wrong: 0 of 2145

evo_tile.kernel @matmul(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>,
                        %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %i = evo_tile.work_item_id 0
  %j = evo_tile.work_item_id 1
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %depth = memref.dim %a, %c1 : memref<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %at = evo_tile.load %a[%row, %k] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<64x32xbf16>
    %bt = evo_tile.load %b[%k, %column] padding 0.0 : bf16 : memref<?x?xbf16> -> tensor<32x64xbf16>
    %next = evo_tile.mma %at, %bt, %acc : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  evo_tile.store %sum, %c[%row, %column] : tensor<64x64xf32>, memref<?x?xf32>
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
