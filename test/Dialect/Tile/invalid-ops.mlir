// Every message of the verifiers of the evo_tile operations.
//
// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{needs a body of one block; its control flow is scf's}}
evo_tile.kernel @declaration(%n: index)

// -----

// expected-error @below {{needs a body of one block; its control flow is scf's}}
evo_tile.kernel @blocks(%flag: i1) {
  cf.cond_br %flag, ^bb1, ^bb1
^bb1:
  evo_tile.return
}

// -----

// expected-error @below {{must end with 'evo_tile.return'}}
"evo_tile.kernel"() <{function_type = () -> (), sym_name = "empty"}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @below {{must end with 'evo_tile.return'}}
evo_tile.kernel @unreachable() {
  llvm.unreachable
}

// -----

// expected-error @below {{must not return values}}
evo_tile.kernel @results(%n: index) -> index {
  evo_tile.return
}

// -----

// expected-error @below {{argument type 'tensor<4xf32>' is neither a memref nor a scalar}}
evo_tile.kernel @tensor(%t: tensor<4xf32>) {
  evo_tile.return
}

// -----

// expected-error @below {{must be in the default memory space, that of the device's global memory}}
evo_tile.kernel @lds(%m: memref<4xf32, #gpu.address_space<workgroup>>) {
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 64, registers = 64, lds_bytes = 1024, lds_banks = 32,
  matrix = [#evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
    a_type = f32, b_type = f32, c_type = f32,
    a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
    b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
    c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
    intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>]>
// expected-error @below {{needs workgroups of 128 lanes, small has at most 64}}
evo_tile.kernel @workgroup() attributes {target = #chip,
    schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4, 1], stages = 1>} {
  evo_tile.return
}

// -----

