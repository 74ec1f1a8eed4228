# What the silence of the simulator is worth: defects of the forward attention's
# kernels and of the general kernels, drawn with a fixed seed, are reported by a
# finding or a wrong number. docs/simulator.md has the result of the long form:
#
#   python3 test/Simulator/mutants.py . /tmp/mutants 300 100
#
# (the tools in PATH) with the counts of defects of attention and of each
# general kernel but l2_norm, where any number near the maximum does as well as
# the maximum. More arguments, an architecture, a kernel ("attention" or a
# general one) and numbers in the draw, run only those and keep the modules:
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
# In the last, each lane holds the maximum of some row of each position in a
# workgroup.
ROWS = ((33, 70), (5, 200), (16, 65), (17, 3), (100, 66), (272, 68))
# The last ones end after each group of four rows, of four columns, and after
# each element of a vector of the depth.
SIZES = {"matmul": ((65, 70, 49), (40, 27, 17), (23, 90, 79), (129, 130, 130),
                    (77, 45, 29), (38, 54, 22), (48, 77, 31), (33, 32, 20),
                    *((4 * g + 1 + g % 4, 4 * (5 * g % 16) + 4 - g % 4, 17 + g)
                      for g in range(16))),
         "softmax": ROWS, "layer_norm": ROWS}
OUTCOMES = ("finding", "wrong", "differs", "survived")


# The programs of mutants.txt again, each with the number of rows: several, so
# that the last key is kept in one, or one, behind which no memory is. Keys that
# hold NaN and that only some queries drop take the rows that are done again.
PROGRAMS = (
    (4, "D=32 type=bf16 bias=bnk:i1:normal bias=bhqk:bf16:normal gate=bf16 "
     "lse=1 stats=1 nan=1"),
    (4, "D=32 type=bf16 bias=bnk:i1:normal bias=bhqk:bf16:infinite gate=bf16 "
     "lse=1 stats=1 nan=some"),
    (1, "D=32 type=bf16 bias=bnk:i1:normal bias=bhqk:bf16:infinite gate=bf16 "
     "lse=1 stats=1 nan=some"),
    (4, "D=24 Dv=40 type=f16 out=f32 bias=bnk:i1:normal bias=bnk:f32:rows "
     "lse=1 stats=1 memory=bnhsd nan=1"),
    (4, "D=16 type=f32 bias=bnk:i1:normal bias=bhqk:f32:columns gate=f32 pad=3 "
     "offset=1 nan=1"),
    (4, "D=64 type=bf16 out=f32 bias=bnk:i1:normal order=bnhsd nan=1"))


def remainders():
    """Keys that end after each of 32, and a single one."""
    for n, program in PROGRAMS:
        yield f"Sq=1 Sk=1 {program} first=1 seed=100\n"
        for r in range(1, 33):
            yield (f"N={n} Sq={37 * r % 71 + 1} Sk={r + 32 * (r // 2 % 3)} "
                   f"{program} first=1 seed={100 + r}\n")


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
    inputs = pathlib.Path(__file__).parent / "Inputs/mutants.txt"
    cases = work / "cases.txt"
    work.mkdir(parents=True, exist_ok=True)
    cases.write_text(inputs.read_text() + "".join(remainders()))
    return outcomes(run(
        "evoformer-check", f"--target={chip}", "--device=sim", "--verbose",
        f"--cases={cases}", f"--mutants={ATTENTION}",
        *selection("attention", chip)))


def general(kernel, chip):
    """A defect counts as reported if it is at one of the sizes."""
    best = {}
    for sizes in SIZES[kernel]:
        launch = prepare(source, work, kernel, chip, sizes, poison=True)
        # What has a finding has the best outcome there is.
        options = selection(kernel, chip)
        if best and not AGAIN:
            options = ["--mutants-only=" + ",".join(
                what.split(":")[0] for what, outcome in best.items()
                if outcome != "finding")]
        found = outcomes(launch.run(f"--mutants={GENERAL}", "--verbose",
                                    f"--tolerance={launch.tolerance}",
                                    *options))
        if AGAIN:
            print(sizes, *(outcome for outcome, _ in found))
        for outcome, what in found:
            best[what] = min(best.get(what, "survived"), outcome,
                             key=OUTCOMES.index)
    return [(outcome, f"{kernel}: {what}") for what, outcome in best.items()]


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
    # A draw of less than 200 may by chance lie two standard deviations lower.
    least = 0.95 * len(every)
    if len(every) < 200:
        least -= 2 * (0.95 * 0.05 * len(every)) ** 0.5
    print(f"{chip}: {reported} of {len(every)} reported:",
          "enough" if reported >= least else "too few", flush=True)
    for outcome, what in every:
        if outcome in ("differs", "survived"):
            print(f"  {outcome}: {what}")
