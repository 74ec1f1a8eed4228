# RUN: %python %s %build_dir/bin %examples/triangle_attention.mlir %t
"""Kernels that take pointers and i32 compute what those with descriptors do, bit by
bit."""

import pathlib
import subprocess
import sys

SIZES = {"query": "1x3x40x4x32", "key": "1x3x40x4x32", "value": "1x3x40x4x32",
         "mask": "1x3x1x1x40", "pair": "1x1x4x40x40", "out": "1x3x40x4x32"}


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def main(tools, example, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for target in ("gfx942", "sm_80"):
        outputs = []
        for abi in ("descriptor", "pointers"):
            lowered, out = folder / f"{target}.{abi}.mlir", folder / f"{target}.{abi}.npy"
            run(f"{tools}/evoformer-opt", example, "-o", lowered,
                f"--evoformer-lower=target={target} abi={abi}")
            takes = "evo_tile.pointers" in lowered.read_text()
            assert takes == (abi == "pointers"), f"{target}: abi={abi} changes nothing"
            shapes = [f"--shape=arg{i}={size}" for i, size in enumerate(SIZES.values())]
            run(f"{tools}/evoformer-run", lowered, "--device=sim", f"--target={target}",
                "--random=1", *shapes, f"--output=arg5={out}")
            outputs.append(out.read_bytes())
        assert outputs[0] == outputs[1], f"{target}: the results differ"


main(*sys.argv[1:])
