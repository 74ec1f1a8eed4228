"""Runs kernels `@twice` in the simulator, which copy blocks of rows asynchronously and
store twice what they read, and looks whether each of their waits and barriers is
needed."""

import re
import struct
import subprocess
import sys

# Of the subgroups' interleavings, and when copies arrive.
RUNS = ((0, "late"), (0, "early"), (1, "late"), (2, "early"), (3, "late"))


def opt(text, *passes):
    done = subprocess.run(["evoformer-opt", "-", *passes], input=text,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def outcomes(kernel, lanes, rows, columns, maps, scratch):
    """For each run of a kernel in a workgroup of so many lanes the first finding, or
    what is wrong with the numbers, if anything. `maps` are the tensor maps that it
    takes, as arguments of the simulator."""
    with open(scratch + ".mlir", "w", encoding="utf-8") as file:
        file.write(opt(kernel, "--convert-tile-to-gpu", "--convert-gpu-lanes-to-llvm"))
    values = [(i * 7 % 101 - 50) / 8 for i in range(rows * columns)]
    with open(scratch + ".in", "wb") as file:
        file.write(struct.pack(f"<{len(values)}f", *values))

    def matrix(number, memory):
        return [memory, f"ref:{number}", "i64:0", f"i64:{rows}", f"i64:{columns}",
                f"i64:{columns}", "i64:1"]

    arguments = [*matrix(0, f"in:{scratch}.in"),
                 *matrix(1, f"out:{4 * len(values)}:{scratch}.out"), "i64:1", *maps]
    for seed, copies in RUNS:
        done = subprocess.run(
            ["evoformer-sim", scratch + ".mlir", "--kernel=twice", "--grid=1",
             f"--block={lanes}", f"--seed={seed}", f"--copies={copies}",
             *(f"--arg={argument}" for argument in arguments)],
            capture_output=True, text=True)
        if done.returncode or done.stderr:
            yield done.stderr
            continue
        with open(scratch + ".out", "rb") as file:
            got = struct.unpack(f"<{len(values)}f", file.read())
        yield "" if list(got) == [2 * x for x in values] else "wrong numbers"


def without(text, op):
    """The programs that each lack one line with this op."""
    for match in re.finditer(rf"^ *evo_tile\.{op}\b.*\n", text, re.M):
        yield text[:match.start()] + text[match.end():]


def problems_of(kernel, needed, *execution):
    """What is wrong with a kernel: each finding, and each op named in `needed` without
    which there is none. `execution` is what `outcomes` takes behind the kernel."""
    problems = [outcome for outcome in outcomes(kernel, *execution) if outcome]
    for op in needed:
        for number, broken in enumerate(without(kernel, op)):
            if not any(finding in outcome for outcome in outcomes(broken, *execution)
                       for finding in ("not awaited", "race", "deadlock")):
                problems.append(f"not missed: {op} {number}")
    return problems
