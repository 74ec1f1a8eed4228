// A launch that would fill a buffer as an earlier one has is left out, where
// nothing may tell.
//
// RUN: evoformer-opt %s --evo-tile-share-launches | FileCheck %s
// RUN: evoformer-opt %s --evo-tile-share-launches --remarks-filter=evo-tile-share.* --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
//
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=same
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=sum
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=sum
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=sum
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=sum
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=sum
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=sum
// REMARK: remark: [Passed] shared-launch | Category:evo-tile-share-launches | kernel=sum
// REMARK-NOT: remark

// CHECK-LABEL: func @equal_kernels
//  CHECK-NEXT:   %[[A:.+]] = memref.alloc(%[[N:.+]])
//  CHECK-NEXT:   evo_tile.launch @sum {{.+}} args(%[[X:.+]], %[[A]] :
//  CHECK-NEXT:   evo_tile.launch @use {{.+}} args(%[[A]], %[[Y:.+]] :
//  CHECK-NEXT:   evo_tile.launch @use {{.+}} args(%[[A]], %[[Y]] :
//  CHECK-NEXT:   evo_tile.launch @use {{.+}} args(%[[A]], %[[Y]] :
//  CHECK-NEXT:   memref.dealloc %[[A]]
//  CHECK-NEXT:   return
// Nobody launches it any more.
//   CHECK-NOT: kernel @same
func.func @equal_kernels(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @same space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %c : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%c, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %c : memref<?xf32>
  return
}

// An assertion changes nothing, in a branch either.
// CHECK-LABEL: func @assertions
// CHECK:         evo_tile.launch @sum
// CHECK-NOT:     evo_tile.launch @sum
// CHECK:         return
func.func @assertions(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index, %p: i1) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  cf.assert %p, "a mistake"
  scf.if %p {
    cf.assert %p, "another"
  }
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// What a branch would prepare is what was prepared before it, and kept for it.
// CHECK-LABEL: func @before_branches
//       CHECK:   %[[A:.+]] = memref.alloc
//  CHECK-NEXT:   evo_tile.launch @sum
//  CHECK-NEXT:   evo_tile.launch @use {{.+}} args(%[[A]],
//  CHECK-NEXT:   scf.if
//  CHECK-NEXT:     evo_tile.launch @use {{.+}} args(%[[A]],
//  CHECK-NEXT:   } else {
//  CHECK-NEXT:     scf.if
//  CHECK-NEXT:       evo_tile.launch @use {{.+}} args(%[[A]],
//       CHECK:   memref.dealloc %[[A]]
//  CHECK-NEXT:   return
func.func @before_branches(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index, %p: i1) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  scf.if %p {
    %b = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
  } else {
    scf.if %p {
      %c = memref.alloc(%n) : memref<?xf32>
      evo_tile.launch @sum space(%c1) args(%x, %c : memref<?xf32>, memref<?xf32>)
      evo_tile.launch @use space(%c1) args(%c, %y : memref<?xf32>, memref<?xf32>)
      memref.dealloc %c : memref<?xf32>
    }
  }
  return
}

// What is freed where it has just been filled may be in the way of nobody.
// CHECK-LABEL: func @freed_at_once
//       CHECK:   evo_tile.launch @sum
//       CHECK:   scf.if
//   CHECK-NOT:     evo_tile.launch @sum
//       CHECK:     evo_tile.launch @use
//       CHECK:   return
func.func @freed_at_once(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index, %p: i1) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  scf.if %p {
    %b = memref.alloc(%n) : memref<?xf32>
    %d = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
    evo_tile.launch @use space(%c1) args(%y, %d : memref<?xf32>, memref<?xf32>)
    memref.dealloc %d : memref<?xf32>
  }
  return
}

// Not behind what the branch itself writes, nor in a loop that writes it later;
// and what a branch has prepared may not be there behind it.
// CHECK-LABEL: func @before_branches_written
//       CHECK:   evo_tile.launch @sum
//       CHECK:   scf.if
//       CHECK:     evo_tile.launch @sum
//       CHECK:   scf.for
//       CHECK:     evo_tile.launch @sum
//       CHECK:   scf.if
//       CHECK:     evo_tile.launch @sum
//       CHECK:   evo_tile.launch @sum
//       CHECK:   return
func.func @before_branches_written(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c0: index, %c1: index, %p: i1) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  scf.if %p {
    evo_tile.launch @use space(%c1) args(%y, %x : memref<?xf32>, memref<?xf32>)
    %b = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
    evo_tile.launch @use space(%c1) args(%y, %x : memref<?xf32>, memref<?xf32>)
  }
  scf.if %p {
    %b = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
    evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
  }
  %c = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %c : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%c, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %c : memref<?xf32>
  return
}

