# Rows of usual inputs are computed once: what looks for the few that must be made
# again, or for queries that have lost their keys, finds none. An exponential a logit is
# what the forward pass needs; a second loop would double it. Results alone do not show
# that. (f32 keeps a running maximum, with an exponential more a step.)
#
# RUN: %python %s | FileCheck %s
# CHECK: 56 passes counted

import itertools
import json
import subprocess

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "sm_80", "sm_90")
# Keys of no row, too, which lose none; and bits of each query, which those behind the
# end do not have.
KINDS = (("bf16", "bnk:i1:normal"), ("f16", "bnk:i1:normal"), ("bf16", "bnk:i1:all-false"),
         ("bf16", "nqk:i1:all-true"))
# Of rows behind the end of a block, too.
SIZES = ("Sq=128 Sk=256 D=32", "Sq=258 Sk=128 D=64")
MOST = 1.6

passes = 0
for chip, (kind, mask), sizes in itertools.product(CHIPS, KINDS, SIZES):
    case = f"N=1 H=1 {sizes} type={kind} bias={mask} bias=bhqk:{kind}:normal"
    text = subprocess.run(
        ["evoformer-check", f"--target={chip}", "--device=sim", "--guard-bytes=0",
         "--sim-counters=json", case],
        check=True, capture_output=True, text=True).stdout
    record, = (json.loads(line) for line in text.splitlines() if line.startswith("{"))
    share = record["against_ideal"]["transcendental"]
    assert 1 <= share < MOST, (chip, case, share)
    passes += 1
print(passes, "passes counted")
