# RUN: %python %s
"""Cleaning up after distribution takes a small part of a compilation, also where
loops carry hundreds of registers: the gradients in f32 with rows of 256 elements."""

import os
import re
import subprocess
import sys

import targets

CASE = ("N=2 H=4 Sq=384 Sk=384 D=256 type=f32 bias=bnk:i1:normal "
        "bias=bhqk:f32:normal static=heads pass=backward")
# Percent of the whole time: from the top down it took 37 on gfx942, 54 on sm_80 and 66
# on gfx1100; from the bottom up it takes 22 to 25.
MOST = 35

module = subprocess.run(["evoformer-check", "--print-module", CASE], check=True,
                        capture_output=True, text=True).stdout
problems = []
for chip in targets.gpus():
    run = subprocess.run(
        ["evoformer-opt", f"--evoformer-lower=target={chip}", "-o", os.devnull,
         "--mlir-timing", "--mlir-disable-threading"],
        input=module, check=True, capture_output=True, text=True)
    shares = re.findall(r"\( *([\d.]+)%\) +Canonicalizer", run.stderr)
    print(chip, shares)
    if len(shares) < 2:
        problems.append(f"{chip}: no times of the canonicalizer in {run.stderr}")
    elif sum(map(float, shares)) > MOST:
        problems.append(f"{chip}: canonicalizers take {' and '.join(shares)} percent")
    # A step that is done is not looked for again.
    if run.stderr.count("SplitBackward") != 1:
        problems.append(f"{chip}: the backward pass is split twice")
sys.exit("\n".join(problems) or 0)