// A branch may hand a buffer on to what reads it, but not to what writes it.
// CHECK-LABEL: func @handed_on
// CHECK:         evo_tile.launch @sum
// CHECK-NOT:     evo_tile.launch @sum
// CHECK:         return
func.func @handed_on(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index, %p: i1) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  %v = scf.if %p -> (memref<?xf32>) {
    scf.yield %x : memref<?xf32>
  } else {
    scf.yield %a : memref<?xf32>
  }
  evo_tile.launch @use space(%c1) args(%v, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// CHECK-LABEL: func @handed_on_and_written
// CHECK-COUNT-2: evo_tile.launch @sum
func.func @handed_on_and_written(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %n: index, %c1: index, %p: i1) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  %v = scf.if %p -> (memref<?xf32>) {
    scf.yield %z : memref<?xf32>
  } else {
    scf.yield %a : memref<?xf32>
  }
  evo_tile.launch @use space(%c1) args(%y, %v : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// Launches that change what is read, or write what is shared, keep both.
// CHECK-LABEL: func @input_changes
// CHECK-COUNT-2: evo_tile.launch @sum
func.func @input_changes(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%a, %x : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// CHECK-LABEL: func @input_changes_inside
// CHECK-COUNT-2: evo_tile.launch @sum
func.func @input_changes_inside(%x: memref<8xf32>, %y: memref<?xf32>, %n: index, %c1: index, %p: i1) {
  %v = memref.cast %x : memref<8xf32> to memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%v, %a : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  scf.if %p {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %x[%c1] : memref<8xf32>
  }
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%v, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// CHECK-LABEL: func @buffer_changes
// CHECK-COUNT-2: evo_tile.launch @sum
func.func @buffer_changes(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  %view = memref.cast %a : memref<?xf32> to memref<?xf32, strided<[1]>>
  %flat = memref.cast %view : memref<?xf32, strided<[1]>> to memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%y, %flat : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// A buffer of which the space leaves a part as it was: other sizes, or another
// space, are another result.
// CHECK-LABEL: func @differ
// CHECK-COUNT-3: evo_tile.launch @sum
func.func @differ(%x: memref<?xf32>, %n: index, %m: index, %c1: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%m) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%m) args(%x, %c : memref<?xf32>, memref<?xf32>)
  memref.dealloc %c : memref<?xf32>
  return
}

// What a loop carries may be any memory.
// CHECK-LABEL: func @carried
//       CHECK: scf.for
// CHECK-COUNT-2: evo_tile.launch @sum
func.func @carried(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c0: index, %c1: index) {
  scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> (memref<?xf32>) {
    %a = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
    memref.dealloc %a : memref<?xf32>
    evo_tile.launch @use space(%c1) args(%y, %z : memref<?xf32>, memref<?xf32>)
    %b = memref.alloc(%n) : memref<?xf32>
    evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
    scf.yield %z : memref<?xf32>
  }
  return
}

// The first one's buffer lives longer.
// CHECK-LABEL: func @in_branches
//       CHECK:   %[[A:.+]] = memref.alloc
//  CHECK-NEXT:   evo_tile.launch @sum {{.+}}, %[[A]] :
//  CHECK-NEXT:   evo_tile.launch @use {{.+}} args(%[[A]],
//  CHECK-NEXT:   evo_tile.launch @use {{.+}} args(%[[A]],
//  CHECK-NEXT:   memref.dealloc %[[A]]
//  CHECK-NEXT:   return
func.func @in_branches(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%b, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  evo_tile.launch @use space(%c1) args(%a, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  return
}

// A view stands before the buffer that would take the place of its own.
// CHECK-LABEL: func @view_before
// CHECK-COUNT-2: evo_tile.launch @sum
func.func @view_before(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %c1: index) {
  %b = memref.alloc(%n) : memref<?xf32>
  %v = memref.cast %b : memref<?xf32> to memref<?xf32, strided<[1]>>
  %w = memref.cast %v : memref<?xf32, strided<[1]>> to memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  evo_tile.launch @use space(%c1) args(%w, %y : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// An op whose region has no effects has some itself.
// CHECK-LABEL: func @linalg_between
// CHECK-COUNT-2: evo_tile.launch @sum
func.func @linalg_between(%x: memref<?xf32>, %n: index, %c1: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %a : memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%e: f32):
    %d = arith.addf %e, %e : f32
    linalg.yield %d : f32
  }
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @sum space(%c1) args(%x, %b : memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// CHECK-LABEL: func @written_twice
// CHECK-COUNT-2: evo_tile.launch @two
func.func @written_twice(%x: memref<?xf32>, %n: index, %c1: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @two space(%c1) args(%x, %a, %a : memref<?xf32>, memref<?xf32>, memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  evo_tile.launch @two space(%c1) args(%x, %b, %b : memref<?xf32>, memref<?xf32>, memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  return
}

// CHECK: evo_tile.kernel @sum(
evo_tile.kernel @sum(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = evo_tile.load %x[%c0] padding 0.0 : f32 : memref<?xf32> -> tensor<8xf32>
  %b = arith.addf %a, %a : tensor<8xf32>
  evo_tile.store %b, %y[%c0] : tensor<8xf32>, memref<?xf32>
  evo_tile.return
}
evo_tile.kernel @same(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = evo_tile.load %x[%c0] padding 0.0 : f32 : memref<?xf32> -> tensor<8xf32>
  %b = arith.addf %a, %a : tensor<8xf32>
  evo_tile.store %b, %y[%c0] : tensor<8xf32>, memref<?xf32>
  evo_tile.return
}
evo_tile.kernel @use(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = evo_tile.load %x[%c0] padding 0.0 : f32 : memref<?xf32> -> tensor<8xf32>
  evo_tile.store %a, %y[%c0] : tensor<8xf32>, memref<?xf32>
  evo_tile.return
}
evo_tile.kernel @two(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %a = evo_tile.load %x[%c0] padding 0.0 : f32 : memref<?xf32> -> tensor<8xf32>
  evo_tile.store %a, %y[%c0] : tensor<8xf32>, memref<?xf32>
  evo_tile.store %a, %z[%c0] : tensor<8xf32>, memref<?xf32>
  evo_tile.return
}
