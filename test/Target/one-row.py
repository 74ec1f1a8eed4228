# RUN: %python %s %t | FileCheck %s
# CHECK-COUNT-4: instructions a logit
"""The loop of the query's gradient that also stores that of a bias which no other row n
shares: it chooses no zeros for what is dropped (docs/rationale/dropped-keys.md), so that
it holds little more than without a bias's gradient. At most so many instructions a logit
of a lane, a tenth above what was counted."""

import json
import pathlib
import subprocess
import sys

CASE = ("B=4 N=1 H=4 Sq=384 Sk=384 D={} type=bf16 bias=bnk:i1:normal "
        "bias=bhqk:bf16:normal static=all pass=backward")
LIMITS = {("gfx942", 32): 9, ("gfx950", 32): 7.4, ("gfx1100", 32): 13.9,
          ("sm_80", 32): 11.1}

problems = []
for (target, depth), limit in LIMITS.items():
    module = subprocess.run(["evoformer-check", "--print-module", CASE.format(depth)],
                            capture_output=True, text=True, check=True).stdout
    path = pathlib.Path(f"{sys.argv[1]}.{target}.json")
    kind = "ptx" if target.startswith("sm_") else "isa"
    subprocess.run(
        ["evoformer-opt", f"--evoformer-lower=target={target}",
         f"--evoformer-serialize=format={kind} report={path}", "-o", "/dev/null"],
        input=module, text=True, check=True)
    kernels = json.loads(path.read_text())
    if any("bias_grad" in kernel["name"] for kernel in kernels):
        problems.append(f"{target}: the bias's gradient has a kernel of its own")
    # The first is for aligned rows.
    kernel = next(k for k in kernels if k["name"].startswith("attention_query_grad"))
    share = kernel["hot_loop"]["total"] / kernel["ideal_transcendental"]
    print(f"{target}, D = {depth}: {share:.1f} instructions a logit")
    if share > limit:
        problems.append(f"{target}, D = {depth}: {share:.1f} instructions a logit, "
                        f"{limit} allowed")
if problems:
    sys.exit("\n".join(problems))
