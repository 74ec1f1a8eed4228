// Rows over subgroups, then columns over subgroups; a sum over all rows. LANES
// is an eighth of the subgroup, SIZE four times that.
#rows = #evo_tile.lane_map<registers = [[4, 0, 1]], lanes = [[8, 0, 4], [LANES, 1, 0]], subgroups = [[4, LANES, 0]]>
#columns = #evo_tile.lane_map<registers = [[4, 1, 0]], lanes = [[8, 0, 1], [LANES, 4, 0]], subgroups = [[4, 0, 8]]>
#sum = #evo_tile.slice<dim = 0, size = SIZE, #rows>
evo_tile.kernel @exchange(%m: memref<SIZEx32xf32>, %o: memref<SIZEx32xf32>, %keep: memref<SIZEx32xf32>, %s: memref<32xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<SIZEx32xf32, #columns>
  %one = arith.constant dense<1.0> : tensor<SIZEx32xf32, #columns>
  %limit = arith.constant dense<0.25> : tensor<SIZEx32xf32, #rows>
  %x = evo_tile.load %m[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<SIZEx32xf32> -> tensor<SIZEx32xf32, #rows>
  // In a loop the buffers are used again.
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<SIZEx32xf32, #columns>) {
    %y = evo_tile.convert_layout %x : tensor<SIZEx32xf32, #rows> -> tensor<SIZEx32xf32, #columns>
    %next = arith.addf %sum, %y : tensor<SIZEx32xf32, #columns>
    scf.yield %next : tensor<SIZEx32xf32, #columns>
  }
  evo_tile.store %all, %o[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<SIZEx32xf32, #columns>, memref<SIZEx32xf32>
  // Bits pass as bytes.
  %is = arith.cmpf ogt, %x, %limit : tensor<SIZEx32xf32, #rows>
  %bits = evo_tile.convert_layout %is : tensor<SIZEx32xi1, #rows> -> tensor<SIZEx32xi1, #columns>
  %chosen = arith.select %bits, %one, %zero : tensor<SIZEx32xi1, #columns>, tensor<SIZEx32xf32, #columns>
  evo_tile.store %chosen, %keep[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<SIZEx32xf32, #columns>, memref<SIZEx32xf32>
  %sum = evo_tile.reduce add %x dim 0 : tensor<SIZEx32xf32, #rows> -> tensor<32xf32, #sum>
  evo_tile.store %sum, %s[%c0] {in_bounds = array<i1: true>} : tensor<32xf32, #sum>, memref<32xf32>
  evo_tile.return
}
