// What is copied to a view is read before the loop from the memory itself.
#row = #evo_tile.lane_map<registers = [[4, 0, 1], [8, 16, 0]], lanes = [[32, 0, 4]], subgroups = [[4, 1, 0], [4, 4, 0]]>
#col = #evo_tile.lane_map<registers = [[4, 1, 0], [8, 0, 16]], lanes = [[32, 4, 0]], subgroups = [[4, 0, 1], [4, 0, 4]]>
!lds = memref<128x128xf32, #gpu.address_space<workgroup>>
#srow = #evo_tile.lane_map<registers = [[4, 0, 1]], lanes = [[8, 0, 4], [4, 1, 0]], subgroups = [[16, 4, 0]]>
#scol = #evo_tile.lane_map<registers = [[4, 1, 0]], lanes = [[16, 4, 0], [2, 0, 1]], subgroups = [[16, 0, 2]]>
!view = memref<64x32xf32, strided<[32, 1]>, #gpu.address_space<workgroup>>
!small = memref<64x32xf32, #gpu.address_space<workgroup>>
evo_tile.kernel @kernel(%m: memref<?x128xf32>, %k: memref<64x32xf32>, %t: memref<64x32xf32>, %o: memref<64x32xf32>, %p: memref<?x128xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %A = evo_tile.alloc_lds : !lds
  %B = evo_tile.alloc_lds : !lds
  %K = evo_tile.alloc_lds : !small
  %T = evo_tile.alloc_lds : !small
  %x = evo_tile.load %t[%c0, %c0] {in_bounds = array<i1: true, true>, alignment = 16 : i64} : memref<64x32xf32> -> tensor<64x32xf32, #srow>
  %view = memref.subview %K[0, 0] [64, 32] [1, 1] : !small to !view
  %kc = evo_tile.async_copy %k[%c0, %c0] to %view[%c0, %c0] as tensor<64x32xf32, #srow> {in_bounds = array<i1: true, true>, alignment = 16 : i64} : memref<64x32xf32>, !view
  %kg = evo_tile.async_group(%kc)
  evo_tile.wait %kg
  evo_tile.barrier
  %y = evo_tile.load %K[%c0, %c0] {in_bounds = array<i1: true, true>} : !small -> tensor<64x32xf32, #scol>
  evo_tile.store %y, %o[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<64x32xf32, #scol>, memref<64x32xf32>
  scf.for %i = %c0 to %n step %c128 {
    evo_tile.barrier
    %c = evo_tile.async_copy %m[%i, %c0] to %B[%c0, %c0] as tensor<128x128xf32, #row> {in_bounds = array<i1: true, true>, alignment = 16 : i64} : memref<?x128xf32>, !lds
    %g = evo_tile.async_group(%c)
    evo_tile.wait %g
    evo_tile.barrier
    %b = evo_tile.load %B[%c0, %c0] {in_bounds = array<i1: true, true>} : !lds -> tensor<128x128xf32, #col>
    %own = evo_tile.load %K[%c0, %c0] {in_bounds = array<i1: true, true>} : !small -> tensor<64x32xf32, #scol>
    evo_tile.barrier handover
    scf.for %q = %c0 to %c1 step %c1 {
      %z = evo_tile.load %B[%c0, %c0] {in_bounds = array<i1: true, true>} : !lds -> tensor<128x128xf32, #row>
      evo_tile.store %z, %A[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<128x128xf32, #row>, !lds
    }
    evo_tile.barrier handover
    %a = evo_tile.load %A[%c0, %c0] {in_bounds = array<i1: true, true>} : !lds -> tensor<128x128xf32, #col>
    %s = arith.addf %a, %b : tensor<128x128xf32, #col>
    evo_tile.store %s, %p[%i, %c0] {in_bounds = array<i1: true, true>} : tensor<128x128xf32, #col>, memref<?x128xf32>
  }
  evo_tile.return
}
