# Random tiles in layouts of every kind, lowered for chips of both families and run in
# the simulator: whoever calls the generator, and how often, draws are those that the
# documentation of evo_tile.random defines.
#
# RUN: rm -rf %t
# RUN: %python %s %t | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
import math
import pathlib
import re
import struct
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
PRINT = here.parent / "Dialect" / "Tile" / "Inputs" / "with_target.py"
SCHEDULE = "block = [1, 64, 64], subgroups = [{0}, 1, 1], stages = 1"
PASSES = ("builtin.module(convert-tile-to-gpu,canonicalize,cse,"
          "gpu.module(convert-gpu-lanes-to-llvm))")
MASK = 2**32 - 1

# Calls of the generator that a lane makes, rows and columns, and the axes over
# registers, 64 lanes and subgroups: sizes, and steps along rows and columns.
LAYOUTS = {
    # 32 lanes hold a row each, eight columns of it: a call.
    "columns of a lane": (1, 32, 16, [(8, 0, 1)], [(32, 1, 0), (2, 0, 8)], []),
    # 32 lanes hold columns. Eight of them share 16, 3, 5, 12, 33 and 40 calls.
    "16 rows": (2, 32, 32, [(16, 2, 0)], [(32, 0, 1), (2, 1, 0)], []),
    "3 rows": (1, 6, 32, [(3, 2, 0)], [(32, 0, 1), (2, 1, 0)], []),
    "5 rows": (1, 10, 32, [(5, 2, 0)], [(32, 0, 1), (2, 1, 0)], []),
    "12 rows": (2, 24, 32, [(4, 1, 0), (3, 8, 0)], [(32, 0, 1), (2, 4, 0)], []),
    "33 rows": (5, 66, 32, [(33, 2, 0)], [(32, 0, 1), (2, 1, 0)], []),
    "40 rows": (5, 80, 32, [(4, 1, 0), (10, 8, 0)], [(32, 0, 1), (2, 4, 0)], []),
    # Calls of other columns, too.
    "two calls a row": (1, 8, 64, [(4, 2, 0), (2, 0, 32)],
                        [(32, 0, 1), (2, 1, 0)], []),
    # The middle lanes hold columns, in another order; registers of others.
    "other lanes": (4, 32, 32, [(2, 4, 0), (4, 0, 8), (4, 8, 0)],
                    [(4, 1, 0), (2, 0, 2), (2, 0, 4), (2, 0, 1), (2, 0, 0)], []),
    # Registers have some of a call's columns, lanes the others.
    "pairs": (4, 32, 8, [(4, 0, 2), (8, 4, 0)],
              [(2, 0, 1), (4, 1, 0), (2, 0, 0), (2, 0, 0), (2, 0, 0)], []),
    "pairs of pairs": (2, 32, 8, [(2, 0, 4), (2, 16, 0), (4, 4, 0)],
                       [(4, 0, 1), (4, 1, 0), (2, 0, 0), (2, 0, 0)], []),
    # As many subgroups, which have calls of their own.
    "subgroups": (1, 16, 64, [(8, 2, 0)], [(32, 0, 1), (2, 1, 0)], [(2, 0, 32)]),
    # No lanes that share: these hold columns of other calls, which all are made.
    "apart": (4, 32, 32, [(4, 8, 0), (8, 0, 1)],
              [(4, 0, 8), (8, 1, 0), (2, 0, 0)], []),
    # Nor are there fewer where a lane has one.
    "one": (1, 2, 32, [(1, 0, 0)], [(32, 0, 1), (2, 1, 0)], []),
    # Rows of which sums over the lanes' bits do not tell.
    "uneven": (12, 24, 32, [(3, 1, 0), (4, 6, 0)], [(32, 0, 1), (2, 3, 0)], []),
}
# Chips, the columns' starts (and what they are said to be multiples of) and
# thresholds.
CASES = [("gfx942", 64, 8, 20000), ("gfx942", 2**31 - 128, 16, 40000),
         ("gfx1100", 24, 8, 0x8000), ("gfx1100", 0, 8, 65535),
         ("sm_80", 64, 8, 20000), ("sm_80", 8, 8, 40000), ("sm_80", 16, 8, 0),
         ("gfx1201", 8, 8, 1), ("gfx90a", 8, 8, 0), ("sm_90", 0, 8, 1),
         # Where the first column is known to less than a call, nothing is shared.
         ("gfx942", 12, 4, 20000), ("sm_80", 3, 1, 40000)]
SEED, OFFSET, STREAM, ROW = 0x123456789abcdef0, 0xfedcba9876543210, 77, 1000


