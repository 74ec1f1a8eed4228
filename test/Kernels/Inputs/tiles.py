# The general kernels of test/Kernels, for the tests that lower them.
import re
import subprocess
import sys

import targets

CHIPS = targets.gpus()
# Block, subgroups along [batch, M, N] of a workgroup, and stages.
SCHEDULES = {"matmul": ("[1, 64, 64]", "[1, 2, 2]", 2),
             "softmax": ("[1, 16, 64]", "[1, 1, 1]", 1),
             "layer_norm": ("[1, 16, 64]", "[1, 1, 1]", 1),
             "l2_norm": ("[1, 16, 64]", "[1, 2, 1]", 1)}
STEPS = ("evo-tile-assign-layouts", "evo-tile-promote-to-lds",
         "evo-tile-software-pipeline")


def run(*command):
    """What the command prints; it must succeed."""
    result = subprocess.run([str(c) for c in command], capture_output=True,
                            text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def tiles(source, kernel, chip, change=lambda text: text):
    """A kernel's text, changed, with a schedule and a target: a chip's name or
    the path of its file."""
    table = targets.read(chip) if chip in CHIPS else chip.read_text()
    aliases, target = re.fullmatch(
        r"(.*)module attributes \{evo_tile.target = (.*)\} \{\s*\}\s*", table,
        re.DOTALL).groups()
    block, subgroups, stages = SCHEDULES[kernel]
    text, count = re.subn(
        r"(evo_tile\.kernel @\w+\([^{]*\)) \{",
        rf"\1 attributes {{schedule = #evo_tile.schedule<v1, block = {block}, "
        rf"subgroups = {subgroups}, stages = {stages}>, target = #chip}} {{",
        (source / "test/Kernels" / f"{kernel}.mlir").read_text(), count=1)
    assert count == 1
    return f"{aliases}#chip = {target}\n{change(text)}\n"
