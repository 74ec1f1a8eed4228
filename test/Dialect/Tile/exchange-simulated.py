# RUN: %python %s %S/Inputs %t
"""Conversions between layouts and reductions that need elements of other
subgroups, executed: exact numbers under several interleavings, no race."""

import os
import struct
import subprocess
import sys

import targets

PASSES = ("--evo-tile-promote-to-lds", "--convert-tile-to-gpu",
          "--convert-gpu-lanes-to-llvm")
TIMES = 3


def check(chip, subgroup, inputs, scratch):
    size = subgroup // 2
    with open(os.path.join(inputs, "exchange.mlir"), encoding="utf-8") as file:
        source = file.read()
    source = source.replace("LANES", str(subgroup // 8)).replace("SIZE", str(size))
    with open(scratch + ".source", "w", encoding="utf-8") as file:
        file.write(source)
    module = subprocess.run(
        [sys.executable, os.path.join(inputs, "with_target.py"), chip,
         scratch + ".source",
         "block = [1], subgroups = [1, 4, 1], stages = 1"],
        check=True, capture_output=True, text=True).stdout
    lowered = scratch + ".lowered"
    subprocess.run(["evoformer-opt", *PASSES, "-o", lowered], input=module,
                   check=True, text=True)

    values = [((i * 7 + 3) % 23 - 11) / 8 for i in range(size * 32)]
    with open(scratch + ".in", "wb") as file:
        file.write(struct.pack(f"<{len(values)}f", *values))
    expected = ([TIMES * x for x in values],
                [1.0 if x > 0.25 else 0.0 for x in values],
                [sum(values[i] for i in range(column, len(values), 32))
                 for column in range(32)])

    def matrix(number, memory):
        return [memory, f"ref:{number}", "i64:0", f"i64:{size}", "i64:32",
                "i64:32", "i64:1"]

    outputs = [f"{scratch}.out{i}" for i in range(3)]
    full = size * 32 * 4
    arguments = (matrix(0, f"in:{scratch}.in") +
                 matrix(1, f"out:{full}:{outputs[0]}") +
                 matrix(2, f"out:{full}:{outputs[1]}") +
                 [f"out:128:{outputs[2]}", "ref:3", "i64:0", "i64:32", "i64:1",
                  f"i64:{TIMES}", "i64:1"])
    for seed in range(4):
        done = subprocess.run(
            ["evoformer-sim", lowered, "--kernel=exchange", "--grid=1",
             f"--block={4 * subgroup}", f"--seed={seed}",
             *(f"--arg={argument}" for argument in arguments)],
            capture_output=True, text=True)
        if done.returncode or done.stderr:
            sys.exit(f"{chip}, seed {seed}: {done.stderr}")
        for name, wanted in zip(outputs, expected):
            with open(name, "rb") as file:
                got = struct.unpack(f"<{len(wanted)}f", file.read())
            if list(got) != wanted:
                sys.exit(f"{chip}, seed {seed}: {name} is wrong")


for chip in targets.gpus():
    check(chip, targets.subgroup_size(chip), sys.argv[1],
          f"{sys.argv[2]}.{chip}")
print("all exact")
