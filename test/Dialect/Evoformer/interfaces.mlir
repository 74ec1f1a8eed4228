// RUN: evoformer-opt %s --resolve-ranked-shaped-type-result-dims --split-input-file | FileCheck %s --check-prefix=REIFY
// RUN: evoformer-opt %s --cse --loop-invariant-code-motion --split-input-file | FileCheck %s --check-prefix=EFFECTS

// Sizes of results are those of the destinations.
// REIFY-LABEL: func @sizes(
// REIFY-SAME:    %[[Q:[^:]*]]: tensor<1x?x16x4x32xf32>, %[[O:[^:]*]]: tensor<1x?x16x4x32xf32>, %[[L:[^:]*]]: tensor<1x?x4x16xf32>
// REIFY-DAG:     %[[ON:.*]] = tensor.dim %[[O]], %{{.*}} : tensor<1x?x16x4x32xf32>
// REIFY-DAG:     %[[LN:.*]] = tensor.dim %[[L]], %{{.*}} : tensor<1x?x4x16xf32>
// REIFY:         return %[[ON]], %[[LN]]
func.func @sizes(%q: tensor<1x?x16x4x32xf32>, %o: tensor<1x?x16x4x32xf32>,
                 %l: tensor<1x?x4x16xf32>) -> (index, index) {
  %c1 = arith.constant 1 : index
  %0:2 = evoformer.attention
      query(%q : tensor<1x?x16x4x32xf32>)
      key(%q : tensor<1x?x16x4x32xf32>)
      value(%q : tensor<1x?x16x4x32xf32>)
      outs(%o : tensor<1x?x16x4x32xf32>)
      lse(%l : tensor<1x?x4x16xf32>)
  %1 = tensor.dim %0#0, %c1 : tensor<1x?x16x4x32xf32>
  %2 = tensor.dim %0#1, %c1 : tensor<1x?x4x16xf32>
  return %1, %2 : index, index
}

// -----

// On tensors of static sizes the op is pure: equal ones are one, and it leaves
// loops. On memrefs it stays where it is.
// EFFECTS-LABEL: func @pure(
// EFFECTS:         evoformer.attention
// EFFECTS-NOT:     evoformer.attention
// EFFECTS:         scf.for
// EFFECTS-NOT:     query(%{{.*}} : tensor
// EFFECTS:         evoformer.attention
// EFFECTS:         query(%{{.*}} : memref
// EFFECTS:         evoformer.attention
func.func @pure(%q: tensor<1x2x16x4x32xf32>, %n: index,
                %m: memref<1x2x16x4x32xf32>, %o: memref<1x2x16x4x32xf32>)
    -> (tensor<1x2x16x4x32xf32>, tensor<1x2x16x4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %q, %y = %q)
      -> (tensor<1x2x16x4x32xf32>, tensor<1x2x16x4x32xf32>) {
    %1 = evoformer.attention
        query(%q : tensor<1x2x16x4x32xf32>)
        key(%q : tensor<1x2x16x4x32xf32>)
        value(%q : tensor<1x2x16x4x32xf32>)
        outs(%q : tensor<1x2x16x4x32xf32>)
    %2 = evoformer.attention
        query(%q : tensor<1x2x16x4x32xf32>)
        key(%q : tensor<1x2x16x4x32xf32>)
        value(%q : tensor<1x2x16x4x32xf32>)
        outs(%q : tensor<1x2x16x4x32xf32>)
    evoformer.attention
        query(%m : memref<1x2x16x4x32xf32>)
        key(%m : memref<1x2x16x4x32xf32>)
        value(%m : memref<1x2x16x4x32xf32>)
        outs(%o : memref<1x2x16x4x32xf32>)
    evoformer.attention
        query(%m : memref<1x2x16x4x32xf32>)
        key(%m : memref<1x2x16x4x32xf32>)
        value(%m : memref<1x2x16x4x32xf32>)
        outs(%o : memref<1x2x16x4x32xf32>)
    scf.yield %1, %2 : tensor<1x2x16x4x32xf32>, tensor<1x2x16x4x32xf32>
  }
  return %0#0, %0#1 : tensor<1x2x16x4x32xf32>, tensor<1x2x16x4x32xf32>
}
