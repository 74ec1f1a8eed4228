# RUN: %python %s %t | FileCheck %s
# CHECK-COUNT-10: instructions a logit
"""What sm_80's steady loops hold, with a key mask and a pair bias of sizes that are
not known: the matrix instructions and exponentials of their fragments, no exchange
between lanes, and at most so many instructions of PTX a logit of a lane. They are
those of the variants for aligned rows, of a bias's gradient in one part and in
several. ptxas makes more of some than of others; docs/rationale/carried-addresses.md
has what it makes."""

import json
import pathlib
import subprocess
import sys

CASE = ("B=1 N=384 H=4 Sq=384 Sk=384 D={} type=bf16 bias=bnk:i1:normal "
        "bias=bhqk:bf16:normal pass=backward")
# What was counted and three in a hundred, by depth. Of the forward pass's, three are
# those of rows without a key so far, which others jump over.
LIMITS = {
    32: {"attention": 13.6, "query_grad": 10.1, "key_value_grad": 11.6,
         "bias_grad": 9.9, "bias_grad of parts": 9.9},
    64: {"attention": 13.3, "query_grad": 12.7, "key_value_grad": 16.6,
         "bias_grad": 12.1, "bias_grad of parts": 12.1},
}


def reports(depth):
    module = subprocess.run(
        ["evoformer-check", "--print-module", CASE.format(depth)],
        capture_output=True, text=True, check=True).stdout
    path = pathlib.Path(f"{sys.argv[1]}.{depth}.json")
    subprocess.run(
        ["evoformer-opt", "--evoformer-lower=target=sm_80",
         f"--evoformer-serialize=format=ptx report={path}", "-o", "/dev/null"],
        input=module, text=True, check=True)
    # The first of each step is for aligned rows; of a bias's gradient there are two
    # with one part, then two with several.
    found = {}
    for kernel in json.loads(path.read_text()):
        for name in LIMITS[depth]:
            if kernel["name"].startswith(f"attention_{name}"):
                found.setdefault(name, []).append(kernel)
    found["bias_grad of parts"] = found["bias_grad"][2:]
    return {name: kernels[0] for name, kernels in found.items()}


problems = []
for depth, limits in LIMITS.items():
    kernels = reports(depth)
    for name, limit in limits.items():
        kernel = kernels[name]
        loop, logits = kernel["hot_loop"], kernel["ideal_transcendental"]
        share = loop["total"] / logits
        what = f"D = {depth}: {name}"
        print(f"{what}, {share:.1f} instructions a logit")
        if share > limit:
            problems.append(f"{what}: {share:.1f} instructions, {limit} allowed")
        for unit in ("matrix", "transcendental"):
            if loop[unit] != kernel[f"ideal_{unit}"]:
                problems.append(f"{what}: {loop[unit]} {unit} instructions")
        # The forward pass looks for a maximum where a row has none yet.
        if "grad" in name and loop.get("exchange", 0):
            problems.append(f"{what}: lanes exchange in each step")
if problems:
    sys.exit("\n".join(problems))
