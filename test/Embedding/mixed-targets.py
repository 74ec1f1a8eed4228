# RUN: mkdir -p %t && %python %s %t
"""A function that is lowered for one target and then for another is refused with the
launch's place, in a launch plan and for upstream's host lowering: its kernels have equal
names. Functions of one module may differ."""

import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
T = "memref<1x2x64x2x32xbf16>"
ATTENTION = (f"evoformer.attention query(%arg0 : {T}) key(%arg0 : {T}) "
             f"value(%arg0 : {T}) outs(%arg1 : {T})\n")


def function(name):
    return (f"func.func @{name}(%arg0: {T}, %arg1: {T}) {{\n{ATTENTION}return }}\n")


def opt(text, *passes):
    return subprocess.run(["evoformer-opt", *passes], input=text, capture_output=True,
                          text=True)


def lower(text, target):
    done = opt(text, f"--evoformer-lower=target={target}")
    assert done.returncode == 0, done.stderr
    return done.stdout


first = lower(function("f"), "gfx942")
at = first.index("return", first.index("func.func @f"))
mixed = lower(first[:at] + ATTENTION + "    " + first[at:], "sm_80")
refused = opt(mixed, "--convert-tile-launch-to-gpu")
assert refused.returncode == 1
assert re.search(r"<stdin>:\d+:\d+: error: .*'f_attention' is a kernel of the GPU modules "
                 "'kernels' and 'kernels_0'; accepted are functions that are lowered once",
                 refused.stderr), refused.stderr
file = folder / "mixed.mlir"
file.write_text(mixed)
refused = subprocess.run(["evoformer-run", file, "--target=sm_80", "--no-run",
                          f"--emit-plan={folder}/plan.json"], capture_output=True, text=True)
assert refused.returncode == 1
assert re.search(r"mixed.mlir\W+\d+:\d+\W+ error: there is no code of kernel @f_attention",
                 refused.stderr), refused.stderr

end = first.rindex("}")
beside = lower(first[:end] + function("g") + first[end:], "sm_80")
fine = opt(beside, "--convert-tile-launch-to-gpu")
assert fine.returncode == 0, fine.stderr
assert "#rocdl.target" in fine.stdout and "#nvvm.target" in fine.stdout
