// A host function over a kernel that is written for lanes.
// RUN: evoformer-run %s --device=sim --target=gfx942 --scalar=n=3 | FileCheck %s
// CHECK: ran 'f' on sim
// RUN: not evoformer-run %s --device=sim --target=gfx942 --scalar=n=8589934592 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: function 'f': kernel 'k': too many work items
// RUN: sed 's/attributes {known_block_size.*} {/{/' %s > %t.mlir
// RUN: not evoformer-run %t.mlir --device=sim --target=gfx942 --scalar=n=3 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: 'llvm.func' op does not say how many threads a workgroup has

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @k(%n: index, %extent: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    gpu.return
  }
}
func.func @f(%n: index) {
  evo_tile.launch @k space(%n) args(%n : index)
  return
}
