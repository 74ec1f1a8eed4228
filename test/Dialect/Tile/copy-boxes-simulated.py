# RUN: %python %s %t
"""Copies of boxes, executed: one kernel with rings of two, three and four slots, rows
of every swizzle that tensor maps know and without one, the last box partly beyond the
memory, under several interleavings and both times of arrival; and each of its waits
and barriers is needed: without them the simulator finds a slot that is read too early
or written too soon."""

import re
import struct
import subprocess
import sys

# Rows of two boxes and a half, so that the last copies lie partly beyond.
BOXES = 2.5
# Elements of a row, and the bits that its pieces are XORed with.
ROWS = ((64, []), (16, []), (8, [7]), (16, [7, 8]), (32, [7, 8, 9]))
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


def opt(text, *passes):
    done = subprocess.run(["evoformer-opt", "-", *passes], input=text,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def execute(lowered, box, rows, columns, swizzle, scratch, seed, copies):
    """The first finding, or what is wrong with the numbers, if anything."""
    with open(scratch + ".mlir", "w", encoding="utf-8") as file:
        file.write(lowered)
    values = [(i * 7 % 101 - 50) / 8 for i in range(rows * columns)]
    with open(scratch + ".in", "wb") as file:
        file.write(struct.pack(f"<{len(values)}f", *values))

    def matrix(number, memory):
        return [memory, f"ref:{number}", "i64:0", f"i64:{rows}", f"i64:{columns}",
                f"i64:{columns}", "i64:1"]

    arguments = (matrix(0, f"in:{scratch}.in") +
                 matrix(1, f"out:{4 * len(values)}:{scratch}.out") + ["i64:1"] +
                 [f"map:0:4:{columns}x{rows}:{columns}x{box}:{swizzle}"])
    done = subprocess.run(
        ["evoformer-sim", scratch + ".mlir", "--kernel=twice", "--grid=1", "--block=64",
         f"--seed={seed}", f"--copies={copies}",
         *(f"--arg={argument}" for argument in arguments)],
        capture_output=True, text=True)
    if done.returncode or done.stderr:
        return done.stderr
    with open(scratch + ".out", "rb") as file:
        got = struct.unpack(f"<{len(values)}f", file.read())
    return "" if list(got) == [2 * x for x in values] else "wrong numbers"


def without(text, op):
    """The programs that each lack one line with this op."""
    for match in re.finditer(rf"^ *evo_tile\.{op}\b.*\n", text, re.M):
        yield text[:match.start()] + text[match.end():]


def main(scratch):
    problems = []
    for columns, bits in ROWS:
        along = min(32, columns // 4)
        across = 32 // along
        box = 4 * across
        space = (f"#evo_tile.swizzled_lds<base = 4, from = {bits}>" if bits
                 else "#gpu.address_space<workgroup>")
        for stages in (2, 3, 4):
            what = f"{columns} columns, bits {bits}, {stages} stages"
            kernel = opt(KERNEL.format(
                stages=stages, along=along, across=across, both=2 * across, rows=box,
                columns=columns, space=space),
                "--evo-tile-software-pipeline", "--evo-tile-copy-boxes")
            if "evo_tile.box_copy" not in kernel or "evo_tile.async_copy" in kernel:
                problems.append(f"{what}: no boxes")
                continue

            def outcomes(text):
                lowered = opt(text, "--convert-tile-to-gpu", "--convert-gpu-lanes-to-llvm")
                return (execute(lowered, box, int(BOXES * box), columns,
                                16 << len(bits) if bits else 0, scratch, seed, copies)
                        for seed, copies in ((0, "late"), (0, "early"), (1, "late"),
                                             (2, "early"), (3, "late")))

            problems += [f"{what}: {outcome}" for outcome in outcomes(kernel) if outcome]
            for op in ("wait_slot", "barrier"):
                for number, broken in enumerate(without(kernel, op)):
                    if not any("not awaited" in outcome or "race" in outcome
                               for outcome in outcomes(broken)):
                        problems.append(f"{what}: not missed: {op} {number}")
    if problems:
        sys.exit("\n".join(problems))


main(sys.argv[1])
