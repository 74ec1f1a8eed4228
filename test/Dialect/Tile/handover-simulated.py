# RUN: mkdir -p %t && %python %s %S/Inputs %t
"""Pipelined loops whose kernels hand over what they store themselves, executed: no
subgroup reads what another one has not written yet."""

import pathlib
import subprocess
import sys

inputs, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
# Of each kernel the schedule, what lanes there are, and rows and columns of memory.
KERNELS = {
    "group": ("block = [64], subgroups = [1, 4, 1], stages = 2, products = group", 128,
              ((256, 16), (16, 64)), ((256, 64),)),
    "barrier": ("block = [64], subgroups = [1, 16, 1], stages = 2", 512,
                ((256, 128), (64, 32), (64, 32)), ((64, 32), (256, 128))),
    "view": ("block = [64], subgroups = [1, 16, 1], stages = 2", 512,
             ((256, 128), (64, 32), (64, 32)), ((64, 32), (256, 128)))}
PASSES = ("--evo-tile-software-pipeline", "--convert-tile-to-gpu",
          "--convert-gpu-lanes-to-llvm")
zeros = folder / "zeros"
zeros.write_bytes(bytes(256 * 128 * 4))

for name, (schedule, lanes, read, written) in KERNELS.items():
    module = subprocess.run(
        [sys.executable, inputs / "with_target.py", "sm_90",
         inputs / f"handover-{name}.mlir", schedule],
        check=True, capture_output=True, text=True).stdout
    lowered = folder / f"{name}.mlir"
    subprocess.run(["evoformer-opt", *PASSES, "-o", lowered], input=module, check=True,
                   text=True)
    arguments = []
    for number, (rows, columns) in enumerate((*read, *written)):
        memory = (f"in:{zeros}" if number < len(read) else
                  f"out:{rows * columns * 4}:{folder}/{number}")
        arguments += [memory, f"ref:{number}", "i64:0", f"i64:{rows}", f"i64:{columns}",
                      f"i64:{columns}", "i64:1"]
    # 256 rows, in steps of a constant.
    arguments += ["i64:256", "i64:1"]
    for seed in range(3):
        done = subprocess.run(
            ["evoformer-sim", lowered, "--kernel=kernel", "--grid=1", "--lds=232448",
             f"--block={lanes}", f"--seed={seed}", *(f"--arg={a}" for a in arguments)],
            capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, f"{name}: {done.stderr}"
