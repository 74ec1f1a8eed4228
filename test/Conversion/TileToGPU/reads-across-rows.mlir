// Tiles of 16-bit elements are read four rows at a time, each lane a column, from padded
// and swizzled memory; what the lanes get is what was stored. Not where a lane's rows do not
// come in fours, where four lanes are not neighbours along a row, or by chips that cannot.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx950 %s "block = [1], subgroups = [1, 1, 1], stages = 1" > %t.mlir
// RUN: evoformer-opt %t.mlir --convert-tile-to-gpu | FileCheck %s
// RUN: evoformer-opt %t.mlir --convert-tile-to-gpu --convert-gpu-lanes-to-llvm -o %t.lowered
// RUN: %python -c "import sys; open(sys.argv[1], 'wb').write(b''.join(i.to_bytes(2, 'little') for i in range(1024)))" %t.in
// RUN: evoformer-sim %t.lowered --kernel=moves --grid=1 --block=64 --arg=in:%t.in --arg=ref:0 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=out:2048:%t.columns --arg=ref:1 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=out:2048:%t.pieces --arg=ref:2 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=i64:1
// RUN: cmp %t.in %t.columns
// RUN: cmp %t.in %t.pieces
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %s "block = [1], subgroups = [1, 1, 1], stages = 1" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --convert-tile-to-gpu | FileCheck %s --check-prefix=CANNOT
// CANNOT-NOT: ds.read.tr16
// RUN: sed 's/chip = "gfx950"/chip = "gfx942"/' %t.lowered > %t.other
// RUN: not evoformer-sim %t.other --kernel=moves --grid=1 --block=64 --arg=in:%t.in --arg=ref:0 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=out:2048:%t.columns --arg=ref:1 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=out:2048:%t.pieces --arg=ref:2 --arg=i64:0 --arg=i64:32 --arg=i64:32 --arg=i64:32 --arg=i64:1 --arg=i64:1 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: gfx942 has no reads across rows

#rows = #evo_tile.lane_map<registers = [[8, 0, 1], [2, 16, 0]], lanes = [[4, 0, 8], [16, 1, 0]], subgroups = [], inner = 1>
#columns = #evo_tile.lane_map<registers = [[4, 1, 0], [2, 4, 0], [2, 16, 0]], lanes = [[32, 0, 1], [2, 8, 0]], subgroups = []>
// Pieces of four columns, in another order; rows in the other half of the registers.
#pieces = #evo_tile.lane_map<registers = [[4, 1, 0], [2, 16, 0], [2, 8, 0]], lanes = [[4, 0, 1], [2, 0, 16], [4, 0, 4], [2, 4, 0]], subgroups = []>
#twos = #evo_tile.lane_map<registers = [[2, 1, 0], [8, 4, 0]], lanes = [[32, 0, 1], [2, 2, 0]], subgroups = []>
#apart = #evo_tile.lane_map<registers = [[4, 1, 0], [4, 8, 0]], lanes = [[2, 0, 1], [2, 4, 0], [16, 0, 2]], subgroups = []>
#space = #gpu.address_space<workgroup>
#near = #evo_tile.swizzled_lds<base = 4, from = [8, 7]>

// CHECK-LABEL: gpu.func @moves
//   CHECK-NOT:   ds.read.tr16
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.amdgcn.ds.read.tr16.b64.v4i16"
//   CHECK-NOT:   ds.read.tr16
//       CHECK:   gpu.return
evo_tile.kernel @moves(%x: memref<32x32xf16>, %y: memref<32x32xf16>, %z: memref<32x32xf16>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %small = evo_tile.alloc_lds : memref<8xf16, #space>
  %l = evo_tile.alloc_lds : memref<32x32xf16, strided<[36, 1]>, #space>
  %m = evo_tile.alloc_lds : memref<32x32xf16, #near>
  %a = evo_tile.load %x[%c0, %c0] {alignment = 16 : i64} : memref<32x32xf16> -> tensor<32x32xf16, #rows>
  evo_tile.store %a, %l[%c0, %c0] {alignment = 8 : i64} : tensor<32x32xf16, #rows>, memref<32x32xf16, strided<[36, 1]>, #space>
  evo_tile.store %a, %m[%c0, %c0] {alignment = 16 : i64} : tensor<32x32xf16, #rows>, memref<32x32xf16, #near>
  evo_tile.barrier
  %b = evo_tile.load %l[%c0, %c0] {alignment = 8 : i64} : memref<32x32xf16, strided<[36, 1]>, #space> -> tensor<32x32xf16, #columns>
  evo_tile.store %b, %y[%c0, %c0] : tensor<32x32xf16, #columns>, memref<32x32xf16>
  %c = evo_tile.load %m[%c0, %c0] {alignment = 16 : i64} : memref<32x32xf16, #near> -> tensor<32x32xf16, #pieces>
  evo_tile.store %c, %z[%c0, %c0] : tensor<32x32xf16, #pieces>, memref<32x32xf16>
  evo_tile.return
}

// CHECK-LABEL: gpu.func @others
//   CHECK-NOT:   ds.read.tr16
//       CHECK:   gpu.return
evo_tile.kernel @others(%x: memref<32x32xf16>, %y: memref<32x32xf16>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<32x32xf16, strided<[36, 1]>, #space>
  %b = evo_tile.load %l[%c0, %c0] {alignment = 8 : i64} : memref<32x32xf16, strided<[36, 1]>, #space> -> tensor<32x32xf16, #twos>
  evo_tile.store %b, %x[%c0, %c0] : tensor<32x32xf16, #twos>, memref<32x32xf16>
  %c = evo_tile.load %l[%c0, %c0] {alignment = 8 : i64} : memref<32x32xf16, strided<[36, 1]>, #space> -> tensor<32x32xf16, #apart>
  evo_tile.store %c, %y[%c0, %c0] : tensor<32x32xf16, #apart>, memref<32x32xf16>
  evo_tile.return
}
