// The machine at hand: one lane a subgroup, no matrix instruction; tiles become
// loops over vectors.
module attributes {evo_tile.target = #evo_tile.target<
  chip = "cpu", triple = "host", features = "",
  subgroup_size = 1, max_workgroup = 1, registers = 0,
  lds_bytes = 0, lds_banks = 0, matrix = [],
  tuning = {memory_sum_items = 8, work_items = 64}>} {}
