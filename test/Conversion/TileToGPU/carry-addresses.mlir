// Addresses that a loop computes from its variable are carried, where the target's
// subgroups have registers of their own: those that all lanes share and that grow by
// the same in every iteration. Others are computed as before.
// RUN: evoformer-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(evo-gpu-carry-addresses,canonicalize,cse))" | FileCheck %s
// RUN: evoformer-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(evo-gpu-carry-addresses))" -o %t.once
// RUN: evoformer-opt %t.once --split-input-file --pass-pipeline="builtin.module(gpu.module(evo-gpu-carry-addresses))" -o %t.twice
// RUN: diff %t.once %t.twice
//
// A bias's gradient sums over rows, in one part and, of so many, in several; a kernel
// of parts starts at a row that it finds by a division.
// RUN: evoformer-check --target=sm_80 --device=sim 'N=3 H=2 Sq=40 Sk=70 D=32 type=bf16 bias=bnk:i1:normal bias=bhqk:bf16:normal pass=backward' 'N=9 H=1 Sq=17 Sk=20 D=16 type=f16 bias=hqk:f16:normal pass=backward'
// RUN: evoformer-check --print-module 'N=3 H=2 Sq=40 Sk=70 D=32 type=bf16 bias=bnk:i1:normal bias=bhqk:bf16:normal pass=backward' > %t.mlir
// RUN: evoformer-opt %t.mlir --evoformer-lower="target=sm_80 stop-after=lanes" | FileCheck %s --check-prefix=KERNEL
// RUN: evoformer-opt %t.mlir --evoformer-lower="target=gfx942 stop-after=lanes" | FileCheck %s --check-prefix=NONE

// Of eight: two sequences of queries, two of keys, three numbers a query and one a key.
// KERNEL-LABEL: gpu.func @attention_bias_grad(
// The number of rows is read from one lane as well.
// KERNEL-COUNT-18: gpu.shuffle idx
//          KERNEL: scf.for {{.*}} -> ({{.*}}, i64, i64, i64, i64, i64, i64, i64, i64) {
// NONE-LABEL: gpu.func @attention_bias_grad(
//   NONE-NOT: gpu.shuffle idx
//       NONE: gpu.return

#t = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda",
  features = "+ptx80", subgroup_size = 32, max_workgroup = 1024,
  registers = 255, lds_bytes = 166912, lds_banks = 32, matrix = [],
  properties = {uniform_registers}>
