// A staged product: the instruction of the target, as many times as atoms cover
// the tile; workgroup memory; copies.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %S/../../Dialect/Tile/Inputs/matmul.mlir "block = [1, 64, 64], subgroups = [1, 2, 2], stages = 2" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --evo-tile-assign-layouts --evo-tile-promote-to-lds --convert-tile-to-gpu | FileCheck %s --check-prefixes=CHECK,MFMA
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx1100 %S/../../Dialect/Tile/Inputs/matmul.mlir "block = [1, 64, 64], subgroups = [1, 2, 2], stages = 2" > %t.gfx1100
// RUN: evoformer-opt %t.gfx1100 --evo-tile-assign-layouts --evo-tile-promote-to-lds --convert-tile-to-gpu | FileCheck %s --check-prefixes=CHECK,WMMA
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py sm_80 %S/../../Dialect/Tile/Inputs/matmul.mlir "block = [1, 64, 64], subgroups = [1, 2, 2], stages = 2" > %t.sm_80
// RUN: evoformer-opt %t.sm_80 --evo-tile-assign-layouts --evo-tile-promote-to-lds --convert-tile-to-gpu | FileCheck %s --check-prefixes=CHECK,MMA

// CHECK: gpu.module @kernels
// CHECK: llvm.mlir.global internal @matmul_lds() {{.*}}addr_space = 3
// CHECK: gpu.func @matmul(
// CHECK: scf.for

// 32x32 of the result and 32 of the depth for each of four subgroups. Nothing is
// written before all have read, nothing read before all have written.
// MFMA:         amdgpu.lds_barrier
// MFMA:         llvm.store {{.*}} : vector<{{[48]}}xbf16>, !llvm.ptr<3>
// MFMA:         amdgpu.lds_barrier
// MFMA:         llvm.load {{.*}} : !llvm.ptr<3> -> vector<8xbf16>
// MFMA-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"
// MFMA-NOT:     llvm.amdgcn.mfma
// WMMA:         amdgpu.lds_barrier
// WMMA:         llvm.store {{.*}} : vector<{{[48]}}xbf16>, !llvm.ptr<3>
// WMMA:         amdgpu.lds_barrier
// WMMA:         llvm.load {{.*}} : !llvm.ptr<3> -> vector<8xbf16>
// WMMA-COUNT-8: llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16"
// WMMA-NOT:     llvm.amdgcn.wmma
// Copies of 16 bytes without a register between.
// MMA:          gpu.barrier
// MMA:          nvvm.cp.async.shared.global {{.*}}, 16,
// MMA:          nvvm.cp.async.commit.group
// MMA:          nvvm.cp.async.wait.group 0
// MMA:          gpu.barrier
// MMA-COUNT-16: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// MMA-NOT:      llvm.nvvm.mma
// CHECK:        scf.yield
// CHECK-NOT:    evo_tile.alloc_lds
// CHECK:        gpu.return
