# What the simulator's silence is worth: small defects in a lowered matmul, drawn
# with a fixed seed, are reported by a finding or by a wrong number of at least
# one size. What lies between the rows is NaN, and so is the first element, to
# which loads outside of a matrix fall back: a lost mask shows.
#
# RUN: %python %s %source_dir %t | FileCheck %s

# CHECK:      gfx942: enough
# CHECK-NEXT: gfx1100: enough
# CHECK-NEXT: sm_80: enough
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from simulation import CHIPS, Arguments, bf16, lower, run

COUNT = 200
SIZES = ((65, 70, 49), (40, 27, 17), (23, 90, 79))
GAP = 15
NAN = 0x7fc0


def padded(rows, columns, value):
    """Row-major bf16 with a gap of NaN behind each row but the last."""
    values = [bf16(value(i, j)) if j < columns and i + j > 0 else NAN
              for i in range(rows) for j in range(columns + GAP)]
    return values[:-GAP]


def survivors(lowered, threads, m, n, k):
    """The defects that stay unnoticed at one size."""
    arguments = Arguments()
    arguments.read("H", padded(m, k, lambda i, l: ((3 * i + 5 * l) % 17 - 8) / 8),
                   m, k, strides=(k + GAP, 1))
    arguments.read("H", padded(k, n, lambda l, j: ((7 * l + 2 * j) % 13 - 6) / 8),
                   k, n, strides=(n + GAP, 1))
    arguments.write(4, m, n)
    space = (-(-m // 64), -(-n // 64))
    words = [*arguments.words, *(f"i64:{size}" for size in space)]
    report = run("evoformer-sim", lowered, "--kernel=matmul",
                 f"--grid={space[0] * space[1]}", f"--block={threads}",
                 f"--mutants={COUNT}", "--seed=7",
                 *(f"--arg={w}" for w in words))
    lines = report.splitlines()
    total = next(line for line in lines if line.startswith("total")).split()
    found, wrong, refused, survived = map(int, total[1:])
    # A mutant that cannot run says nothing about the simulator.
    assert found + wrong + refused + survived == COUNT and refused == 0, report
    return {line for line in lines if line.startswith("survived: ")}


for chip in CHIPS:
    lowered, threads = lower("matmul", chip)
    unnoticed = set.intersection(
        *(survivors(lowered, threads, *size) for size in SIZES))
    enough = len(unnoticed) <= COUNT // 20
    print(f"{chip}: {'enough' if enough else 'too few reported'}", flush=True)
    print(chip, len(unnoticed), *sorted(unnoticed), sep="\n", file=sys.stderr)
