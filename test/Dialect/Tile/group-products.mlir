// Products of a loop whose shared operand comes from workgroup memory are executed by
// several subgroups, where the schedule says so: buffers lie as the instruction reads
// them, and what writes them is handed over by a fence.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 4, 1], stages = 1, own = lds, products = group' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-share-operands > %t.shared.mlir
// RUN: FileCheck %s --input-file=%t.shared.mlir
// What is printed is read again, and from bytecode.
// RUN: evoformer-opt %t.shared.mlir --emit-bytecode | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-share-operands --remarks-filter=evo-tile-share.* --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-DAG: shared-operand{{.*}}instruction=wgmma_m64k16_bf16{{.*}}rows=memory
// REMARK-DAG: shared-operand{{.*}}instruction=wgmma_m64k16_bf16{{.*}}rows=registers
//
// Without it each subgroup multiplies alone.
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 4, 1], stages = 1, own = lds' > %t.alone.mlir
// RUN: evoformer-opt %t.alone.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-share-operands | FileCheck %s --check-prefix=ALONE
// ALONE-NOT: group_mma
// ALONE-NOT: proxy_fence

// Rows that a loop keeps in registers, beside rows of the same shape that it computes:
// ptxas gives both the same registers. The first product stays as it is.
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [64], subgroups = [1, 4, 1], stages = 1, products = group' > %t.kept.mlir
// RUN: evoformer-opt %t.kept.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-share-operands | FileCheck %s --check-prefix=KEPT
//      KEPT: scf.for
//      KEPT:   %[[S:.*]] = evo_tile.mma
// KEPT-NEXT:   %[[P:.*]] = arith.truncf %[[S]]
//      KEPT:   evo_tile.group_mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xbf16, #frag_a{{[0-9]*}}>, memref<64x64xbf16

// Lanes emit one block of assembly a product, with operands as descriptors of memory.
// RUN: evoformer-opt %t.shared.mlir --convert-tile-to-gpu | FileCheck %s --check-prefix=LANES
// LANES-LABEL: gpu.func @together
//       LANES:   llvm.inline_asm has_side_effects {{.*}}"fence.proxy.async.shared::cta;\0A", "~{memory}"
//       LANES:   gpu.barrier
//       LANES:   llvm.inline_asm has_side_effects {{.*}}"{\0A.reg .pred add;\0A.reg .b64 columns;\0A.reg .b64 rows;\0Awgmma.fence.sync.aligned;\0Asetp.ne.b32 add, 0, 0;\0Aadd.s64 columns, $32, 0;\0Aadd.s64 rows, $33, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, rows, columns, add, 1, 1, 0, 0;\0Asetp.ne.b32 add, 1, 0;\0Aadd.s64 columns, $32, 2;
//       LANES:   llvm.inline_asm has_side_effects {{.*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}columns, add, 1, 1, 1;\0Aadd.s64 columns, $48, 128;

// Sizes that end within blocks, instructions that swap rows and columns, gradients with
// operands in registers and in memory, panels, and other element types.
// RUN: evoformer-check --target=sm_90 --device=sim --guard-bytes=0 'N=2 H=2 Sq=70 Sk=75 D=48 type=bf16 bias=bnk:i1:sparse bias=hqk:bf16:normal pass=backward' 'H=2 Sq=150 Sk=66 D=64 type=f16 group=2 window=:i+1 bias=hqk:f16:infinite nan=some pass=backward' 'Sq=129 Sk=33 D=128 type=bf16 bias=hqk:f32:normal pass=backward' 'Sq=129 Sk=40 D=65 type=f16 pass=backward' 'Sq=40 Sk=140 D=136 type=bf16 scale=20 pass=backward'
// RUN: evoformer-check --target=sm_90 --device=sim --guard-bytes=0 --schedule='v1:products=group' 'H=2 Sq=140 Sk=90 D=16 type=bf16 bias=hqk:bf16:normal pass=backward' 'H=2 Sq=140 Sk=90 D=32 type=f16 bias=hqk:f16:normal pass=backward'
// RUN: evoformer-check --target=sm_90 --device=sim --guard-bytes=0 --schedule='v1:products=group,subgroups=4x1,q=64,k=64,own=registers;bias_grad:v1:products=group,subgroups=4x1,q=64,k=32,stages=3' 'H=2 Sq=140 Sk=90 D=64 type=bf16 bias=hqk:bf16:normal pass=backward'
// RUN: evoformer-check --target=sm_90 --device=sim --guard-bytes=0 --schedule='bias_grad:v1:products=group,subgroups=8x1,q=128,k=64,stages=2' 'N=3 H=2 Sq=140 Sk=90 D=64 type=bf16 bias=hqk:bf16:normal pass=backward'
// At this level the CPU runs the program, too.
// RUN: evoformer-check --target=sm_90 --level=pipelined 'H=2 Sq=70 Sk=75 D=48 type=bf16 bias=hqk:bf16:normal pass=backward' 'Sq=129 Sk=33 D=128 type=f16 bias=hqk:f32:normal pass=backward'

// Rows of 64 elements of 2 bytes; each subgroup has 16 rows, so that they are read from
// memory, too. The result is no operand but after a change of its layout.
// CHECK-LABEL: evo_tile.kernel @together
//   CHECK-DAG:   %[[B:.*]] = evo_tile.alloc_lds : memref<64x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
//   CHECK-DAG:   %[[A:.*]] = evo_tile.alloc_lds : memref<64x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
//       CHECK:   evo_tile.wait
//  CHECK-NEXT:   evo_tile.proxy_fence
//  CHECK-NEXT:   evo_tile.barrier
//       CHECK:   scf.for
//  CHECK-NEXT:     evo_tile.barrier
//       CHECK:     evo_tile.wait
//  CHECK-NEXT:     evo_tile.proxy_fence
//  CHECK-NEXT:     evo_tile.barrier
//       CHECK:     %[[T:.*]] = memref.transpose %[[KEYS:.*]] (d0, d1) -> (d1, d0) :
//       CHECK:     evo_tile.group_mma %{{.*}}, %[[T]], %{{.*}} : memref<64x64xbf16, #evo_tile.swizzled_lds{{.*}}>, memref<64x64xbf16, strided<[1, 64]>, #evo_tile.swizzled_lds{{.*}}>, tensor<64x64xf32, #frag_c>
//       CHECK:     arith.truncf
//       CHECK:     evo_tile.group_mma %{{.*}}, %[[KEYS]], %{{.*}} : tensor<64x64xbf16, #frag_a>, memref<64x64xbf16, #evo_tile.swizzled_lds{{.*}}>, tensor<64x64xf32, #frag_c>
evo_tile.kernel @together(%a: memref<64x64xbf16>, %b: memref<?x64xbf16>, %o: memref<64x64xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %start = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = evo_tile.load %a[%c0, %c0] {alignment = 16 : i64} : memref<64x64xbf16> -> tensor<64x64xbf16>
  %s = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %start) -> tensor<64x64xf32> {
    %z = evo_tile.load %b[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x64xbf16> -> tensor<64x64xbf16>
    %t = evo_tile.transpose %z [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %m = evo_tile.mma %x, %t, %start : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %p = arith.truncf %m : tensor<64x64xf32> to tensor<64x64xbf16>
    %w = evo_tile.mma %p, %z, %sum : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %w : tensor<64x64xf32>
  }
  evo_tile.store %s, %o[%c0, %c0] : tensor<64x64xf32>, memref<64x64xf32>
  evo_tile.return
}
