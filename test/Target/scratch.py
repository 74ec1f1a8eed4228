# RUN: %python %s %t %if full %{ all %}
"""Nothing of AMD's kernels lies in scratch memory up to D = 64, but for the bytes that
KNOWN lists, none of their barriers is reached with an access to workgroup memory under
way, and no product of matrices without all lanes: gradients of everything that there
is, in each way to split them, for depths that are no multiple of an atom or of what a
lane reads, sizes that are known and sizes that are not. What
test/Target/backward-bounds.py looks at in addition is not repeated here. Every chip has a group of heads in a
window or rows that have lengths at D = 96, too, in turn. At greater depths, for which
the registers of some chips do not do, test/Pipelines/compiles.py knows the bytes.
Chips of 32 lanes a subgroup, which have the fewest registers, have programs that keep
more than logits and sums, forward and backward: scores, windows, groups, shared keys,
ragged sequences, gates with several biases and dropout; and depths for which they do not
do, with the bytes that are known.

A few depths with one type, one way and one chip each, a chip or two with one type for
one of these two, and of these programs every tenth, and what has known bytes, with one
chip; with 'all' as an argument the whole product."""

import itertools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from cases import (TYPES, check_all, draw, families, final_code, gradients_of,
                   module_of)

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
# What keeps more, as depths that say what it is.
KEEP_MORE = {
    "32, softcap in a window": "N=2 H=2 Sq=35 Sk=66 D=32 type=bf16 bias=bnk:i1:normal "
    "bias=hqk:bf16:normal score=softcap:5 window=:i+sk-sq+1 lse=1 stats=1",
    "32, shared keys in a window": "B=3 N=2 H=2 Sq=33 Sk=70 D=32 type=bf16 share=bn "
    "window=:i+sk-sq+1 bias=hqk:bf16:normal pass=backward",
    "16, a group of heads in a window": "H=4 group=2 Sq=30 Sk=50 D=16 type=bf16 "
    "bias=hqk:f32:normal window=sk-sq-8:i+sk-sq+1 pass=backward",
    "32, a gate and three biases": "N=3 H=2 Sq=17 Sk=33 D=32 type=bf16 gate=bf16 "
    "bias=bnk:bf16:normal bias=bhqk:bf16:normal bias=nhq:f32:normal:bnhkq "
    "pass=backward",
    "24, ragged": "B=4 H=2 Sq=70 Sk=70 D=24 type=f16 static=all "
    "ragged=0.70.30.10.10/60:0.5.90.60.60/80 bias=qk:f32:normal pass=backward",
    "32, a group of heads in a window, ragged": "B=5 N=2 H=4 group=2 Sq=40 Sk=33 D=32 "
    "type=bf16 ragged=random:random bias=bhqk:f32:normal bias=bk:f32:normal "
    "gate=bf16 window=:i+sk-sq+1 pass=backward",
    "208, deep": "N=2 H=2 Sq=384 Sk=384 D=208 type=bf16 bias=bnk:i1:normal "
    "static=all pass=backward",
    "8, a window of rows that have lengths": "H=1 Sq=1 Sk=17 D=8 Dv=40 type=bf16 out=f32 "
    "gate=bf16 bias=bhqk:bf16:rows lse=1 stats=1 window=i-20:i+9 lens=random:random "
    "pass=backward",
    "32, dropout in a window": "N=2 H=2 Sq=35 Sk=50 D=32 type=bf16 "
    "bias=bhqk:bf16:normal dropout=0.3 window=i-20:i+9 pass=backward",
    "24, a group of heads, ragged": "B=3 H=4 group=4 Sq=140 Sk=33 D=24 type=f16 "
    "ragged=random:random bias=bhqk:f16:normal pass=backward",
    "16, a group of heads in blocks": "N=2 H=4 group=2 Sq=100 Sk=64 D=16 Dv=40 type=bf16 "
    "bias=bnk:bf16:mixed bias=bhqk:f32:mixed stats=1 "
    "window=i/32*32-48:i/32*32+80 zero=n nan=1 pass=backward",
    "32, a table and dropout in a window": "N=2 H=2 Sq=35 Sk=50 D=32 type=bf16 "
    "bias=bhqk:bf16:normal score=matrix dropout=0.3 window=i-20:i+9 pass=backward",
    "16, one step of known sizes": "B=2 N=3 H=5 Sq=63 Sk=65 D=16 Dv=40 type=f16 "
    "bias=bhqk:f16:normal static=all pass=backward",
    "40, ragged sequences share keys": "B=3 N=2 H=2 Sq=40 Sk=33 D=40 type=f16 share=n "
    "ragged=random:random bias=hqk:f16:normal pass=backward",
    "32, a mask and a matrix as score": "N=2 Sq=66 Sk=140 D=32 type=bf16 "
    "bias=hqk:i1:sparse score=matrix pass=backward",
    "32, a window of blocks of known sizes": "H=2 Sq=100 Sk=130 D=32 type=bf16 "
    "bias=bnhqk:bf16:normal window=i/32*32-48:i/32*32+80 static=all pass=backward",
    "160, deep": "N=2 H=2 Sq=384 Sk=384 D=160 type=bf16 bias=bnk:i1:normal "
    "static=all pass=backward",
}
# The bytes of which the registers are too few, rounded up to a multiple of 32.
KNOWN = {("gfx1100", "208, deep"): 320, ("gfx1201", "208, deep"): 64,
         ("gfx1201", "32, a window of blocks of known sizes"): 32}


