// RUN: evoformer-opt %s --convert-tile-to-gpu --split-input-file --verify-diagnostics

// expected-error @below {{convert-tile-to-gpu needs kernels with a 'target' and a 'schedule'; 'bare' has no target}}
evo_tile.kernel @bare() {
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [#evo_tile.matrix_instr<
    name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32,
    a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
    b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
    c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
    intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>]>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @layoutless(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{convert-tile-to-gpu needs tiles with layouts, got 'tensor<32xf32>'; run evo-tile-assign-layouts first}}
  %t = evo_tile.load %x[%c0] : memref<?xf32> -> tensor<32xf32>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[32, 1]], subgroups = []>
evo_tile.kernel @lanes(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{convert-tile-to-gpu needs layouts for 64 lanes and at most 1 subgroups, got 32 and 1 in 'tensor<32xf32, #}}
  %t = evo_tile.load %x[%c0] : memref<?xf32> -> tensor<32xf32, #map>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[64, 1]], subgroups = []>
evo_tile.kernel @covers() attributes {target = #chip, schedule = #schedule} {
  // expected-error @below {{convert-tile-to-gpu: layout covers 64 elements of dimension 0, the tile has 65}}
  %t = arith.constant dense<0.0> : tensor<65xf32, #map>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
// expected-error @below {{needs 2048 bytes of workgroup memory, gfx942 has 1024}}
evo_tile.kernel @lds() attributes {target = #chip, schedule = #schedule} {
  %l = evo_tile.alloc_lds : memref<512xf32, #gpu.address_space<workgroup>>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 2, 1], stages = 1>
#rows = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[64, 1]], subgroups = [[2, 64]]>
#both = #evo_tile.lane_map<registers = [[2, 64]], lanes = [[64, 1]], subgroups = [[2, 0]]>
evo_tile.kernel @shared(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0] : memref<?xf32> -> tensor<128xf32, #rows>
  // expected-error @below {{convert-tile-to-gpu needs what subgroups exchange to pass through workgroup memory; run evo-tile-promote-to-lds first}}
  %u = evo_tile.convert_layout %t : tensor<128xf32, #rows> -> tensor<128xf32, #both>
  evo_tile.store %u, %x[%c0] : tensor<128xf32, #both>, memref<?xf32>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 2, 1], stages = 1>
#split = #evo_tile.lane_map<registers = [[1, 0, 1]], lanes = [[64, 1, 0]], subgroups = [[2, 0, 1]]>
#slice = #evo_tile.slice<dim = 1, size = 2, #split>
evo_tile.kernel @reduce(%x: memref<?x?xf32>, %y: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] : memref<?x?xf32> -> tensor<64x2xf32, #split>
  // expected-error @below {{cannot reduce a dimension that is spread over subgroups}}
  // expected-error @below {{failed to legalize}}
  %u = evo_tile.reduce add %t dim 1 : tensor<64x2xf32, #split> -> tensor<64xf32, #slice>
  evo_tile.store %u, %y[%c0] : tensor<64xf32, #slice>, memref<?xf32>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 2, 1], stages = 1>
#split = #evo_tile.lane_map<registers = [[1, 0, 1]], lanes = [[64, 1, 0]], subgroups = [[2, 0, 1]]>
#slice = #evo_tile.slice<dim = 1, size = 2, #split>
evo_tile.kernel @combine(%x: memref<?x?xf32>, %y: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %y[%c0] : memref<?xf32> -> tensor<64xf32, #slice>
  // expected-error @below {{cannot add up along a dimension that is spread over subgroups}}
  // expected-error @below {{failed to legalize}}
  %u = evo_tile.combine %t dim 1 of tensor<64x2xf32, #split> : tensor<64xf32, #slice>
  evo_tile.store %u, %y[%c0] : tensor<64xf32, #slice>, memref<?xf32>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[64, 1]], subgroups = []>
evo_tile.kernel @copy(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{target gfx942 has no asynchronous copies}}
  %copy = evo_tile.async_copy %x[%c0] to %l[%c0] as tensor<64xf32, #map> : memref<?xf32>, memref<64xf32, #gpu.address_space<workgroup>>
  %group = evo_tile.async_group(%copy)
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>}>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @copy(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{needs a tile with a layout}}
  // expected-error @below {{failed to legalize}}
  %copy = evo_tile.async_copy %x[%c0] to %l[%c0] as tensor<64xf32> : memref<?xf32>, memref<64xf32, #gpu.address_space<workgroup>>
  %group = evo_tile.async_group(%copy)
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "sm_80", triple = "nvptx64-nvidia-cuda", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>}>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[2, 1]], lanes = [[32, 2]], subgroups = []>
evo_tile.kernel @no_group(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{convert-tile-to-gpu needs every evo_tile.async_copy in the next evo_tile.async_group of its block, and in no other}}
  %copy = evo_tile.async_copy %x[%c0] to %l[%c0] as tensor<64xf32, #map> : memref<?xf32>, memref<64xf32, #gpu.address_space<workgroup>>
  evo_tile.wait %copy
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<consecutive, bytes = [4, 12]>}>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[2, 1]], lanes = [[64, 2]], subgroups = []>
evo_tile.kernel @size(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<128xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{target gfx942 needs a layout whose lanes copy pieces that follow each other, of 4 or 12 bytes, got 'tensor<128xf32}}
  // expected-error @below {{failed to legalize}}
  %copy = evo_tile.async_copy %x[%c0] to %l[%c0] as tensor<128xf32, #map> {in_bounds = array<i1: true>} : memref<?xf32>, memref<128xf32, #gpu.address_space<workgroup>>
  %group = evo_tile.async_group(%copy)
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<consecutive, bytes = [4]>}>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[2, 1]], lanes = [[64, 2]], subgroups = []>
evo_tile.kernel @bounds(%x: memref<?xf16>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<128xf16, #gpu.address_space<workgroup>>
  // expected-error @below {{copies 4 bytes a lane at once, but knows of 2 only that they lie side by side within memory; 'alignment' or 'in_bounds' say more}}
  // expected-error @below {{failed to legalize}}
  %copy = evo_tile.async_copy %x[%c0] to %l[%c0] as tensor<128xf16, #map> : memref<?xf16>, memref<128xf16, #gpu.address_space<workgroup>>
  %group = evo_tile.async_group(%copy)
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[64, 1]], subgroups = []>
evo_tile.kernel @memory(%c: i1) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
  %m = evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
  %s = arith.select %c, %l, %m : memref<64xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{workgroup memory must come from evo_tile.alloc_lds through subviews with static strides, which start swizzled memory at multiples of its period}}
  // expected-error @below {{failed to legalize}}
  %t = evo_tile.load %s[%c0] : memref<64xf32, #gpu.address_space<workgroup>> -> tensor<64xf32, #map>
  evo_tile.store %t, %l[%c0] : tensor<64xf32, #map>, memref<64xf32, #gpu.address_space<workgroup>>
  evo_tile.return
}

