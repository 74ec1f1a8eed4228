# General kernels on a GPU: matrix products, softmax and layer normalisation in
# several shapes, odd ones included, with guard zones around every buffer and
# two runs of equal bits.
#
# REQUIRES: cuda-device
# RUN: %python %s %source_dir %t cuda sm_80 | FileCheck %s

# CHECK-COUNT-14: right
# CHECK-NOT: {{.}}
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from tiles import run, tiles

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
device, chip = sys.argv[3], sys.argv[4]
work.mkdir(parents=True, exist_ok=True)
generator = np.random.default_rng(0)


def save(name, array, bf16=False):
    """bf16 is the upper half of f32."""
    if bf16:
        array = (array.view(np.uint32) >> 16).astype(np.uint16).view("V2")
    np.save(work / f"{name}.npy", array)


def launch(kernel, inputs, output, shape):
    module = work / f"{kernel}.mlir"
    module.write_text(tiles(source, kernel, chip))
    result = work / "result.npy"
    run("evoformer-run", module, f"--target={chip}", f"--device={device}",
        "--guard-bytes=4096", "--check",
        *(f"--input={name}={work / name}.npy" for name in inputs),
        f"--shape={output}={'x'.join(map(str, shape))}",
        f"--output={output}={result}")
    return np.load(result)


def matmul(m, n, k):
    # Small multiples of 1/8: exact in bf16, and so are all sums in f32.
    a, b = ((generator.integers(-8, 9, size) / 8).astype(np.float32)
            for size in ((m, k), (k, n)))
    save("a", a, bf16=True)
    save("b", b, bf16=True)
    c = launch("matmul", ["a", "b"], "c", (m, n))
    return np.array_equal(c, a @ b)


def softmax(rows, columns):
    x = generator.standard_normal((rows, columns)).astype(np.float32)
    save("x", x)
    y = launch("softmax", ["x"], "y", x.shape)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return np.abs(y - e / e.sum(axis=1, keepdims=True)).max() < 1e-6


def layer_norm(rows, columns):
    x, gamma, beta = (generator.standard_normal(size).astype(np.float32)
                      for size in ((rows, columns), columns, columns))
    for name, array in (("x", x), ("gamma", gamma), ("beta", beta)):
        save(name, array)
    y = launch("layer_norm", ["x", "gamma", "beta"], "y", x.shape)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    return np.abs(y - (centred / deviation * gamma + beta)).max() < 1e-5


def l2_norm(rows, columns):
    x = generator.standard_normal((rows, columns)).astype(np.float32)
    x[::5] *= np.float32(2.0**80)
    save("x", x)
    y = launch("l2_norm", ["x"], "y", x.shape)
    wide = x.astype(np.float64)
    norm = np.sqrt((wide**2).sum(axis=1, keepdims=True))
    return np.abs(y - wide / norm).max() < 4e-6


ROWS = ((64, 256), (33, 70), (16, 65))
SIZES = {matmul: ((128, 128, 64), (64, 192, 96), (65, 33, 17), (1, 1, 1),
                  (1000, 777, 555)),
         softmax: ROWS, layer_norm: ROWS, l2_norm: ROWS}
for kernel, sizes in SIZES.items():
    for size in sizes:
        if not kernel(*size):
            sys.exit(f"wrong: {kernel.__name__} {size}")
        print("right", flush=True)
