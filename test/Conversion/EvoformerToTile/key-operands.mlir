// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu | FileCheck %s --check-prefix=JOINT

// Operands of a bound reach kernels as one number that is not negative: each is held
// to less than 2^30 in size, and so is their sum. The kernel takes from it what the
// host has added. Attentions that differ in the numbers alone share kernels, here one
// for rows that start at whole vectors and one for others.
// CHECK-LABEL: evo_tile.kernel @f_attention(
// CHECK-SAME:      %[[GIVEN:[a-z0-9]+]]: index)
// CHECK:         %[[ZERO:.*]] = arith.constant -1073741823 : index
// CHECK:         arith.addi %[[GIVEN]], %[[ZERO]] : index
// CHECK-LABEL: evo_tile.kernel @f_attention_0(
// CHECK-NOT:   evo_tile.kernel
// CHECK:       func.func @f(
// CHECK-SAME:      %[[W:[a-z0-9]+]]: index, %[[V:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[LOW:.*]] = arith.constant -1073741823 : index
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 1073741823 : index
!s = memref<1x1x48x4x32xf32>
!t = memref<1x1x4x48xf32>
!u = memref<2x1x1x4x48xf32>
func.func @f(%q: !s, %o: !s, %w: index, %v: index) {
  // CHECK:     %[[LEAST:.*]] = arith.maxsi %[[W]], %[[LOW]] : index
  // CHECK:     %[[HELD:.*]] = arith.minsi %[[LEAST]], %[[HIGH]] : index
  // CHECK:     %[[OTHER:.*]] = arith.maxsi %[[V]], %[[LOW]] : index
  // CHECK:     %[[TERM:.*]] = arith.minsi %[[OTHER]], %[[HIGH]] : index
  // CHECK:     %[[SUM:.*]] = arith.subi %[[HELD]], %[[TERM]] : index
  // CHECK:     %[[MORE:.*]] = arith.maxsi %[[SUM]], %[[LOW]] : index
  // CHECK:     %[[SAFE:.*]] = arith.minsi %[[MORE]], %[[HIGH]] : index
  // CHECK:     %[[PASSED:.*]] = arith.addi %[[SAFE]], %[[HIGH]] : index
  // CHECK:     evo_tile.launch @f_attention {{.*}}%[[PASSED]]
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      keys(from affine_map<(i)[sq, sk, w, v] -> (i + w - v)>[%w, %v], to affine_map<(i)[sq, sk] -> (i + 1)>)
  // CHECK:     evo_tile.launch @f_attention
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      keys(from affine_map<(i)[sq, sk, w, v] -> (i + w - v)>[%v, %w], to affine_map<(i)[sq, sk] -> (i + 1)>)
  return
}

// Steps whose bounds are of the same numbers share a recomputation, others none.
// JOINT-LABEL: evo_tile.kernel @same_all_grads(
// JOINT-LABEL: func.func @same(
func.func @same(%q: !s, %d: !t, %t: !u, %dq: !s, %dk: !s, %w: index) {
  evoformer.attention_gradient query(%q : !s) key(%q : !s) value(%q : !s)
      weighted_grad(%q : !s) stats(%t : !u) delta(%d : !t) query_grad(%dq : !s)
      keys(to affine_map<(i)[sq, sk, w] -> (i + w)>[%w])
  evoformer.attention_gradient query(%q : !s) key(%q : !s) value(%q : !s)
      weighted_grad(%q : !s) stats(%t : !u) delta(%d : !t) key_grad(%dk : !s)
      keys(to affine_map<(i)[sq, sk, w] -> (i + w)>[%w])
  return
}

// JOINT-NOT:   @others_all_grads
// JOINT:       func.func @others(
func.func @others(%q: !s, %d: !t, %t: !u, %dq: !s, %dk: !s, %w: index, %v: index) {
  evoformer.attention_gradient query(%q : !s) key(%q : !s) value(%q : !s)
      weighted_grad(%q : !s) stats(%t : !u) delta(%d : !t) query_grad(%dq : !s)
      keys(to affine_map<(i)[sq, sk, w] -> (i + w)>[%w])
  evoformer.attention_gradient query(%q : !s) key(%q : !s) value(%q : !s)
      weighted_grad(%q : !s) stats(%t : !u) delta(%d : !t) key_grad(%dk : !s)
      keys(to affine_map<(i)[sq, sk, w] -> (i + w)>[%v])
  return
}
