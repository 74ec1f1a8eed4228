# RUN: %python %s | FileCheck %s
# CHECK: 0 problems
"""Which kernels of sm_90 multiply by several subgroups together, for modules as Python
makes them: where a schedule says so all products of the loop do, and the code has one
instruction for each of its steps; where a depth is none of such instructions', or too
small, no schedule says so."""

import re
import subprocess
import sys

MODULE = ("B=1 N=64 H=4 Sq=1024 Sk=1024 D={} type={} bias=bnk:i1:normal "
          "bias=bhqk:{}:normal pass=backward")
KERNELS = ("attention", "query_grad", "key_value_grad", "bias_grad")
# Kernels by depth. Above 128 some variants clear what a mask drops on its way, so that
# their products stay each subgroup's; above 192 the gradients of key and value have a
# kernel each.
ALL = {"attention": 2, "query_grad": 3, "key_value_grad": 4, "bias_grad": 2}
# The query's from a slab has one product.
SLABS = {**ALL, "query_grad": (1, 3)}
EXPECTED = {
    32: {}, 48: ALL, 64: ALL, 71: {}, 72: ALL, 112: SLABS, 128: SLABS,
    192: {"attention": (1, 2), "query_grad": (1, 3), "key_value_grad": 4,
          "bias_grad": (0, 2)},
    256: {"attention": (1, 2), "query_grad": 3, "key_value_grad": (2, 3),
          "bias_grad": (0, 2)}}


def lowered(depth, kind):
    """(name, schedule, products of groups) of each kernel."""
    module = subprocess.run(
        ["evoformer-check", "--print-module", MODULE.format(depth, kind, kind)],
        capture_output=True, text=True, check=True).stdout
    text = subprocess.run(
        ["evoformer-opt", "--evoformer-lower=target=sm_90 stop-after=pipelined"],
        input=module, capture_output=True, text=True, check=True).stdout
    for kernel in text.split("evo_tile.kernel @attention_")[1:]:
        name = re.match(r"[a-z_]*[a-z]", kernel)[0]
        schedule = re.search(r"schedule = #evo_tile.schedule<([^>]*)>", kernel)[1]
        yield name, schedule, kernel.count("= evo_tile.group_mma ")


problems = []
for depth, expected in EXPECTED.items():
    for kind in ("bf16", "f16"):
        for name, schedule, count in lowered(depth, kind):
            if name not in KERNELS:
                continue
            what = f"D = {depth}, {kind}: {name}, {schedule}: {count} products of groups"
            if ("products = group" in schedule) != (name in expected):
                problems.append(f"{what}: another schedule is expected")
            allowed = expected.get(name, 0)
            if count not in (allowed if isinstance(allowed, tuple) else (allowed,)):
                problems.append(f"{what}, expected are {allowed}")
print("\n".join(problems))
sys.exit(print(f"{len(problems)} problems") or bool(problems))