gpu.module @kernels attributes {evo_tile.target = #t} {
// Every second row, from the one after the first; a lane adds its own part.
// CHECK-LABEL: gpu.func @rows
//  CHECK-SAME:   %[[X:[^:]*]]: memref<?x?xf32>, %[[FROM:[^:]*]]: index, %[[TO:[^:]*]]: index
//       CHECK:   %[[C8:.*]] = arith.constant 8 : index
//       CHECK:   %[[OWN:.*]] = arith.index_cast %thread_id_x : index to i64
//       CHECK:   %{{.*}}, %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
//       CHECK:   %[[BYTES:.*]] = arith.muli %[[STRIDES]]#0, %[[C8]] : index
//       CHECK:   %[[PITCH:.*]] = arith.index_cast %[[BYTES]] : index to i64
//       CHECK:   %[[SECOND:.*]] = arith.addi %[[FROM]], %{{.*}} : index
//       CHECK:   memref.subview %[[X]][%[[SECOND]], 0]
//       CHECK:   %[[FIRST:.*]] = arith.index_cast %{{.*}} : index to i64
//       CHECK:   %[[LOW:.*]] = arith.trunci %[[FIRST]] : i64 to i32
//       CHECK:   %[[LOW0:.*]], %{{.*}} = gpu.shuffle idx %[[LOW]], %c0_i32, %c32_i32 : i32
//       CHECK:   %[[L:.*]] = arith.extui %[[LOW0]] : i32 to i64
//       CHECK:   %[[ABOVE:.*]] = arith.shrui %[[FIRST]], %c32_i64 : i64
//       CHECK:   %[[HIGH:.*]] = arith.trunci %[[ABOVE]] : i64 to i32
//       CHECK:   %[[HIGH0:.*]], %{{.*}} = gpu.shuffle idx %[[HIGH]], %c0_i32, %c32_i32 : i32
//       CHECK:   %[[H:.*]] = arith.extui %[[HIGH0]] : i32 to i64
//       CHECK:   %[[TOP:.*]] = arith.shli %[[H]], %c32_i64 : i64
//       CHECK:   %[[START:.*]] = arith.ori %[[L]], %[[TOP]] : i64
// CHECK-COUNT-4:   gpu.shuffle idx
//       CHECK:   %[[END:.*]] = arith.index_cast %{{.*}} : i64 to index
//       CHECK:   scf.for {{.*}} to %[[END]] {{.*}} iter_args(%[[ADDRESS:.*]] = %[[START]]) -> (i64) {
//  CHECK-NEXT:     %[[P:.*]] = llvm.inttoptr %[[ADDRESS]]
//  CHECK-NEXT:     llvm.getelementptr %[[P]][%[[OWN]]]
//       CHECK:     %[[NEXT:.*]] = arith.addi %[[ADDRESS]], %[[PITCH]] : i64
//       CHECK:     scf.yield %[[NEXT]]
gpu.func @rows(%x: memref<?x?xf32>, %from: index, %to: index) kernel {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %lane = gpu.thread_id x
  %own = arith.index_cast %lane : index to i64
  scf.for %i = %from to %to step %c2 {
    %later = arith.addi %i, %c1 : index
    %row = memref.subview %x[%later, 0] [1, 64] [1, 1] : memref<?x?xf32> to memref<64xf32, strided<[1], offset: ?>>
    %base, %offset, %size, %stride = memref.extract_strided_metadata %row : memref<64xf32, strided<[1], offset: ?>> -> memref<f32>, index, index, index
    %start = memref.extract_aligned_pointer_as_index %row : memref<64xf32, strided<[1], offset: ?>> -> index
    %bytes = arith.muli %offset, %c4 : index
    %at = arith.addi %start, %bytes : index
    %address = arith.index_cast %at : index to i64
    %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    %q = llvm.getelementptr %p[%own] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %zero, %q : f32, !llvm.ptr<1>
  }
  gpu.return
}

// Lanes have rows of their own; the last row is read again; a square; a row that is
// read from memory; one that only an inner loop moves is carried there.
// CHECK-LABEL: gpu.func @others
//   CHECK-NOT:   gpu.shuffle
//       CHECK:   scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
//   CHECK-NOT:     gpu.shuffle
//       CHECK:     %[[LANES:.*]] = arith.addi {{.*}} : i64
//       CHECK:     llvm.inttoptr %[[LANES]]
//       CHECK:     %[[LAST:.*]] = arith.muli {{.*}} : i64
//       CHECK:     llvm.inttoptr %[[LAST]]
//       CHECK:     %[[SQUARE:.*]] = arith.muli {{.*}} : i64
//       CHECK:     llvm.inttoptr %[[SQUARE]]
//       CHECK:     %[[READ:.*]] = arith.addi {{.*}} : i64
//       CHECK:     llvm.inttoptr %[[READ]]
// CHECK-COUNT-4:   gpu.shuffle idx
//       CHECK:     scf.for {{.*}} iter_args(%[[INNER:.*]] = %{{.*}}) -> (i64) {
//       CHECK:       llvm.inttoptr %[[INNER]]
gpu.func @others(%table: memref<?xi64>, %n: index, %pitch: i64) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %thread = gpu.thread_id x
  %lane = arith.index_cast %thread : index to i64
  scf.for %i = %c0 to %n step %c1 {
    %number = arith.index_cast %i : index to i64
    %lanes = arith.addi %number, %lane : i64
    %p = llvm.inttoptr %lanes : i64 to !llvm.ptr<1>
    llvm.store %zero, %p : f32, !llvm.ptr<1>
    %next = arith.addi %i, %c1 : index
    %isLast = arith.cmpi eq, %next, %n : index
    %clamped = arith.select %isLast, %i, %next : index
    %row = arith.index_cast %clamped : index to i64
    %last = arith.muli %row, %pitch : i64
    %q = llvm.inttoptr %last : i64 to !llvm.ptr<1>
    llvm.store %zero, %q : f32, !llvm.ptr<1>
    %square = arith.muli %number, %number : i64
    %r = llvm.inttoptr %square : i64 to !llvm.ptr<1>
    llvm.store %zero, %r : f32, !llvm.ptr<1>
    %entry = memref.load %table[%i] : memref<?xi64>
    %read = arith.addi %entry, %pitch : i64
    %s = llvm.inttoptr %read : i64 to !llvm.ptr<1>
    llvm.store %zero, %s : f32, !llvm.ptr<1>
    scf.for %j = %c0 to %n step %c1 {
      %inner = arith.index_cast %j : index to i64
      %sum = arith.addi %inner, %number : i64
      %t = llvm.inttoptr %sum : i64 to !llvm.ptr<1>
      llvm.store %zero, %t : f32, !llvm.ptr<1>
    }
  }
  gpu.return
}

