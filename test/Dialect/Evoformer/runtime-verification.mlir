// RUN: evoformer-opt %s --generate-runtime-verification | FileCheck %s

// Every dynamic size is compared with a static one where there is one; a static
// 1 of a bias is not compared.
// CHECK-LABEL: func @sizes(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<1x?x?x4x32xf16>, %[[K:[^:]*]]: memref<1x8x?x4x32xf16>, %[[B:[^:]*]]: memref<1x?x1x?x1xf16>
// CHECK-DAG:     %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[QN:.*]] = memref.dim %[[Q]], %{{.*}} : memref<1x?x?x4x32xf16>
// CHECK:         %[[EQ:.*]] = arith.cmpi eq, %[[QN]], %[[EIGHT]]
// CHECK-NEXT:    cf.assert %[[EQ]], "{{.*}}N: dimension 1 of query must equal dimension 1 of key
// CHECK:         %[[BN:.*]] = memref.dim %[[B]], %{{.*}} : memref<1x?x1x?x1xf16>
// CHECK:         arith.cmpi eq, %[[BN]], %[[EIGHT]]
// CHECK-NEXT:    "{{.*}}N: dimension 1 of bias #0 must equal dimension 1 of key
// CHECK:         "{{.*}}Sq: dimension 3 of bias #0 must equal dimension 2 of query
// CHECK:         "{{.*}}Sq: dimension 2 of output must equal dimension 2 of query
// CHECK:         "{{.*}}Sk: dimension 2 of value must equal dimension 2 of key
// CHECK-NOT:     cf.assert
// CHECK:         evoformer.attention
func.func @sizes(%q: memref<1x?x?x4x32xf16>, %k: memref<1x8x?x4x32xf16>,
                 %b: memref<1x?x1x?x1xf16>, %o: memref<1x8x?x4x32xf16>) {
  evoformer.attention
      query(%q : memref<1x?x?x4x32xf16>)
      key(%k : memref<1x8x?x4x32xf16>)
      value(%k : memref<1x8x?x4x32xf16>)
      bias(%b : memref<1x?x1x?x1xf16>)
      outs(%o : memref<1x8x?x4x32xf16>)
  return
}

// The stride of the depth, of inputs only and where the type does not tell.
// CHECK-LABEL: func @strides(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<1x8x4x16x32xf16, strided<[?, ?, ?, ?, ?]>>
// CHECK:         %{{.*}}, %{{.*}}, %{{.*}}:5, %[[STRIDES:.*]]:5 = memref.extract_strided_metadata %[[Q]]
// CHECK:         %[[EQ:.*]] = arith.cmpi eq, %[[STRIDES]]#4, %{{.*}} : index
// CHECK-NEXT:    cf.assert %[[EQ]], "{{.*}}stride of dimension d of query must be 1
// CHECK-NOT:     cf.assert
// CHECK:         evoformer.attention
func.func @strides(%q: memref<1x8x4x16x32xf16, strided<[?, ?, ?, ?, ?]>>,
                   %k: memref<1x8x16x4x32xf16, strided<[?, ?, ?, ?, 1]>>,
                   %v: memref<1x8x16x4x1xf16, strided<[?, ?, ?, ?, ?]>>,
                   %o: memref<1x8x16x4x1xf16, strided<[?, ?, ?, ?, ?]>>) {
  evoformer.attention
      query(%q as bnhsd : memref<1x8x4x16x32xf16, strided<[?, ?, ?, ?, ?]>>)
      key(%k : memref<1x8x16x4x32xf16, strided<[?, ?, ?, ?, 1]>>)
      value(%v : memref<1x8x16x4x1xf16, strided<[?, ?, ?, ?, ?]>>)
      outs(%o : memref<1x8x16x4x1xf16, strided<[?, ?, ?, ?, ?]>>)
  return
}

