// ptxas tells registers, spills and shared memory; the cubin may be for a later
// chip than the PTX.
// REQUIRES: ptxas
// RUN: rm -rf %t && evoformer-opt %S/nvidia.mlir --convert-gpu-lanes-to-llvm \
// RUN:   --evoformer-serialize="object-chip=sm_90 out-dir=%t report=%t/report.txt" -o /dev/null
// RUN: FileCheck %s --input-file=%t/report.txt
// RUN: llvm-readobj --sections %t/m.cubin | FileCheck %s --check-prefix=ELF
// RUN: not evoformer-opt %S/nvidia.mlir --convert-gpu-lanes-to-llvm \
// RUN:   --evoformer-serialize="object-chip=sm_1" 2>&1 | FileCheck %s --check-prefix=ERROR

// Instructions of one chip alone are assembled for that one, with the letter.
// RUN: evoformer-opt %source_dir/examples/triangle_attention.mlir --pass-pipeline='builtin.module(evoformer-lower{target=sm_90},evoformer-serialize{format=object out-dir=%t})' -o /dev/null
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t/kernels.ptx
// ALONE: .target sm_90a

// CHECK: vector registers      {{[0-9]+}}
// CHECK: spills                0 bytes
// CHECK: scratch               0 bytes a lane
// CHECK: LDS, dynamic          65536 bytes
// CHECK: occupancy             12 warps a multiprocessor
// CHECK: code size             {{[0-9]+}} bytes

// ELF: .text.loop

// What ptxas says is passed on.
// ERROR: error: ptxas failed: {{.*}}sm_1
