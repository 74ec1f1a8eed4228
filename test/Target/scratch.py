# RUN: %python %s %t %if full %{ all %}
"""Nothing of AMD's kernels lies in scratch memory up to D = 64, none of their
barriers is reached with an access to workgroup memory under way, and no product of
matrices without all lanes: gradients of everything that there is, in each way to
split them, for depths that are no multiple of an atom or of what a lane reads,
sizes that are known and sizes that are not. What test/Target/backward-bounds.py
looks at in addition is not repeated here. Every chip has a group of heads in a
window or rows that have lengths at D = 96, too, in turn. At greater depths, for which
the registers of some chips do not do, test/Pipelines/compiles.py knows the bytes.

Each depth with one type, one way and one chip in turn, and each chip with one type
for one of these two; with 'all' as an argument the whole product."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from cases import TYPES, check_all, draw, families, final_code, module_of

DEPTHS = (1, 20, 33, 40, 48, 56, 63, 64)

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

# What chips have in turn, as depths that say the way, too.
EVERYWHERE = {
    "64, a group of heads in a window": (
        "N=2 H=4 Sq=137 Sk=153 D=64 group=2 window=:i+1 bias=bhqk:{t}:normal",
        ""),
    "96, rows that have lengths": (
        "N=8 H=4 Sq=137 Sk=153 D=96 lens=random:random bias=bnk:i1:normal "
        "bias=bhqk:{t}:normal", ""),
}
# Kernels of waves of 64 lanes in which LLVM 22 keeps the place of a spill that it
# has done away with: bytes that are reserved, and which nothing reads or writes.
RESERVED = "bias_grad"


def ways_of(kind, depth):
    if depth in EVERYWHERE:
        return {depth: EVERYWHERE[depth]}
    turn = DEPTHS.index(depth) + TYPES.index(kind)
    ways = list(WAYS) if "all" in sys.argv else [list(WAYS)[turn % len(WAYS)]]
    return {way: (f"{WAYS[way][0]} D={depth}", WAYS[way][1]) for way in ways}


def is_only_reserved(target, name, listings):
    """Whether no instruction of such a kernel has an address in scratch memory;
    those of global memory and of LDS have other operands."""
    code = re.search(rf"^{name}:.*?\.end_amdhsa_kernel", listings,
                     flags=re.M | re.S)[0]
    return (RESERVED in name and target in families()[-1] and
            not re.search(r"^\s+(scratch_|buffer_.* off, s\[0:3\])", code,
                          flags=re.M))


def problems_of(target, kind, depth):
    found = []
    for way, (case, option) in ways_of(kind, depth).items():
        report, listings = final_code(
            f"{sys.argv[1]}.{target}-{kind}-{str(depth)[:2]}", target,
            module_of(f"{case.format(t=kind)} type={kind} pass=backward"),
            option)
        kernels = re.findall(r"^kernel (\w+) for.*?^  scratch +(\d+) bytes",
                             report, flags=re.M | re.S)
        if not any("_grad" in name for name, _ in kernels):
            found.append(f"{way}: no kernel of a gradient")
        found += [f"{way}: {scratch} bytes of scratch in {name}"
                  for name, scratch in kernels if int(scratch) and
                  not is_only_reserved(target, name, listings)]
    return found


chips = sum(families(), [])
check_all(problems_of, [
    *draw(DEPTHS, groups=[chips]),
    *((chip, kind, depth) for step, depth in enumerate(EVERYWHERE)
      for turn, chip in enumerate(chips) for kind in TYPES
      if "all" in sys.argv or (kind == TYPES[(turn + step) % len(TYPES)] and
                               (turn + step) % 2))])
