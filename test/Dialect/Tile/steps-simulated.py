# RUN: %python %s %S/Inputs %t
"""Loops of few iterations whose tiles are copied before them, executed: what they
read is what is there, whether their copies run ahead or not; rows of several steps
that are all there and some that are not, tiles that no step has behind the one
before, and a tile that reaches beyond its buffer."""

import os
import pathlib
import struct
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "Inputs"))
import bounded

# Rows of bf16, as words of 16 bits; lanes of four subgroups hold all of them.
LAYOUTS = """
#rows = #evo_tile.lane_map<registers = [[8, 0, 1], [2, 8, 0]], lanes = [[4, 0, 8], [8, 1, 0]], subgroups = [[4, 0, 0]]>
#heads = #evo_tile.lane_map<registers = [[8, 0, 0, 1], [2, 8, 0, 0]], lanes = [[4, 0, 0, 8], [8, 1, 0, 0]], subgroups = [[4, 0, 0, 0]]>
#line = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[4, 4], [8, 0]], subgroups = [[4, 0]]>
#long = #evo_tile.lane_map<registers = [[8, 1]], lanes = [[4, 8], [8, 0]], subgroups = [[4, 0]]>
"""

CONSTANTS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
"""

# What is stored is what is read, two bytes an element, COUNT of them.
KERNELS = {
    # 100 rows: the second block of 64 has three parts, the last one of 4 rows.
    "some": (100 * 32, [100, 32], """
evo_tile.kernel @some(%m: memref<?x32xbf16>, %o: memref<?x32xbf16>) attributes {target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64} {CONSTANTS
  %n = memref.dim %m, %c0 : memref<?x32xbf16>
  scf.for %i = %c0 to %n step %c64 {
    %left = arith.subi %n, %i : index
    %up = arith.addi %left, %c15 : index
    %steps = arith.divui %up, %c16 : index
    %few = arith.minui %steps, %c4 : index
    %count = arith.maxui %few, %c1 : index
    scf.for %j = %c0 to %count step %c1 {
      %offset = arith.muli %j, %c16 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: false, true>} : memref<?x32xbf16> -> tensor<16x32xbf16, #rows>
      evo_tile.store %x, %o[%k, %c0] {in_bounds = array<i1: false, true>} : tensor<16x32xbf16, #rows>, memref<?x32xbf16>
    }
  }
  evo_tile.return
}"""),
    # The heads of a row lie between its elements and the next row's.
    "heads": (64 * 4 * 32, [64, 4, 32], """
