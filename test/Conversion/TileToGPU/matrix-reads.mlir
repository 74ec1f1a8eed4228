// Tiles of 16-bit elements are read as 8x8 matrices, as memory holds them or
// transposed, from swizzled memory too; what the lanes get is what was stored.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py sm_80 %s "block = [1], subgroups = [1, 1, 1], stages = 1" > %t.mlir
// RUN: evoformer-opt %t.mlir --convert-tile-to-gpu | FileCheck %s
// RUN: evoformer-opt %t.mlir --convert-tile-to-gpu --convert-gpu-lanes-to-llvm -o %t.lowered
// RUN: %python -c "import sys; open(sys.argv[1], 'wb').write(b''.join(i.to_bytes(2, 'little') for i in range(1024)))" %t.in
// RUN: evoformer-sim %t.lowered --kernel=moves --grid=1 --block=32 --arg=in:%t.in --arg=ref:0 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=out:2048:%t.plain --arg=ref:1 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=out:2048:%t.transposed --arg=ref:2 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=i64:1
// RUN: cmp %t.in %t.plain
// RUN: cmp %t.in %t.transposed

#rows = #evo_tile.lane_map<registers = [[8, 0, 1], [4, 8, 0]], lanes = [[4, 0, 8], [8, 1, 0]], subgroups = [], inner = 1>
#plain = #evo_tile.lane_map<registers = [[2, 0, 1], [4, 0, 8], [4, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>
// Rows 0, 1, 8, 9, ... of one matrix.
#transposed = #evo_tile.lane_map<registers = [[2, 1, 0], [4, 2, 0], [4, 0, 8]], lanes = [[4, 8, 0], [8, 0, 1]], subgroups = []>
#near = #evo_tile.swizzled_lds<base = 4, from = [7, 8]>
#far = #evo_tile.swizzled_lds<base = 4, from = [7, 9, 10]>

// CHECK-LABEL: gpu.func @moves
//   CHECK-NOT:   ldmatrix
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"
//   CHECK-NOT:   ldmatrix
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
//   CHECK-NOT:   ldmatrix
evo_tile.kernel @moves(%x: memref<32x32xf16>, %y: memref<32x32xf16>, %z: memref<32x32xf16>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %small = evo_tile.alloc_lds : memref<8xf16, #gpu.address_space<workgroup>>
  %l = evo_tile.alloc_lds : memref<32x32xf16, #near>
  %m = evo_tile.alloc_lds : memref<32x32xf16, strided<[32, 1]>, #far>
  %a = evo_tile.load %x[%c0, %c0] {alignment = 16 : i64} : memref<32x32xf16> -> tensor<32x32xf16, #rows>
  evo_tile.store %a, %l[%c0, %c0] {alignment = 16 : i64} : tensor<32x32xf16, #rows>, memref<32x32xf16, #near>
  evo_tile.store %a, %m[%c0, %c0] {alignment = 16 : i64} : tensor<32x32xf16, #rows>, memref<32x32xf16, strided<[32, 1]>, #far>
  evo_tile.barrier
  %b = evo_tile.load %l[%c0, %c0] {alignment = 16 : i64} : memref<32x32xf16, #near> -> tensor<32x32xf16, #plain>
  evo_tile.store %b, %y[%c0, %c0] : tensor<32x32xf16, #plain>, memref<32x32xf16>
  %c = evo_tile.load %m[%c0, %c0] {alignment = 16 : i64} : memref<32x32xf16, strided<[32, 1]>, #far> -> tensor<32x32xf16, #transposed>
  evo_tile.store %c, %z[%c0, %c0] : tensor<32x32xf16, #transposed>, memref<32x32xf16>
  evo_tile.return
}