def ways_of(kind, depth):
    if depth in KEEP_MORE:
        return {depth: (KEEP_MORE[depth], "")}
    if depth in EVERYWHERE:
        case, option = EVERYWHERE[depth]
        return {depth: (f"{case} type={kind} pass=backward", option)}
    turn = DEPTHS.index(depth) + TYPES.index(kind)
    ways = list(WAYS) if "all" in sys.argv else [list(WAYS)[turn % len(WAYS)]]
    return {way: (f"{WAYS[way][0]} D={depth} type={kind} pass=backward",
                  WAYS[way][1]) for way in ways}


def problems_of(target, kind, depth):
    found = []
    for way, (case, option) in ways_of(kind, depth).items():
        module = module_of(case.format(t=kind))
        if depth not in KEEP_MORE:
            module = gradients_of(module)
        report, _ = final_code(
            f"{sys.argv[1]}.{target}-{kind}-{str(depth).replace(' ', '-')}", target,
            module, option)
        kernels = re.findall(r"^kernel (\w+) for.*?^  scratch +(\d+) bytes",
                             report, flags=re.M | re.S)
        wanted = "_grad" if "pass=backward" in case else "_attention"
        if not any(wanted in name for name, _ in kernels):
            found.append(f"{way}: no kernel with {wanted}")
        found += [f"{way}: {scratch} bytes of scratch in {name}"
                  for name, scratch in kernels
                  if int(scratch) > KNOWN.get((target, depth), 0)]
    return found


chips = sum(families(), [])
few_registers = families()[0]


def kind_of(case):
    return re.search(r" type=(\w+)", case)[1]


check_all(problems_of, [
    *((chip, kind_of(case), what)
      for turn, (what, case) in enumerate(KEEP_MORE.items())
      for place, chip in enumerate(few_registers)
      if "all" in sys.argv or (chip, what) in KNOWN or
      (turn % 10 == 0 and turn % len(few_registers) == place)),
    *itertools.islice(draw(DEPTHS, groups=[chips]), 0, None,
                      1 if "all" in sys.argv else 5),
    *((chip, kind, depth) for step, depth in enumerate(EVERYWHERE)
      for turn, chip in enumerate(chips) for kind in TYPES
      if "all" in sys.argv or (kind == TYPES[(turn + step) % len(TYPES)] and
                               (turn + step) % 4 == 1))])
