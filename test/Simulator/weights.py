# Random attentions whose weights are logits, linear and retention, forward and all
# gradients, against a reference that makes them in f64 without a compiler: with decays
# that a score captures, ranges of keys, lengths, ragged sequences, groups of heads, masks,
# dropout and gates.
#
# RUN: %python %s %if full %{--full%} | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
#
# More of them: python test/Simulator/weights.py --count 500 --seed 7 --targets cpu
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import random_cases

# RetNet's head: values of another depth, and one that is no power of 2. Weights so large
# that only their own sum divides them, and so small that the least does.
CASES = {
    "cpu": "H=2 Sq=40 Sk=72 D=192 Dv=128 type=bf16 score=matrix weights=retention:1",
    "gfx942": "N=2 H=2 Sq=33 Sk=65 D=32 Dv=16 type=f16 score=matrix weights=retention:100",
    "gfx1100": "N=2 H=2 Sq=33 Sk=65 D=24 Dv=40 scale=30 type=f32 weights=retention:1",
    "sm_80": "H=2 Sq=17 Sk=48 D=32 type=bf16 weights=linear bias=qk:i1:sparse",
    # Products take small numbers of f16 for 0.
    "gfx90a": "N=2 H=2 Sq=33 Sk=70 D=32 Dv=16 type=f16 score=matrix weights=retention:1"}
# Rows that keep no key, beside values that are NaN; NaN in keys that some rows keep; less
# than f32 can divide by.
OTHERS = (
    "Sq=20 Sk=40 D=16 type=f32 bias=bhqk:i1:sparse weights=linear nan_values=1",
    "Sq=20 Sk=40 D=16 type=f32 bias=bhqk:i1:sparse weights=retention:1 nan_values=1",
    "Sq=17 Sk=33 D=32 type=f16 bias=hqk:i1:sparse weights=retention:0 nan=some",
    "Sq=17 Sk=33 D=32 type=f16 bias=hqk:i1:sparse weights=retention:1 nan=some stats=1",
    "H=2 Sq=33 Sk=65 D=16 type=bf16 bias=bhqk:i1:sparse weights=retention:1 nan=some "
    "pass=backward",
    "H=2 Sq=17 Sk=40 D=32 type=f32 bias=bhqk:i1:sparse weights=retention:1e-42 stats=1")


def always():
    for number, case in enumerate(OTHERS):
        random_cases.check(list(CASES)[number % 2], case)
    for target, case in CASES.items():
        random_cases.check(target, case + " stats=1 pass=backward")


random_cases.run("Weights that are logits", 16, always=always,
                 weights=random_cases.WEIGHTS)
