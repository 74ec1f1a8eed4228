# RUN: %python %s %t %if full %{ all %}
"""What the final AMD code of attention holds, per depth and type, with a key
mask and a pair bias: matrix instructions and transcendentals of the steady loop
are the ideal of its fragments, nothing is in scratch memory up to D = 128, no
access of two bytes where rows have four, and no wait that drains all loads in a
loop of two or more stages. Loops of one stage, which are all that fits the
registers at some depths, wait for what they have just issued.

Each depth with one type; with 'all' as an argument the whole product."""

import os
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).parent
sys.path[:0] = [str(here / "Inputs"), str(here.parent / "Pipelines" / "Inputs")]
from attention_source import SOURCE
from cases import check_all

DEPTHS = (1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 128)

# Up to which depth loops have two stages; rows of one element are not copied.
STAGED = {("gfx942", "bf16"): 128, ("gfx942", "f16"): 128, ("gfx942", "f32"): 96,
          ("gfx1100", "bf16"): 48, ("gfx1100", "f16"): 48, ("gfx1100", "f32"): 4}


def problems_of(case):
    target, kind, depth = case
    report = f"{sys.argv[1]}.{target}-{kind}-{depth}"
    run = subprocess.run(
        ["evoformer-opt", f"--evoformer-lower=target={target}",
         f"--evoformer-serialize=format=isa report={report}", "-o", os.devnull],
        input=SOURCE.format(d=depth, t=kind), capture_output=True, text=True)
    what = f"{target}, {kind}, D = {depth}"
    if run.returncode:
        return [f"{what}: {run.stderr[:1000]}"]
    with open(report, encoding="utf-8") as file:
        kernels = re.split(r"^kernel ", file.read(), flags=re.M)
    # The variant for aligned rows.
    kernel = next(k for k in kernels if k.startswith("attention_attention for"))
    found = []
    for finding in re.findall(r"finding: (.*)", kernel):
        if "spilled" in finding:  # to registers of another kind
            continue
        if "2 bytes" in finding and depth == 1:
            continue
        found.append(f"{what}: {finding}")
    ideal = re.search(r"ideal matrix +(\d+)", kernel)
    if not ideal or (int(ideal[1]) == 0 and (target, kind) != ("gfx1100", "f32")):
        found.append(f"{what}: no ideal to compare with")
    stages = re.search(r"stages +(\d+)", kernel)
    if not stages or 1 < depth <= STAGED[target, kind] and int(stages[1]) < 2:
        found.append(f"{what}: a loop of one stage")
    return found


check_all(problems_of, DEPTHS)
