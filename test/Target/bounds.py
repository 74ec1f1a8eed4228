# RUN: %python %s %t %if full %{ all %}
"""What the final AMD code of attention holds, per depth and type, with a key
mask and a pair bias: matrix instructions and transcendentals of the steady loop
are the ideal of its fragments, nothing is in scratch memory up to D = 128, no
access of two bytes where rows have four, and no wait that drains all loads in a
loop of two or more stages. Loops of one stage, which are all that fits the
registers at some depths, wait for what they have just issued.

Each depth with one type; with 'all' as an argument the whole product."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Pipelines" / "Inputs"))
from attention_source import SOURCE

DEPTHS = (1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 128)
TYPES = ("bf16", "f16", "f32")
TARGETS = ("gfx942", "gfx1100")

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


def main():
    cases = [(target, kind, depth) for target in TARGETS
             for number, kind in enumerate(TYPES)
             for place, depth in enumerate(DEPTHS)
             if "all" in sys.argv or place % 3 == number or
             (kind == "bf16" and depth in (32, 64))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = sum(pool.map(problems_of, cases), [])
    print(f"{len(cases)} cases, {len(problems)} problems")
    if problems:
        sys.exit("\n".join(problems))


main()
