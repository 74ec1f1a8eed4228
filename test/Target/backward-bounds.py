# RUN: %python %s %t %if full %{ all %}
"""What the final AMD code of the gradients holds, per depth and type, with a key
mask, a pair bias and its gradient: matrix instructions and transcendentals of
each steady loop are the ideal of its fragments, nothing is in scratch memory up
to D = 64, no access is of two bytes, no barrier is reached with an access to
workgroup memory under way, no product of matrices without all lanes, and, on chips
where that was worked on, no wait of a loop of two or more stages drains all loads,
and a loop has at most so many instructions a logit of a lane.

Two depths with one type, on one chip each, and what has a limit, of other depths
among it; with 'all' as an argument the whole product."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from barriers import early_barriers
from cases import (NEVER_DRAINS, check_all, draw, families, final_code,
                   gradients_of, has_matrix_unit, module_of)

DEPTHS = (8, 16, 24, 32, 40, 48, 56, 64)
KERNELS = ("query_grad", "key_value_grad", "bias_grad")
# Of query, key and value at once: in 16-bit types where registers have the sums.
HEADS = "head_grads"

# Instructions a logit-lane by target, type and depth, of KERNELS in order and then of
# HEADS: a tenth above what was counted, against regressions.
LIMITS = {
    ("gfx942", "bf16", 32): (7.5, 9.6, 8.2, 17.3),
    ("gfx942", "f16", 32): (7.4, 9.9, 8.2, 16.2),
    ("gfx942", "bf16", 64): (10.6, 15.2, 9.5, 37.7),
    ("gfx950", "bf16", 32): (6.4, 7.2, 8.1, 11.9),
    ("gfx950", "bf16", 64): (9, 9.9, 9.2, 16.3),
    ("gfx1201", "bf16", 32): (9.2, 13.9, 8.6, 22.9),
    ("gfx942", "f32", 24): (23.6, 30.2, 18),
    ("gfx942", "f32", 48): (30.3, 39.5, 20.7),
    ("gfx1100", "bf16", 32): (13.2, 16.9, 13.9),
    ("gfx1100", "bf16", 64): (19.9, 26, 16.8),
    ("gfx1100", "f16", 16): (9.1, 13.1, 9.5),
    ("gfx1100", "f16", 40): (17.4, 27.9, 15.3),
}
# No registers are left to load an iteration ahead what its products multiply.
KNOWN_DRAINS = {("gfx1100", "bf16", 16, "key_value_grad"),
                ("gfx942", "bf16", 56, "query_grad"),
                ("gfx942", "f16", 56, "query_grad"),
                ("gfx942", "f32", 40, "bias_grad"),
                ("gfx942", "f32", 48, "bias_grad"),
                ("gfx942", "f32", 56, "bias_grad")}

CASE = ("N=384 H=4 Sq=384 Sk=384 D={depth} type={kind} bias=bnk:i1:normal "
        "bias=bhqk:{kind}:normal static=heads pass=backward")


def number(name, text):
    return int(re.search(rf"{name} +(\d+)", text)[1])


def problems_of(target, kind, depth):
    text, listings = final_code(f"{sys.argv[1]}.{target}-{kind}-{depth}", target,
                                gradients_of(module_of(CASE.format(
                                    depth=depth, kind=kind))))
    reports = re.split(r"^kernel ", text, flags=re.M)
    found = [f"scratch memory in {report.split()[0]}" for report in reports
             if number("scratch", report + "scratch 0")]
    _, waiting = early_barriers(listings)
    found += [f"no kernel of {name} has a barrier" for name in KERNELS
              if depth >= 16 and not any(name in kernel for kernel in waiting)]
    limit = LIMITS.get((target, kind, depth), ())
    if len(limit) > len(KERNELS) and f"attention_{HEADS}" not in text:
        found.append("no kernel has heads")
    for place, name in enumerate((*KERNELS, HEADS)):
        # The variant for aligned rows.
        some = [r for r in reports if r.startswith(f"attention_{name} for")]
        if name == HEADS and not some:
            continue
        (report,) = some
        for finding in re.findall(r"finding: (.*)", report):
            drains = ("drain all" in finding and target in NEVER_DRAINS
                      and (target, kind, depth, name) not in KNOWN_DRAINS)
            # Lanes that hold queries of a key give their gradients of logits to
            # lanes that hold keys of a query.
            turns = name == HEADS and "most 2 bytes" in finding
            if drains or "most 2 bytes" in finding and not turns:
                found.append(f"{name}: {finding}")
        ideal = re.search(r"ideal transcendental +(\d+)", report)
        if not ideal:
            if has_matrix_unit(target, kind):
                found.append(f"no ideal of {name} to compare with")
            continue
        loop = report[report.index("hot loop"):]
        for unit in ("matrix", "transcendental"):
            if number(unit, loop) != number(f"ideal {unit}", report):
                found.append(f"{unit} instructions of {name}")
        share = number("hot loop:", report) / int(ideal[1])
        if place < len(limit):
            print(f"{target}, {kind}, D = {depth}: {name} {share:.1f}")
            if share > limit[place]:
                found.append(f"{share:.1f} instructions a logit-lane in {name}, "
                             f"{limit[place]} allowed")
    return found


check_all(problems_of,
          [*LIMITS, *draw(DEPTHS if "all" in sys.argv else DEPTHS[1::6],
                          groups=[sum(families(), [])], extra=())])
