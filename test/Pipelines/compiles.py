# RUN: %python %s %S/limits.json %t
"""Attention and its gradients of every depth and type for every target: up to
the depth that limits.json promises (and README.md repeats) it compiles; above it compiles or
is refused by an error that names the target and what is short.

Each depth is tried with one type, forward or backward in turn, for a twentieth of the
targets each; of every target and type what is promised is tried, too, forward or
backward in turn. One type of each target becomes machine code at a depth that differs by
target, forward or backward in turn: ISA and HSACO, PTX, or code of this processor, which
runs.
With 'all' as a further argument the whole product does, forward and backward."""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE / "Inputs"), str(HERE.parent / "Inputs"),
             str(HERE.parent / "Target" / "Inputs")]
import bounded
import targets
from attention_source import SOURCE
from barriers import early_barriers
from cases import gradients_of
from whole_waves import partial_waves

NVIDIA = HERE.parents[1] / "lib/Target/NVIDIA"
DEPTHS = (1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256)
# Where the types' machine code is made, forward and backward, in turn; the type
# and the target say where the turns begin.
MACHINE_DEPTHS = ((24, 96, 256), (256, 40, 128))
# Beyond the longest by far: against a compiler that does not end.
CPU_SECONDS = 1200
# The most instructions of a kernel; 3382 is the most that was counted. Against code
# that grows with the depth, as where loops unroll without bound.
INSTRUCTIONS = 6000
# The bytes of scratch memory a lane of the kernel that has most, where any has some:
# what LLVM 22 makes of depths for which the registers of 32 lanes do not do, rounded
# up to a multiple of 32. At depths above 64 the whole product is not held to it.
SCRATCH = {("gfx1100", "f16", 256, False): 256, ("gfx1100", "f32", 256, True): 1472,
           ("gfx1201", "f16", 256, True): 128}


@functools.cache
def source_of(kind, depth, backward, machine):
    if not backward:
        return SOURCE.format(d=depth, t=kind)
    # Machine code of one variant of each kernel: sizes are known.
    case = (f"N=2 H=4 Sq=384 Sk=384 D={depth} type={kind} "
            f"bias=bnk:{'i1' if machine else kind}:normal "
            f"bias=bhqk:{kind}:normal static={'all' if machine else 'heads'} "
            "pass=backward")
    return gradients_of(bounded.run(["evoformer-check", "--print-module", case],
                                    check=True).stdout)


def problem_of_code(name, target, kind, depth, backward):
    """What is wrong with kernels as machine code."""
    with open(f"{name}.json", encoding="utf-8") as file:
        kernels = json.load(file)
    longest = max(kernels, key=lambda kernel: kernel["instructions"]["total"])
    count = longest["instructions"]["total"]
    if count > INSTRUCTIONS:
        return (f"{longest['name']} has {count} instructions, more than "
                f"{INSTRUCTIONS}")
    known = SCRATCH.get((target, kind, depth, backward), 0)
    for kernel in kernels:
        if depth > 64 and "all" in sys.argv:
            break
        if kernel.get("scratch_bytes", 0) > known:
            return (f"{kernel['scratch_bytes']} bytes of scratch memory in "
                    f"{kernel['name']}, {known} known")
    listings = "".join(
        path.read_text(encoding="utf-8") for path in pathlib.Path(name).glob("*.s"))
    early, waiting = early_barriers(listings)
    if wrong := early + partial_waves(listings)[0]:
        return wrong[0]
    if "scratch_bytes" in kernels[0] and not waiting:
        return "no kernel has a barrier"
    return None


def run_here(kind, depth, backward):
    """Machine code of this processor is made when it runs."""
    return bounded.run(
        ["evoformer-check", f"N=2 H=2 Sq=17 Sk=19 D={depth} type={kind} "
         f"bias=bnk:i1:normal bias=bhqk:{kind}:normal"
         f"{' pass=backward' * backward}"], cpu_seconds=CPU_SECONDS)


def compile_for(target, source, form, name):
    steps = [f"--evoformer-lower=target={target}"]
    if form:
        steps.append(f"--evoformer-serialize=format={form} out-dir={name} "
                     f"report={name}.json")
    return bounded.run(["evoformer-opt", *steps, "-o", os.devnull], input=source,
                       cpu_seconds=CPU_SECONDS)


def problem_with(case):
    """None, or what is wrong with the case."""
    target, kind, depth, limit, backward, machine = case
    what = f"{target}, {kind}, D = {depth}{', gradients' * backward}"
    name = f"{sys.argv[2]}.{target}-{kind}-{depth}{'-backward' * backward}"
    # A cubin needs a toolkit.
    form = "ptx" if (NVIDIA / f"{target}.mlir").exists() else "object"
    if target == "cpu" and machine:
        run = run_here(kind, depth, backward)
    else:
        run = compile_for(target, source_of(kind, depth, backward, machine),
                          form if machine else None, name)
    if run.returncode == 0:
        problem = (problem_of_code(name, target, kind, depth, backward)
                   if machine and target != "cpu" else None)
        return f"{what}: {problem}" if problem else None
    what += f": exit code {run.returncode}"
    if depth <= limit:
        return (f"{what}, but D = {limit} is promised\n"
                f"{run.stdout[-2000:] if target == 'cpu' else ''}{run.stderr}")
    refused = re.search(rf"<stdin>:\d+:\d+: error: .*{target}", run.stderr)
    if run.returncode != 1 or not refused:
        return f"{what}, no error that names the target\n{run.stderr}"
    return None


def cases(limits, every):
    for turn, (target, by_type) in enumerate(limits.items()):
        for number, (kind, limit) in enumerate(by_type.items()):
            for place, depth in enumerate(DEPTHS):
                for backward in (False, True):
                    depths = MACHINE_DEPTHS[backward]
                    machine = every or (
                        (turn + number) % 2 == backward and turn % 3 == number and
                        depth == depths[(turn + number) % len(depths)])
                    drawn = (place % 3 == number and
                             (place // 3 + turn + backward) % 20 == 0)
                    deepest = depth == limit and (turn + number) % 2 == backward
                    if machine or drawn or deepest:
                        yield target, kind, depth, limit, backward, machine


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        limits = json.load(file)
    # A chip of which nothing is promised yet is held to all.
    for target in targets.known():
        limits.setdefault(target.name,
                          dict.fromkeys(("bf16", "f16", "f32"), DEPTHS[-1]))
    todo = list(cases(limits, "all" in sys.argv))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [p for p in pool.map(problem_with, todo) if p]
    machine = sum(case[-1] for case in todo)
    print(f"{len(todo)} cases, {machine} of them machine code, "
          f"{len(problems)} problems")
    if problems:
        sys.exit("\n".join(problems))


main()
