# RUN: mkdir -p %t && %python %s %build_dir %t %llvm_prefix/bin
"""The block of a network, attention and all around it, and its gradients agree with
f64: run by evoformer-run on this CPU, in the simulator, and as whole programs on a
driver over the simulator."""

import os
import pathlib
import subprocess
import sys

import gpu_program
import numpy as np
import pair_block

build, folder, llvm = sys.argv[1:]
LENGTH = 12  # no multiple of any block, and neither is its square

arrays, out_grad = pair_block.make_arrays(LENGTH)
outputs, gradients = pair_block.expected(arrays, out_grad)
# The gradients are those of the output.
double, draw = pair_block.widen(arrays), np.random.default_rng(6)
for name, gradient in gradients.items():
    way = draw.standard_normal(gradient.shape)
    ahead, back = (
        (pair_block.reference(double | {name: double[name] + step * way},
                              out_grad)[0] * out_grad).sum()
        for step in (1e-6, -1e-6))
    slope, expected = (ahead - back) / 2e-6, (gradient * way).sum()
    assert abs(slope - expected) < 1e-4 * np.linalg.norm(gradient), name


def judge(where, found, wanted):
    for name, error in pair_block.errors(found, wanted).items():
        print(where, name, f"largest error {error:.1e} of the largest element")
        assert error < pair_block.MOST_ERROR, (where, name)
    moved = {name: np.roll(array, 1, 0) for name, array in found.items()}
    assert min(pair_block.errors(moved, wanted).values()) > 0.1  # it can fail


os.environ["EVOFORMER_GPU"] = "cuda"
os.environ["EVOFORMER_GPU_DRIVER"] = f"{build}/test/lib/libEvoformerSimulated-cuda.so"
for example, given, wanted, suffix in (
        ("pair_block", arrays, outputs, ""),
        ("pair_block_backward", arrays | {"out_grad": out_grad}, gradients,
         "_grad_out")):
    module = pathlib.Path(folder) / f"{example}.mlir"
    module.write_text(pair_block.resized(example, LENGTH))
    for options in ([], ["--device=sim", "--target=gfx942"]):
        done = subprocess.run(
            pair_block.command("evoformer-run", module, folder, given, wanted, suffix,
                               options), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        judge(" ".join([example, *options]), pair_block.results(folder, wanted), wanted)
    library = f"{folder}/{example}.so"
    gpu_program.compile_program(str(module), "sm_80", library, f"{build}/bin", llvm,
                                form="mlir")
    program = gpu_program.Program(library,
                                  f"{build}/lib/libevoformer_gpu_runtime.so")
    empty = [np.zeros(array.shape, np.float32) for array in wanted.values()]
    after = program.call(example, [*given.values(), *empty])
    judge(f"{example}, sm_80, whole program",
          dict(zip(wanted, after[len(given):])), wanted)
