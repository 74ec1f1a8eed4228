// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm --split-input-file --verify-diagnostics

// expected-error @+1 {{a module of kernels needs the attribute 'evo_tile.target' of type #evo_tile.target}}
gpu.module @m {
}

// -----

#cpu = #evo_tile.target<chip = "cpu", triple = "x86_64-unknown-linux-gnu",
  features = "", subgroup_size = 1, max_workgroup = 1, registers = 16,
  lds_bytes = 65536, lds_banks = 1, matrix = [], properties = {}>
// expected-error @+1 {{target 'cpu' (x86_64-unknown-linux-gnu) has no lane-level lowering; amdgcn and nvptx64 have}}
gpu.module @m attributes {evo_tile.target = #cpu} {
}

// -----

#gfx = #evo_tile.target<chip = "mi300", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
// expected-error @+1 {{unknown AMD chip 'mi300'; expected a name like gfx942}}
gpu.module @m attributes {evo_tile.target = #gfx} {
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  // expected-error @+1 {{workgroup memory of 65552 bytes exceeds the 65536 bytes of gfx942}}
  gpu.func @k() workgroup(%a: memref<4xf32, #gpu.address_space<workgroup>>,
                          %b: memref<65536xi8, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {max_lds_static = 49152 : i64}>
gpu.module @m attributes {evo_tile.target = #sm_80} {
  // expected-error @+1 {{dynamic workgroup memory must be a 1-D memref of i8, but is 'memref<65536xf16, #gpu.address_space<workgroup>>'}}
  gpu.func @k() workgroup(%a: memref<65536xf16, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  // expected-error @+1 {{a workgroup of 2048 lanes exceeds the 1024 of gfx942}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @k(%x: memref<?xf64>, %i: index) kernel {
    %a = memref.load %x[%i] : memref<?xf64>
    // expected-error @+1 {{'math.exp2' op on f64 has no instruction on gfx942; f16, bf16 and f32 have}}
    %b = math.exp2 %a : f64
    memref.store %b, %x[%i] : memref<?xf64>
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @k(%i: index) kernel {
    // expected-error @+1 {{yields a tensor; this pass takes programs of one lane, which hold vectors and memrefs}}
    %a = arith.constant dense<0.0> : tensor<4xf32>
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @k(%x: vector<4xf32>) kernel {
    // expected-error @+1 {{'math.tan' op has no instruction on gfx942; write it with exp2, log2, sqrt, rsqrt and arithmetic}}
    %a = math.tan %x : vector<4xf32>
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @k(%x: f32, %m: memref<bf16>) kernel {
    // expected-error @+1 {{'arith.truncf' op with rounding mode upward is not supported; f32 to bf16 can round to_nearest_even, to_nearest_away and toward_zero, other types to_nearest_even}}
    %a = arith.truncf %x upward : f32 to bf16
    memref.store %a, %m[] : memref<bf16>
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  // expected-error @+1 {{exceeds the 65536 bytes of gfx942}}
  gpu.func @overflow() workgroup(%a: memref<4611686018427387904x4xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {max_lds_static = 4096 : i64}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  // expected-error @+1 {{workgroup memory of 4100 bytes exceeds the 4096 bytes that a kernel may declare on gfx942}}
  gpu.func @static() workgroup(%a: memref<1025xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  // expected-error @+1 {{workgroup memory must be a memref of static shape and contiguous layout, but is 'memref<4xf32, strided<[2]>, #gpu.address_space<workgroup>>'}}
  gpu.func @strided() workgroup(%a: memref<4xf32, strided<[2]>, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @tiles() kernel {
    // expected-error @+1 {{is of the tile level; convert-tile-to-gpu comes before this pass}}
    evo_tile.barrier
    gpu.return
  }
}
