// Every op and attribute of the dialect, written and read again: as text, in
// generic form and as bytecode.
// RUN: evoformer-opt %s | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --mlir-print-op-generic | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --emit-bytecode | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --mlir-print-debuginfo | evoformer-opt | FileCheck %s

// Long attributes get names.
// CHECK-DAG: #[[LANES:lanes[0-9]*]] = #evo_tile.lane_map<registers = {{\[\[}}8, 0, 1]], lanes = {{\[\[}}2, 0, 8], [16, 1, 0]], subgroups = []>
// CHECK-DAG: #[[EVERY:lanes[0-9]*]] = #evo_tile.lane_map<registers = {{\[\[}}2, 16, 0], [4, 0, 0], [2, 0, 1]], lanes = {{\[\[}}2, 0, 2], [16, 1, 0]], subgroups = {{\[\[}}2, 0, 4]], inner = 1>
// CHECK-DAG: #[[INSTR:fma[0-9]*]] = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = #{{lanes[0-9]*}}, b = #{{lanes[0-9]*}}, c = #{{lanes[0-9]*}}, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], immediates = [1 : i32], cycles = 2>
// CHECK-DAG: #[[CHIP:chip[0-9]*]] = #evo_tile.target<chip = "chip", triple = "none", features = "+a,-b", subgroup_size = 32, max_workgroup = 1024, registers = 64, lds_bytes = 4096, lds_banks = 32, matrix = [#[[INSTR]]], properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>, lds_barrier}>
// CHECK-DAG: #[[FRAG:frag_c[0-9]*]] = #evo_tile.frag<#[[INSTR]], C, dims = [0, 1], subgroups = [2, 1], order = [array<i64: 2, 4, 4, 1>, array<i64>]>
// CHECK-DAG: #[[SLICE:slice[0-9]*]] = #evo_tile.slice<dim = 1, size = 8, #[[FRAG]]>
#lanes = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = []>
#every = #evo_tile.lane_map<registers = [[2, 16, 0], [4, 0, 0], [2, 0, 1]], lanes = [[2, 0, 2], [16, 1, 0]], subgroups = [[2, 0, 4]], inner = 1>
#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32],
  immediates = [1 : i32], cycles = 2>
#chip = #evo_tile.target<chip = "chip", triple = "none", features = "+a,-b",
  subgroup_size = 32, max_workgroup = 1024, registers = 64, lds_bytes = 4096,
  lds_banks = 32, matrix = [#fma],
  properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>, lds_barrier}>
#frag = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [2, 1], order = [array<i64: 2, 4, 4, 1>, array<i64>]>
#slice = #evo_tile.slice<dim = 1, size = 8, #frag>
#mma = #evo_tile.matrix_instr<name = "mma", m = 16, n = 8, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[2, 0, 1], [2, 8, 0], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  b = <registers = [[2, 1, 0], [2, 8, 0]], lanes = [[4, 2, 0], [8, 0, 1]], subgroups = []>,
  c = <registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.x", a_regs = [i32, i32, i32, i32], b_regs = [i32, i32], c_regs = [f32, f32, f32, f32],
  cycles = 16>
#rows = #evo_tile.frag<#mma, A, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
#sums = #evo_tile.frag<#mma, C, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
!lds = memref<2x16xf16, strided<[24, 1]>, #gpu.address_space<workgroup>>
!swizzled = memref<64x32xf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8]>>
!map = !evo_tile.tensor_map<of = 0, box = [64, 32], ends = [0, 0, -1, 48], swizzle = 64>

