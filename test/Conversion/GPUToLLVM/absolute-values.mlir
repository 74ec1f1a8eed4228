// Where f32 are computed in pairs, multiply-adds of absolute values are single ones,
// which take these of an operand for nothing.
// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm | FileCheck %s
// RUN: sed 's/packed_f32//' %s | evoformer-opt --convert-gpu-lanes-to-llvm | FileCheck %s --check-prefix=VECTOR

#target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [],
  properties = {packed_f32}>

// CHECK-LABEL: llvm.func @distance
// CHECK-COUNT-4: llvm.intr.fabs(%{{.+}}) : (f32) -> f32
// CHECK-COUNT-4: llvm.intr.fma(%{{.+}}) : (f32
// CHECK: llvm.intr.fma(%{{.+}}) : (vector<4xf32>
// VECTOR-LABEL: llvm.func @distance
// VECTOR: llvm.intr.fabs(%{{.+}}) : (vector<4xf32>)
// VECTOR: llvm.intr.fma(%{{.+}}) : (vector<4xf32>
gpu.module @m attributes {evo_tile.target = #target} {
  gpu.func @distance(%x: memref<?xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    %a = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %d = math.absf %a : vector<4xf32>
    %p = math.fma %d, %a, %a : vector<4xf32>
    %q = math.fma %p, %a, %p : vector<4xf32>
    vector.store %q, %x[%i] : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}