// -----

// Half a period into a swizzled buffer.
#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[64, 1]], subgroups = []>
#lds = #evo_tile.swizzled_lds<base = 4, from = [8]>
evo_tile.kernel @memory(%n: index) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %l = evo_tile.alloc_lds : memref<2x64xf32, #lds>
  %v = memref.subview %l[%n, 0] [1, 64] [1, 1] : memref<2x64xf32, #lds> to memref<64xf32, strided<[1], offset: ?>, #lds>
  // expected-error @below {{workgroup memory must come from evo_tile.alloc_lds through subviews with static strides, which start swizzled memory at multiples of its period}}
  // expected-error @below {{failed to legalize}}
  %t = evo_tile.load %v[%c0] : memref<64xf32, strided<[1], offset: ?>, #lds> -> tensor<64xf32, #map>
  evo_tile.store %t, %v[%c0] : tensor<64xf32, #map>, memref<64xf32, strided<[1], offset: ?>, #lds>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @spaces() attributes {target = #chip, schedule = #schedule} {
  evo_tile.return
}
func.func @host(%n: index) {
  // expected-note @below {{the other launch}}
  evo_tile.launch @spaces space(%n) args()
  // expected-error @below {{has 2 extents, another launch of 'spaces' has 1}}
  evo_tile.launch @spaces space(%n, %n) args()
  return
}

// -----

#chip = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 2, 1], stages = 1>
#x = #evo_tile.lane_map<registers = [[1, 0]], lanes = [[64, 1]], subgroups = [[2, 64]]>
#y = #evo_tile.lane_map<registers = [[1, 0]], lanes = [[2, 64], [32, 1]], subgroups = [[2, 32]]>
evo_tile.kernel @votes_of_others(%m: memref<128xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %m[%c0] : memref<128xf32> -> tensor<128xf32, #x>
  %u = evo_tile.load %m[%c0] : memref<128xf32> -> tensor<128xf32, #y>
  %n = arith.cmpf uno, %t, %t : tensor<128xf32, #x>
  // expected-error @below {{of the condition gives subgroups other elements than}}
  %r = evo_tile.where %n, %u {
    evo_tile.yield %u : tensor<128xf32, #y>
  } : tensor<128xi1, #x>, tensor<128xf32, #y>
  evo_tile.store %r, %m[%c0] : tensor<128xf32, #y>, memref<128xf32>
  evo_tile.return
}

// -----

#mma = #evo_tile.matrix_instr<name = "mma", m = 16, n = 8, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[2, 0, 1], [2, 8, 0], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  b = <registers = [[2, 1, 0], [2, 8, 0]], lanes = [[4, 2, 0], [8, 0, 1]], subgroups = []>,
  c = <registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.nvvm.mma.m16n8k16.row.col.bf16", a_regs = [i32, i32, i32, i32], b_regs = [i32, i32],
  c_regs = [f32, f32, f32, f32], cycles = 16>
