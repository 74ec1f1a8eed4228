# The general kernels of test/Kernels as launches of evoformer-sim: lowered,
# with inputs and what the output must be.
import array
import math
import pathlib
import random
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Kernels/Inputs"))
from tiles import CHIPS, STEPS, run, tiles

PASSES = (f"builtin.module({','.join(STEPS)},convert-tile-to-gpu,canonicalize,"
          "cse,gpu.module(convert-gpu-lanes-to-llvm))")
# Elements between two rows of an input; they hold NaN.
GAP = 15
NAN = math.nan


def bf16(value):
    """The upper half of the f32; exact for the values used here."""
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


class Launch:
    """A kernel of a chip on inputs of some size. With `poison` the first
    element of each input, to which loads outside of a tile fall back, is NaN:
    a lost mask shows, but the output is not what `expected` says."""

    def __init__(self, source, work, kernel, chip, poison=False):
        self.kernel, self.work, self.poison = kernel, work, poison
        self.lowered = work / f"{kernel}.{chip}.mlir"
        if not self.lowered.exists():
            start = work / f"{kernel}.{chip}.tiles.mlir"
            start.write_text(tiles(source, kernel, chip))
            run("evoformer-opt", start, f"--pass-pipeline={PASSES}", "-o",
                self.lowered)
        self.threads = int(re.search(
            r"gpu.known_block_size = array<i32: (\d+)",
            self.lowered.read_text()).group(1))
        self.words, self.memories = [], 0
        self.out = work / f"{kernel}.{chip}.out"

    def memref(self, spec, sizes, strides):
        """An expanded descriptor."""
        self.words += [spec, f"ref:{self.memories}"]
        self.words += [f"i64:{n}" for n in (0, *sizes, *strides)]
        self.memories += 1

    def read(self, typecode, rows, gap=GAP):
        """An input of one or, given a list of lists, two dimensions."""
        vector = not isinstance(rows[0], list)
        rows = [rows] if vector else rows
        columns = len(rows[0])
        values = [x for row in rows for x in row + [NAN] * gap]
        values = values[:len(values) - gap]
        if self.poison and not vector:
            values[0] = NAN
        if typecode == "H":
            values = [bf16(x) for x in values]
        file = self.work / f"{self.kernel}.in{self.memories}"
        file.write_bytes(array.array(typecode, values).tobytes())
        sizes = (columns,) if vector else (len(rows), columns)
        self.memref(f"in:{file}", sizes, (columns + gap, 1)[-len(sizes):])

    def write(self, rows, columns):
        self.memref(f"out:{4 * rows * columns}:{self.out}", (rows, columns),
                    (columns, 1))

    def command(self, lowered, *options):
        arguments = [*self.words, *(f"i64:{n}" for n in self.space)]
        return ["evoformer-sim", str(lowered), f"--kernel={self.kernel}",
                f"--grid={math.prod(self.space)}", f"--block={self.threads}",
                *options, *(f"--arg={w}" for w in arguments)]

    def run(self, *options):
        return run(*self.command(self.lowered, *options))

    def is_right(self):
        out = array.array("f", self.out.read_bytes())
        return all(abs(x - y) <= self.tolerance * max(1, abs(y))
                   for x, y in zip(out, self.expected, strict=True))


def matmul(launch, m, n, k):
    a = [[((3 * i + 5 * l) % 17 - 8) / 8 for l in range(k)] for i in range(m)]
    b = [[((7 * l + 2 * j) % 13 - 6) / 8 for j in range(n)] for l in range(k)]
    launch.read("H", a)
    launch.read("H", b)
    launch.write(m, n)
    launch.space = (-(-m // 64), -(-n // 64))
    # Every product and sum is a small multiple of 1/64: exact.
    columns = list(zip(*b))
    launch.expected = [sum(x * y for x, y in zip(row, column))
                       for row in a for column in columns]
    launch.tolerance = 0


def draw(count, deviation=1):
    return list(array.array("f", [random.gauss(0, deviation)
                                  for _ in range(count)]))


def softmax(launch, rows, columns):
    random.seed(1)
    x = [draw(columns, 3) for _ in range(rows)]
    # Each row's maximum elsewhere, so that losing any column's shows.
    for r, row in enumerate(x):
        row[(5 * r + 3) % columns] += 12
    launch.read("f", x)
    launch.write(rows, columns)
    launch.space = (-(-rows // 16),)
    launch.expected = []
    for row in x:
        powers = [math.exp(v - max(row)) for v in row]
        launch.expected += [p / sum(powers) for p in powers]
    launch.tolerance = 4e-6


def layer_norm(launch, rows, columns):
    random.seed(2)
    epsilon = 1e-5
    x = [draw(columns) for _ in range(rows)]
    gamma, beta = draw(columns), draw(columns)
    launch.read("f", x)
    launch.read("f", gamma)
    launch.read("f", beta)
    launch.write(rows, columns)
    launch.words.append(f"f32:{epsilon}")
    launch.space = (-(-rows // 16),)
    launch.expected = []
    for row in x:
        mean = sum(row) / columns
        variance = sum((v - mean) ** 2 for v in row) / columns
        scale = 1 / math.sqrt(variance + epsilon)
        launch.expected += [(v - mean) * scale * g + b
                            for v, g, b in zip(row, gamma, beta)]
    launch.tolerance = 4e-6


def l2_norm(launch, rows, columns):
    random.seed(3)
    # Squares of every fifth row overflow.
    x = [draw(columns, 2.0 ** (0 if row % 5 else 80)) for row in range(rows)]
    launch.read("f", x)
    launch.write(rows, columns)
    launch.space = (-(-rows // 16),)
    launch.expected = [v / math.hypot(*row) for row in x for v in row]
    launch.tolerance = 4e-6


KERNELS = {"matmul": matmul, "softmax": softmax, "layer_norm": layer_norm,
           "l2_norm": l2_norm}


def prepare(source, work, kernel, chip, sizes, poison=False):
    work.mkdir(parents=True, exist_ok=True)
    launch = Launch(source, work, kernel, chip, poison)
    KERNELS[kernel](launch, *sizes)
    return launch
