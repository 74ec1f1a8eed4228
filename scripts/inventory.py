"""Which kinds of test each pass and each op has.

inventory.py          prints the table
inventory.py --check  fails where a kind is missing

A pass needs a test of what it makes (`does`: its name in a RUN line whose output
is checked), of what it refuses (`refuses`: a RUN line that expects errors;
passes that have none to report are listed below) and of every level of the IR
(`levels`: test/Pipelines/wrong-level.py). `runs` counts tests that execute what
it made. An op needs a round trip (`written and read`) and the message of each
thing that its verifier refuses, which scripts/messages.py checks.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINITION = re.compile(r'Pass<\s*"([\w-]+)"')
PIPELINE = re.compile(r'PassPipelineRegistration<[^>]*>\s*\(?\s*"([\w-]+)"')
OP = re.compile(r':\s*(Tile|Evoformer)_\w*Op<"(\w+)"')
OPS = {"Tile": "evo_tile", "Evoformer": "evoformer"}
# What these cannot handle they leave as it is.
NEVER_REFUSES = {
    "evo-cpu-fuse-tiles", "evo-cpu-expand-exp2", "evo-cpu-drop-cast-flags",
    "evo-cpu-move-bf16-as-words",
    "evoformer-results-to-arguments", "evoformer-split-backward",
    "evo-tile-carry-divisions", "evo-tile-defer-lane-sums",
    "evo-tile-overlap-products", "evo-tile-share-launches",
    "evo-gpu-carry-addresses"}
EXECUTES = re.compile(r"mlir-runner|evoformer-run|evoformer-sim|evoformer-check")


def texts(folder, *suffixes):
    for path in sorted((ROOT / folder).rglob("*")):
        if path.is_file() and path.suffix in suffixes:
            yield path, path.read_text(encoding="utf-8", errors="replace")


def passes():
    names = set()
    for _, text in texts("include", ".td"):
        names.update(DEFINITION.findall(text))
    for _, text in texts("lib", ".cpp"):
        names.update(PIPELINE.findall(text))
    return sorted(names)


def ops():
    for _, text in texts("include", ".td"):
        for dialect, name in OP.findall(text):
            yield f"{OPS[dialect]}.{name}"


def run_lines():
    """(file, one command of a RUN line with its continuations)."""
    for path, text in texts("test", ".mlir", ".test", ".py"):
        joined = re.sub(r"\\\n\s*(?://|#)\s*RUN:", "", text)
        for line in re.findall(r"RUN:(.*)", joined):
            yield path, line


def names(line, name):
    return re.search(rf"(?:(?<=--)|(?<![\w-])){re.escape(name)}(?![\w-])", line)


def main():
    lines = list(run_lines())
    levels = (ROOT / "test/Pipelines/wrong-level.py").read_text()
    round_trips = "\n".join(
        path.read_text() for path in {
            path for path, line in lines
            if re.search(r"evoformer-opt %s \| evoformer-opt", line)})
    problems = []
    print(f"{'pass':36}{'does':>6}{'refuses':>9}{'runs':>6}{'levels':>8}")
    for name in passes():
        here = [line for _, line in lines if names(line, name)]
        refuses = [line for line in here
                   if re.search(r"\bnot\b|verify-diagnostics", line)]
        does = [line for line in here if not re.search(r"\bnot\b", line) and
                (line not in refuses or "FileCheck" in line)]
        runs = [line for line in does if EXECUTES.search(line)]
        level = bool(names(levels, name))
        print(f"{name:36}{len(does):6}{len(refuses):9}{len(runs):6}"
              f"{'yes' if level else 'no':>8}")
        if not does:
            problems.append(f"no test of what {name} makes")
        if not refuses and name not in NEVER_REFUSES:
            problems.append(f"no test of what {name} refuses")
        if not level:
            problems.append(f"{name} is not in test/Pipelines/wrong-level.py")
    print(f"\n{'op':36}written and read")
    for name in ops():
        found = bool(names(round_trips, name))
        print(f"{name:36}{'yes' if found else 'no'}")
        if not found:
            problems.append(f"no test writes and reads {name}")
    if sys.argv[1:] == ["--check"] and problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
