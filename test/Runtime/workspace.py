# RUN: mkdir -p %t && %python %s %build_dir/bin %t %if full %{ all %}
"""The workspace of a backward pass, and of a forward one: what the query says is what a
run takes, and no more than the documented bound (docs/rationale/workspace.md), over many
sizes."""

import itertools
import os
import re
import subprocess
import sys

tools, folder = sys.argv[1:3]
problems = []
BYTES = {"bf16": 2, "f16": 2, "f32": 4}
# Rows, queries and keys: of each two every pair; with 'all' as an argument the whole
# product.
SIZES = [(n, sq, sk) for (i, n), (j, sq), (k, sk) in itertools.product(
    *map(enumerate, ((1, 3, 384), (1, 17, 384, 1024), (1, 100, 2048))))
         if (i + j) % 3 == k or "all" in sys.argv]


def run(tool, *words):
    done = subprocess.run([os.path.join(tools, tool), *words], text=True,
                          capture_output=True)
    if done.returncode:
        sys.exit(f"{tool} {' '.join(words)}: {done.stderr}")
    return done.stdout


class Case:
    """One module of dynamic lengths, its plan, and what it may take."""

    def __init__(self, target, kind, gate, heads=4, depth=32, cap=-1, group=1,
                 backward=True):
        self.cap, self.group, self.backward = cap, group, backward
        self.target, self.kind, self.gate = target, kind, gate
        self.heads, self.depth = heads, depth
        name = os.path.join(folder,
                            f"{target}-{kind}-{gate}-{cap}-{group}-{backward}")
        words = (f"type={kind} H={heads} D={depth} B=2 N=2 static=heads "
                 f"bias=bnk:i1:normal bias=bhqk:{kind}:normal")
        if backward:
            words += " pass=backward"
        if gate:
            words += f" gate={kind}"
        if group != 1:
            words += f" group={group}"
        with open(name + ".mlir", "w") as file:
            file.write(run("evoformer-check", "--print-module", words))
        self.plan = name + ".json"
        run("evoformer-run", name + ".mlir", f"--target={target}", "--no-run",
            f"--partial-sum-bytes={cap}", f"--emit-plan={self.plan}")

    def shapes(self, b, n, sq, sk):
        h, d = self.heads, self.depth
        query, key = (b, n, sq, h, d), (b, n, sk, h // self.group, d)
        pair = (b, 1, h, sq, sk)
        result = {name: query for name in ("query", "out", "out_grad",
                                           "query_grad")}
        result |= {name: key for name in ("key", "value", "key_grad",
                                          "value_grad")}
        result |= {"bias0": (b, n, 1, 1, sk), "bias1": pair, "bias1_grad": pair,
                   "stats": (2, b, n, h, sq)}
        if self.gate:
            result |= {"gate": query, "gate_grad": query}
        if not self.backward:
            result = {name: shape for name, shape in result.items()
                      if name != "stats" and not name.endswith("_grad")}
        return [f"--shape={name}=" + "x".join(map(str, shape))
                for name, shape in result.items()]

    def query(self, *sizes, options=("--workspace",)):
        text = run("evoformer-run", self.plan, *self.shapes(*sizes), *options)
        return int(re.search(r"workspace (\d+) bytes", text).group(1))

    def bound(self, b, n, sq, sk):
        h, d, size = self.heads, self.depth, BYTES[self.kind]
        sequence = b * n * h * d * size
        delta = 4 * b * n * h * sq
        weighted = sequence * sq if self.gate else 0
        # At most as much as the gradients of query, key and value.
        parts = sequence * (sq + 2 * sk // self.group)
        if self.cap >= 0:
            parts = self.cap
        # Lengths in whole blocks, of at most 256.
        padded_q, padded_k = (-(-s // 256) * 256 for s in (sq, sk))
        key_sum = 4 * b * n * padded_k
        if not self.backward:
            # A copy as it is, or one of f32 that is no larger than the output.
            copy = max(size * b * h * sq * padded_k, sequence * sq)
            return key_sum + copy + 64 * 8
        # Transposed ones are of f32.
        copy = 4 * b * h * padded_q * padded_k
        return delta + weighted + parts + key_sum + copy + 64 * 8


cases = [Case("cpu", "bf16", True), Case("gfx942", "bf16", False),
         Case("sm_80", "f32", True), Case("gfx1100", "f16", False),
         Case("gfx942", "bf16", False, cap=0),
         Case("sm_80", "bf16", False, cap=1 << 20),
         Case("sm_80", "bf16", False, heads=8, group=8), Case("cpu", "f32", False),
         Case("gfx942", "bf16", False, backward=False)]
most = 0
for case in cases:
    for n, sq, sk in SIZES:
        sizes = (2, n, sq, sk)
        taken, allowed = case.query(*sizes), case.bound(*sizes)
        delta = 4 * 2 * n * case.heads * sq * case.backward
        if not delta <= taken <= allowed:
            problems.append(f"{case.plan} {sizes}: {taken} bytes of {allowed}")
        most = max(most, taken / allowed)
        # Never anything of [N, H, Sq, Sk].
        if n == 384 and min(sq, sk) >= 384 and taken >= 2 * n * 4 * sq * sk:
            problems.append(f"{case.plan} {sizes}: {taken} bytes")
# Where sums are cut by default, the parts lie where other gradients will be
# (docs/rationale/lent-memory.md), or in the workspace.
cut, whole = (Case("sm_80", "bf16", False, cap=cap) for cap in (-1, 0))
default, capped = (case.query(1, 384, 256, 256) for case in (cut, whole))
with open(cut.plan) as file:
    text, lent = re.subn(r'"overwritten":\s*true,', "", file.read())
cut.plan += ".own.json"
with open(cut.plan, "w") as file:
    file.write(text)
own = cut.query(1, 384, 256, 256)
if lent != 4 or default != capped or own - capped < 2 * 4 * 256 * 256 * 4:
    problems.append(f"without partial sums {capped} bytes, with them {default}, or {own} "
                    f"where none of {lent} gradients lends memory")
# From 64 rows on a bias that they share is widened where keys are whole blocks; not where
# the output is smaller than a copy of whole blocks would be.
forward = cases[-1]
for sizes, widens in (((2, 64, 17, 128), True), ((2, 63, 17, 128), False),
                      ((2, 64, 17, 2048), False), ((2, 128, 17, 256), True)):
    b, _, sq, sk = sizes
    copied = 4 * b * forward.heads * sq * sk
    if (forward.query(*sizes) >= copied) != widens:
        problems.append(f"forward {sizes}: {forward.query(*sizes)} bytes, a copy "
                        f"takes {copied}")
# What a run allocates, every buffer of it inside, is what was asked for.
for case, sizes in itertools.product(
        (cases[0], cases[-2]), [(1, 1, 17, 33), (2, 3, 64, 100), (1, 5, 129, 40)]):
    ran = case.query(*sizes, options=("--random=1", "--guard-bytes=0"))
    if ran != case.query(*sizes):
        problems.append(f"{sizes}: ran with {ran}, said {case.query(*sizes)}")
# No memory is needed to ask.
huge = cases[0].query(1, 1 << 20, 4096, 4096)
if huge < 1 << 34:
    problems.append(f"{huge} bytes for tensors of a terabyte")
print(f"largest share of the bound: {most:.2f}")
sys.exit("\n".join(problems) or 0)
