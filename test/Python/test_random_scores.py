# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Random regions of scores in kernels, forward and with gradients of queries, keys,
values and captures, against an evaluation of the same program by torch in f64.

More of them: EVOFORMER_RANDOM_SCORES=100 pytest test/Python/test_random_scores.py"""

import os
import pathlib
import sys

import pytest
import torch
from evoformer import _keys, _torch
from test_score import operands, written_out
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
import random_scores  # noqa: E402

COUNT = int(os.environ.get("EVOFORMER_RANDOM_SCORES", "2"))
FUNCTIONS = {
    "addf": torch.add, "subf": torch.sub, "mulf": torch.mul, "divf": torch.div,
    "maximumf": torch.maximum, "maxnumf": torch.maximum, "minimumf": torch.minimum,
    "minnumf": torch.minimum, "negf": torch.neg, "absf": torch.abs, "exp": torch.exp,
    "exp2": torch.exp2, "log": torch.log, "log2": torch.log2, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "tanh": torch.tanh, "fma": lambda a, b, c: a * b + c,
    "addi": torch.add, "subi": torch.sub, "muli": torch.mul, "minsi": torch.minimum,
    "maxsi": torch.maximum, "andi": torch.bitwise_and, "ori": torch.bitwise_or,
    "xori": torch.bitwise_xor, "remsi": torch.fmod,
    "divsi": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "slt": torch.lt, "sle": torch.le, "sgt": torch.gt, "sge": torch.ge, "eq": torch.eq,
    "ne": torch.ne}


def evaluate(region, x, places, captures):
    def integer(value):
        return torch.as_tensor(value, dtype=torch.int32, device=x.device)
    values = {"%x": x, "%c0": captures[0].to(x.dtype), "%c1": captures[1].to(x.dtype)}
    values |= dict(zip(random_scores.INTEGERS, map(integer, places), strict=True))
    for name, op, names, attribute in region.steps:
        given = [values[one] for one in names]
        if op == "constant.f32":
            result = torch.full((), attribute, dtype=x.dtype, device=x.device)
        elif op == "constant.i32":
            result = integer(attribute)
        elif op.startswith("select"):
            result = torch.where(*given)
        elif op == "arith.cmpi":
            result = FUNCTIONS[attribute](*given)
        elif op == "arith.sitofp":
            result = given[0].to(x.dtype)
        else:
            result = FUNCTIONS[op.split(".")[1]](*given)
        values[name] = result
    return values[region.result].expand(x.shape)


@pytest.mark.parametrize("seed", range(COUNT))
def test_agrees(device, seed):
    region = random_scores.Region(f"kernels {seed}", smooth=True)
    text = ";".join(region.lines()).replace(" ", "~")
    shapes = (((2, 4, 1, 1), (1, 1, 37, 53)), ((1, 1, 1, 1), (2, 4, 37, 53)),
              ((1, 4, 37, 1), (2, 1, 1, 53)))[seed % 3]
    tensors = [*operands(torch.float32, device, key_heads=4, depth=16),
               *(normal(*shape, seed=k, device=device) for k, shape in enumerate(shapes, 5))]
    def ours(q, k, v, *captures):
        return _torch.attention(q, k, v, captures, None, None, "bshd", False,
                                _keys.Keys(score=text, captures=2))
    def theirs(q, k, v, *captures):
        return written_out(q, k, v, lambda x, *places: evaluate(region, x, places,
                                                                captures))
    # Of functions kernels round by up to four units in the last place (as the f64
    # reference says, lib/Reference/Score.cpp), torch by half of one.
    compare(ours, theirs, tensors, times=8)
