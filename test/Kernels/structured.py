# RUN: mkdir -p %t && %python %s %build_dir %t %llvm_prefix/bin %S/Inputs
"""Kernels of structured ops compute what the ops say: on this CPU, and on drivers
over the simulator for NVIDIA and AMD."""

import math
import os
import subprocess
import sys

import gpu_program
import numpy as np

build, folder, llvm, inputs = sys.argv[1:5]
draw = np.random.default_rng(11)


def normal(*shape, kind=np.float32):
    return draw.standard_normal(shape).astype(kind)


x, w, y = normal(20, 70), normal(70, 33), normal(20, 33)
x16, w16 = normal(20, 70, kind=np.float16), normal(33, 70, kind=np.float16)
cube, sums = normal(5, 19, 70), normal(19)
row, most = normal(1, 70), np.zeros((21, 1), np.float32)
p, q = normal(17, 66), normal(66, 17)
narrow, narrow2 = normal(3, 70, kind=np.float16), normal(3, 70, kind=np.float16)
words = draw.integers(-9, 9, (5, 9))
wide = {name: array.astype(np.float64) for name, array in
        dict(x=x, w=w, y=y, x16=x16, w16=w16, cube=cube, sums=sums).items()}

# Arguments, and what some of them are afterwards, with its bound.
CASES = {
    "product_of_functions": ([x, w, y], {2: (wide["y"] - np.exp(wide["x"]) @ wide["w"], 2e-5)}),
    "product_of_one": ([x, w, y], {2: (wide["y"] + (wide["x"]**2).sum(1, keepdims=True), 2e-5)}),
    "product_turned": ([x16, w16, y], {2: (wide["y"] + wide["x16"] @ wide["w16"].T, 2e-5)}),
    "sum_of_two": ([cube, sums], {1: (wide["sums"] + wide["cube"].sum((0, 2)), 2e-5)}),
    "largest": ([row, most], {1: (np.maximum(most, row.max()), 0)}),
    "exchange": ([p, q], {0: (q.T, 0), 1: (p.T, 0)}),
    "functions": ([narrow, narrow2],
                  {0: (np.tanh(narrow.astype(float)), 1e-3),
                   1: (np.vectorize(math.erf)(narrow2.astype(float)), 1e-3)}),
    "nothing": ([np.zeros((0, 8), np.float32), sums[:8]], {1: (sums[:8], 0)}),
    "captured": ([words, 7], {0: (words * 7, 0)}),
}


def judge(program, where):
    for name, (arrays, expected) in CASES.items():
        after = program.call(name, [
            array if isinstance(array, int) else array.copy() for array in arrays])
        for number, (exact, most_error) in expected.items():
            result = after[number].astype(np.float64)

            def error():
                return np.abs(result - exact).max() / np.abs(exact).max()

            print(f"{name} {number} {where}: {error():.1e}")
            assert error() <= most_error, name
            result.flat[-1] += 0.1  # it can fail
            assert error() > most_error, name


module = f"{inputs}/structured.mlir"
if len(sys.argv) == 5:
    gpu_program.compile_for_host(module, f"{folder}/cpu.so", f"{build}/bin", llvm,
                                 "evoformer-lower{target=cpu linalg-kernels}")
    judge(gpu_program.HostProgram(f"{folder}/cpu.so"), "cpu")
    # A process has one driver.
    for chip in ("sm_80", "gfx942"):
        subprocess.run([sys.executable, *sys.argv, chip], check=True)
else:
    chip = sys.argv[5]
    os.environ["EVOFORMER_GPU"] = kind = "cuda" if chip == "sm_80" else "hip"
    os.environ["EVOFORMER_GPU_DRIVER"] = (
        f"{build}/test/lib/libEvoformerSimulated-{kind}.so")
    gpu_program.compile_program(module, chip, f"{folder}/{chip}.so", f"{build}/bin",
                                llvm, form="mlir")
    judge(gpu_program.Program(f"{folder}/{chip}.so",
                              f"{build}/lib/libevoformer_gpu_runtime.so"), chip)