// A subgroup takes this branch or does not.
// CHECK-LABEL: gpu.func @voted
//       CHECK:   scf.if
//       CHECK:     gpu.shuffle idx
//       CHECK:     scf.for {{.*}} -> (i64) {
gpu.func @voted(%n: index) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %thread = gpu.thread_id x
  %some = arith.cmpi ult, %thread, %n : index
  %any = gpu.subgroup_reduce or %some uniform : (i1) -> i1
  %rarely = llvm.intr.expect %any, %true : i1
  scf.if %rarely {
    scf.for %i = %c0 to %n step %c1 {
      %address = arith.index_cast %i : index to i64
      %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
      llvm.store %zero, %p : f32, !llvm.ptr<1>
    }
  }
  gpu.return
}

// Lanes may leave a loop at different times: what it has carried is theirs, and so
// is a branch on what they compute.
// CHECK-LABEL: gpu.func @left
//   CHECK-NOT:   gpu.shuffle
//       CHECK:   gpu.return
gpu.func @left(%n: index) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %thread = gpu.thread_id x
  %count = scf.for %i = %c0 to %thread step %c1 iter_args(%sum = %c0) -> index {
    %more = arith.addi %sum, %c1 : index
    scf.yield %more : index
  }
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.addi %i, %count : index
    %address = arith.index_cast %at : index to i64
    %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    llvm.store %zero, %p : f32, !llvm.ptr<1>
  }
  %some = arith.cmpi ult, %thread, %n : index
  scf.if %some {
    scf.for %i = %c0 to %n step %c1 {
      %address = arith.index_cast %i : index to i64
      %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
      llvm.store %zero, %p : f32, !llvm.ptr<1>
    }
  }
  gpu.return
}

// What a loop carries is shared where it starts, and not where lanes add to it; neither is
// what follows from it, whatever was looked at first.
// CHECK-LABEL: gpu.func @lanes_add
//   CHECK-NOT:   gpu.shuffle
//       CHECK:   gpu.return
gpu.func @lanes_add(%x: index, %n: index) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %thread = gpu.thread_id x
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %c0) -> (index) {
    %twice = arith.muli %carried, %c4 : index
    scf.for %k = %c0 to %n step %c1 {
      %bytes = arith.muli %k, %c4 : index
      %at = arith.addi %x, %bytes : index
      %first = arith.addi %at, %carried : index
      %second = arith.addi %at, %twice : index
      %a = arith.index_cast %first : index to i64
      %b = arith.index_cast %second : index to i64
      %p = llvm.inttoptr %a : i64 to !llvm.ptr<1>
      %q = llvm.inttoptr %b : i64 to !llvm.ptr<1>
      llvm.store %zero, %p : f32, !llvm.ptr<1>
      llvm.store %zero, %q : f32, !llvm.ptr<1>
    }
    %next = arith.addi %twice, %thread : index
    scf.yield %next : index
  }
  gpu.return
}
}

// -----

// Without such registers carried addresses would be each lane's.
#t = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 512, lds_bytes = 65536,
  lds_banks = 32, matrix = []>
gpu.module @kernels attributes {evo_tile.target = #t} {
// CHECK-LABEL: gpu.func @lanes
//   CHECK-NOT:   gpu.shuffle
//       CHECK:   gpu.return
gpu.func @lanes(%n: index) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %address = arith.index_cast %i : index to i64
    %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    llvm.store %zero, %p : f32, !llvm.ptr<1>
  }
  gpu.return
}
}
