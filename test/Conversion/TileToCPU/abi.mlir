// The kernel ABI: arguments with memrefs expanded, extents, begin, end.
//
// RUN: evoformer-opt %s --convert-tile-to-cpu | FileCheck %s
// RUN: evoformer-opt %s --evo-tile-to-cpu-llvm | FileCheck %s --check-prefix=LLVM
// RUN: not evoformer-opt %s --pass-pipeline="builtin.module(func.func(evo-cpu-vectorize{vector-bits=96}))" 2>&1 | FileCheck %s --check-prefix=BITS

// BITS: vector-bits must be a power of two from 128 to 2048, got 96

// The last extent is fastest.
// CHECK-LABEL: func.func @ids(
//  CHECK-SAME:   %[[Y:.+]]: memref<?xf32>, %[[S:.+]]: f32, %[[E0:.+]]: index, %[[E1:.+]]: index, %[[E2:.+]]: index, %[[BEGIN:.+]]: index, %[[END:.+]]: index)
//       CHECK:   scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]] step
//       CHECK:     %[[ID2:.+]] = arith.remui %[[I]], %[[E2]]
//       CHECK:     %[[REST:.+]] = arith.divui %[[I]], %[[E2]]
//       CHECK:     %[[ID1:.+]] = arith.remui %[[REST]], %[[E1]]
//       CHECK:     %[[ID0:.+]] = arith.divui %[[REST]], %[[E1]]
//       CHECK:     memref.store %[[S]], %[[Y]][%[[ID2]]]
//       CHECK:     memref.store %[[S]], %[[Y]][%[[ID0]]]
//       CHECK:     memref.store %[[S]], %[[Y]][%[[ID1]]]
// LLVM-LABEL: llvm.func @ids(
//  LLVM-SAME:   !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: f32, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: i64)
evo_tile.kernel @ids(%y: memref<?xf32>, %s: f32) {
  %i = evo_tile.work_item_id 0
  %j = evo_tile.work_item_id 1
  %k = evo_tile.work_item_id 2
  memref.store %s, %y[%k] : memref<?xf32>
  memref.store %s, %y[%i] : memref<?xf32>
  memref.store %s, %y[%j] : memref<?xf32>
  evo_tile.return
}

// CHECK-LABEL: func.func @host(
//  CHECK-SAME:   %[[Y:.+]]: memref<?xf32>, %[[A:.+]]: index, %[[B:.+]]: index, %[[S:.+]]: f32)
//       CHECK:   %[[P:.+]] = arith.muli %{{.+}}, %[[A]]
//       CHECK:   %[[Q:.+]] = arith.muli %[[P]], %[[B]]
//       CHECK:   %[[R:.+]] = arith.muli %[[Q]], %[[A]]
//       CHECK:   call @ids(%[[Y]], %[[S]], %[[A]], %[[B]], %[[A]], %{{.+}}, %[[R]])
func.func @host(%y: memref<?xf32>, %a: index, %b: index, %s: f32) {
  evo_tile.launch @ids space(%a, %b, %a) args(%y, %s : memref<?xf32>, f32)
  return
}

// Without a launch the ids that are used count.
// CHECK-LABEL: func.func @unlaunched(%{{.+}}: memref<?xf32>, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index)
evo_tile.kernel @unlaunched(%y: memref<?xf32>) {
  %j = evo_tile.work_item_id 1
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %y[%j] : memref<?xf32>
  evo_tile.return
}

// .. or what the kernel says.
// CHECK-LABEL: func.func @told(%{{.+}}: memref<?xf32>, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index, %{{.+}}: index)
evo_tile.kernel @told(%y: memref<?xf32>) attributes {evo_tile.num_extents = 3 : i64} {
  evo_tile.return
}
