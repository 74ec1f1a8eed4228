// The tool runs upstream passes on upstream dialects.
// RUN: evoformer-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @folds
//  CHECK-NEXT:   %[[THREE:.+]] = arith.constant 3 : i32
//  CHECK-NEXT:   return %[[THREE]] : i32
func.func @folds() -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %sum = arith.addi %one, %two : i32
  return %sum : i32
}
