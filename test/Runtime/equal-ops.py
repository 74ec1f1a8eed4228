# RUN: mkdir -p %t && %python %s %t
"""A program of many equal attentions gives the bits of as many programs of one,
forward and backward, and takes the code of one: 24 of them, on the CPU, and what a
chip is given."""

import json
import pathlib
import subprocess
import sys

import numpy as np

work = pathlib.Path(sys.argv[1])
SEQ, PAIR = "memref<1x3x20x2x16xf32>", "memref<1x1x2x20x20xf32>"
COUNT = 24


def module(steps):
    """Each op reads what the one before wrote, by turns as query, key, value."""
    lines = [f"func.func @f(%x0: {SEQ}, %x1: {SEQ}, %x2: {SEQ}, %pair: {PAIR}, "
             + ", ".join(f"%y{i}: {SEQ}" for i in range(steps)) + ") {"]
    names = ["%x0", "%x1", "%x2"]
    for i in range(steps):
        q, k, v = names[-3:]
        lines.append(f"  evoformer.attention query({q} : {SEQ}) key({k} : {SEQ}) "
                     f"value({v} : {SEQ}) bias(%pair : {PAIR}) outs(%y{i} : {SEQ})")
        names.append(f"%y{i}")
    return "\n".join([*lines, "  return", "}"])


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def execute(steps, inputs):
    path = work / f"{steps}.mlir"
    path.write_text(module(steps))
    for name, array in inputs.items():
        np.save(work / f"{name}.npy", array)
    run("evoformer-run", path, *(f"--input={name}={work / name}.npy" for name in inputs),
        *(f"--output=y{i}={work}/y{i}.npy" for i in range(steps)))
    return [np.load(work / f"y{i}.npy") for i in range(steps)]


draw = np.random.default_rng(3)
inputs = {name: draw.standard_normal((1, 3, 20, 2, 16)).astype(np.float32)
          for name in ("x0", "x1", "x2")}
inputs["pair"] = draw.standard_normal((1, 1, 2, 20, 20)).astype(np.float32)
together = execute(COUNT, inputs)
for i in range(3):
    (alone,) = execute(1, inputs)
    assert np.array_equal(alone, together[i]), i
    inputs["x0"], inputs["x1"], inputs["x2"] = inputs["x1"], inputs["x2"], alone
assert not np.array_equal(together[0], together[1])

for chip in ("gfx942", "sm_80"):
    reports = []
    for steps in (1, COUNT):
        report = work / "report.json"
        run("evoformer-opt", work / f"{steps}.mlir",
            f"--evoformer-lower=target={chip}",
            f"--evoformer-serialize=format={'isa' if chip[0] == 'g' else 'ptx'} "
            f"report={report}", "-o", "/dev/null")
        reports.append(json.loads(report.read_text()))
    assert reports[0] == reports[1] and reports[0], chip
