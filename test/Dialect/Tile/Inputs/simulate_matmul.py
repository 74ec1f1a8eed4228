"""Runs a lowered matrix product in the simulator and compares with exact sums:
`simulate_matmul.py MODULE M N K LANES SCRATCH`.

The inputs are small multiples of 1/8 in half precision, so every sum is exact
in f32. Several interleavings of the subgroups and both times of arrival of
asynchronous copies must give the same, without a finding."""

import struct
import subprocess
import sys


def matrix(rows, columns, p, q):
    return [[((i * p + j * q) % 17 - 8) / 8 for j in range(columns)]
            for i in range(rows)]


def write(name, values, kind):
    flat = [x for row in values for x in row]
    with open(name, "wb") as file:
        file.write(struct.pack(f"<{len(flat)}{kind}", *flat))


def descriptor(number, memory, rows, columns):
    """The arguments of a memref in the memory with this number."""
    return [memory, f"ref:{number}", "i64:0", f"i64:{rows}", f"i64:{columns}",
            f"i64:{columns}", "i64:1"]


def main(module, m, n, k, lanes, scratch):
    m, n, k = int(m), int(n), int(k)
    a, b = matrix(m, k, 5, 7), matrix(k, n, 7, 1)
    write(scratch + ".a", a, "e")
    write(scratch + ".b", b, "e")
    columns = list(zip(*b))
    expected = [sum(x * y for x, y in zip(row, column))
                for row in a for column in columns]
    items = -(-m // 64), -(-n // 64)
    arguments = (descriptor(0, f"in:{scratch}.a", m, k) +
                 descriptor(1, f"in:{scratch}.b", k, n) +
                 descriptor(2, f"out:{m * n * 4}:{scratch}.c", m, n) +
                 [f"i64:{extent}" for extent in items])
    for seed, copies in [(0, "late"), (0, "early"), (1, "late"), (2, "early"),
                         (3, "late")]:
        done = subprocess.run(
            ["evoformer-sim", module, "--kernel=matmul",
             f"--grid={items[0] * items[1]}", f"--block={lanes}",
             f"--seed={seed}", f"--copies={copies}",
             *(f"--arg={argument}" for argument in arguments)],
            capture_output=True, text=True)
        if done.returncode or done.stderr:
            sys.exit(f"seed {seed}, copies {copies}: {done.stderr}")
        with open(scratch + ".c", "rb") as file:
            got = struct.unpack(f"<{m * n}f", file.read())
        wrong = sum(x != y for x, y in zip(got, expected))
        if wrong:
            sys.exit(f"seed {seed}, copies {copies}: {wrong} of {m * n} wrong")
    print(f"{m} x {n} x {k}: right")


main(*sys.argv[1:])