def philox(counter, key):
    words, key = list(counter), list(key)
    for _ in range(7):
        one, other = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [other >> 32 ^ words[1] ^ key[0], other & MASK,
                 one >> 32 ^ words[3] ^ key[1], one & MASK]
        key = [key[0] + 0x9E3779B9 & MASK, key[1] + 0xBB67AE85 & MASK]
    return words


def draw(row, column):
    words = philox((column >> 3, row, STREAM, OFFSET & MASK),
                   (SEED & MASK, SEED >> 32 ^ OFFSET >> 32))
    return words[column >> 1 & 3] >> (column & 1) * 16 & 0xffff


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def kernel(name, layout, lanes, multiple, threshold):
    """Its text, and how many subgroups it has."""
    _, rows, columns, registers, of_lanes, subgroups = layout
    # Where a subgroup has half the lanes there are twice as many.
    if lanes == 32:
        of_lanes, subgroups = of_lanes[:-1], [of_lanes[-1], *subgroups]
    text = lambda axes: ", ".join(f"[{size}, {row}, {column}]"
                                  for size, row, column in axes)
    tile = f"tensor<{rows}x{columns}x{{}}, #{name}>"
    memory = f"memref<{rows}x{columns}xf32>"
    return math.prod(size for size, *_ in subgroups), f"""
#{name} = #evo_tile.lane_map<registers = [{text(registers)}], lanes = [{text(of_lanes)}], subgroups = [{text(subgroups)}], inner = 1>
evo_tile.kernel @{name}(%seed: i64, %offset: i64, %stream: index, %row: index, %column: index, %x: {memory}) attributes {{target = #target, schedule = #schedule}} {{
  %zero = arith.constant 0 : index
  %keep = evo_tile.random %seed, %offset, %stream at [%row along 0, %column along 1] threshold {threshold} multiple {multiple} : {tile.format("i1")}
  %yes = arith.constant dense<1.0> : {tile.format("f32")}
  %no = arith.constant dense<2.0> : {tile.format("f32")}
  %some = arith.select %keep, %yes, %no : {tile.format("i1")}, {tile.format("f32")}
  evo_tile.store %some, %x[%zero, %zero] {{in_bounds = array<i1: true, true>}} : {tile.format("f32")}, {memory}
  evo_tile.return
}}
"""


def check(work, chip, column, multiple, threshold):
    lanes = 64 if chip.startswith("gfx9") else 32
    made = {f"draws{number}": (title, layout, *kernel(f"draws{number}", layout,
                                                      lanes, multiple, threshold))
            for number, (title, layout) in enumerate(LAYOUTS.items())}
    for subgroups in sorted({number for *_, number, _ in made.values()}):
        found = {name: of for name, of in made.items() if of[2] == subgroups}
        source = work / "kernels.mlir"
        source.write_text("".join(text for *_, text in found.values()))
        tiles, machine = work / "tiles.mlir", work / "machine.mlir"
        tiles.write_text(run(sys.executable, PRINT, chip, source,
                             SCHEDULE.format(subgroups)))
        run("evoformer-opt", tiles, f"--pass-pipeline={PASSES}", "-o", machine)
        functions = dict(re.findall(r"llvm\.func @(\w+)(.*?)llvm\.return",
                                    machine.read_text(), flags=re.S))
        for name, (title, layout, *_) in found.items():
            least, rows, columns, *_ = layout
            # Of a call's 14 products of 64 bits ten depend on the row.
            calls = len(re.findall(r"llvm\.mul .* : i64", functions[name])) // 10
            if multiple % 8 == 0 and threshold and calls != least:
                sys.exit(f"{chip}, {title}: {calls} calls")
            out = work / "out"
            signed = [struct.unpack("<q", struct.pack("<Q", number))[0]
                      for number in (SEED, OFFSET)]
            arguments = [f"i64:{number}" for number in
                         (*signed, STREAM, ROW, column)]
            arguments += [f"out:{4 * rows * columns}:{out}", "ref:0", "i64:0",
                          f"i64:{rows}", f"i64:{columns}", f"i64:{columns}",
                          "i64:1", "i64:1"]
            run("evoformer-sim", machine, f"--kernel={name}",
                f"--block={lanes * subgroups}",
                *(f"--arg={word}" for word in arguments))
            kept = struct.unpack(f"<{rows * columns}f", out.read_bytes())
            expected = tuple(
                1.0 if draw(ROW + i, column + j & MASK) >= threshold else 2.0
                for i in range(rows) for j in range(columns))
            if kept != expected:
                sys.exit(f"{chip}, {title}: other draws")


work = pathlib.Path(sys.argv[1])
work.mkdir(parents=True)
for case in CASES:
    check(work, *case)
print("all right")
