// The whole way of a small loop of matrix products: code object, listing, report.
// RUN: rm -rf %t && evoformer-opt %s --convert-gpu-lanes-to-llvm \
// RUN:   --evoformer-serialize="out-dir=%t report=%t/report.txt" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA --input-file=%t/m.s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/report.txt
// RUN: llvm-readobj --file-headers --notes %t/m.hsaco | FileCheck %s --check-prefix=OBJECT

// OBJECT: Format: elf64-amdgpu
// OBJECT: EF_AMDGPU_MACH_AMDGCN_GFX942
// OBJECT: .max_flat_workgroup_size: 256
// OBJECT: .name: {{ *}}loop

// Row maxima need no quieting of matrix results, an exponential is one
// instruction, rounding two elements to bf16 is five.
// ISA: v_mfma_f32_32x32x8_bf16
// ISA-NOT: v_max_f32_e32 [[REG:v[0-9]+]], [[REG]], [[REG]]
// ISA: v_max3_f32
// ISA: v_pk_add_f32
// ISA-NOT: v_ldexp
// ISA-COUNT-8: v_exp_f32
// ISA: s_barrier
// ISA: s_endpgm

// REPORT: kernel loop for gfx942
// REPORT: lanes a workgroup     256
// REPORT: scratch               0 bytes a lane
// REPORT: LDS, static           8192 bytes
// REPORT: occupancy             {{[1-8]}} waves a SIMD
// REPORT: hot loop:
// REPORT-NEXT: matrix              2
// REPORT-NEXT: transcendental      8
// REPORT: lds_read            1   1 x 8 B
// REPORT-NEXT: lds_write           1   1 x 8 B
// REPORT-NEXT: global_read         1   1 x 8 B
// REPORT: ideal matrix          2 a pass
// REPORT: finding: 1 waits in the hot loop drain all outstanding loads
// REPORT-NOT: finding

#t = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {packed_f32}>
gpu.module @m attributes {evo_tile.target = #t} {
  gpu.func @loop(%k: memref<?x?xbf16, strided<[?, 1], offset: ?>>, %q: memref<?x?xbf16, strided<[?, 1], offset: ?>>, %o: memref<?x?xf32, strided<[?, 1], offset: ?>>, %n: index)
      workgroup(%lds : memref<8192xi8, #gpu.address_space<workgroup>>) kernel
      attributes {evo_tile.ideal_loop = {matrix = 2 : i64, transcendental = 8 : i64},
                  known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %tid = gpu.thread_id x
    %bid = gpu.block_id x
    %row = arith.remui %tid, %c32 : index
    %kb = amdgpu.fat_raw_buffer_cast %k resetOffset : memref<?x?xbf16, strided<[?, 1], offset: ?>> to memref<?x?xbf16, strided<[?, 1]>, #amdgpu.address_space<fat_raw_buffer>>
    %v = memref.view %lds[%c0][] : memref<8192xi8, #gpu.address_space<workgroup>> to memref<128x32xbf16, #gpu.address_space<workgroup>>
    %zero = arith.constant dense<0.0> : vector<16xf32>
    %m0 = arith.constant 0xFF800000 : f32
    %qq = vector.load %q[%row, %c0] {alignment = 8} : memref<?x?xbf16, strided<[?, 1], offset: ?>>, vector<4xbf16>
    %qi = vector.bitcast %qq : vector<4xbf16> to vector<4xi16>
    %i0 = arith.constant 0 : i32
    %r:2 = scf.for %j = %c0 to %n step %c32 iter_args(%acc = %zero, %mx = %m0) -> (vector<16xf32>, f32) {
      %kr = arith.addi %j, %row : index
      %kk = vector.load %kb[%kr, %c0] {alignment = 8} : memref<?x?xbf16, strided<[?, 1]>, #amdgpu.address_space<fat_raw_buffer>>, vector<4xbf16>
      %ki = vector.bitcast %kk : vector<4xbf16> to vector<4xi16>
      %s = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"(%ki, %qi, %zero, %i0, %i0, %i0) : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      %red = vector.reduction <maxnumf>, %s, %mx fastmath<reassoc> : vector<16xf32> into f32
      %w = arith.constant 64 : i32
      %x32 = arith.constant 32 : i32
      %sh, %ok = gpu.shuffle xor %red, %x32, %w : f32
      %mm = arith.maxnumf %red, %sh : f32
      %mb = vector.broadcast %mm : f32 to vector<16xf32>
      %sc = arith.constant dense<0.25> : vector<16xf32>
      %d = arith.mulf %s, %sc : vector<16xf32>
      %d2 = arith.subf %d, %mb : vector<16xf32>
      %p = math.exp2 %d2 : vector<16xf32>
      %pb = arith.truncf %p fastmath<nnan> : vector<16xf32> to vector<16xbf16>
      %p0 = vector.extract_strided_slice %pb {offsets = [4], sizes = [4], strides = [1]} : vector<16xbf16> to vector<4xbf16>
      vector.store %p0, %v[%row, %c0] {alignment = 8} : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<4xbf16>
      amdgpu.lds_barrier
      %v0 = vector.load %v[%row, %c0] {alignment = 8} : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<4xbf16>
      %vi = vector.bitcast %v0 : vector<4xbf16> to vector<4xi16>
      %p1 = vector.extract_strided_slice %pb {offsets = [0], sizes = [4], strides = [1]} : vector<16xbf16> to vector<4xbf16>
      %pi = vector.bitcast %p1 : vector<4xbf16> to vector<4xi16>
      %a1 = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"(%vi, %pi, %acc, %i0, %i0, %i0) : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
      gpu.barrier
      scf.yield %a1, %mm : vector<16xf32>, f32
    }
    %sub = memref.subview %o[%row, %c0] [%c1, 16] [1, 1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x16xf32, strided<[?, 1], offset: ?>>
    vector.store %r#0, %sub[%c0, %c0] {alignment = 16} : memref<?x16xf32, strided<[?, 1], offset: ?>>, vector<16xf32>
    gpu.return
  }
}
