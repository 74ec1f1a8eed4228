# RUN: mkdir -p %t && %python %s %build_dir/bin %t %examples/tiles
"""The examples of kernels of one's own on the tile dialect: on this CPU, and as machine
code of several chips in the simulator, with rows that fill no block and columns that fill
no step."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np

tools, folder, examples = sys.argv[1:]
draw = np.random.default_rng(5)
# Chips whose copies differ, and one whose products are of several subgroups.
CHIPS = ("gfx942", "gfx1201", "sm_80", "sm_90")


def run(name, inputs, output, shape, chip):
    """The output of the example's function for these arrays."""
    words = []
    for key, array in inputs.items():
        path = os.path.join(folder, f"{key}.npy")
        # NumPy's files have no name for bf16.
        np.save(path, array.view("V2") if array.dtype == ml_dtypes.bfloat16 else array)
        words.append(f"--input={key}={path}")
    result = os.path.join(folder, f"{output}.npy")
    where = [f"--target={chip}", "--device=sim"] if chip != "cpu" else []
    subprocess.run([os.path.join(tools, "evoformer-run"), os.path.join(examples, f"{name}.mlir"),
                    *where, "--guard-bytes=4096", *words,
                    f"--shape={output}={'x'.join(map(str, shape))}",
                    f"--output={output}={result}"], check=True, stdout=subprocess.DEVNULL)
    return np.load(result).astype(np.float64)


def product(chip):
    # Small multiples of 1/8: exact in bf16, and so are all sums in f32.
    a, b = ((draw.integers(-8, 9, size) / 8).astype(ml_dtypes.bfloat16)
            for size in ((137, 200), (200, 264)))
    c = run("matmul", {"a": a, "b": b}, "c", (137, 264), chip)
    return c - a.astype(np.float64) @ b.astype(np.float64), 0


def weights(chip, columns):
    x = draw.standard_normal((13, columns)).astype(np.float32) * 3
    # A row that begins with more than a step of nothing, if it is that long.
    x[3, :columns * 4 // 5] = -np.inf
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return run("softmax", {"x": x}, "y", x.shape, chip) - wide / wide.sum(1, keepdims=True), 1e-6


def normalized(chip, columns):
    x, gamma, beta = (draw.standard_normal(size).astype(np.float32)
                      for size in ((13, columns), columns, columns))
    wide = x.astype(np.float64)
    wide = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    y = run("layer_norm", {"x": x, "gamma": gamma, "beta": beta}, "y", x.shape, chip)
    return y - (wide * gamma + beta), 1e-5


for chip in ("cpu", *CHIPS):
    for name, (wrong, most) in (("matmul", product(chip)), ("softmax", weights(chip, 68)),
                                ("softmax, long", weights(chip, 1300)),
                                ("layer_norm", normalized(chip, 68)),
                                ("layer_norm, long", normalized(chip, 1300))):
        print(f"{name} {chip}: {abs(wrong).max():.1e}")
        assert abs(wrong).max() <= most, name
