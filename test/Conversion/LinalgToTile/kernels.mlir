// RUN: evoformer-opt %s --convert-linalg-to-tile | FileCheck %s

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#column = affine_map<(d0, d1, d2) -> (d2)>

// Tiles of the two innermost loops, from the item's own first element; a row is
// repeated along the loops that it lacks.
// CHECK-LABEL: evo_tile.kernel @elementwise_generic(
// CHECK-SAME: %[[X:.+]]: memref<?x?x24xf32>, %[[S:.+]]: memref<?x?x1xf32>, %[[G:.+]]: memref<24xi8>, %[[Y:.+]]: memref<?x?x24xbf16>, %[[N:.+]]: f32)
// CHECK: %[[I:.+]] = evo_tile.work_item_id 1
// CHECK: arith.muli %[[I]], %c16
// CHECK: memref.subview %[[X]]
// CHECK: evo_tile.load {{.*}} {in_bounds = array<i1: false, false>} : memref<?x?xf32, {{.*}}> -> tensor<16x32xf32>
// CHECK: evo_tile.load {{.*}} -> tensor<16xf32>
// CHECK: evo_tile.broadcast {{.*}} dim 1 : tensor<16xf32> -> tensor<16x32xf32>
// CHECK: evo_tile.load {{.*}} -> tensor<32xi8>
// CHECK: evo_tile.broadcast {{.*}} dim 0 : tensor<32xi8> -> tensor<16x32xi8>
// CHECK: arith.cmpi ne
// CHECK: tensor.splat %[[N]]
// CHECK: math.exp2 {{.*}} : tensor<16x32xf32>
// CHECK: arith.truncf {{.*}} to tensor<16x32xbf16>
// CHECK: evo_tile.store
// CHECK-LABEL: func.func @elementwise
// CHECK: evo_tile.launch @elementwise_generic space(
// CHECK: evo_tile.launch @elementwise_generic space(
func.func @elementwise(%x: memref<?x?x24xf32>, %s: memref<?x?x1xf32>,
                       %g: memref<24xi1>, %y: memref<?x?x24xbf16>, %n: f32) {
  linalg.generic {indexing_maps = [#id, #row, #column, #id],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s, %g : memref<?x?x24xf32>, memref<?x?x1xf32>, memref<24xi1>)
      outs(%y : memref<?x?x24xbf16>) {
  ^bb0(%a: f32, %b: f32, %keep: i1, %o: bf16):
    %0 = arith.divf %b, %n : f32
    %1 = math.exp %a : f32
    %2 = arith.select %keep, %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  }
  // The same op once more has the same kernel.
  linalg.generic {indexing_maps = [#id, #row, #column, #id],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s, %g : memref<?x?x24xf32>, memref<?x?x1xf32>, memref<24xi1>)
      outs(%y : memref<?x?x24xbf16>) {
  ^bb0(%a: f32, %b: f32, %keep: i1, %o: bf16):
    %0 = arith.divf %b, %n : f32
    %1 = math.exp %a : f32
    %2 = arith.select %keep, %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  }
  return
}

// A sum over blocks of the reduced loop, of which the last is masked.
// CHECK-LABEL: evo_tile.kernel @reduction_generic
// CHECK: %[[START:.+]] = arith.extf {{.*}} : tensor<16xbf16> to tensor<16xf32>
// CHECK: scf.for {{.*}} iter_args(%[[OLD:.+]] = %[[START]])
// CHECK:   evo_tile.iota
// CHECK:   arith.select
// CHECK:   %[[SUM:.+]] = evo_tile.reduce add {{.*}} dim 1 : tensor<16x32xf32> -> tensor<16xf32>
// CHECK:   arith.addf %[[OLD]], %[[SUM]]
// CHECK: arith.truncf {{.*}} : tensor<16xf32> to tensor<16xbf16>
func.func @reduction(%x: memref<?x?x24xbf16>, %s: memref<?x?x1xbf16>) {
  linalg.generic {indexing_maps = [#id, #row],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : memref<?x?x24xbf16>) outs(%s : memref<?x?x1xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.addf %a, %o : bf16
    linalg.yield %0 : bf16
  }
  return
}

// CHECK-LABEL: evo_tile.kernel @product_matmul
// CHECK-SAME: block = [1, 64, 64], subgroups = [1, 2, 2]
// CHECK: scf.for
// CHECK: evo_tile.mma {{.*}} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
// What lies beyond an end was read where another subgroup writes.
// CHECK: evo_tile.barrier
// CHECK: evo_tile.store
// CHECK-LABEL: func.func @product
func.func @product(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf32>)
  return
}

// CHECK-LABEL: evo_tile.kernel @copy_generic
// CHECK-LABEL: func.func @copy
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [4, 6], strides: [6, 1]
// CHECK: evo_tile.launch @copy_generic
func.func @copy(%a: memref<24xf32>, %b: memref<4x6xf32>) {
  %0 = memref.expand_shape %a [[0, 1]] output_shape [4, 6] : memref<24xf32> into memref<4x6xf32>
  memref.copy %0, %b : memref<4x6xf32> to memref<4x6xf32>
  return
}

// Elements of one block lie within 4 GiB: rows of 2^20 bytes, of which all are summed;
// and 16 of a stride that is known later.
// CHECK-LABEL: func.func @far
// CHECK-SAME: %[[X:.+]]: memref<?x262144xf32>, %[[Y:.+]]: memref<262144xf32, strided<[?]>>
// CHECK: %{{.+}}, %{{.+}}, %[[SIZES:.+]]:2, %{{.+}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[MOST:.+]] = arith.maxui %[[SIZES]]#0, %[[ONE:.+]] : index
// CHECK: %[[LAST:.+]] = arith.subi %[[MOST]], %[[ONE]]
// CHECK: arith.muli %[[LAST]], %{{.+}}#0
// CHECK: arith.cmpi ule, %{{.+}}, %c1073741824
// CHECK: cf.assert %{{.+}}, "operand 0: elements of one block must lie within 4 GiB, in the order of their indices"
// CHECK: memref.extract_strided_metadata %[[Y]]
// CHECK: cf.assert %{{.+}}, "operand 1: elements of one block
func.func @far(%x: memref<?x262144xf32>, %y: memref<262144xf32, strided<[?]>>) {
  linalg.reduce ins(%x : memref<?x262144xf32>) outs(%y : memref<262144xf32, strided<[?]>>) dimensions = [0]
      (%a: f32, %b: f32) {
        %r = arith.addf %a, %b : f32
        linalg.yield %r : f32
      }
  return
}
