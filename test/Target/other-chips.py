# RUN: %python %s %t
"""Chips and families that are like another one, by the compiler's own list: their code
objects say the chip that they are for, and what is compiled for them is what is compiled
for the other, but for the name and what the code generator knows of it."""

import pathlib
import re
import subprocess
import sys

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True,
                          text=True).stdout


others = [line.split() for line in run("evoformer-opt", "--list-targets").splitlines()
          if len(line.split()) == 4]
assert {name for name, *_ in others} >= {
    "gfx1101", "gfx1102", "gfx1150", "gfx1151", "gfx1200", "gfx9-4-generic",
    "gfx11-generic", "gfx12-generic"}, others
source = out / "case.mlir"
source.write_text(run("evoformer-check", "--print-module=Sq=64 Sk=64 D=32 type=bf16 "
                      "bias=bhqk:bf16:normal static=all"))
kernels = {}
for name, _, _, same in others:
    for chip in (name, same):
        if chip in kernels:
            continue
        run("evoformer-opt", source, f"--evoformer-lower=target={chip}",
            f"--evoformer-serialize=out-dir={out / chip} report={out / chip}.txt",
            "-o", "/dev/null")
        header = run("llvm-readelf", "-h", out / chip / "kernels.hsaco")
        assert re.search(rf"Flags: .*\b{chip}\b", header), header
        report = (out / f"{chip}.txt").read_text()
        kernels[chip] = re.findall(r"^kernel (\w+) for|^    matrix +(\d+)", report, re.M)
    assert kernels[name] and kernels[name] == kernels[same], (name, kernels[name])
print(f"{len(others)} chips")