// CHECK-LABEL: evo_tile.kernel @attributes
//  CHECK-SAME:   (%{{.*}}: memref<?x?xf32>) attributes {schedule = #evo_tile.schedule<v1, block = [1, 64, 32], subgroups = [1, 2, 2], stages = 3>, target = #[[CHIP]]}
evo_tile.kernel @attributes(%m: memref<?x?xf32>) attributes {target = #chip,
    schedule = #evo_tile.schedule<v1, block = [1, 64, 32], subgroups = [1, 2, 2], stages = 3>} {
  %c0 = arith.constant 0 : index
  // CHECK: tensor<8x8xf32, #[[FRAG]]>
  %a = evo_tile.load %m[%c0, %c0] : memref<?x?xf32> -> tensor<8x8xf32, #frag>
  // CHECK: evo_tile.reduce add %{{.*}} dim 1 : tensor<8x8xf32, #[[FRAG]]> -> tensor<8xf32, #[[SLICE]]>
  %r = evo_tile.reduce add %a dim 1 : tensor<8x8xf32, #frag> -> tensor<8xf32, #slice>
  // CHECK: evo_tile.combine %{{.*}} dim 1 of tensor<8x8xf32, #[[FRAG]]> : tensor<8xf32, #[[SLICE]]>
  %whole = evo_tile.combine %r dim 1 of tensor<8x8xf32, #frag> : tensor<8xf32, #slice>
  // CHECK: evo_tile.load {{.*}} -> tensor<32x8xf32, #[[EVERY]]>
  %e = evo_tile.load %m[%c0, %c0] : memref<?x?xf32> -> tensor<32x8xf32, #every>
  // CHECK: evo_tile.convert_layout %{{.*}} : tensor<8x8xf32, #[[FRAG]]> -> tensor<8x8xf32, #[[LANES]]>
  %c = evo_tile.convert_layout %a : tensor<8x8xf32, #frag> -> tensor<8x8xf32, #lanes>
  // CHECK: evo_tile.exchange %{{.*}} through %{{.*}} {alignment = 16 : i64} : tensor<8x8xf32, #[[LANES]]> -> tensor<8x8xf32, #[[LANES]]>, memref<8x8xf32, #gpu.address_space<workgroup>>
  %lds = evo_tile.alloc_lds : memref<8x8xf32, #gpu.address_space<workgroup>>
  %x = evo_tile.exchange %c through %lds {alignment = 16 : i64}
      : tensor<8x8xf32, #lanes> -> tensor<8x8xf32, #lanes>, memref<8x8xf32, #gpu.address_space<workgroup>>
  evo_tile.return
}

