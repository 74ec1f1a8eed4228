# REQUIRES: iree-compile
# RUN: mkdir -p %t && %python %s %source_dir/scripts/iree_spec.py %build_dir/bin %t
"""IREE's stock compiler (`pip install iree-base-compiler`, in PATH) takes the spec that
scripts/iree_spec.py writes for a program of attentions, launches nothing else for them,
and embeds the object unchanged."""

import pathlib
import re
import subprocess
import sys

SHAPES = ("N=8 H=4 Sq=64 Sk=64 D=32 type=bf16",
          "N=2 H=2 Sq=40 Sk=72 D=32 type=bf16 mask=hqk:bf16",
          "N=3 H=2 Sq=70 Sk=90 D=24 Dv=40 type=f16 scale=0.25 mask=nk:i1")

script, tools, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
subprocess.run([sys.executable, script, f"--tools={tools}", "--target=gfx942", folder,
                *SHAPES], check=True)
# A launch without inputs is no constant that IREE could compute while it compiles.
subprocess.run(
    ["iree-compile", folder / "program.mlir", "--iree-hal-target-device=hip",
     "--iree-opt-const-eval=false", "--iree-rocm-target=gfx942", "-o",
     folder / "program.vmfb",
     f"--iree-preprocessing-transform-spec-filename={folder / 'spec.mlir'}",
     f"--iree-hal-executable-object-search-path={folder}"], check=True)
kernels = (folder / "kernels.hsaco").read_bytes()
module = (folder / "program.vmfb").read_bytes()
assert kernels in module, "the object is not embedded"
for name in re.findall(r'extern "(\w+)"', (folder / "spec.mlir").read_text()):
    assert name.encode() in module, name
assert set(re.findall(rb"([\w$]+?)_dispatch", module)) == {b"extern"}
print(f"all {len(kernels)} bytes of the object are embedded")