// CHECK-LABEL: func @tensors(
// CHECK:         tensor.dim
// CHECK:         cf.assert %{{.*}}, "{{.*}}Sq: dimension 3 of lse must equal dimension 2 of output
// CHECK-NOT:     cf.assert
// CHECK:         evoformer.attention
func.func @tensors(%q: tensor<1x8x?x4x32xf16>, %k: tensor<1x8x16x4x32xf16>,
                   %o: tensor<1x8x8x4x32xf16>, %l: tensor<1x8x4x?xf32>) -> tensor<1x8x4x?xf32> {
  %0:2 = evoformer.attention
      query(%q : tensor<1x8x?x4x32xf16>)
      key(%k : tensor<1x8x16x4x32xf16>)
      value(%k : tensor<1x8x16x4x32xf16>)
      outs(%o : tensor<1x8x8x4x32xf16>)
      lse(%l : tensor<1x8x4x?xf32>)
  return %0#1 : tensor<1x8x4x?xf32>
}

// Heads of keys are a size of their own where heads of queries share them.
// CHECK-LABEL: func @groups(
// CHECK:         cf.assert %{{.*}}, "{{.*}}Hk: dimension 3 of value must equal dimension 3 of key
// CHECK:         cf.assert %{{.*}}, "{{.*}}H: dimension 3 of query must equal 4 (group_size) times dimension 3 of key
// CHECK-NOT:     cf.assert
// CHECK:         evoformer.attention
func.func @groups(%q: memref<1x8x16x8x32xf16>, %k: memref<1x8x16x?x32xf16>, %o: memref<1x8x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<1x8x16x8x32xf16>)
      key(%k : memref<1x8x16x?x32xf16>)
      value(%k : memref<1x8x16x?x32xf16>)
      outs(%o : memref<1x8x16x8x32xf16>)
      group_size(4)
  return
}

// All rows share the only one of keys and values.
// CHECK-LABEL: func @shared(
// CHECK-NOT:     cf.assert {{.*}}N: {{.*}}of key
// CHECK:         cf.assert %{{.*}}, "{{.*}}N: dimension 1 of output must equal dimension 1 of query
// CHECK:         evoformer.attention
func.func @shared(%q: memref<1x?x16x8x32xf16>, %k: memref<1x1x16x8x32xf16>, %o: memref<1x?x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<1x?x16x8x32xf16>)
      key(%k : memref<1x1x16x8x32xf16>)
      value(%k : memref<1x1x16x8x32xf16>)
      outs(%o : memref<1x?x16x8x32xf16>)
  return
}

// Biases have the number of sequences, and the most that one has.
// CHECK-LABEL: func @ragged(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: index
// CHECK:         cf.assert %{{.*}}, "{{.*}}Tq: dimension 2 of output must equal dimension 2 of query
// CHECK:         cf.assert %{{.*}}, "{{.*}}B + 1: dimension 0 of ragged keys must equal dimension 0 of ragged queries
// CHECK:         arith.cmpi sge, %[[P]], %{{.*}}
// CHECK:         cf.assert %{{.*}}, "{{.*}}most queries must be at least 0
// CHECK:         arith.cmpi eq, %{{.*}}, %[[P]]
// CHECK:         cf.assert %{{.*}}, "{{.*}}Sq: dimension 3 of bias #0 must equal most queries
// CHECK:         cf.assert %{{.*}}, "{{.*}}Sk: dimension 4 of bias #0 must equal most keys
// CHECK:         cf.assert %{{.*}}, "{{.*}}dimension 0 of ragged queries must be B + 1, at least 1
// CHECK:         cf.assert %{{.*}}, "{{.*}}B: dimension 0 of bias #0 must equal the number of ragged sequences
// CHECK:         evoformer.attention
func.func @ragged(%p: index, %q: memref<1x1x?x8x32xf16>, %o: memref<1x1x?x8x32xf16>,
                  %k: memref<1x1x16x8x32xf16>,
                  %t: memref<?x1x1x?x?xf32>, %i: memref<?xi32>, %j: memref<?xi32>) {
  evoformer.attention
      query(%q : memref<1x1x?x8x32xf16>)
      key(%k : memref<1x1x16x8x32xf16>)
      value(%k : memref<1x1x16x8x32xf16>)
      bias(%t : memref<?x1x1x?x?xf32>)
      ragged(queries %i : memref<?xi32>, keys %j : memref<?xi32>, most %p, %p)
      outs(%o : memref<1x1x?x8x32xf16>)
  return
}
