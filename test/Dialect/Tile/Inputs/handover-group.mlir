// A product of several subgroups reads the handed tile before the first handover.
#row = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [4, 1, 0], [4, 16, 0]], subgroups = [[4, 4, 0]]>
#c = #evo_tile.frag<#mma_m16n8k16_bf16, C, dims = [0, 1], subgroups = [4, 0], order = [array<i64>, array<i64>]>
!rows = memref<64x16xbf16, #evo_tile.swizzled_lds<base = 4, from = [7]>>
!cols = memref<16x64xbf16, #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9]>>
!g = memref<64x16xbf16, #gpu.address_space<workgroup>>
#k = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[8, 0, 8], [4, 1, 0]], subgroups = [[4, 4, 0]]>
evo_tile.kernel @kernel(%m: memref<?x16xbf16>, %k: memref<16x64xbf16>, %o: memref<?x64xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #c>
  %A = evo_tile.alloc_lds : !rows
  %B = evo_tile.alloc_lds : !g
  %K = evo_tile.alloc_lds : !cols
  %x0 = evo_tile.load %k[%c0, %c0] {in_bounds = array<i1: true, true>, alignment = 16 : i64} : memref<16x64xbf16> -> tensor<16x64xbf16, #k>
  evo_tile.store %x0, %K[%c0, %c0] {in_bounds = array<i1: true, true>, alignment = 16 : i64} : tensor<16x64xbf16, #k>, !cols
  %z0 = arith.constant dense<0.0> : tensor<64x16xbf16, #row>
  evo_tile.store %z0, %A[%c0, %c0] {in_bounds = array<i1: true, true>, alignment = 16 : i64} : tensor<64x16xbf16, #row>, !rows
  evo_tile.proxy_fence
  evo_tile.barrier handover
  scf.for %i = %c0 to %n step %c64 {
    evo_tile.barrier
    %c = evo_tile.async_copy %m[%i, %c0] to %B[%c0, %c0] as tensor<64x16xbf16, #row> {in_bounds = array<i1: true, true>, alignment = 16 : i64} : memref<?x16xbf16>, !g
    %g = evo_tile.async_group(%c)
    evo_tile.wait %g
    evo_tile.barrier
    %s = evo_tile.group_mma %A, %K, %zero : !rows, !cols, tensor<64x64xf32, #c>
    evo_tile.barrier handover
    scf.for %q = %c0 to %c1 step %c1 {
      %z = evo_tile.load %B[%c0, %c0] {in_bounds = array<i1: true, true>} : !g -> tensor<64x16xbf16, #row>
      evo_tile.store %z, %A[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<64x16xbf16, #row>, !rows
    }
    evo_tile.proxy_fence
    evo_tile.store %s, %o[%i, %c0] {in_bounds = array<i1: true, true>} : tensor<64x64xf32, #c>, memref<?x64xf32>
    evo_tile.barrier handover
  }
  evo_tile.return
}
