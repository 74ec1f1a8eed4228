"""Prints a file of kernels after a chip's attributes, the chip's target as
#target: `with_target.py CHIP KERNELS [SCHEDULE]`, where SCHEDULE replaces the
name #schedule."""

import pathlib
import sys

root = pathlib.Path(__file__).resolve().parents[4]


def main(chip, kernels, schedule=None):
    (source,) = root.glob(f"lib/Target/*/{chip}.mlir")
    head, found, target = source.read_text().partition(
        "module attributes {evo_tile.target = ")
    if not found:
        sys.exit(f"{source}: no target")
    print(head + "#target = " + target.rstrip().removesuffix("} {}"))
    if schedule:
        print(f"#schedule = #evo_tile.schedule<v1, {schedule}>")
    print(pathlib.Path(kernels).read_text())


main(*sys.argv[1:])
