// A cubin needs ptxas.
// UNSUPPORTED: ptxas
// RUN: env -u CUDA_PATH not evoformer-opt %s --evoformer-serialize=format=object 2>&1 | FileCheck %s
// CHECK: error: a cubin needs ptxas, which is neither in $CUDA_PATH/bin nor in the PATH nor in /usr/local/cuda/bin; PTX needs nothing
#sm_80 = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "", subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #sm_80} {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