// CHECK-LABEL: evo_tile.kernel @ops
evo_tile.kernel @ops(%m: memref<?x?xf16>, %n: memref<?x?xf16>, %p: i1, %map: !map) {
  // CHECK: evo_tile.work_item_id 0
  %i = evo_tile.work_item_id 0
  // CHECK: evo_tile.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf16> -> tensor<2x16xf16>
  %a = evo_tile.load %m[%i, %i] : memref<?x?xf16> -> tensor<2x16xf16>
  // CHECK: evo_tile.load %{{.*}}[%{{.*}}, %{{.*}}] padding 0xFC00 : f16 {alignment = 16 : i64, in_bounds = array<i1: true, false>} : memref<?x?xf16> -> tensor<16x2xf16>
  %b = evo_tile.load %m[%i, %i] padding 0xFC00 : f16 {alignment = 16 : i64, in_bounds = array<i1: true, false>} : memref<?x?xf16> -> tensor<16x2xf16>
  // CHECK: evo_tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x16xf16>, tensor<16x2xf16>, tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %c = evo_tile.mma %a, %b, %zero : tensor<2x16xf16>, tensor<16x2xf16>, tensor<2x2xf32>
  // CHECK: evo_tile.reduce max %{{.*}} dim 0 : tensor<2x2xf32> -> tensor<2xf32>
  %d = evo_tile.reduce max %c dim 0 : tensor<2x2xf32> -> tensor<2xf32>
  // CHECK: evo_tile.reduce max %{{.*}} dim 0 held : tensor<2x2xf32> -> tensor<2xf32>
  %held = evo_tile.reduce max %c dim 0 held : tensor<2x2xf32> -> tensor<2xf32>
  // CHECK: evo_tile.reduce min %{{.*}} dim 1 : tensor<2x2xf32> -> tensor<2xf32>
  %e = evo_tile.reduce min %c dim 1 : tensor<2x2xf32> -> tensor<2xf32>
  // CHECK: evo_tile.broadcast %{{.*}} dim 1 : tensor<2xf32> -> tensor<2x5xf32>
  %f = evo_tile.broadcast %d dim 1 : tensor<2xf32> -> tensor<2x5xf32>
  // CHECK: evo_tile.transpose %{{.*}} [1, 0] : tensor<2x5xf32> -> tensor<5x2xf32>
  %g = evo_tile.transpose %f [1, 0] : tensor<2x5xf32> -> tensor<5x2xf32>
  // CHECK: evo_tile.iota %{{.*}} dim 1 : tensor<2x16xi32>
  %h = evo_tile.iota %i dim 1 : tensor<2x16xi32>
  %seed = arith.constant 3 : i64
  // CHECK: evo_tile.random %{{.*}}, %{{.*}}, %{{.*}} at[%{{.*}} along 0, %{{.*}} along 1] threshold 6554 multiple 8 : tensor<2x16xi1>
  %drawn = evo_tile.random %seed, %seed, %i at [%i along 0, %i along 1] threshold 6554 multiple 8 : tensor<2x16xi1>
  // CHECK: evo_tile.skip_idle %{{.*}} else %{{.*}} within[%{{.*}}, %{{.*}}] along [0, 1] : tensor<2x16xi32>
  %some = evo_tile.skip_idle %h else %h within [%i, %i] along [0, 1] : tensor<2x16xi32>
  // CHECK: evo_tile.holds_within[%{{.*}}] along [1] of tensor<16x16xf32, #[[LANES]]>
  %holds = evo_tile.holds_within [%i] along [1] of tensor<16x16xf32, #lanes>
  // CHECK: evo_tile.iota %{{.*}} dim 1 minus 0 : tensor<2x16xi32>
  %behind = evo_tile.iota %i dim 1 minus 0 : tensor<2x16xi32>
  // CHECK: %[[NONE:.*]] = arith.constant dense<true> : tensor<2xi1>
  %none = arith.constant dense<true> : tensor<2xi1>
  // CHECK-NEXT: evo_tile.where %[[NONE]], %[[D:.*]], %{{.*}} {
  // CHECK-NEXT:   evo_tile.yield %{{.*}}, %[[D]] : tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: } : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
  %w:2 = evo_tile.where %none, %d, %e {
    evo_tile.yield %e, %d : tensor<2xf32>, tensor<2xf32>
  } : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: evo_tile.where %[[NONE]] {
  // CHECK-NEXT:   evo_tile.yield
  // CHECK-NEXT: } : tensor<2xi1>
  evo_tile.where %none {
    evo_tile.yield
  } : tensor<2xi1>
  // CHECK: %[[LDS:.*]] = evo_tile.alloc_lds : memref<2x16xf16, strided<[24, 1]>, #gpu.address_space<workgroup>>
  %lds = evo_tile.alloc_lds : !lds
  // CHECK: evo_tile.alloc_lds : memref<64x32xf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8]>>
  %swizzled = evo_tile.alloc_lds : !swizzled
  // CHECK: %[[COPY:.*]] = evo_tile.async_copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[LDS]][%{{.*}}, %{{.*}}] as tensor<2x16xf16> : memref<?x?xf16>, memref<
  %copy = evo_tile.async_copy %m[%i, %i] to %lds[%i, %i] as tensor<2x16xf16> : memref<?x?xf16>, !lds
  // CHECK: %[[OTHER:.*]] = evo_tile.async_copy %{{.*}} to %[[LDS]][%{{.*}}] if %{{.*}} padding 0.000000e+00 : f16 as tensor<2x16xf16> {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x?xf16>, memref<
  %copy1 = evo_tile.async_copy %m[%i, %i] to %lds[%i, %i] if %p padding 0.0 : f16 as tensor<2x16xf16> {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x?xf16>, !lds
  // CHECK-NEXT: %[[GROUP:.*]] = evo_tile.async_group(%[[COPY]], %[[OTHER]])
  %group = evo_tile.async_group(%copy, %copy1)
  // CHECK-NEXT: evo_tile.issue_fence compute
  evo_tile.issue_fence compute
  // CHECK-NEXT: evo_tile.wait %[[GROUP]]
  evo_tile.wait %group
  // CHECK-NEXT: evo_tile.barrier
  evo_tile.barrier
  // CHECK-NEXT: evo_tile.issue_fence{{$}}
  evo_tile.issue_fence
  // CHECK-NEXT: %[[SLOTS:.*]]:2 = evo_tile.copy_slots : !evo_tile.slot, !evo_tile.slot
  %slots:2 = evo_tile.copy_slots : !evo_tile.slot, !evo_tile.slot
  // CHECK-NEXT: evo_tile.box_copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} in %[[SLOTS]]#0 : <of = 0, box = [64, 32], ends = [0, 0, -1, 48], swizzle = 64>, memref<64x32xf16, #evo_tile.swizzled_lds<
  evo_tile.box_copy %map[%i, %i] to %swizzled in %slots#0 : !map, !swizzled
  // CHECK-NEXT: evo_tile.box_copy {{.*}} in %[[SLOTS]]#0 if %{{.*}} :
  evo_tile.box_copy %map[%i, %i] to %swizzled in %slots#0 if %p : !map, !swizzled
  // CHECK-NEXT: %[[CLOSED:.*]] = evo_tile.close_slot %[[SLOTS]]#0
  %closed = evo_tile.close_slot %slots#0
  // CHECK-NEXT: evo_tile.wait_slot %[[CLOSED]]
  evo_tile.wait_slot %closed
  // CHECK-NEXT: %[[RELEASED:.*]] = evo_tile.copy_slots released : !evo_tile.slot
  %released = evo_tile.copy_slots released : !evo_tile.slot
  // CHECK-NEXT: evo_tile.claim_slot %[[RELEASED]]
  evo_tile.claim_slot %released
  // CHECK-NEXT: evo_tile.release_slot %[[RELEASED]]
  evo_tile.release_slot %released
  // CHECK-NEXT: evo_tile.store %{{.*}}, %[[LDS]][%{{.*}}, %{{.*}}] : tensor<2x16xf16>, memref<
  evo_tile.store %a, %lds[%i, %i] : tensor<2x16xf16>, !lds
  // CHECK-NEXT: evo_tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {alignment = 4 : i64, in_bounds = array<i1: true, true>} : tensor<2x16xf16>, memref<?x?xf16>
  evo_tile.store %a, %n[%i, %i] {alignment = 4 : i64, in_bounds = array<i1: true, true>} : tensor<2x16xf16>, memref<?x?xf16>
  // CHECK-NEXT: evo_tile.return
  evo_tile.return
}

// An operand where it lies in workgroup memory, and what hands it over.
// CHECK-LABEL: evo_tile.kernel @group
evo_tile.kernel @group(%a: memref<64x16xbf16>) {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %b = evo_tile.alloc_lds : memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
  %x = evo_tile.load %a[%c0, %c0] : memref<64x16xbf16> -> tensor<64x16xbf16, #rows>
  // CHECK: evo_tile.proxy_fence
  evo_tile.proxy_fence
  // CHECK: evo_tile.group_mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x16xbf16, #frag_a{{[0-9]*}}>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #frag_c{{[0-9]*}}>
  %0 = evo_tile.group_mma %x, %b, %c : tensor<64x16xbf16, #rows>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #sums>
  // CHECK: %[[F:.*]]:2 = evo_tile.group_fence %{{.*}}, %{{.*}} : tensor<64x16xbf16, #frag_a{{[0-9]*}}>, tensor<64x64xf32, #frag_c{{[0-9]*}}> -> tensor<64x16xbf16, #frag_a{{[0-9]*}}>, tensor<64x64xf32, #frag_c{{[0-9]*}}>
  %f:2 = evo_tile.group_fence %x, %c : tensor<64x16xbf16, #rows>, tensor<64x64xf32, #sums> -> tensor<64x16xbf16, #rows>, tensor<64x64xf32, #sums>
  // CHECK: %[[P:.*]] = evo_tile.group_mma %[[F]]#0, %{{.*}}, %[[F]]#1 async :
  %1 = evo_tile.group_mma %f#0, %b, %f#1 async : tensor<64x16xbf16, #rows>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #sums>
  // CHECK: evo_tile.group_wait %[[P]] rows(%[[F]]#0 : tensor<64x16xbf16, #frag_a{{[0-9]*}}>) pending 0 : tensor<64x64xf32, #frag_c{{[0-9]*}}> -> tensor<64x64xf32, #frag_c{{[0-9]*}}>
  %2 = evo_tile.group_wait %1 rows(%f#0 : tensor<64x16xbf16, #rows>) pending 0 : tensor<64x64xf32, #sums> -> tensor<64x64xf32, #sums>
  evo_tile.return
}

// Launches with and without arguments.
// CHECK-LABEL: evo_tile.kernel @nothing()
evo_tile.kernel @nothing() {
  evo_tile.return
}
// CHECK-LABEL: func.func @host
func.func @host(%x: index, %m: memref<?x?xf16>, %p: i1) {
  // CHECK: evo_tile.launch @ops space(%{{.*}}, %{{.*}}) args(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x?xf16>, memref<?x?xf16>, i1)
  evo_tile.launch @ops space(%x, %x) args(%m, %m, %p : memref<?x?xf16>, memref<?x?xf16>, i1)
  // CHECK: evo_tile.launch @nothing space(%{{.*}}) args()
  evo_tile.launch @nothing space(%x) args()
  return
}
