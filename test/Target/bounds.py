# RUN: %python %s %t %if full %{ all %}
"""What the final AMD code of attention holds, per depth and type, with a key
mask and a pair bias: matrix instructions and transcendentals of the steady loop
are the ideal of its fragments, nothing is in scratch memory up to D = 128, no
access of two bytes where rows have four, and, on chips where that was worked on,
no wait that drains all loads in a loop of two or more stages. Loops of one stage,
which are all that fits the registers at some depths, wait for what they have just
issued.

Each depth with one type; with 'all' as an argument the whole product."""

import pathlib
import re
import sys

here = pathlib.Path(__file__).parent
sys.path[:0] = [str(here / "Inputs"), str(here.parent / "Pipelines" / "Inputs")]
from attention_source import SOURCE
from cases import NEVER_DRAINS, check_all, report_of

DEPTHS = (1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 128)

# Up to which depth loops have two stages; rows of one element are not copied.
STAGED = {("gfx942", "bf16"): 128, ("gfx942", "f16"): 128, ("gfx942", "f32"): 96,
          ("gfx90a", "bf16"): 80, ("gfx90a", "f16"): 96, ("gfx90a", "f32"): 64,
          ("gfx950", "bf16"): 80, ("gfx950", "f16"): 96, ("gfx950", "f32"): 128,
          ("gfx1100", "bf16"): 48, ("gfx1100", "f16"): 48, ("gfx1100", "f32"): 4,
          ("gfx1201", "bf16"): 80, ("gfx1201", "f16"): 96, ("gfx1201", "f32"): 1}


def problems_of(case):
    target, kind, depth = case
    report = f"{sys.argv[1]}.{target}-{kind}-{depth}"
    what = f"{target}, {kind}, D = {depth}"
    text, error = report_of(report, target, SOURCE.format(d=depth, t=kind))
    if error:
        return [f"{what}: {error}"]
    kernels = re.split(r"^kernel ", text, flags=re.M)
    # The variant for aligned rows.
    kernel = next(k for k in kernels if k.startswith("attention_attention for"))
    found = []
    for finding in re.findall(r"finding: (.*)", kernel):
        if "spilled" in finding:  # to registers of another kind
            continue
        if "2 bytes" in finding and depth == 1:
            continue
        if "drain all" in finding and target not in NEVER_DRAINS:
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
