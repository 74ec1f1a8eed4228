// What rounding two elements to bf16 costs on chips without a conversion.
// RUN: rm -rf %t && evoformer-opt %s --convert-gpu-lanes-to-llvm \
// RUN:   --evoformer-serialize="format=isa out-dir=%t" -o /dev/null
// RUN: FileCheck %s --input-file=%t/m.s

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  // CHECK-LABEL: {{^}}nearest_even:
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-DAG: v_bfe_u32
  // CHECK-DAG: v_bfe_u32
  // CHECK-DAG: v_add3_u32
  // CHECK-DAG: v_add3_u32
  // CHECK: v_perm_b32
  // CHECK-NOT: v_
  // CHECK: global_store_dword
  gpu.func @nearest_even(%x: memref<?xf32>, %y: memref<?xbf16>, %n: index) kernel {
    %i = gpu.thread_id x
    %a = vector.load %x[%i] {alignment = 8} : memref<?xf32>, vector<2xf32>
    %b = arith.truncf %a fastmath<nnan> : vector<2xf32> to vector<2xbf16>
    vector.store %b, %y[%i] {alignment = 4} : memref<?xbf16>, vector<2xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}nearest_away:
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-COUNT-2: v_add_u32
  // CHECK: v_perm_b32
  // CHECK-NOT: v_
  // CHECK: global_store_dword
  gpu.func @nearest_away(%x: memref<?xf32>, %y: memref<?xbf16>, %n: index) kernel {
    %i = gpu.thread_id x
    %a = vector.load %x[%i] {alignment = 8} : memref<?xf32>, vector<2xf32>
    %b = arith.truncf %a to_nearest_away fastmath<nnan> : vector<2xf32> to vector<2xbf16>
    vector.store %b, %y[%i] {alignment = 4} : memref<?xbf16>, vector<2xbf16>
    gpu.return
  }
  // CHECK-LABEL: {{^}}toward_zero:
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NEXT: v_perm_b32
  // CHECK-NEXT: global_store_dword
  gpu.func @toward_zero(%x: memref<?xf32>, %y: memref<?xbf16>, %n: index) kernel {
    %i = gpu.thread_id x
    %a = vector.load %x[%i] {alignment = 8} : memref<?xf32>, vector<2xf32>
    %b = arith.truncf %a toward_zero fastmath<nnan> : vector<2xf32> to vector<2xbf16>
    vector.store %b, %y[%i] {alignment = 4} : memref<?xbf16>, vector<2xbf16>
    gpu.return
  }
  // Keeping a NaN costs a compare, an or and a select each.
  // CHECK-LABEL: {{^}}keeps_nan:
  // CHECK: v_exp_f32
  // CHECK: v_exp_f32
  // CHECK-NOT: v_lshrrev
  // CHECK: v_cmp_{{[uo]}}_f32
  // CHECK: v_perm_b32
  // CHECK-NOT: v_
  // CHECK: global_store_dword
  gpu.func @keeps_nan(%x: memref<?xf32>, %y: memref<?xbf16>, %n: index) kernel {
    %i = gpu.thread_id x
    %a = vector.load %x[%i] {alignment = 8} : memref<?xf32>, vector<2xf32>
    %e = math.exp2 %a : vector<2xf32>
    %b = arith.truncf %e : vector<2xf32> to vector<2xbf16>
    vector.store %b, %y[%i] {alignment = 4} : memref<?xbf16>, vector<2xbf16>
    gpu.return
  }
}
