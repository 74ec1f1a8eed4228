// Rounding to bf16, run on every kind of value: all exponents, ties, NaN of
// either kind with payloads anywhere.
// RUN: %python %S/Inputs/bf16.py make %t.in
// RUN: evoformer-opt %s --convert-gpu-lanes-to-llvm -o %t.mlir
// RUN: evoformer-sim %t.mlir --kernel=even --grid=87 --block=64 \
// RUN:   --arg=in:%t.in --arg=ref:0 --arg=i64:0 --arg=i64:11136 --arg=i64:1 \
// RUN:   --arg=out:22272:%t.even --arg=ref:1 --arg=i64:0 --arg=i64:11136 --arg=i64:1
// RUN: %python %S/Inputs/bf16.py check even %t.even | FileCheck %s --check-prefix=EVEN
// EVEN: even: 11136 values, 0 wrong
// RUN: evoformer-sim %t.mlir --kernel=away --grid=87 --block=64 \
// RUN:   --arg=in:%t.in --arg=ref:0 --arg=i64:0 --arg=i64:11136 --arg=i64:1 \
// RUN:   --arg=out:22272:%t.away --arg=ref:1 --arg=i64:0 --arg=i64:11136 --arg=i64:1
// RUN: %python %S/Inputs/bf16.py check away %t.away | FileCheck %s --check-prefix=AWAY
// AWAY: away: 11136 values, 0 wrong
// RUN: evoformer-sim %t.mlir --kernel=zero --grid=87 --block=64 \
// RUN:   --arg=in:%t.in --arg=ref:0 --arg=i64:0 --arg=i64:11136 --arg=i64:1 \
// RUN:   --arg=out:22272:%t.zero --arg=ref:1 --arg=i64:0 --arg=i64:11136 --arg=i64:1
// RUN: %python %S/Inputs/bf16.py check zero %t.zero | FileCheck %s --check-prefix=ZERO
// ZERO: zero: 11136 values, 0 wrong

#gfx942 = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa",
  features = "", subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32, matrix = [], properties = {}>
gpu.module @m attributes {evo_tile.target = #gfx942} {
  gpu.func @even(%x: memref<?xf32>, %y: memref<?xbf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %lane = gpu.thread_id x
    %group = gpu.block_id x
    %start = arith.muli %group, %c64 : index
    %pair = arith.addi %start, %lane : index
    %i = arith.muli %pair, %c2 : index
    %a = vector.load %x[%i] {alignment = 8} : memref<?xf32>, vector<2xf32>
    %b = arith.truncf %a : vector<2xf32> to vector<2xbf16>
    vector.store %b, %y[%i] {alignment = 4} : memref<?xbf16>, vector<2xbf16>
    gpu.return
  }
  gpu.func @away(%x: memref<?xf32>, %y: memref<?xbf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %lane = gpu.thread_id x
    %group = gpu.block_id x
    %start = arith.muli %group, %c64 : index
    %pair = arith.addi %start, %lane : index
    %i = arith.muli %pair, %c2 : index
    %a = vector.load %x[%i] {alignment = 8} : memref<?xf32>, vector<2xf32>
    %b = arith.truncf %a to_nearest_away : vector<2xf32> to vector<2xbf16>
    vector.store %b, %y[%i] {alignment = 4} : memref<?xbf16>, vector<2xbf16>
    gpu.return
  }
  gpu.func @zero(%x: memref<?xf32>, %y: memref<?xbf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %lane = gpu.thread_id x
    %group = gpu.block_id x
    %start = arith.muli %group, %c64 : index
    %pair = arith.addi %start, %lane : index
    %i = arith.muli %pair, %c2 : index
    %a = vector.load %x[%i] {alignment = 8} : memref<?xf32>, vector<2xf32>
    %b = arith.truncf %a toward_zero : vector<2xf32> to vector<2xbf16>
    vector.store %b, %y[%i] {alignment = 4} : memref<?xbf16>, vector<2xbf16>
    gpu.return
  }
}
