# RUN: %python %s %S/limits.json %t
"""Attention and its gradients of every depth and type for every target: up to
the depth that limits.json promises (and README.md repeats) it compiles; above it compiles or
is refused by an error that names the target and what is short.

Each depth is tried with one type and each type with several depths for every
target; with 'all' as a further argument, the whole product."""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from attention_source import SOURCE

DEPTHS = (1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256)


@functools.cache
def source_of(kind, depth, backward):
    if not backward:
        return SOURCE.format(d=depth, t=kind)
    case = (f"N=2 H=4 Sq=384 Sk=384 D={depth} type={kind} bias=bnk:{kind}:normal "
            f"bias=bhqk:{kind}:normal static=heads pass=backward")
    return subprocess.run(["evoformer-check", "--print-module", case],
                          capture_output=True, text=True, check=True).stdout


def problem_with(case):
    """None, or what is wrong with the case."""
    target, kind, depth, limit, backward = case
    run = subprocess.run(
        ["evoformer-opt", f"--evoformer-lower=target={target}", "-o", os.devnull],
        input=source_of(kind, depth, backward), capture_output=True, text=True)
    what = (f"{target}, {kind}, D = {depth}{', gradients' * backward}: "
            f"exit code {run.returncode}")
    if run.returncode == 0:
        return None
    if depth <= limit:
        return f"{what}, but D = {limit} is promised\n{run.stderr}"
    refused = re.search(rf"<stdin>:\d+:\d+: error: .*{target}", run.stderr)
    if run.returncode != 1 or not refused:
        return f"{what}, no error that names the target\n{run.stderr}"
    return None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        limits = json.load(file)
    cases = [(target, kind, depth, limit, backward)
             for target, by_type in limits.items()
             for number, (kind, limit) in enumerate(by_type.items())
             for place, depth in enumerate(DEPTHS)
             for backward in (False, True)
             if "all" in sys.argv or place % 3 == number or depth == limit]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [p for p in pool.map(problem_with, cases) if p]
    print(f"{len(cases)} cases, {len(problems)} problems")
    if problems:
        sys.exit("\n".join(problems))


main()
