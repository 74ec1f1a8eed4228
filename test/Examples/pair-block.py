# RUN: mkdir -p %t && %python %s %source_dir %build_dir %t %llvm_prefix/bin
"""The block of a network, attention and all around it, agrees with f64: run by
evoformer-run on this CPU, in the simulator, and as a whole program on a driver."""

import os
import pathlib
import subprocess
import sys

import gpu_program
import numpy as np

source, build, folder, llvm = sys.argv[1:]
LENGTH = 20  # no multiple of any block
TEXT = (pathlib.Path(source) / "examples/pair_block.mlir").read_text()
MODULE = pathlib.Path(folder) / "pair_block.mlir"
MODULE.write_text(TEXT.replace("4096", str(LENGTH**2)).replace("64x", f"{LENGTH}x")
                  .replace("[64, 64,", f"[{LENGTH}, {LENGTH},")
                  .replace("[1, 64, 64,", f"[1, {LENGTH}, {LENGTH},")
                  .replace("4, 64, 64]", f"4, {LENGTH}, {LENGTH}]"))

draw = np.random.default_rng(5)


def normal(*shape, scale=1.0):
    return (draw.standard_normal(shape) * scale).astype(np.float32)


arrays = {"pair": normal(LENGTH, LENGTH, 128),
          "mask": draw.random((1, LENGTH, 1, 1, LENGTH)) < 0.8,
          "gamma": normal(128), "beta": normal(128)}
arrays |= {f"w_{name}": normal(128, 128, scale=128**-0.5)
           for name in ("query", "key", "value", "gate")}
arrays["w_bias"] = normal(128, 4, scale=128**-0.5)
arrays["w_out"] = normal(128, 128, scale=128**-0.5)
arrays["w_in"] = normal(128, 512, scale=128**-0.5)
arrays["w_back"] = normal(512, 128, scale=512**-0.5)


def reference():
    a = {name: array.astype(np.float64) for name, array in arrays.items()}

    def norm(x):
        d = x - x.mean(-1, keepdims=True)
        return d / np.sqrt((d**2).mean(-1, keepdims=True) + 1e-5) * a["gamma"] + a["beta"]

    x = norm(a["pair"])
    q, k, v, g = ((x @ a[f"w_{name}"]).reshape(LENGTH, LENGTH, 4, 32)
                  for name in ("query", "key", "value", "gate"))
    logits = np.einsum("nihd,njhd->nhij", q, k) / 32**0.5
    logits += (x @ a["w_bias"]).transpose(2, 0, 1)
    logits = np.where(arrays["mask"].reshape(LENGTH, 1, 1, LENGTH), logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    o = np.einsum("nhij,njhd->nihd", weights, v) / (1 + np.exp(-g))
    between = a["pair"] + o.reshape(LENGTH, LENGTH, 128) @ a["w_out"]
    y = norm(between)
    return between + np.maximum(y @ a["w_in"], 0) @ a["w_back"]


exact = reference()


def judge(name, result):
    # All is f32: sums of 128 and 512 products of numbers about 1 after another.
    error = np.abs(result - exact).max() / np.abs(exact).max()
    print(name, f"largest error {error:.1e} of the largest element")
    assert error < 2e-5, name
    assert not np.abs(np.roll(result, 1, 0) - exact).max() < 1  # it can fail


def run(options):
    command = ["evoformer-run", MODULE, f"--shape=out={LENGTH}x{LENGTH}x128",
               f"--output=out={folder}/out.npy", *options]
    for name, array in arrays.items():
        np.save(f"{folder}/{name}.npy", array)
        command.append(f"--input={name}={folder}/{name}.npy")
    done = subprocess.run([str(word) for word in command], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    judge(" ".join(options) or "cpu", np.load(f"{folder}/out.npy"))


run([])
run(["--device=sim", "--target=gfx942"])
os.environ["EVOFORMER_GPU"] = "cuda"
os.environ["EVOFORMER_GPU_DRIVER"] = f"{build}/test/lib/libEvoformerSimulated-cuda.so"
library = f"{folder}/pair_block.so"
gpu_program.compile_program(str(MODULE), "sm_80", library, f"{build}/bin", llvm,
                            form="mlir")
program = gpu_program.Program(library, f"{build}/lib/libevoformer_gpu_runtime.so")
*_, result = program.call("pair_block", [*arrays.values(), np.zeros_like(arrays["pair"])])
judge("sm_80, whole program", result)
