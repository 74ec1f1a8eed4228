# RUN: %python %s %t
"""Asynchronous copies of every kind of engine, executed: one kernel, staged and
with rings of two, three and four slots, under several interleavings and both
times of arrival; and each of its waits and barriers is needed: without them the
simulator finds a slot that is read too early or written too soon."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).with_name("Inputs")))
from simulate_copies import opt, problems_of

COLUMNS = 64
# Rows of two blocks and a half, so that the last copies lie partly beyond.
BLOCKS = 2.5
# Chip, triple, lanes, engine, bytes of a copy.
ENGINES = (
    ("sm_80", "nvptx64-nvidia-cuda", 32, "per_lane", 16),
    ("sm_80", "nvptx64-nvidia-cuda", 32, "per_lane", 4),
    ("gfx90a", "amdgcn-amd-amdhsa", 64, "consecutive", 4),
    ("gfx942", "amdgcn-amd-amdhsa", 64, "consecutive", 4),
    ("gfx950", "amdgcn-amd-amdhsa", 64, "consecutive", 16),
)
KERNEL = """
#target = #evo_tile.target<chip = "{chip}", triple = "{triple}", features = "",
  subgroup_size = {lanes}, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {{
    {barrier} copy_engine = #evo_tile.copy_engine<{engine}, bytes = [{bytes}]>}}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = {stages}>
// Each subgroup reads what the other one copies.
#copy = #evo_tile.lane_map<registers = [[{piece}, 0, 1], [{wide}, 0, {reach}], [2, {both}, 0]],
  lanes = [[{along}, 0, {piece}], [{across}, 1, 0]], subgroups = [[2, {across}, 0]]>
#read = #evo_tile.lane_map<registers = [[{piece}, 0, 1], [{wide}, 0, {reach}], [2, {across}, 0]],
  lanes = [[{along}, 0, {piece}], [{across}, 1, 0]], subgroups = [[2, {both}, 0]]>
!lds = memref<{rows}x64xf32, #gpu.address_space<workgroup>>
evo_tile.kernel @twice(%in: memref<?x64xf32>, %out: memref<?x64xf32>)
    attributes {{target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64}} {{
  %c0 = arith.constant 0 : index
  %rows = arith.constant {rows} : index
  %n = memref.dim %in, %c0 : memref<?x64xf32>
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %rows {{
    evo_tile.barrier
    %copy = evo_tile.async_copy %in[%i, %c0] to %lds[%c0, %c0] padding 0.0 : f32
      as tensor<{rows}x64xf32, #copy> {{alignment = 16 : i64, in_bounds = array<i1: false, true>}}
      : memref<?x64xf32>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] {{in_bounds = array<i1: true, true>}}
      : !lds -> tensor<{rows}x64xf32, #read>
    %y = arith.addf %x, %x : tensor<{rows}x64xf32, #read>
    evo_tile.store %y, %out[%i, %c0] {{in_bounds = array<i1: false, true>}}
      : tensor<{rows}x64xf32, #read>, memref<?x64xf32>
  }}
  evo_tile.return
}}
"""


def main(scratch):
    problems = []
    for chip, triple, lanes, engine, size in ENGINES:
        piece = size // 4
        along = min(lanes, COLUMNS // piece)
        across = lanes // along
        rows = 4 * across
        for stages in (1, 2, 3, 4):
            what = f"{chip}, {size} bytes, {stages} stages"
            kernel = opt(KERNEL.format(
                chip=chip, triple=triple, lanes=lanes, engine=engine, bytes=size,
                stages=stages, piece=piece, reach=along * piece,
                wide=COLUMNS // (along * piece), along=along, across=across,
                both=2 * across, rows=rows,
                barrier="lds_barrier," if chip.startswith("gfx") else ""),
                "--evo-tile-software-pipeline")
            if ("iter_args" in kernel) != (stages > 1):
                problems.append(f"{what}: not pipelined as asked")
            problems += [f"{what}: {problem}" for problem in problems_of(
                kernel, ("wait", "barrier"), 2 * lanes, int(BLOCKS * rows), COLUMNS, [],
                scratch)]
    if problems:
        sys.exit("\n".join(problems))


main(sys.argv[1])