#chip = #evo_tile.target<chip = "alone", triple = "nvptx64-nvidia-cuda", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 255, lds_bytes = 4096, lds_banks = 32, matrix = [#mma]>
#schedule = #evo_tile.schedule<v1, block = [64], subgroups = [1, 4, 1], stages = 1>
#rows = #evo_tile.frag<#mma, A, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
#sums = #evo_tile.frag<#mma, C, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
evo_tile.kernel @alone(%a: memref<64x16xbf16>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %b = evo_tile.alloc_lds : memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
  %x = evo_tile.load %a[%c0, %c0] : memref<64x16xbf16> -> tensor<64x16xbf16, #rows>
  // expected-error @below {{has no instruction of several subgroups on alone for 4 subgroups along its rows, 64 columns of depth 16}}
  // expected-error @below {{failed to legalize operation 'evo_tile.group_mma'}}
  %0 = evo_tile.group_mma %x, %b, %c : tensor<64x16xbf16, #rows>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #sums>
  evo_tile.return
}

// -----

#mma = #evo_tile.matrix_instr<name = "mma", m = 16, n = 8, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[2, 0, 1], [2, 8, 0], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  b = <registers = [[2, 1, 0], [2, 8, 0]], lanes = [[4, 2, 0], [8, 0, 1]], subgroups = []>,
  c = <registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.nvvm.mma.m16n8k16.row.col.bf16", a_regs = [i32, i32, i32, i32], b_regs = [i32, i32],
  c_regs = [f32, f32, f32, f32], cycles = 16>
#wgmma = #evo_tile.group_matrix_instr<name = "wgmma", each = #mma, subgroups = 4, most_n = 256,
  opcode = "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16">
#chip = #evo_tile.target<chip = "groups", triple = "nvptx64-nvidia-cuda", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 255, lds_bytes = 65536, lds_banks = 32, matrix = [#mma],
  properties = {group_matrix = [#wgmma]}>
#schedule = #evo_tile.schedule<v1, block = [64], subgroups = [1, 12, 1], stages = 1>
#sums = #evo_tile.frag<#mma, C, dims = [0, 1], subgroups = [12, 0], order = [array<i64>, array<i64>]>
!columns = memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
evo_tile.kernel @parts_of_groups() attributes {target = #chip, schedule = #schedule} {
  %c = arith.constant dense<0.0> : tensor<96x64xf32, #sums>
  %a = evo_tile.alloc_lds : memref<96x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>
  %b = evo_tile.alloc_lds : !columns
  // expected-error @below {{reads rows from workgroup memory, of which 4 subgroups have 64 or none, but there are 96}}
  // expected-error @below {{failed to legalize operation 'evo_tile.group_mma'}}
  %0 = evo_tile.group_mma %a, %b, %c : memref<96x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>, !columns, tensor<96x64xf32, #sums>
  evo_tile.return
}

// -----

#mma = #evo_tile.matrix_instr<name = "mma", m = 16, n = 8, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[2, 0, 1], [2, 8, 0], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  b = <registers = [[2, 1, 0], [2, 8, 0]], lanes = [[4, 2, 0], [8, 0, 1]], subgroups = []>,
  c = <registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.nvvm.mma.m16n8k16.row.col.bf16", a_regs = [i32, i32, i32, i32], b_regs = [i32, i32],
  c_regs = [f32, f32, f32, f32], cycles = 16>
#wgmma = #evo_tile.group_matrix_instr<name = "wgmma", each = #mma, subgroups = 4, most_n = 256,
  opcode = "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16">
#chip = #evo_tile.target<chip = "groups", triple = "nvptx64-nvidia-cuda", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 255, lds_bytes = 65536, lds_banks = 32, matrix = [#mma],
  properties = {group_matrix = [#wgmma]}>
#schedule = #evo_tile.schedule<v1, block = [64], subgroups = [1, 12, 1], stages = 1>
#sums = #evo_tile.frag<#mma, C, dims = [0, 1], subgroups = [12, 0], order = [array<i64>, array<i64>]>
!columns = memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
evo_tile.kernel @under_way() attributes {target = #chip, schedule = #schedule} {
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %a = evo_tile.alloc_lds : memref<64x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>
  %b = evo_tile.alloc_lds : !columns
  // expected-error @below {{is asynchronous, which takes rows for all of 12 subgroups, but there are 64}}
  // expected-error @below {{failed to legalize operation 'evo_tile.group_mma'}}
  %0 = evo_tile.group_mma %a, %b, %c async : memref<64x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>, !columns, tensor<64x64xf32, #sums>
  evo_tile.return
}
