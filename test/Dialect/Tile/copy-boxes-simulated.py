# RUN: %python %s %t
"""Copies of boxes, executed: one kernel, whose subgroups release slots or, where it also
stores to workgroup memory, meet, with rings of two, three and four slots, rows
of every swizzle that tensor maps know and without one, longer rows, which are boxes side
by side, the last box partly beyond the memory, under several interleavings and both
times of arrival; and each of its waits, claims, releases and barriers is needed: without
them the simulator finds a slot that is read too early or written too soon."""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).with_name("Inputs")))
from simulate_copies import opt, problems_of

# Rows of so many boxes that slots are filled again, the last one partly beyond.
BOXES = 6.5
# Elements of a row, and the bits that its pieces are XORed with.
ROWS = ((64, []), (16, []), (8, [7]), (16, [7, 8]), (32, [7, 8, 9]), (64, [7, 8, 9]),
        (128, [7, 8, 9]))
# Elements of the longest row that can be swizzled.
LONGEST = 32
KERNEL = """
#target = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 128, lds_bytes = 65536,
  lds_banks = 32, matrix = [], properties = {{tensor_maps,
    copy_engine = #evo_tile.copy_engine<per_lane, bytes = [16]>}}>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = {stages}>
// Each subgroup reads half of what one lane copies.
#read = #evo_tile.lane_map<registers = [[4, 0, 1], [2, {across}, 0]],
  lanes = [[{along}, 0, 4], [{across}, 1, 0]], subgroups = [[2, {both}, 0]]>
!lds = memref<{rows}x{columns}xf32, {space}>
evo_tile.kernel @twice(%in: memref<?x{columns}xf32>, %out: memref<?x{columns}xf32>)
    attributes {{target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64}} {{
  %c0 = arith.constant 0 : index
  %rows = arith.constant {rows} : index
  %n = memref.dim %in, %c0 : memref<?x{columns}xf32>
  %lds = evo_tile.alloc_lds : !lds
  scf.for %i = %c0 to %n step %rows {{
    evo_tile.barrier
    %copy = evo_tile.async_copy %in[%i, %c0] to %lds[%c0, %c0] padding 0.0 : f32
      as tensor<{rows}x{columns}xf32, #read> {{alignment = 16 : i64, in_bounds = array<i1: false, true>}}
      : memref<?x{columns}xf32>, !lds
    %group = evo_tile.async_group(%copy)
    evo_tile.wait %group
    evo_tile.barrier
    %x = evo_tile.load %lds[%c0, %c0] {{in_bounds = array<i1: true, true>}}
      : !lds -> tensor<{rows}x{columns}xf32, #read>
    %y = arith.addf %x, %x : tensor<{rows}x{columns}xf32, #read>
    evo_tile.store %y, %out[%i, %c0] {{in_bounds = array<i1: false, true>}}
      : tensor<{rows}x{columns}xf32, #read>, memref<?x{columns}xf32>
  }}
  evo_tile.return
}}
"""


STORE = re.compile(r"evo_tile\.store (%\w+), %arg1\[.*?\].* : (tensor<(\w+)x(f32), #\w+>),")


def keep_barrier(kernel):
    """What is stored is also stored to workgroup memory, which nobody reads: the loop's
    barrier hands over more than copies then."""
    store = STORE.search(kernel)
    memory = f"memref<{store[3]}x{store[4]}, #gpu.address_space<workgroup>>"
    also = (f"%zero = arith.constant 0 : index\n    evo_tile.store {store[1]}, "
            f"%own[%zero, %zero] {{in_bounds = array<i1: true, true>}} : {store[2]}, "
            f"{memory}\n    ")
    kernel = kernel[:store.start()] + also + kernel[store.start():]
    return re.sub(r"(evo_tile\.kernel .*{\n)", rf"\1    %own = evo_tile.alloc_lds : {memory}\n",
                  kernel, count=1)


NEEDED = {True: ("wait_slot", "claim_slot", "release_slot", "barrier"),
          False: ("wait_slot", "barrier")}


def main(scratch):
    problems = []
    for columns, bits in ROWS:
        along = min(32, columns // 4)
        across = 32 // along
        box = 4 * across
        width = min(columns, LONGEST) if bits else columns
        panels = (f", panels = [7, {(columns // width).bit_length() - 1}, "
                  f"{box.bit_length() - 1}]" if width < columns else "")
        space = (f"#evo_tile.swizzled_lds<base = 4, from = {bits}{panels}>" if bits
                 else "#gpu.address_space<workgroup>")
        for stages, releases in ((2, True), (3, True), (4, True), (2, False), (3, False)):
            what = f"{columns} columns, bits {bits}, {stages} stages"
            what += "" if releases else ", with a barrier"
            kernel = opt(KERNEL.format(
                stages=stages, along=along, across=across, both=2 * across, rows=box,
                columns=columns, space=space), "--evo-tile-software-pipeline")
            kernel = opt(kernel if releases else keep_barrier(kernel),
                         "--evo-tile-copy-boxes")
            if "evo_tile.box_copy" not in kernel or "evo_tile.async_copy" in kernel:
                problems.append(f"{what}: no boxes")
                continue
            if missing := [op for op in NEEDED[releases] if f"evo_tile.{op}" not in kernel]:
                problems.append(f"{what}: no {', '.join(missing)}")
            if not releases and "release" in kernel:
                problems.append(f"{what}: slots are released")
            rows = int(BOXES * box)
            swizzle = 16 << len(bits) if bits else 0
            problems += [f"{what}: {problem}" for problem in problems_of(
                kernel, NEEDED[releases], 64, rows, columns,
                [f"map:0:4:{columns}x{rows}:{width}x{box}:{swizzle}"], scratch)]
    if problems:
        sys.exit("\n".join(problems))


main(sys.argv[1])
