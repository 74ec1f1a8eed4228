# RUN: %python %s %t %if full %{ all %}
"""What the final AMD code of attention holds, per depth and type, with a key
mask and a pair bias: matrix instructions and transcendentals of the steady loop
are the ideal of its fragments, nothing is in scratch memory up to D = 128, no
access of two bytes where rows have four, and no wait that drains all loads but
where the loop has nothing else under way.

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

# Waits for everything a loop has under way: those of loops without copies
# ahead, and for a bias that is the only load left.
DRAINS = {"bf16": 2, "f16": 2, "f32": 3}


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
        number = int(re.search(r"\d+", finding)[0])
        if "spilled" in finding:  # to registers of another kind
            continue
        if "2 bytes" in finding and depth == 1:
            continue
        if "drain" in finding and (number <= DRAINS[kind] or depth == 1):
            continue
        found.append(f"{what}: {finding}")
    ideal = re.search(r"ideal matrix +(\d+)", kernel)
    if kind != "f32" and not ideal:
        found.append(f"{what}: no ideal to compare with")
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
