# RUN: %python %s %t %if full %{ all %}
"""What the final AMD code of attention holds, per depth and type, with a key
mask and a pair bias: matrix instructions and transcendentals of the steady loop
are the ideal of its fragments, nothing is in scratch memory up to D = 128, no
access of two bytes where rows have four, no barrier is reached with an access to
workgroup memory under way, no product of matrices without all lanes, and, on chips
where that was worked on, no wait that drains all loads in a loop of two or more
stages. Loops of one stage, which are all that fits the registers at some depths,
wait for what they have just issued; on chips of 64 lanes a subgroup, which share their
registers, two subgroups on each SIMD are as good (docs/rationale/two-subgroups.md).

Each depth with one type, on one of those chips in turn, and every fourth one on one of
the others; with 'all' as an argument the whole product."""

import pathlib
import re
import sys

here = pathlib.Path(__file__).parent
sys.path[:0] = [str(here / "Inputs"), str(here.parent / "Pipelines" / "Inputs")]
from attention_source import SOURCE
from cases import (NEVER_DRAINS, check_all, draw, families, final_code,
                   has_matrix_unit)

DEPTHS = (1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 128)
few_registers = families()[0]

# Up to which depth loops have two stages, or two subgroups on each SIMD, as was
# counted; rows of one element are not copied.
STAGED = {("gfx942", "bf16"): 128, ("gfx942", "f16"): 128, ("gfx942", "f32"): 96,
          ("gfx90a", "bf16"): 80, ("gfx90a", "f16"): 96, ("gfx90a", "f32"): 64,
          ("gfx950", "bf16"): 80, ("gfx950", "f16"): 96, ("gfx950", "f32"): 128,
          ("gfx1100", "bf16"): 48, ("gfx1100", "f16"): 48, ("gfx1100", "f32"): 4,
          ("gfx1201", "bf16"): 80, ("gfx1201", "f16"): 96, ("gfx1201", "f32"): 1}


def problems_of(target, kind, depth):
    report, _ = final_code(f"{sys.argv[1]}.{target}-{kind}-{depth}", target,
                           SOURCE.format(d=depth, t=kind))
    kernels = re.split(r"^kernel ", report, flags=re.M)
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
        found.append(finding)
    ideal = re.search(r"ideal matrix +(\d+)", kernel)
    if not ideal or (int(ideal[1]) == 0 and has_matrix_unit(target, kind)):
        found.append("no ideal to compare with")
    stages = re.search(r"stages +(\d+)", kernel)
    alone = target in few_registers or re.search(r"occupancy +1 ", kernel)
    if not stages or (1 < depth <= STAGED.get((target, kind), 0) and
                      int(stages[1]) < 2 and alone):
        found.append("a loop of one stage")
    return found


others = [chip for chip in sum(families(), []) if chip not in NEVER_DRAINS]
few = DEPTHS if "all" in sys.argv else DEPTHS[::4]
check_all(problems_of, [*draw(DEPTHS, groups=[NEVER_DRAINS]),
                        *draw(few, groups=[others], extra=())])
