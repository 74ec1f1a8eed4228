# General kernels, lowered for every GPU, run in the simulator: the numbers are
# right and nothing is found, under several interleavings and both landings of
# asynchronous copies.
#
# RUN: %python %s %source_dir %t | FileCheck %s

# CHECK-COUNT-36: right
# CHECK-NOT: {{.}}
import array
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from simulation import CHIPS, Arguments, bf16, lower, run, work


def simulate(kernel, lowered, threads, arguments, space, check):
    """Runs the kernel three times and checks each output."""
    words = [*arguments.words, *(f"i64:{n}" for n in space)]
    for options in ([], ["--seed=1"], ["--seed=2", "--copies=early"]):
        run("evoformer-sim", lowered, f"--kernel={kernel}",
            f"--grid={math.prod(space)}", f"--block={threads}", *options,
            *(f"--arg={w}" for w in words))
        out = array.array("f", (work / "out.bin").read_bytes())
        check(out)


def expect(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def matmul(chip):
    lowered, threads = lower("matmul", chip)
    for m, n, k in ((128, 128, 64), (64, 192, 96), (65, 33, 17), (1, 1, 1)):
        a = [[((3 * i + 5 * l) % 17 - 8) / 8 for l in range(k)]
             for i in range(m)]
        b = [[((7 * l + 2 * j) % 13 - 6) / 8 for j in range(n)]
             for l in range(k)]
        arguments = Arguments()
        arguments.read("H", [bf16(x) for row in a for x in row], m, k)
        arguments.read("H", [bf16(x) for row in b for x in row], k, n)
        arguments.write(4, m, n)
        columns = list(zip(*b))
        # Every product and sum is a small multiple of 1/64: exact.
        expected = [sum(x * y for x, y in zip(row, column))
                    for row in a for column in columns]
        simulate("matmul", lowered, threads, arguments,
                 (-(-m // 64), -(-n // 64)),
                 lambda out: expect(list(out) == expected,
                                    f"matmul {chip} {m} {n} {k}"))
        print("right", flush=True)


def close(out, expected):
    return all(abs(x - y) <= 4e-6 * max(1, abs(y))
               for x, y in zip(out, expected, strict=True))


def softmax(chip):
    lowered, threads = lower("softmax", chip)
    for rows, columns in ((64, 256), (33, 70), (1, 1), (16, 65)):
        random.seed(1)
        x = array.array("f", [random.gauss(0, 3)
                              for _ in range(rows * columns)])
        expected = []
        for r in range(rows):
            row = x[r * columns:(r + 1) * columns]
            top = max(row)
            powers = [math.exp(v - top) for v in row]
            expected += [p / sum(powers) for p in powers]
        arguments = Arguments()
        arguments.read("f", x, rows, columns)
        arguments.write(4, rows, columns)
        simulate("softmax", lowered, threads, arguments, (-(-rows // 16),),
                 lambda out: expect(close(out, expected),
                                    f"softmax {chip} {rows} {columns}"))
        print("right", flush=True)


def layer_norm(chip):
    lowered, threads = lower("layer_norm", chip)
    epsilon = 1e-5
    for rows, columns in ((64, 256), (33, 70), (1, 1), (16, 65)):
        random.seed(2)
        draw = lambda n: array.array("f", [random.gauss(0, 1)
                                           for _ in range(n)])
        x, gamma, beta = draw(rows * columns), draw(columns), draw(columns)
        expected = []
        for r in range(rows):
            row = x[r * columns:(r + 1) * columns]
            mean = sum(row) / columns
            variance = sum((v - mean) ** 2 for v in row) / columns
            scale = 1 / math.sqrt(variance + epsilon)
            expected += [(v - mean) * scale * g + b
                         for v, g, b in zip(row, gamma, beta)]
        arguments = Arguments()
        arguments.read("f", x, rows, columns)
        arguments.read("f", gamma, columns)
        arguments.read("f", beta, columns)
        arguments.write(4, rows, columns)
        arguments.words.append(f"f32:{epsilon}")
        simulate("layer_norm", lowered, threads, arguments, (-(-rows // 16),),
                 lambda out: expect(close(out, expected),
                                    f"layer_norm {chip} {rows} {columns}"))
        print("right", flush=True)


for chip in CHIPS:
    matmul(chip)
    softmax(chip)
    layer_norm(chip)
