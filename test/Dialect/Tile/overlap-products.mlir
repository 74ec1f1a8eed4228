// Products of several subgroups that need nothing of each other are issued together;
// what needs the first goes on beside the second.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 4, 1], stages = 1, products = group' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-share-operands --evo-tile-overlap-products > %t.overlap.mlir
// RUN: FileCheck %s --input-file=%t.overlap.mlir
// What is printed is read again, and from bytecode; twice changes nothing.
// RUN: evoformer-opt %t.overlap.mlir --emit-bytecode | evoformer-opt --evo-tile-overlap-products | FileCheck %s
// RUN: evoformer-opt %t.overlap.mlir --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES

// What waits for too little, or not at all, is refused.
// RUN: sed 's/pending 0/pending 2/' %t.overlap.mlir | not evoformer-opt 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: 'evo_tile.group_wait' op leaves 2 products under way, but only 0 come after one of those that it waits for
// RUN: sed -E 's/= evo_tile.group_wait (%%[0-9]+) pending 1 : [^>]*> (-> )?.*/= math.exp2 \1 : tensor<64x64xf32, #frag_c>/' %t.overlap.mlir | not evoformer-opt 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: 'evo_tile.group_mma' op is asynchronous: its result may be used by a 'group_wait' of its block, or added to by another
// EARLY: it is used here

// LANES-LABEL: gpu.func @independent
//       LANES:   "wgmma.fence.sync.aligned;\0A"
//   LANES-NOT:   wgmma.fence
//       LANES:   llvm.inline_asm has_side_effects {{.*}}wgmma.mma_async{{.*}}wgmma.commit_group.sync.aligned;\0A}\0A"
//   LANES-NOT:   wgmma.fence
//       LANES:   llvm.inline_asm has_side_effects {{.*}}wgmma.mma_async{{.*}}wgmma.commit_group.sync.aligned;\0A}\0A"
//       LANES:   "wgmma.wait_group.sync.aligned 1;\0A"
//       LANES:   math.exp2
//       LANES:   "wgmma.wait_group.sync.aligned 0;\0A"

// CHECK-LABEL: evo_tile.kernel @independent
//       CHECK:   scf.for
//       CHECK:     %[[START:.*]] = arith.addf
//       CHECK:     %[[F:.*]] = evo_tile.group_fence %[[START]] :
//  CHECK-NEXT:     %[[S:.*]] = evo_tile.group_mma %{{.*}}, %{{.*}}, %{{.*}} async :
//  CHECK-NEXT:     %[[P:.*]] = evo_tile.group_mma %{{.*}}, %{{.*}}, %[[F]] async :
//       CHECK:     %[[SW:.*]] = evo_tile.group_wait %[[S]] pending 1
//  CHECK-NEXT:     %[[E:.*]] = math.exp2 %[[SW]]
//  CHECK-NEXT:     %[[PW:.*]] = evo_tile.group_wait %[[P]] pending 0
//  CHECK-NEXT:     arith.mulf %[[E]], %[[PW]]
evo_tile.kernel @independent(%a: memref<?x64xbf16>, %b: memref<?x64xbf16>, %o: memref<64x64xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> tensor<64x64xf32> {
    %x = evo_tile.load %a[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
    %y = evo_tile.load %b[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
    %yt = evo_tile.transpose %y [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %p = evo_tile.mma %x, %yt, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %e = math.exp2 %p : tensor<64x64xf32>
    %start = arith.addf %sum, %sum : tensor<64x64xf32>
    %q = evo_tile.mma %x, %y, %start : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = arith.mulf %e, %q : tensor<64x64xf32>
    scf.yield %m : tensor<64x64xf32>
  }
  evo_tile.store %s, %o[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  evo_tile.return
}

// What a product does not need is computed behind the last, though it comes before: what
// it waits for may arrive meanwhile.
// CHECK-LABEL: evo_tile.kernel @beside
//       CHECK:     %[[STAT:.*]] = evo_tile.load %{{.*}} : memref<?xf32> -> tensor<64xf32
//   CHECK-NOT:     arith.negf
//       CHECK:     evo_tile.group_mma {{.*}} async :
//       CHECK:     evo_tile.group_mma {{.*}} async :
//       CHECK:     %[[MINUS:.*]] = arith.negf %[[STAT]]
//       CHECK:     evo_tile.broadcast %[[MINUS]]
//       CHECK:     evo_tile.group_wait %{{.*}} pending 1
evo_tile.kernel @beside(%a: memref<?x64xbf16>, %b: memref<?x64xbf16>, %t: memref<?xf32>, %o: memref<64x64xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> tensor<64x64xf32> {
    %x = evo_tile.load %a[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
    %y = evo_tile.load %b[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
    %stat = evo_tile.load %t[%i] padding 0.0 : f32 : memref<?xf32> -> tensor<64xf32>
    %minus = arith.negf %stat : tensor<64xf32>
    %rows = evo_tile.broadcast %minus dim 1 : tensor<64xf32> -> tensor<64x64xf32>
    %yt = evo_tile.transpose %y [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %p = evo_tile.mma %x, %yt, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %d = arith.addf %p, %rows : tensor<64x64xf32>
    %e = math.exp2 %d : tensor<64x64xf32>
    %q = evo_tile.mma %x, %y, %sum : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %m = arith.mulf %e, %q : tensor<64x64xf32>
    scf.yield %m : tensor<64x64xf32>
  }
  evo_tile.store %s, %o[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  evo_tile.return
}

// CHECK-LABEL: evo_tile.kernel @dependent
//   CHECK-NOT:   async :
//   CHECK-NOT:   group_wait
evo_tile.kernel @dependent(%a: memref<64x64xbf16>, %b: memref<?x64xbf16>, %o: memref<64x64xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> tensor<64x64xf32> {
    %x = evo_tile.load %b[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
    %xt = evo_tile.transpose %x [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %p = evo_tile.mma %x, %xt, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %w = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xbf16>
    %q = evo_tile.mma %w, %x, %sum : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %q : tensor<64x64xf32>
  }
  evo_tile.store %s, %o[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  evo_tile.return
}
