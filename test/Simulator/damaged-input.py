# RUN: rm -rf %t
# RUN: %python %s %source_dir %t
"""Damaged copies of lowered kernels: each runs, with findings or without, or is
refused with a message; evoformer-sim itself survives."""
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE / "Inputs"), str(HERE.parent / "Inputs")]
import bounded
from simulation import CHIPS, prepare

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
CASES = int(sys.argv[3]) if len(sys.argv) > 3 else 25
NUMBERS = ("0", "1", "-1", "3", "7", "16", "65", "4096", "2147483647",
           "9223372036854775807")


def damaged(text, draw):
    """A cut, lines lost, doubled or exchanged, or other numbers and types."""
    lines = text.split("\n")
    for _ in range(draw.choice((1, 1, 1, 2))):
        at = draw.randrange(len(lines))
        kind = draw.randrange(10)
        if kind == 0 and draw.randrange(4) == 0:
            return "\n".join(lines)[:draw.randrange(len(text))]
        if kind <= 1:
            del lines[at:at + draw.choice((1, 1, 3))]
        elif kind == 2:
            other = draw.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            # Constants, alignments, offsets, array sizes, or any number.
            pattern = draw.choice((r"(?<=constant\()-?\d+", r"(?<=alignment = )\d+",
                                   r"(?<=\[)\d+(?=[],])", r"(?<=array<)\d+",
                                   r"(?<![%\w^.])\d+"))
            numbers = [(k, match) for k, line in enumerate(lines)
                       for match in re.finditer(pattern, line)]
            if numbers:
                k, number = draw.choice(numbers)
                lines[k] = (lines[k][:number.start()] + draw.choice(NUMBERS)
                            + lines[k][number.end():])
    return "\n".join(lines)


outcomes = {}
for chip in CHIPS:
    for kernel, sizes in (("matmul", (17, 9, 33)), ("softmax", (3, 70))):
        launch = prepare(source, work, kernel, chip, sizes)
        text = launch.lowered.read_text()
        draw = random.Random(f"{chip} {kernel}")
        path = work / "damaged.mlir"
        for case in range(CASES):
            path.write_text(damaged(text, draw))
            command = launch.command(path, "--max-blocks=20000")
            run = bounded.run(command)
            outcomes[run.returncode] = outcomes.get(run.returncode, 0) + 1
            refused = run.returncode == 1 and "error: " in run.stderr
            found = run.returncode == 2 and "warning: " in run.stderr
            if not (run.returncode == 0 or refused or found):
                kept = work / f"crash.{chip}.{kernel}.{case}.mlir"
                path.rename(kept)
                sys.exit(f"{' '.join(command)}\nof {kept}: exit code "
                         f"{run.returncode}\n{run.stderr[-3000:]}")
print(outcomes)
