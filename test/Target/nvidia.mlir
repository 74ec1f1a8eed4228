// The whole way of a small loop of matrix products to PTX.
// RUN: rm -rf %t && evoformer-opt %s --convert-gpu-lanes-to-llvm \
// RUN:   --evoformer-serialize="format=ptx out-dir=%t report=%t/report.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/m.ptx
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/report.json
// RUN: not ls %t/m.cubin

// PTX: .target sm_80
// PTX: .extern .shared .align 128 .b8 evo_dynamic_lds[]
// PTX: .entry loop(
// PTX: .reqntid 128
// PTX: ld.global.{{.*}}v4
// PTX: cp.async.cg.shared.global
// PTX: cp.async.wait_group
// PTX: bar.sync
// PTX: ldmatrix.sync.aligned.m8n8.x2.shared.b16
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-COUNT-4: ex2.approx.ftz.f32

// JSON: "chip": "sm_80"
// JSON: "dynamic_lds_bytes": 65536
// JSON: "findings": []
// JSON: "hot_loop"
// JSON: "async_copy": 1
// JSON: "16": 1
// JSON: "lds_read_by_bytes"
// JSON-NEXT: "8": 1
// JSON: "matrix": 1
// JSON: "transcendental": 4
// JSON: "ideal_matrix": 1
// JSON: "name": "loop"
// JSON: "threads": 128

#t = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>, ldmatrix, native_bf16_convert, max_lds_static = 49152 : i64}>
gpu.module @m attributes {evo_tile.target = #t} {
  gpu.func @loop(%k: memref<?x?xbf16, strided<[?, 1], offset: ?>>, %q: memref<?x?xi32, strided<[?, 1], offset: ?>>, %o: memref<?x?xf32, strided<[?, 1], offset: ?>>, %n: index)
      workgroup(%lds : memref<65536xi8, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, evo_tile.ideal_loop = {matrix = 1 : i64, transcendental = 4 : i64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %tid = gpu.thread_id x
    %row = arith.remui %tid, %c32 : index
    %v = memref.view %lds[%c0][] : memref<65536xi8, #gpu.address_space<workgroup>> to memref<128x32xbf16, #gpu.address_space<workgroup>>
    %z = arith.constant 0.0 : f32
    %qa = vector.load %q[%row, %c0] {alignment = 16} : memref<?x?xi32, strided<[?, 1], offset: ?>>, vector<4xi32>
    %q0, %q1, %q2, %q3 = vector.to_elements %qa : vector<4xi32>
    %r:4 = scf.for %j = %c0 to %n step %c16 iter_args(%a0 = %z, %a1 = %z, %a2 = %z, %a3 = %z) -> (f32, f32, f32, f32) {
      %cp = nvgpu.device_async_copy %k[%j, %c0], %v[%row, %c0], 8 {bypassL1} : memref<?x?xbf16, strided<[?, 1], offset: ?>> to memref<128x32xbf16, #gpu.address_space<workgroup>>
      %g = nvgpu.device_async_create_group %cp
      nvgpu.device_async_wait %g {numGroups = 1 : i32}
      gpu.barrier
      %m = nvgpu.ldmatrix %v[%row, %c0] {numTiles = 2 : i32, transpose = false} : memref<128x32xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
      %mc = vector.shape_cast %m : vector<2x2xbf16> to vector<4xbf16>
      %mi = vector.bitcast %mc : vector<4xbf16> to vector<2xi32>
      %b0, %b1 = vector.to_elements %mi : vector<2xi32>
      %s = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%q0, %q1, %q2, %q3, %b0, %b1, %a0, %a1, %a2, %a3) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      %s0 = llvm.extractvalue %s[0] : !llvm.struct<(f32, f32, f32, f32)>
      %s1 = llvm.extractvalue %s[1] : !llvm.struct<(f32, f32, f32, f32)>
      %s2 = llvm.extractvalue %s[2] : !llvm.struct<(f32, f32, f32, f32)>
      %s3 = llvm.extractvalue %s[3] : !llvm.struct<(f32, f32, f32, f32)>
      %sv = vector.from_elements %s0, %s1, %s2, %s3 : vector<4xf32>
      %e = math.exp2 %sv : vector<4xf32>
      %t0, %t1, %t2, %t3 = vector.to_elements %e : vector<4xf32>
      scf.yield %t0, %t1, %t2, %t3 : f32, f32, f32, f32
    }
    %rv = vector.from_elements %r#0, %r#1, %r#2, %r#3 : vector<4xf32>
    vector.store %rv, %o[%row, %c0] {alignment = 16} : memref<?x?xf32, strided<[?, 1], offset: ?>>, vector<4xf32>
    gpu.return
  }
}
