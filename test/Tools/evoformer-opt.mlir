// The tool runs upstream passes on upstream dialects.
// RUN: evoformer-opt %s --canonicalize | FileCheck %s

// Messages show what they are about where that is asked for: a module of kernels has
// thousands of lines.
// RUN: not evoformer-opt %s --evoformer-serialize 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: holds no gpu.module to serialize
// SHORT-NOT: see current operation
// RUN: not evoformer-opt %s --evoformer-serialize --mlir-print-op-on-diagnostic 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: error: holds no gpu.module to serialize
// LONG: see current operation

// CHECK-LABEL: func @folds
//  CHECK-NEXT:   %[[THREE:.+]] = arith.constant 3 : i32
//  CHECK-NEXT:   return %[[THREE]] : i32
func.func @folds() -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %sum = arith.addi %one, %two : i32
  return %sum : i32
}
