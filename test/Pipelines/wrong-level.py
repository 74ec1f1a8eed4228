# RUN: %python %s %examples
"""Each pass and pipeline on the IR of every level: it does its work, leaves what
is not its business as it is, or says what it needs."""

import pathlib
import re
import subprocess
import sys

LEVELS = ("graph", "buffers", "tiles", "fragments", "staged", "pipelined",
          "lanes", "machine")
TILES_ONLY = "evo-tile-assign-layouts needs tiles without layouts, got"
BARE = "needs tiles with layouts, got .*; run evo-tile-assign-layouts first"
NO_CODE = "holds no gpu.module to serialize"
# What happens at a level where something happens: True, or an error. Passes on
# the whole of a module's functions do nothing where there is nothing to do.
PASSES = {
    "evoformer-bufferize-host": {"graph": True},
    "evoformer-raise-attention": {},
    "evoformer-results-to-arguments": {},
    "evoformer-set-target{target=gfx942}": {},
    "evoformer-split-backward": {},
    "evo-tile-to-cpu-llvm": {level: None for level in LEVELS},
    "convert-evoformer-to-tile{target=gfx942}": {
        "graph": "is on tensors, expected memrefs: run one-shot-bufferize",
        "buffers": True},
    "evo-tile-share-launches": {
        level: None for level in ("tiles", "fragments", "staged", "pipelined")},
    "evo-tile-assign-layouts": {
        "tiles": True, "fragments": TILES_ONLY, "staged": TILES_ONLY,
        "pipelined": TILES_ONLY},
    "evo-tile-remove-layout-conversions": {
        "tiles": "evo-tile-remove-layout-conversions " + BARE,
        "fragments": None, "staged": None, "pipelined": None},
    "evo-tile-promote-to-lds": {
        "tiles": "evo-tile-promote-to-lds " + BARE, "fragments": True,
        "staged": None, "pipelined": None},
    "evo-tile-software-pipeline": {
        "tiles": "evo-tile-software-pipeline " + BARE, "fragments": None,
        "staged": True},
    "evo-tile-carry-divisions": {
        level: None for level in ("tiles", "fragments", "staged", "pipelined")},
    "evo-tile-defer-lane-sums": {
        level: None for level in ("tiles", "fragments", "staged", "pipelined")},
    "evo-tile-split-products": {
        "tiles": "evo-tile-split-products " + BARE, "fragments": None,
        "staged": None, "pipelined": None},
    "evo-tile-share-operands": {
        "tiles": "evo-tile-share-operands " + BARE, "fragments": None,
        "staged": None, "pipelined": None},
    "evo-tile-overlap-products": {
        level: None for level in ("tiles", "fragments", "staged", "pipelined")},
    "evo-tile-skip-idle-subgroups": {
        "tiles": "evo-tile-skip-idle-subgroups " + BARE, "fragments": None,
        "staged": None, "pipelined": None},
    "evo-tile-copy-boxes": {
        level: None for level in ("tiles", "fragments", "staged", "pipelined")},
    "convert-tile-to-gpu": {
        "tiles": "convert-tile-to-gpu " + BARE,
        "fragments": True, "staged": True, "pipelined": True},
    "gpu.module(evo-gpu-carry-addresses)": {},
    "gpu.module(convert-gpu-lanes-to-llvm)": {"lanes": True, "machine": None},
    "convert-tile-to-cpu": {
        "tiles": True, "fragments": True, "staged": True, "pipelined": True},
    "convert-linalg-to-tile": {},
    "convert-tile-launch-to-gpu": {
        **{level: "is not in the LLVM dialect of a GPU; run "
                  "convert-gpu-lanes-to-llvm first"
           for level in LEVELS[2:7]},
        "machine": True},
    "evo-tile-pass-pointers": {
        **{level: "is not in the LLVM dialect of a GPU; run "
                  "convert-gpu-lanes-to-llvm first"
           for level in LEVELS[2:7]},
        "machine": True},
    "evoformer-serialize": {
        **{level: NO_CODE for level in LEVELS[:6]},
        "lanes": "is not of the LLVM dialect; convert-gpu-lanes-to-llvm comes "
                 "before"},
    **{f"func.func({name})": {} for name in (
        "evo-cpu-drop-cast-flags", "evo-cpu-expand-exp2", "evo-cpu-fuse-tiles",
        "evo-cpu-place-buffers", "evo-cpu-vectorize")},
    "llvm.func(evo-cpu-move-bf16-as-words)": {},
    "evoformer-lower{target=gfx942}": {
        "graph": True, "buffers": True, "tiles": True, "fragments": TILES_ONLY,
        "staged": TILES_ONLY, "pipelined": TILES_ONLY, "lanes": True,
        "machine": None},
    "evoformer-lower{target=gfx942 host=gpu}": {
        "graph": True, "buffers": True, "tiles": True, "fragments": TILES_ONLY,
        "staged": TILES_ONLY, "pipelined": TILES_ONLY, "lanes": True,
        "machine": True},
    "evoformer-lower{target=cpu}": {level: True for level in LEVELS[:6]}
    | {"lanes": None, "machine": None},
}


def opt(text, *arguments):
    return subprocess.run(["evoformer-opt", "-", *arguments], input=text,
                          capture_output=True, text=True)


def main():
    source = (pathlib.Path(sys.argv[1]) / "triangle_attention.mlir").read_text()
    programs = {"graph": opt(source).stdout}
    for level in LEVELS[1:]:
        run = opt(source, f"--evoformer-lower=target=gfx942 stop-after={level}")
        assert run.returncode == 0, run.stderr
        programs[level] = run.stdout
    problems = []
    for name, outcomes in PASSES.items():
        for level, text in programs.items():
            # None: whether it finds something more to do is its own affair.
            wanted = outcomes.get(level, False)
            run = opt(text, f"--pass-pipeline=builtin.module({name})")
            error = re.search(r"<stdin>:\d+:\d+: error: (.*)", run.stderr)
            if isinstance(wanted, str):
                good = (run.returncode == 1 and error and
                        re.search(wanted, error.group(1)) and not run.stdout)
            else:
                good = run.returncode == 0 and (
                    wanted is None or wanted == (run.stdout != text))
            if not good:
                problems.append(f"{name} on {level}: exit code {run.returncode}"
                                f", wanted {wanted}\n{run.stderr[:500]}")
    if problems:
        sys.exit("\n".join(problems))


main()
