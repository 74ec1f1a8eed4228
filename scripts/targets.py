"""The chips that the compiler knows, as evoformer-opt lists them.

    targets.py [--check=FILE] [--turns=N] [--sharing] COMMAND...

runs the command for each GPU, with its name for every TARGET, and lets FileCheck
read what it prints; the first that fails ends it. With turns each runs one of N
parts of evoformer-check's cases: each GPU has some, and each case some GPUs.
Chips that run the code of another one, in other sizes, are left out; --sharing
takes these."""

import argparse
import collections
import functools
import os
import re
import subprocess
import sys

Target = collections.namedtuple("Target", "name triple subgroup_size")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@functools.lru_cache(maxsize=None)
def listed(tools):
    """The words of each line of evoformer-opt's list."""
    text = subprocess.run([os.path.join(tools, "evoformer-opt"), "--list-targets"],
                          check=True, capture_output=True, text=True).stdout
    return tuple(line.split() for line in text.splitlines())


def names(tools=""):
    """All names that the compiler takes, sorted."""
    return sorted(name for name, *_ in listed(tools))


@functools.lru_cache(maxsize=None)
def known(tools=""):
    """All of them that have a file, sorted by name; `tools` is the folder of
    evoformer-opt where the PATH has none."""
    targets = [Target(name, triple, int(size))
               for name, triple, size, *same in listed(tools) if not same]
    if not targets:
        sys.exit("evoformer-opt knows no targets")
    return tuple(targets)


def gpus(tools="", architecture="", sharing=False):
    """The names of those that have kernels, of one architecture if it is given:
    those with code of their own, or those that share another one's."""
    return [target.name for target in known(tools)
            if target.triple != "host" and target.triple.startswith(architecture)
            and shares(target.name, tools) == sharing]


def shares(chip, tools=""):
    """Whether a chip runs the code of another one that is known."""
    code = re.search(r'code_chip = "(\w+)"', read(chip))
    return bool(code) and any(code[1] == target.name for target in known(tools))


def subgroup_size(chip):
    return next(target.subgroup_size for target in known()
                if target.name == chip)


def read(chip):
    """The text of a chip's file."""
    for folder, _, names in os.walk(os.path.join(ROOT, "lib", "Target")):
        if f"{chip}.mlir" in names:
            with open(os.path.join(folder, f"{chip}.mlir"),
                      encoding="utf-8") as file:
                return file.read()
    raise FileNotFoundError(f"no file of a chip '{chip}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--turns", type=int, default=1, metavar="N")
    parser.add_argument("--sharing", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    chips = gpus(sharing=options.sharing)
    if not 1 <= options.turns <= len(chips):
        parser.error(f"turns are from 1 to the {len(chips)} GPUs, not {options.turns}")
    for number, chip in enumerate(chips):
        command = [word.replace("TARGET", chip) for word in options.command]
        if options.turns > 1:
            command += [f"--parts={options.turns}", f"--part={number % options.turns}"]
        print(" ".join(command), flush=True)
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(run.stdout, end="", flush=True)
        code = run.returncode
        if options.check and not code:
            code = subprocess.run(["FileCheck", options.check], input=run.stdout,
                                  text=True).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
