// Where an instruction rounds a product to f16, products are single ones: pairs of f32
// would hide them.
// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm | FileCheck %s
// RUN: sed 's/, rounds_products//' %s | evoformer-opt --convert-gpu-lanes-to-llvm | FileCheck %s --check-prefix=VECTOR

#target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [],
  properties = {packed_f32, rounds_products}>

// CHECK-LABEL: llvm.func @round
// CHECK-COUNT-4: llvm.fmul %{{.+}}, %{{.+}} : f32
// CHECK-NOT: llvm.fmul
// VECTOR-LABEL: llvm.func @round
// VECTOR: llvm.fmul %{{.+}}, %{{.+}} : vector<4xf32>
// VECTOR-NOT: llvm.fmul
gpu.module @m attributes {evo_tile.target = #target} {
  gpu.func @round(%x: memref<?xf32>, %h: memref<?xf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %a = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %p = arith.mulf %a, %a : vector<4xf32>
    %n = arith.truncf %p : vector<4xf32> to vector<4xf16>
    vector.store %n, %h[%i] : memref<?xf16>, vector<4xf16>
    gpu.return
  }
}