evo_tile.kernel @dynamic(%n: index) {
  // expected-error @below {{tile 'tensor<?xf32>' has no static shape}}
  %t = tensor.empty(%n) : tensor<?xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @complex() {
  // expected-error @below {{tile 'tensor<4xcomplex<f32>>' is not of numbers}}
  %t = tensor.empty() : tensor<4xcomplex<f32>>
  evo_tile.return
}

// -----

evo_tile.kernel @rank() {
  // expected-error @below {{has rank 17, at most 16 is possible}}
  %t = tensor.empty() : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @empty() {
  // expected-error @below {{tile 'tensor<0x4xf32>' is empty}}
  %t = tensor.empty() : tensor<0x4xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @largest() {
  %t = tensor.empty() : tensor<1024x1024xf32>
  // expected-error @below {{tile 'tensor<1048577xf32>' has more than 1048576 elements}}
  %u = tensor.empty() : tensor<1048577xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @overflow() {
  // expected-error @below {{has more than 1048576 elements}}
  %t = tensor.empty() : tensor<9223372036854775807xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @product_overflow(%x: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has more than 1048576 elements}}
  %t = evo_tile.load %x[%c0, %c0, %c0] : memref<?x?x?xf32> -> tensor<4611686018427387904x4x1xf32>
  evo_tile.return
}

// -----

// expected-error @below {{memory 'memref<68719476737xf32>' has a size or stride above 68719476736}}
evo_tile.kernel @memory_size(%x: memref<68719476736xf32>, %y: memref<68719476737xf32>) {
  evo_tile.return
}

// -----

evo_tile.kernel @memory_stride(%x: memref<?x?xf32>) {
  // expected-error @below {{has a size or stride above 68719476736}}
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [4, 4], strides: [9223372036854775807, 1]
    : memref<?x?xf32> to memref<4x4xf32, strided<[9223372036854775807, 1]>>
  evo_tile.return
}

// -----

evo_tile.kernel @carried(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.empty() : tensor<4xf32>
  // expected-error @below {{tile 'tensor<?xf32>' has no static shape}}
  %d = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @dimension() {
  // expected-error @below {{attribute 'dimension' failed to satisfy constraint}}
  %i = evo_tile.work_item_id 16
  evo_tile.return
}

// -----

func.func @no_kernel(%n: index) {
  // expected-error @below {{'absent' does not name a kernel}}
  evo_tile.launch @absent space(%n) args()
  return
}

// -----

evo_tile.kernel @one(%n: index) {
  evo_tile.return
}
func.func @count(%n: index) {
  // expected-error @below {{passes 2 arguments, 'one' takes 1}}
  evo_tile.launch @one space(%n) args(%n, %n : index, index)
  return
}

// -----

evo_tile.kernel @one(%n: index) {
  evo_tile.return
}
func.func @type(%n: index, %x: f32) {
  // expected-error @below {{argument 0 has type 'f32', 'one' takes 'index'}}
  evo_tile.launch @one space(%n) args(%x : f32)
  return
}

// -----

evo_tile.kernel @third() {
  %i = evo_tile.work_item_id 2
  evo_tile.return
}
func.func @extents(%n: index) {
  // expected-error @below {{has 1 extents, 'third' uses 3}}
  evo_tile.launch @third space(%n) args()
  return
}

// -----

evo_tile.kernel @none() {
  evo_tile.return
}
func.func @extents(%n: index) {
  // expected-error @below {{has 17 extents, at most 16 are possible}}
  evo_tile.launch @none space(%n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n, %n) args()
  return
}

// -----

// The encoding of a tile is a layout or nothing.
func.func @encoding(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{tile encoding 1 : i32 is not a layout}}
  %t = evo_tile.load %x[%i] : memref<?xf32> -> tensor<4xf32, 1 : i32>
  return
}

// -----

func.func @rank(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{a tile of rank 2 and memory of rank 1}}
  %t = evo_tile.load %x[%i] : memref<?xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @indices(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{expected 1 indices, got 2}}
  %t = evo_tile.load %x[%i, %i] : memref<?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @in_bounds(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{'in_bounds' has 2 entries for 1 dimensions}}
  %t = evo_tile.load %x[%i] {in_bounds = array<i1: true, true>} : memref<?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @element(%x: memref<?xf32>, %i: index, %t: tensor<4xf16>) {
  // expected-error @below {{a tile of 'f16' and memory of 'f32'}}
  evo_tile.store %t, %x[%i] : tensor<4xf16>, memref<?xf32>
  return
}

// -----

func.func @load_alignment(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{'alignment' must be a power of two, got 12}}
  %t = evo_tile.load %x[%i] {alignment = 12 : i64} : memref<?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @store_alignment(%x: memref<?xf32>, %i: index, %t: tensor<4xf32>) {
  // expected-error @below {{'alignment' must be a power of two, got -1}}
  evo_tile.store %t, %x[%i] {alignment = -1 : i64} : tensor<4xf32>, memref<?xf32>
  return
}

// -----

func.func @padding(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{padding of type 'f16' for a tile of 'f32'}}
  %t = evo_tile.load %x[%i] padding 0.0 : f16 : memref<?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @dynamic(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{must be statically shaped tensor}}
  %t = evo_tile.load %x[%i] : memref<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @copy_to_global(%x: memref<4xf32>, %i: index) {
  // expected-error @below {{copies from global to workgroup memory, got 'memref<4xf32>' to 'memref<4xf32>'}}
  evo_tile.async_copy %x[%i] to %x[%i] as tensor<4xf32> : memref<4xf32>, memref<4xf32>
  return
}

// -----

func.func @copy_padding(%x: memref<4xf32>, %l: memref<4xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @below {{can pad with zero only, got 1.000000e+00 : f32}}
  evo_tile.async_copy %x[%i] to %l[%i] padding 1.0 : f32 as tensor<4xf32> : memref<4xf32>, memref<4xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_alignment(%x: memref<4xf32>, %l: memref<4xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @below {{'alignment' must be a power of two, got 3}}
  evo_tile.async_copy %x[%i] to %l[%i] as tensor<4xf32> {alignment = 3 : i64} : memref<4xf32>, memref<4xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_shape(%x: memref<4xf32>, %l: memref<2x2xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @below {{a tile of rank 1 and memory of rank 2}}
  evo_tile.async_copy %x[%i] to %l[%i, %i] as tensor<4xf32> : memref<4xf32>, memref<2x2xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @lds_space() {
  // expected-error @below {{needs a static memref in workgroup memory, got 'memref<4xf32>'}}
  %l = evo_tile.alloc_lds : memref<4xf32>
  return
}

// -----

func.func @lds_dynamic() {
  // expected-error @below {{needs a static memref in workgroup memory}}
  %l = evo_tile.alloc_lds : memref<?xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @lds_offset() {
  // expected-error @below {{needs static strides and offset 0}}
  %l = evo_tile.alloc_lds : memref<4xf32, strided<[1], offset: 4>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @lds_swizzle() {
  // expected-error @below {{would take elements apart: 'memref<4xf32, #evo_tile.swizzled_lds<base = 1, from = [3]>>'}}
  %l = evo_tile.alloc_lds : memref<4xf32, #evo_tile.swizzled_lds<base = 1, from = [3]>>
  return
}

// -----

func.func @lds_element() {
  // expected-error @below {{needs numbers of a known width}}
  %l = evo_tile.alloc_lds : memref<4xindex, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @lds_empty() {
  // expected-error @below {{needs static strides and offset 0, got}}
  %l = evo_tile.alloc_lds : memref<4x0xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @lds_empty_rows() {
  // expected-error @below {{is empty}}
  %l = evo_tile.alloc_lds : memref<0x4xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @lds_size() {
  %l = evo_tile.alloc_lds : memref<16384x16384xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{needs more than 1073741824 bytes}}
  %m = evo_tile.alloc_lds : memref<16385x16384xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @lds_stride() {
  // expected-error @below {{needs more than 1073741824 bytes}}
  %m = evo_tile.alloc_lds : memref<2x4xf32, strided<[9223372036854775807, 1]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @mma_rank(%a: tensor<4xf32>) {
  // expected-error @below {{needs tiles of one rank of at least 2}}
  %r = evo_tile.mma %a, %a, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @mma_shape(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x8xf32>) {
  // expected-error @below {{shapes do not fit [.., M, K] * [.., K, N] + [.., M, N]}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @mma_batch(%a: tensor<2x4x8xf32>, %b: tensor<3x8x4xf32>, %c: tensor<2x4x4xf32>) {
  // expected-error @below {{shapes do not fit}}
  %r = evo_tile.mma %a, %b, %c : tensor<2x4x8xf32>, tensor<3x8x4xf32>, tensor<2x4x4xf32>
  return
}

// -----

func.func @mma_types(%a: tensor<4x8xf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @below {{operands of 'f16' and 'bf16'}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x8xf16>, tensor<8x4xbf16>, tensor<4x4xf32>
  return
}

// -----

func.func @mma_reads(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @below {{reads tf32 of f32 operands, not 'tf32' of 'f16'}}
  %r = evo_tile.mma %a, %b, %c {reads = tf32} : tensor<4x8xf16>, tensor<8x4xf16>, tensor<4x4xf32>
  return
}

// -----

func.func @mma_tiles_of_tf32(%a: tensor<4x8xtf32>, %b: tensor<8x4xtf32>, %c: tensor<4x4xf32>) {
  // expected-error @below {{reads tf32 of f32 operands, not 'tf32' of 'tf32'}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x8xtf32>, tensor<8x4xtf32>, tensor<4x4xf32>
  return
}

// -----

func.func @reduce_dim(%a: tensor<4x8xf32>) {
  // expected-error @below {{dimension 2 of a tile of rank 2}}
  %r = evo_tile.reduce max %a dim 2 : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

#tile = #evo_tile.lane_map<registers = [[2, 0, 1]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>
func.func @combine_type(%a: tensor<4xf32>) {
  // expected-error @below {{types do not fit: 'tensor<8x8xf32, #evo_tile.lane_map}}
  %r = evo_tile.combine %a dim 1 of tensor<8x8xf32, #tile> : tensor<4xf32>
  return
}

// -----

#tile = #evo_tile.lane_map<registers = [[2, 0, 1]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>
func.func @combine_dim(%a: tensor<8xf32>) {
  // expected-error @below {{dimension 2 of a tile of rank 2}}
  %r = evo_tile.combine %a dim 2 of tensor<8x8xf32, #tile> : tensor<8xf32>
  return
}

// -----

func.func @combine_layout(%a: tensor<4xf32>) {
  // expected-error @below {{needs a source with a layout, got 'tensor<4x8xf32>'}}
  %r = evo_tile.combine %a dim 1 of tensor<4x8xf32> : tensor<4xf32>
  return
}

// -----

func.func @reduce_type(%a: tensor<4x8xf32>) {
  // expected-error @below {{types do not fit: 'tensor<4x8xf32>', 'tensor<8xf32>'}}
  %r = evo_tile.reduce max %a dim 1 : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @broadcast_type(%a: tensor<4xf32>) {
  // expected-error @below {{types do not fit}}
  %r = evo_tile.broadcast %a dim 0 : tensor<4xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose(%a: tensor<4x8xf32>) {
  // expected-error @below {{types do not fit the permutation}}
  %r = evo_tile.transpose %a [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @transpose_out(%a: tensor<4x8xf32>) {
  // expected-error @below {{types do not fit the permutation}}
  %r = evo_tile.transpose %a [-1, 9223372036854775807] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @skip_idle(%t: tensor<4x8xf32>, %i: index) {
  // expected-error @below {{has as many extents as dimensions, not 1 and 2}}
  %r = evo_tile.skip_idle %t else %t within [%i] along [0, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @skip_idle_dim(%t: tensor<4x8xf32>, %i: index) {
  // expected-error @below {{dimension 2 of a tile of rank 2}}
  %r = evo_tile.skip_idle %t else %t within [%i] along [2] : tensor<4x8xf32>
  return
}

// -----

func.func @skip_idle_none(%t: tensor<4x8xf32>) {
  // expected-error @below {{needs an extent along one dimension or more}}
  %r = evo_tile.skip_idle %t else %t within [] along [] : tensor<4x8xf32>
  return
}

// -----

func.func @holds_within_bare(%i: index) {
  // expected-error @below {{needs a tile with a layout, got 'tensor<4x8xf32>'}}
  %r = evo_tile.holds_within [%i] along [1] of tensor<4x8xf32>
  return
}

// -----

func.func @holds_within(%i: index) {
  // expected-error @below {{has two extents along dimension 1}}
  %r = evo_tile.holds_within [%i, %i] along [1, 1] of tensor<4x8xf32>
  return
}

// -----

func.func @iota(%i: index) {
  // expected-error @below {{dimension 1 of a tile of rank 1}}
  %r = evo_tile.iota %i dim 1 : tensor<4xi32>
  return
}

// -----

func.func @iota_minus(%i: index) {
  // expected-error @below {{dimension 2 of a tile of rank 2}}
  %r = evo_tile.iota %i dim 1 minus 2 : tensor<4x8xi32>
  return
}

// -----

#one = #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>
func.func @convert_shape(%a: tensor<4xf32, #one>) {
  // expected-error @below {{changes more than the layout}}
  %r = evo_tile.convert_layout %a : tensor<4xf32, #one> -> tensor<4xf16, #one>
  return
}

// -----

#one = #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>
func.func @convert_none(%a: tensor<4xf32, #one>) {
  // expected-error @below {{needs a layout on both sides}}
  %r = evo_tile.convert_layout %a : tensor<4xf32, #one> -> tensor<4xf32>
  return
}

// -----

#one = #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>
func.func @exchange_memory(%a: tensor<4xf32, #one>, %m: memref<4xf32>) {
  // expected-error @below {{needs workgroup memory of the tile's shape and elements, not 'memref<4xf32>'}}
  %r = evo_tile.exchange %a through %m : tensor<4xf32, #one> -> tensor<4xf32, #one>, memref<4xf32>
  return
}

// -----

#two = #evo_tile.lane_map<registers = [[2, 0, 1]], lanes = [[4, 1, 0]], subgroups = []>
func.func @mixed(%a: tensor<4x2xf32, #two>) {
  // expected-error @below {{mixes tiles with and without a layout}}
  %r = evo_tile.reduce add %a dim 1 : tensor<4x2xf32, #two> -> tensor<4xf32>
  return
}

// -----

#two = #evo_tile.lane_map<registers = [[2, 0, 1]], lanes = [[4, 1, 0]], subgroups = []>
#one = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[4, 0]], subgroups = []>
func.func @unrelated(%a: tensor<4x2xf32, #two>) {
  // expected-error @below {{does not follow from the source's}}
  %r = evo_tile.reduce add %a dim 1 : tensor<4x2xf32, #two> -> tensor<4xf32, #one>
  return
}

// -----

// Products of laid out tiles.
#map = #evo_tile.lane_map<registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>
func.func @not_frag(%a: tensor<4x1xf32, #map>, %b: tensor<1x8xf32, #map>, %c: tensor<4x8xf32, #map>) {
  // expected-error @below {{all three tiles need a 'frag' layout, or none}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x1xf32, #map>, tensor<1x8xf32, #map>, tensor<4x8xf32, #map>
  return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#other = #evo_tile.matrix_instr<name = "other", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 2>
#a = #evo_tile.frag<#fma, A, dims = [0, 1], subgroups = [], order = []>
#b = #evo_tile.frag<#other, B, dims = [0, 1], subgroups = [], order = []>
#c = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = []>
func.func @instructions(%a: tensor<4x1xf32, #a>, %b: tensor<1x8xf32, #b>, %c: tensor<4x8xf32, #c>) {
  // expected-error @below {{layouts name different matrix instructions}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x1xf32, #a>, tensor<1x8xf32, #b>, tensor<4x8xf32, #c>
  return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#a = #evo_tile.frag<#fma, A, dims = [0, 1], subgroups = [], order = []>
#b = #evo_tile.frag<#fma, B, dims = [0, 1], subgroups = [], order = []>
#turned = #evo_tile.frag<#fma, C, dims = [1, 0], subgroups = [], order = []>
func.func @roles(%a: tensor<4x1xf32, #a>, %b: tensor<1x8xf32, #b>, %c: tensor<4x8xf32, #turned>) {
  // expected-error @below {{layouts name the wrong operand roles for this orientation}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x1xf32, #a>, tensor<1x8xf32, #b>, tensor<4x8xf32, #turned>
  return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#a = #evo_tile.frag<#fma, A, dims = [0, 1], subgroups = [], order = [array<i64>, array<i64: 2, 2, 2, 1>]>
#b = #evo_tile.frag<#fma, B, dims = [0, 1], subgroups = [], order = []>
#c = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = []>
func.func @contracted(%a: tensor<4x4xf32, #a>, %b: tensor<4x8xf32, #b>, %c: tensor<4x8xf32, #c>) {
  // expected-error @below {{operands order the contracted dimension differently}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x4xf32, #a>, tensor<4x8xf32, #b>, tensor<4x8xf32, #c>
  return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#a = #evo_tile.frag<#fma, A, dims = [0, 1], subgroups = [], order = []>
#b = #evo_tile.frag<#fma, B, dims = [0, 1], subgroups = [], order = []>
#c = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = [array<i64: 2, 2, 2, 1>]>
func.func @order(%a: tensor<4x4xf32, #a>, %b: tensor<4x8xf32, #b>, %c: tensor<4x8xf32, #c>) {
  // expected-error @below {{operands and result order a dimension differently}}
  %r = evo_tile.mma %a, %b, %c : tensor<4x4xf32, #a>, tensor<4x8xf32, #b>, tensor<4x8xf32, #c>
  return
}

// -----

// Layouts that do not fit their tile.
#one = #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>
func.func @layout_rank(%x: memref<?x?xf32>, %i: index) {
  // expected-error @below {{layout of rank 1 on a tile of rank 2}}
  %t = evo_tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<4x4xf32, #one>
  return
}

// -----

#one = #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>
func.func @layout_covers(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{layout covers 4 elements of dimension 0, the tile has 5}}
  %t = evo_tile.load %x[%i] : memref<?xf32> -> tensor<5xf32, #one>
  return
}

// -----

#wide = #evo_tile.lane_map<registers = [[2, 16777216], [2, 16777216]], lanes = [[4, 1]], subgroups = []>
func.func @layout_spans(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{layout spans more than 16777216 elements}}
  %t = evo_tile.load %x[%i] : memref<?xf32> -> tensor<4xf32, #wide>
  return
}

// -----

#one = #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>
#slice = #evo_tile.slice<dim = 2, size = 4, #one>
func.func @slice_rank(%x: memref<?xf32>, %i: index) {
  // expected-error @below {{slice of dimension 2 on a tile of rank 1}}
  %t = evo_tile.load %x[%i] : memref<?xf32> -> tensor<4xf32, #slice>
  return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#c = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = []>
func.func @empty(%i: index, %x: memref<?x?xf32>) {
  // expected-error @below {{the tile is empty}}
  %t = evo_tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<0x4xf32, #c>
  return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#c = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = []>
func.func @large(%i: index, %x: memref<?x?xf32>) {
  // expected-error @below {{the tile has more than 1048576 elements}}
  %t = evo_tile.load %x[%i, %i] : memref<?x?xf32> -> tensor<9223372036854775807x1xf32, #c>
  return
}

// -----

func.func @lds_of_indices() {
  // expected-error @below {{needs numbers of a known width, got 'memref<4xindex, #gpu.address_space<workgroup>>'}}
  %m = evo_tile.alloc_lds : memref<4xindex, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @vectors(%a: tensor<4xf32>) {
  // expected-error @below {{needs tiles of one rank of at least 2, got 'tensor<4xf32>', 'tensor<4xf32>', 'tensor<4xf32>'}}
  %c = evo_tile.mma %a, %a, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @where_shape(%c: tensor<16xi1>, %x: tensor<32x16xf32>) {
  // expected-error @below {{result 'tensor<32x16xf32>' does not begin with the dimensions of the condition 'tensor<16xi1>'}}
  %r = evo_tile.where %c, %x {
    evo_tile.yield %x : tensor<32x16xf32>
  } : tensor<16xi1>, tensor<32x16xf32>
  return
}

// -----

func.func @where_types(%c: tensor<16xi1>, %x: tensor<16xf32>, %y: tensor<16xf16>) {
  // expected-error @below {{yields types 'tensor<16xf16>', its results are 'tensor<16xf32>'}}
  %r = evo_tile.where %c, %x {
    evo_tile.yield %y : tensor<16xf16>
  } : tensor<16xi1>, tensor<16xf32>
  return
}

// -----

func.func @where_writes(%c: tensor<16xi1>, %x: tensor<8xf32>, %m: memref<?xf32>, %i: index) {
  evo_tile.where %c {
    scf.for %j = %i to %i step %i {
      // expected-error @below {{inside evo_tile.where, where only loads, stores to global memory of tiles that begin with the dimensions of the condition, and operations without effects are possible}}
      evo_tile.store %x, %m[%j] : tensor<8xf32>, memref<?xf32>
    }
    evo_tile.yield
  } : tensor<16xi1>
  return
}

// -----

func.func @where_shares(%c: tensor<16xi1>, %x: tensor<16xf32>, %m: memref<16xf32, #gpu.address_space<workgroup>>, %i: index) {
  evo_tile.where %c {
    // expected-error @below {{inside evo_tile.where, where only loads, stores to global memory of tiles that begin with the dimensions of the condition, and operations without effects are possible}}
    evo_tile.store %x, %m[%i] : tensor<16xf32>, memref<16xf32, #gpu.address_space<workgroup>>
    evo_tile.yield
  } : tensor<16xi1>
  return
}

// -----

func.func @where_waits(%c: tensor<16xi1>) {
  evo_tile.where %c {
    // expected-error @below {{inside evo_tile.where, where only loads, stores to global memory of tiles that begin with the dimensions of the condition, and operations without effects are possible}}
    evo_tile.barrier
    evo_tile.yield
  } : tensor<16xi1>
  return
}

// -----

#lanes = #evo_tile.lane_map<registers = [[2, 0, 1], [2, 8, 0], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>
#rows = #evo_tile.lane_map<registers = [[2, 1, 0], [2, 8, 0]], lanes = [[4, 2, 0], [8, 0, 1]], subgroups = []>
#sums = #evo_tile.lane_map<registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>
#mma = #evo_tile.matrix_instr<name = "mma", m = 16, n = 8, k = 16, a_type = bf16, b_type = bf16, c_type = f32,
  a = #lanes, b = #rows, c = #sums, intrinsic = "llvm.x", a_regs = [i32, i32, i32, i32], b_regs = [i32, i32], c_regs = [f32, f32, f32, f32], cycles = 16>
#a = #evo_tile.frag<#mma, A, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
#b = #evo_tile.frag<#mma, B, dims = [0, 1], subgroups = [4, -1], order = [array<i64>, array<i64>]>
#c = #evo_tile.frag<#mma, C, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
!pattern = memref<64x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>
func.func @shapes(%a: tensor<64x16xbf16, #a>, %b: !pattern, %c: tensor<64x8xf32, #c>) {
  // expected-error @below {{shapes do not fit [1.., M, K] * [1.., K, N] + [1.., M, N]}}
  %0 = evo_tile.group_mma %a, %b, %c : tensor<64x16xbf16, #a>, !pattern, tensor<64x8xf32, #c>
  return
}
#cols = #evo_tile.frag<#mma, C, dims = [0, 1], subgroups = [4, 1], order = [array<i64>, array<i64>]>
func.func @columns(%a: tensor<64x16xbf16, #a>, %b: memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, %c: tensor<64x64xf32, #cols>) {
  // expected-error @below {{needs a result of which each subgroup has all columns of whole instructions, in order, got}}
  %0 = evo_tile.group_mma %a, %b, %c : tensor<64x16xbf16, #a>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #cols>
  return
}
func.func @element_types(%a: memref<64x16xf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>, %b: memref<16x64xf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, %c: tensor<64x64xf32, #c>) {
  // expected-error @below {{does not fit 'mma', which makes 'f32' of 'bf16', got}}
  %0 = evo_tile.group_mma %a, %b, %c : memref<64x16xf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>, memref<16x64xf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #c>
  return
}
func.func @many_rows(%a: memref<128x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>, %b: memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, %c: tensor<128x64xf32, #c>) {
  // expected-error @below {{reads rows from workgroup memory, of which each subgroup has those of one instruction, but the result is}}
  %0 = evo_tile.group_mma %a, %b, %c : memref<128x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<128x64xf32, #c>
  return
}
func.func @types(%a: tensor<64x16xf16>, %b: memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, %c: tensor<64x64xf32, #c>) {
  // expected-error @below {{operands of 'f16' and 'bf16'}}
  %0 = evo_tile.group_mma %a, %b, %c : tensor<64x16xf16>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #c>
  return
}
func.func @plain(%a: tensor<64x16xbf16, #a>, %b: memref<16x64xbf16, #gpu.address_space<workgroup>>, %c: tensor<64x64xf32, #c>) {
  // expected-error @below {{needs operands in workgroup memory with rows of 32, 64 or 128 bytes, XORed among eight, got}}
  %0 = evo_tile.group_mma %a, %b, %c : tensor<64x16xbf16, #a>, memref<16x64xbf16, #gpu.address_space<workgroup>>, tensor<64x64xf32, #c>
  return
}
func.func @registers(%a: tensor<64x16xbf16, #a>, %b: tensor<16x64xbf16, #b>, %c: tensor<64x64xf32, #c>) {
  // expected-error @below {{needs the operand that subgroups share in workgroup memory, got}}
  %0 = evo_tile.group_mma %a, %b, %c : tensor<64x16xbf16, #a>, tensor<16x64xbf16, #b>, tensor<64x64xf32, #c>
  return
}
func.func @layout(%a: tensor<64x16xbf16, #a>, %b: memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, %c: tensor<64x64xf32>) {
  // expected-error @below {{needs a 'frag' layout of a result, got}}
  %0 = evo_tile.group_mma %a, %b, %c : tensor<64x16xbf16, #a>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32>
  return
}
func.func @rows(%a: tensor<64x16xbf16>, %b: memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, %c: tensor<64x64xf32, #c>) {
  // expected-error @below {{needs rows in the layout of the same instruction, got}}
  %0 = evo_tile.group_mma %a, %b, %c : tensor<64x16xbf16>, memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>, tensor<64x64xf32, #c>
  return
}

// -----

!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
!box = memref<8x32xf16, #gpu.address_space<workgroup>>
evo_tile.kernel @coordinates(%x: memref<?x32xf16>, %map: !map) {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  // expected-error @below {{needs 2 coordinates, got 1}}
  evo_tile.box_copy %map[%c0] to %lds in %slot : !map, !box
  evo_tile.return
}

// -----

!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
!box = memref<8x16xf16, #gpu.address_space<workgroup>>
evo_tile.kernel @size(%x: memref<?x32xf16>, %map: !map) {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  // expected-error @below {{copies all of a box of '!evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>', densely and swizzled as that says, got 'memref<8x16xf16}}
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !map, !box
  evo_tile.return
}

// -----

!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
evo_tile.kernel @place(%x: memref<?x32xf16>, %y: memref<8x32xf16>, %map: !map) {
  %c0 = arith.constant 0 : index
  %slot = evo_tile.copy_slots : !evo_tile.slot
  // expected-error @below {{copies to static workgroup memory, got 'memref<8x32xf16>'}}
  evo_tile.box_copy %map[%c0, %c0] to %y in %slot : !map, memref<8x32xf16>
  evo_tile.return
}

// -----

!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
!box = memref<8x32xf32, #gpu.address_space<workgroup>>
evo_tile.kernel @otherElement(%x: memref<?x32xf16>, %map: !map) {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  // expected-error @below {{densely and swizzled as that says, got 'memref<8x32xf32}}
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !map, !box
  evo_tile.return
}

// -----

!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
!box = memref<8x32xf16, strided<[40, 1]>, #gpu.address_space<workgroup>>
evo_tile.kernel @gaps(%x: memref<?x32xf16>, %map: !map) {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  // expected-error @below {{densely and swizzled as that says, got 'memref<8x32xf16, strided<[40, 1]>}}
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !map, !box
  evo_tile.return
}

// -----

!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32], swizzle = 64>
!box = memref<8x32xf16, #evo_tile.swizzled_lds<base = 4, from = [7, 9]>>
evo_tile.kernel @otherSwizzle(%x: memref<?x32xf16>, %map: !map) {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  // expected-error @below {{densely and swizzled as that says, got 'memref<8x32xf16, #evo_tile.swizzled_lds<base = 4, from = [7, 9]>>'}}
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !map, !box
  evo_tile.return
}

// -----

!map = !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>
!box = memref<8x32xf16, #gpu.address_space<workgroup>>
evo_tile.kernel @chosen(%x: memref<?x32xf16>, %p: i1, %map: !map, %map1: !map) {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : !box
  %slot = evo_tile.copy_slots : !evo_tile.slot
  %some = arith.select %p, %map, %map1 : !map
  // expected-error @below {{copies by a map that is an argument of the kernel}}
  evo_tile.box_copy %some[%c0, %c0] to %lds in %slot : !map, !box
  evo_tile.return
}

// -----

// expected-error @below {{has no memory of 2 dimensions as argument 1 for '!evo_tile.tensor_map<of = 1}}
evo_tile.kernel @other(%x: memref<?x32xf16>, %n: index, %map: !evo_tile.tensor_map<of = 1, box = [8, 32], ends = [0, 0, -1, 32]>) {
  evo_tile.return
}

// -----

// expected-error @below {{has no memory of 1 dimensions as argument 0}}
evo_tile.kernel @rank(%x: memref<?x32xf16>, %map: !evo_tile.tensor_map<of = 0, box = [32], ends = [-1, 32]>) {
  evo_tile.return
}

// -----

// expected-error @below {{tensor maps are of f16, bf16 and f32, not of 'memref<?x32xi8>'}}
evo_tile.kernel @element(%x: memref<?x32xi8>, %map: !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>) {
  evo_tile.return
}

// -----

// expected-error @below {{tensor maps need memory whose last dimension is contiguous, got 'memref<?x32xf16, strided<[?, ?]>>'}}
evo_tile.kernel @strides(%x: memref<?x32xf16, strided<[?, ?]>>, %map: !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>) {
  evo_tile.return
}

// -----

// expected-error @below {{a box has rows of a multiple of 16 bytes, and as many as 'swizzle' says, got 24 in}}
evo_tile.kernel @row(%x: memref<?x32xf16>, %map: !evo_tile.tensor_map<of = 0, box = [8, 12], ends = [0, 0, -1, 32]>) {
  evo_tile.return
}

// -----

// expected-error @below {{a box has rows of a multiple of 16 bytes, and as many as 'swizzle' says, got 64 in}}
evo_tile.kernel @swizzle(%x: memref<?x32xf16>, %map: !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32], swizzle = 128>) {
  evo_tile.return
}

// -----

// expected-error @below {{dimension 0 of '!evo_tile.tensor_map<of = 0, box = [8, 32], ends = [1, 0, -1, 32]>' has no end: argument 1 has no dimension 0}}
evo_tile.kernel @end(%x: memref<?x32xf16>, %map: !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [1, 0, -1, 32]>) {
  evo_tile.return
}

// -----

// expected-error @below {{has 'index' behind tensor maps, which come last}}
evo_tile.kernel @order(%x: memref<?x32xf16>, %map: !evo_tile.tensor_map<of = 0, box = [8, 32], ends = [0, 0, -1, 32]>, %n: index) {
  evo_tile.return
}

// -----

evo_tile.kernel @numbers(%in: memref<?x16xf32>, %map: !evo_tile.tensor_map<of = 0, box = [16, 16], ends = [0, 0, -1, 16]>) {
  %c0 = arith.constant 0 : index
  %slot = evo_tile.copy_slots : !evo_tile.slot
  %lds = builtin.unrealized_conversion_cast %c0 : index to memref<16x16xindex, #gpu.address_space<workgroup>>
  // expected-error @below {{densely and swizzled as that says, got 'memref<16x16xindex}}
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !evo_tile.tensor_map<of = 0, box = [16, 16], ends = [0, 0, -1, 16]>, memref<16x16xindex, #gpu.address_space<workgroup>>
  evo_tile.return
}

// -----

evo_tile.kernel @strides(%in: memref<?x16xf32>, %map: !evo_tile.tensor_map<of = 0, box = [16, 16], ends = [0, 0, -1, 16]>) {
  %c0 = arith.constant 0 : index
  %slot = evo_tile.copy_slots : !evo_tile.slot
  %lds = builtin.unrealized_conversion_cast %c0 : index to memref<16x16xf32, strided<[?, 1]>, #gpu.address_space<workgroup>>
  // expected-error @below {{densely and swizzled as that says, got 'memref<16x16xf32, strided<[?, 1]>}}
  evo_tile.box_copy %map[%c0, %c0] to %lds in %slot : !evo_tile.tensor_map<of = 0, box = [16, 16], ends = [0, 0, -1, 16]>, memref<16x16xf32, strided<[?, 1]>, #gpu.address_space<workgroup>>
  evo_tile.return
}
