// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu --split-input-file | FileCheck %s --check-prefix=CPU

// Kernels of GPUs have 32-bit offsets within a batch, row and head.

// CPU-LABEL: func.func @far(
// CPU-NOT:     cf.assert
func.func @far(%q: memref<1x1x17x1x8xf32>,
    %v: memref<1x1x17x1x8xf32, strided<[8, 8, 67108865, 8, 1]>>,
    %out: memref<1x1x17x1x8xf32>) {
  // expected-error @+1 {{'evoformer.attention' op value: elements of one batch, row and head must lie within 4 GiB, in the order of their indices, but it is 'memref<1x1x17x1x8xf32, strided<[8, 8, 67108865, 8, 1]>>'}}
  evoformer.attention
      query(%q : memref<1x1x17x1x8xf32>)
      key(%q : memref<1x1x17x1x8xf32>)
      value(%v : memref<1x1x17x1x8xf32, strided<[8, 8, 67108865, 8, 1]>>)
      outs(%out : memref<1x1x17x1x8xf32>)
  return
}

// -----

func.func @backwards(%q: memref<1x1x17x1x8xf32>,
    %b: memref<1x1x1x17x17xf32, strided<[1, 1, 1, 17, -1], offset: 17>>,
    %out: memref<1x1x17x1x8xf32>) {
  // expected-error @+1 {{bias #0: elements of one batch, row and head must lie within 4 GiB, in the order of their indices, but it is}}
  evoformer.attention
      query(%q : memref<1x1x17x1x8xf32>)
      key(%q : memref<1x1x17x1x8xf32>)
      value(%q : memref<1x1x17x1x8xf32>)
      bias(%b : memref<1x1x1x17x17xf32, strided<[1, 1, 1, 17, -1], offset: 17>>)
      outs(%out : memref<1x1x17x1x8xf32>)
  return
}

// -----

// Rows may lie anywhere; the same memory is asked about once, and what types tell
// not at all.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<1x?x17x1x8xf32, strided<[?, ?, ?, ?, 1]>>, %[[V:[^:]*]]: memref<1x?x17x1x8xf32, strided<[-1, -1, 8, 8, 1]>>
// CHECK:         %[[MOST:.*]] = arith.constant 1073739776 : index
// CHECK:         %{{.*}}, %{{.*}}, %{{.*}}:5, %[[STRIDES:.*]]:5 = memref.extract_strided_metadata %[[Q]]
// CHECK:         %[[LAST:.*]] = arith.muli %[[STRIDES]]#2, %c16
// CHECK:         %[[SPAN:.*]] = arith.addi %[[LAST]], %c8
// CHECK:         %[[WITHIN:.*]] = arith.cmpi ule, %[[SPAN]], %[[MOST]]
// CHECK:         cf.assert %[[WITHIN]], "query: elements of one batch, row and head must lie within 4 GiB, in the order of their indices"
// CHECK-NOT:     cf.assert
// CHECK:         return
// CPU-LABEL: func.func @dynamic(
// CPU-NOT:     cf.assert
func.func @dynamic(%q: memref<1x?x17x1x8xf32, strided<[?, ?, ?, ?, 1]>>,
    %v: memref<1x?x17x1x8xf32, strided<[-1, -1, 8, 8, 1]>>,
    %out: memref<1x?x17x1x8xf32>) {
  evoformer.attention
      query(%q : memref<1x?x17x1x8xf32, strided<[?, ?, ?, ?, 1]>>)
      key(%q : memref<1x?x17x1x8xf32, strided<[?, ?, ?, ?, 1]>>)
      value(%v : memref<1x?x17x1x8xf32, strided<[-1, -1, 8, 8, 1]>>)
      outs(%out : memref<1x?x17x1x8xf32>)
  return
}

// -----

// A sequence has no more queries than there are, whatever it may have.
// CHECK-LABEL: func.func @ragged(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @ragged(%q: memref<1x1x100x2x16xf32>, %o: memref<1x1x100x2x16xf32>, %i: memref<3xi32>) {
  %most = arith.constant 1000000000 : index
  evoformer.attention
      query(%q : memref<1x1x100x2x16xf32>)
      key(%q : memref<1x1x100x2x16xf32>)
      value(%q : memref<1x1x100x2x16xf32>)
      ragged(queries %i : memref<3xi32>, keys %i : memref<3xi32>, most %most, %most)
      outs(%o : memref<1x1x100x2x16xf32>)
  return
}
