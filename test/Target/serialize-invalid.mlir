// RUN: rm -rf %t && split-file %s %t

//--- not-lowered.mlir
// RUN: not evoformer-opt %t/not-lowered.mlir --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=LOWER
// LOWER: error: 'gpu.func' op is not of the LLVM dialect; convert-gpu-lanes-to-llvm comes before
#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @k() kernel {
    gpu.return
  }
}

//--- left.mlir
// RUN: not evoformer-opt %t/left.mlir --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: left.mlir:4:3: error: 'linalg.fill' op is left in a function that launches kernels, and is none itself; run convert-linalg-to-tile first
func.func @f(%n: index, %x: memref<4xf32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%x : memref<4xf32>)
  evo_tile.launch @k space(%n) args(%x : memref<4xf32>)
  return
}
gpu.module @m {
  llvm.func @k() attributes {gpu.kernel} {
    llvm.return
  }
}

//--- no-module.mlir
// RUN: not evoformer-opt %t/no-module.mlir --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: holds no gpu.module to serialize; evoformer-lower with the target of a GPU makes one (what it makes for the CPU evoformer-run runs)
module {}

//--- kernel.mlir
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="format=elf" 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: error: unknown format 'elf'; known formats: isa, ptx, object, mlir
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="format=mlir" 2>&1 | FileCheck %s --check-prefix=MLIR
// MLIR: error: the format 'mlir' is for 'embed' only
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize=embed 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: has no target of upstream's to embed code for; run convert-tile-launch-to-gpu first
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --convert-tile-launch-to-gpu --evoformer-serialize="embed format=isa" 2>&1 | FileCheck %s --check-prefix=ISA
// ISA: error: the format 'isa' cannot be embedded: drivers take objects; give the format 'object'
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="format=ptx" 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: error: target 'gfx942' has no ptx; it has isa
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="O=7" 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: optimization level 7 is not one of 0 to 3
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="object-chip=gfx1100" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: code for gfx942 cannot become an object for gfx1100; only PTX runs on later chips
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="out-dir=/dev/null/x" 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot create /dev/null/x:
// RUN: not evoformer-opt %t/kernel.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="report=%t/none/report" 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: error: cannot write {{.*}}none/report
// RUN: not ls %t/none
#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @k() kernel {
    gpu.return
  }
}

//--- wrong-chip.mlir
// An instruction that the chip does not have is an error, not an abort.
// RUN: not evoformer-opt %t/wrong-chip.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=SELECT
// SELECT: error: the code generator gave up: {{.*}}mfma
#gfx1100 = #evo_tile.target<chip = "gfx1100", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx1100} {
  gpu.func @k(%m: memref<16xf32>, %a: vector<4xi16>, %c: vector<16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %i0 = arith.constant 0 : i32
    %d = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"(%a, %a, %c, %i0, %i0, %i0) : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
    vector.store %d, %m[%c0] : memref<16xf32>, vector<16xf32>
    gpu.return
  }
}

//--- unknown-chip.mlir
// RUN: not evoformer-opt %t/unknown-chip.mlir --convert-gpu-lanes-to-llvm --evoformer-serialize="format=ptx" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: no code generator for chip 'sm_1' of nvptx64-nvidia-cuda
#sm_1 = #evo_tile.target<chip = "sm_1", triple = "nvptx64-nvidia-cuda",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #sm_1} {
  gpu.func @k() kernel {
    gpu.return
  }
}

//--- unknown-arch.mlir
// RUN: not evoformer-opt %t/unknown-arch.mlir --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: error: target 'a7' (riscv64-none) is not serialized; amdgcn and nvptx64 are
#a7 = #evo_tile.target<chip = "a7", triple = "riscv64-none",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #a7} {
  llvm.func @k() attributes {gpu.kernel} {
    llvm.return
  }
}

//--- undefined.mlir
// A function that nobody defines.
// RUN: not evoformer-opt %t/undefined.mlir --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=LINK
// LINK: error: linking the code object failed: {{.*}}undefined symbol: missing
// No folder for what is linked.
// RUN: env TMPDIR=%t/none not evoformer-opt %t/undefined.mlir --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=TEMPORARY
// TEMPORARY: error: cannot create a temporary file: No such file or directory
#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  llvm.func @missing()
  llvm.func @k() attributes {gpu.kernel, rocdl.kernel} {
    llvm.call @missing() : () -> ()
    llvm.return
  }
}

//--- cubin.mlir
// A ptxas that writes nothing, and none to be found.
// RUN: mkdir -p %t/cuda/bin
// RUN: cp %t/ptxas %t/cuda/bin/ptxas
// RUN: chmod +x %t/cuda/bin/ptxas
// RUN: env CUDA_PATH=%t/cuda not evoformer-opt %t/cubin.mlir --evoformer-serialize=format=object 2>&1 | FileCheck %s --check-prefix=CUBIN
// CUBIN: error: cannot read the cubin: No such file or directory
#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #sm_80} {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

//--- ptxas
#!/bin/sh
for argument; do
  case "$argument" in *.cubin) rm -f "$argument" ;; esac
done
