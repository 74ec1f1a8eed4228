# RUN: %python %s %t %if full %{ all %}
"""Nothing of AMD's kernels lies in scratch memory up to D = 64: gradients of
everything that there is, in each way to split them, for depths that are no
multiple of an atom or of what a lane reads, sizes that are known and sizes that
are not. What test/Target/backward-bounds.py looks at in addition is not
repeated here. At greater depths, for which the registers of some chips do not
do, the bytes are known and bounded.

Each depth with one type and one way; with 'all' as an argument the whole
product."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from cases import TYPES, check_all, module_of, report_of

# The depths beyond 64, each with one type and all gradients only, and the bytes a
# lane of the kernel that has most where any has: what LLVM 22 makes of them,
# rounded up to a multiple of 32.
DEEP = {112: "f32", 128: "bf16", 256: "f16"}
KNOWN = {"gfx1100": {112: 320, 128: 256, 256: 1408}, "gfx1201": {112: 320, 256: 864}}
DEPTHS = (1, 20, 33, 40, 48, 56, 63, 64, *DEEP)

# A case and an option of the pipeline by the way to split: {t} is the type.
WAYS = {
    "all gradients": (
        "N=384 H=4 Sq=384 Sk=384 gate={t} bias=bnk:{t}:normal "
        "bias=bhqk:{t}:normal static=heads", ""),
    "unknown sizes": (
        "N=383 H=3 Sq=381 Sk=379 bias=bnk:i1:normal bias=bhqk:{t}:normal", ""),
    "few keys, a bias with the query": (
        "N=256 H=4 Sq=64 Sk=64 bias=bnk:i1:normal bias=bhqk:{t}:normal "
        "static=all", "bias-gradients=with-query"),
    "all keys, a bias with the query": (
        "N=256 H=4 Sq=256 Sk=256 bias=bnk:i1:normal bias=bhqk:{t}:normal "
        "static=all", "bias-gradients=with-query"),
    "a bias of one row": (
        "B=4 N=1 H=4 Sq=384 Sk=384 bias=bhqk:{t}:normal static=all", ""),
}


def problems_of(case):
    target, kind, depth = case
    turn = DEPTHS.index(depth) + TYPES.index(kind)
    turn += 2 * (target == "gfx1100")
    ways = list(WAYS) if "all" in sys.argv else [list(WAYS)[turn % len(WAYS)]]
    if depth in DEEP:
        if kind != DEEP[depth]:
            return []
        ways = ["all gradients"]
    known = KNOWN.get(target, {}).get(depth, 0)
    found = []
    for way in ways:
        sizes, option = WAYS[way]
        what = f"{target}, {kind}, D = {depth}, {way}"
        path = f"{sys.argv[1]}.{target}-{kind}-{depth}"
        text, error = report_of(
            path, target,
            module_of(f"{sizes.format(t=kind)} D={depth} type={kind} "
                      "pass=backward"), option)
        if error:
            found.append(f"{what}: {error}")
            continue
        reports = re.findall(r"^kernel (\w+) for.*?^  scratch +(\d+) bytes",
                             text, flags=re.M | re.S)
        if not any("_grad" in name for name, _ in reports):
            found.append(f"{what}: no kernel of a gradient")
        found += [f"{what}: {scratch} bytes of scratch in {name}, {known} known"
                  for name, scratch in reports if int(scratch) > known]
    return found


check_all(problems_of, DEPTHS)