evo_tile.kernel @heads(%m: memref<?x4x32xbf16>, %o: memref<?x4x32xbf16>) attributes {target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64} {CONSTANTS
  %n = memref.dim %m, %c0 : memref<?x4x32xbf16>
  scf.for %i = %c0 to %n step %c16 {
    scf.for %j = %c0 to %c4 step %c1 {
      %x = evo_tile.load %m[%i, %j, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true, true>} : memref<?x4x32xbf16> -> tensor<16x1x32xbf16, #heads>
      evo_tile.store %x, %o[%i, %j, %c0] {in_bounds = array<i1: true, true, true>} : tensor<16x1x32xbf16, #heads>, memref<?x4x32xbf16>
    }
  }
  evo_tile.return
}"""),
}

# From the elements 0 and 4 of a buffer of 16; behind it are other numbers.
BEYOND = """
evo_tile.kernel @beyond(%m: memref<?xf32>, %o: memref<?x32xf32>) attributes {target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64} {CONSTANTS
  %buffer = evo_tile.alloc_lds : memref<16xf32, #gpu.address_space<workgroup>>
  %behind = evo_tile.alloc_lds : memref<64xf32, #gpu.address_space<workgroup>>
  %x = evo_tile.load %m[%c0] {in_bounds = array<i1: true>} : memref<?xf32> -> tensor<16xf32, #line>
  evo_tile.store %x, %buffer[%c0] {in_bounds = array<i1: true>} : tensor<16xf32, #line>, memref<16xf32, #gpu.address_space<workgroup>>
  evo_tile.store %x, %behind[%c0] {in_bounds = array<i1: true>} : tensor<16xf32, #line>, memref<64xf32, #gpu.address_space<workgroup>>
  evo_tile.barrier
  %c2 = arith.constant 2 : index
  scf.for %j = %c0 to %c2 step %c1 {
    %k = arith.muli %j, %c4 : index
    %y = evo_tile.load %buffer[%k] padding 1.0 : f32 {in_bounds = array<i1: false>} : memref<16xf32, #gpu.address_space<workgroup>> -> tensor<32xf32, #long>
    %row = memref.subview %o[%j, 0] [1, 32] [1, 1] : memref<?x32xf32> to memref<32xf32, strided<[1], offset: ?>>
    evo_tile.store %y, %row[%c0] {in_bounds = array<i1: true>} : tensor<32xf32, #long>, memref<32xf32, strided<[1], offset: ?>>
  }
  evo_tile.return
}"""


# An index that is looked through for how it grows takes no time that doubles with
# each op of it.
DEEP = """
evo_tile.kernel @deep(%m: memref<?x32xbf16>, %o: memref<?x32xbf16>) attributes {target = #target, schedule = #schedule, evo_tile.num_extents = 1 : i64} {CONSTANTS
  %n = memref.dim %m, %c0 : memref<?x32xbf16>
  scf.for %i = %c0 to %n step %c64 {
    scf.for %j = %c0 to %c4 step %c1 {
      %x0 = arith.addi %j, %j : index
ADDS
      %x = evo_tile.load %m[%x60, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x32xbf16> -> tensor<16x32xbf16, #rows>
      evo_tile.store %x, %o[%i, %c0] {in_bounds = array<i1: true, true>} : tensor<16x32xbf16, #rows>, memref<?x32xbf16>
    }
  }
  evo_tile.return
}""".replace("ADDS", "\n".join(f"      %x{i + 1} = arith.addi %x{i}, %x{i} : index"
                               for i in range(60)))


def descriptor(number, memory, sizes):
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return [memory, f"ref:{number}", "i64:0", *(f"i64:{n}" for n in sizes + strides)]


def lower(inputs, scratch, kernel, passes):
    with open(scratch + ".source", "w", encoding="utf-8") as file:
        file.write(LAYOUTS + kernel.replace("CONSTANTS", CONSTANTS))
    module = subprocess.run(
        [sys.executable, os.path.join(inputs, "with_target.py"), "sm_80",
         scratch + ".source",
         "block = [1], subgroups = [1, 4, 1], stages = 2, resident = 3"],
        check=True, capture_output=True, text=True).stdout
    lowered = scratch + ".lowered"
    bounded.run(["evoformer-opt", *passes, "--convert-tile-to-gpu",
                 "--convert-gpu-lanes-to-llvm", "-o", lowered], input=module,
                check=True)
    return lowered


def run(inputs, scratch, name, kernel, passes, read, written, given, expected):
    """`kernel` on the bytes `given`, in memrefs of the sizes `read` and `written`."""
    lowered = lower(inputs, scratch, kernel, passes)
    with open(scratch + ".in", "wb") as file:
        file.write(given)
    arguments = [*descriptor(0, f"in:{scratch}.in", read),
                 *descriptor(1, f"out:{len(expected)}:{scratch}.out", written), "i64:1"]
    for seed in range(4):
        done = subprocess.run(
            ["evoformer-sim", lowered, f"--kernel={name}", "--grid=1", "--block=128",
             f"--seed={seed}", *(f"--arg={argument}" for argument in arguments)],
            capture_output=True, text=True)
        if done.returncode or done.stderr:
            sys.exit(f"{name}, {passes}, seed {seed}: {done.stderr}")
        with open(scratch + ".out", "rb") as file:
            if file.read() != expected:
                sys.exit(f"{name}, {passes}, seed {seed}: wrong")


inputs, scratch = sys.argv[1:]
STAGED = ("--evo-tile-promote-to-lds",)
for passes in ((), STAGED, (*STAGED, "--evo-tile-software-pipeline")):
    for name, (count, sizes, kernel) in KERNELS.items():
        words = struct.pack(f"<{count}H", *((i * 7919) % 65536 for i in range(count)))
        run(inputs, f"{scratch}.{name}", name, kernel, passes, sizes, sizes, words, words)
numbers = [float(100 + i) for i in range(16)]
rows = numbers + [1.0] * 16 + numbers[4:] + [1.0] * 20
run(inputs, scratch + ".beyond", "beyond", BEYOND, (), [16], [2, 32],
    struct.pack("<16f", *numbers), struct.pack("<64f", *rows))
lower(inputs, scratch + ".deep", DEEP, STAGED)
print("all equal")
