# Final code of every AMD chip, by type of elements and depth, and what all of it is
# held to.
import concurrent.futures
import functools
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import targets
from barriers import early_barriers
from whole_waves import partial_waves

TYPES = ("bf16", "f16", "f32")
# Chips whose loops have been worked on until no wait drains all loads.
NEVER_DRAINS = ("gfx942", "gfx1100")


class Failed(Exception):
    """What the compiler says."""


@functools.cache
def families():
    """The chips of one architecture, by lanes of a subgroup."""
    chips = [target for target in targets.known()
             if target.triple.startswith("amdgcn")]
    chips.sort(key=lambda target: target.subgroup_size)
    return [[target.name for target in family] for _, family in
            itertools.groupby(chips, lambda target: target.subgroup_size)]


@functools.cache
def has_matrix_unit(chip, kind):
    return kind != "f32" or '"llvm.fma.f32"' not in targets.read(chip)


def final_code(name, target, module, option=""):
    """The report on a module's kernels and their listings, of which each waits for
    workgroup memory before its barriers and multiplies matrices with all lanes;
    `name` is where they go."""
    folder = pathlib.Path(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = folder / "report"
    run = subprocess.run(
        ["evoformer-opt", f"--evoformer-lower=target={target} {option}",
         f"--evoformer-serialize=format=isa report={report} out-dir={folder}",
         # Other tests verify the same passes after each of them; here it is an
         # eighth of the time.
         "--verify-each=false", "-o", os.devnull], input=module, capture_output=True, text=True)
    if run.returncode:
        raise Failed(run.stderr[:1000])
    listings = "".join(path.read_text(encoding="utf-8")
                       for path in sorted(folder.glob("*.s")))
    if wrong := early_barriers(listings)[0] + partial_waves(listings)[0]:
        raise Failed("\n".join(wrong))
    return report.read_text(encoding="utf-8"), listings


def module_of(case):
    """The module of a case of evoformer-check."""
    return subprocess.run(["evoformer-check", "--print-module", case],
                          capture_output=True, text=True, check=True).stdout


def gradients_of(module):
    """The module of a case of gradients without its forward pass, whose kernels
    other cases have."""
    text, count = re.subn(
        r"  evoformer\.attention\n.*?(?=  evoformer\.attention_backward\n)", "",
        module, flags=re.S)
    assert count == 1, module
    return text


def draw(depths, always=(), groups=None, extra=(32, 64)):
    """Chips, types and depths: each depth with one type, and some with bf16, too,
    for one chip of each group (those of families()), so that each chip takes each
    type as depths go on, and for the chips of `always`. The whole product with
    'all' among the arguments."""
    every = "all" in sys.argv
    for step, depth in enumerate(depths):
        for place, kind in enumerate(TYPES):
            if not (every or step % 3 == place or
                    (kind == "bf16" and depth in extra)):
                continue
            for group in groups or families():
                # Three types in turn never meet all of three chips in turn.
                skip = 0 if len(group) % len(TYPES) else step // len(TYPES)
                turn = (step + place + skip) % len(group)
                yield from ((chip, kind, depth)
                            for number, chip in enumerate(group)
                            if every or number == turn or chip in always)


def check_all(problems_of, cases):
    """`problems_of` takes a chip, a type and a depth, and returns lines."""
    def problems(case):
        what = "{}, {}, D = {}".format(*case)
        try:
            return [f"{what}: {line}" for line in problems_of(*case)]
        except Failed as failure:
            return [f"{what}: {failure}"]

    cases = list(dict.fromkeys(cases))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = sum(pool.map(problems, cases), [])
    chips = sorted({chip for chip, *_ in cases})
    print(f"{len(cases)} cases of {', '.join(chips)}, {len(found)} problems")
    if found:
        sys.exit("\n".join(found))
