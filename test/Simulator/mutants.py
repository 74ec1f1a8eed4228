# What the silence of the simulator is worth: defects of the forward attention's
# kernels and of the general kernels, drawn with a fixed seed, are reported by a
# finding or a wrong number. docs/simulator.md has the result of the long form:
#
#   python3 test/Simulator/mutants.py . /tmp/mutants 300 100
#
# (the tools in PATH) with the counts of defects of attention and of each
# general kernel but l2_norm, where any number near the maximum does as well as
# the maximum. More arguments, an architecture, a kernel ("attention" or a general
# one) and numbers in the draw, run only those defects and keep the modules:
#
#   python3 test/Simulator/mutants.py . /tmp/mutants 300 100 gfx942 softmax 3,17
#
# RUN: rm -rf %t
# RUN: %python %s %source_dir %t 63 42 | FileCheck %s

# CHECK:      gfx942: {{.*}} enough
# CHECK:      gfx1100: {{.*}} enough
# CHECK:      sm_80: {{.*}} enough
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from simulation import CHIPS, prepare, run

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
ATTENTION, GENERAL = int(sys.argv[3]), int(sys.argv[4])
AGAIN = sys.argv[5:]
ROWS = ((33, 70), (5, 200), (16, 65), (17, 3), (100, 66))
SIZES = {"matmul": ((65, 70, 49), (40, 27, 17), (23, 90, 79), (129, 130, 130),
                    (77, 45, 29), (38, 54, 22), (48, 77, 31)),
         "softmax": ROWS, "layer_norm": ROWS}
OUTCOMES = ("finding", "wrong", "differs", "survived")


def outcomes(report):
    """The outcome of each defect, and the defect, in the order drawn."""
    lines = [line.split(": ", 1) for line in report.splitlines()]
    assert all(line[0] != "refused" for line in lines), report
    return [line for line in lines if line[0] in OUTCOMES]


def selection(kernel, chip):
    """Options that pick from the draw."""
    return [f"--mutants-only={AGAIN[2]}",
            f"--mutants-folder={work / f'{chip}.{kernel}'}"] if AGAIN else []


def attention(chip):
    return outcomes(run(
        "evoformer-check", f"--target={chip}", "--device=sim", "--verbose",
        f"--cases={pathlib.Path(__file__).parent / 'Inputs/mutants.txt'}",
        f"--mutants={ATTENTION}", *selection("attention", chip)))


def general(kernel, chip):
    """A defect counts as reported if it is at one of the sizes."""
    best = None
    for sizes in SIZES[kernel]:
        launch = prepare(source, work, kernel, chip, sizes, poison=True)
        found = outcomes(launch.run(f"--mutants={GENERAL}", "--verbose",
                                    f"--tolerance={launch.tolerance}",
                                    *selection(kernel, chip)))
        if AGAIN:
            print(sizes, *(outcome for outcome, _ in found))
        if best is None:
            best = found
        assert [what for _, what in best] == [what for _, what in found]
        best = [min(pair, key=lambda one: OUTCOMES.index(one[0]))
                for pair in zip(best, found)]
    return [(outcome, f"{kernel}: {what}") for outcome, what in best]


if AGAIN:
    result = (attention(AGAIN[0]) if AGAIN[1] == "attention"
              else general(AGAIN[1], AGAIN[0]))
    for pair in result:
        print(*pair)
    sys.exit()

for chip in CHIPS:
    every, rows = [], []
    for name, result in (
            ("attention", attention(chip)),
            *((kernel, general(kernel, chip)) for kernel in SIZES)):
        every += result
        rows.append((name, result))
    rows.append(("all", every))
    for name, result in rows:
        counts = [sum(o == outcome for o, _ in result) for outcome in OUTCOMES]
        print(f"| {chip} | {name} | {len(result)} | "
              + " | ".join(map(str, counts)) + " |")
    reported = sum(o in ("finding", "wrong") for o, _ in every)
    print(f"{chip}: {reported} of {len(every)} reported:",
          "enough" if reported >= 0.95 * len(every) else "too few", flush=True)
    for outcome, what in every:
        if outcome in ("differs", "survived"):
            print(f"  {outcome}: {what}")
