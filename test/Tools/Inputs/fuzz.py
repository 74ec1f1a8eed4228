"""Damages programs of every level and runs each pass and the whole pipelines on
them: `fuzz.py SOURCE_DIR WORK_DIR CASES SEED [FIRST]`. A damaged program
compiles or is refused by a message; a crash, a failed assertion, a hang or a
failure without a message is a failure of this test, and the program is kept in
WORK_DIR.

The programs are the chunks of the tests under SOURCE_DIR and what the passes
make of the examples and of the general kernels on the way to a GPU."""

import bisect
import concurrent.futures
import pathlib
import random
import re
import sys

TESTS = pathlib.Path(__file__).parents[2]
sys.path += [str(TESTS / "Inputs"), str(TESTS / "Kernels/Inputs")]
import bounded
from tiles import CHIPS, SCHEDULES, STEPS, tiles

# Programs that are parsed together, to find those that parse.
BATCH = 40
PASSES = [*STEPS, "convert-tile-to-gpu", "gpu.module(convert-gpu-lanes-to-llvm)"]
LOWER = ["evoformer-lower{target=%s}" % chip
         for chip in ("cpu", *CHIPS)]
OTHERS = [
    "convert-evoformer-to-tile{target=gfx942}", "evo-tile-to-cpu-llvm",
    "convert-tile-to-cpu", "evoformer-results-to-arguments",
    "func.func(evo-cpu-expand-exp2,evo-cpu-fuse-tiles,evo-cpu-vectorize)",
    "func.func(evo-cpu-vectorize)", "func.func(evo-cpu-drop-cast-flags)",
    "llvm.func(evo-cpu-move-bf16-as-words)",
    "func.func(evo-cpu-place-buffers)", "evoformer-serialize",
    "one-shot-bufferize{bufferize-function-boundaries}",
    "generate-runtime-verification", "canonicalize,cse",
    "resolve-ranked-shaped-type-result-dims",
    "evoformer-lower{target=gfx942 stop-after=pipelined run-on-cpu}"]
NUMBERS = ("0", "1", "-1", "2", "3", "7", "24", "257", "4096", "65537",
           "2147483648", "4611686018427387904", "9223372036854775807",
           "-9223372036854775808", "99999999999999999999")
TYPES = ("f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index",
         "f8E4M3FN", "i7", "complex<f32>", "vector<4xf32>", "tensor<4xf32>",
         "memref<4xf32>", "none", "?", "*")
KINDS = re.compile(r"\b(?:bf16|f16|f32|f64|i1|i8|i16|i32|i64|index)\b|\?")
NUMBER = re.compile(r"(?<![%#@\w.])-?\d+(?![\w.])|(?<=x)\d+(?=x)")
VALUE = re.compile(r"%[\w#]+")
WORD = re.compile(r"[A-Za-z_][\w.]*")


def opt(program, *arguments):
    return bounded.run(["evoformer-opt", "-", *arguments], input=program,
                       errors="replace")


def generated(source):
    """(program, the passes that come next) for each level of each kernel."""
    programs = []
    for name in SCHEDULES:
        for chip in CHIPS:
            programs.append((tiles(source, name, chip), PASSES))
    for example in sorted((source / "examples").glob("*.mlir")):
        text = example.read_text()
        programs.append((text, LOWER[:1]))
        for chip in CHIPS:
            lowered = opt(text, f"--evoformer-lower=target={chip} stop-after=tiles")
            programs.append((lowered.stdout, PASSES))
    for program, steps in list(programs):
        for done in range(1, len(steps)):
            result = opt(program, "--pass-pipeline=builtin.module("
                         + ",".join(steps[:done]) + ")")
            assert result.returncode == 0, result.stderr[-2000:]
            programs.append((result.stdout, steps[done:]))
    return programs


def chunks(source):
    """The chunks of the tests, without their check lines."""
    for path in sorted((source / "test").rglob("*.mlir")):
        for chunk in re.split(r"^// -----.*$|^//--- .*$", path.read_text(),
                              flags=re.MULTILINE):
            text = re.sub(r"^\s*//.*\n", "", chunk, flags=re.MULTILINE)
            if "%" in text or "#evo" in text:
                yield text, PASSES


def replace(text, match, new):
    return text[:match.start()] + new + text[match.end():]


def damage(text, draw):
    """One edit."""
    if not text:
        return text
    kind = draw.randrange(12)
    if kind < 4:
        found = list(NUMBER.finditer(text))
        if found:
            match = draw.choice(found)
            new = draw.choice(NUMBERS)
            if kind < 2:  # everywhere alike: types stay consistent
                return re.sub(rf"(?<![%#@\w.])-?{match.group()}(?![\w.])|"
                              rf"(?<=x){match.group()}(?=x)", new, text)
            return replace(text, match, new)
    elif kind < 6:
        found = list(KINDS.finditer(text))
        if found:
            match = draw.choice(found)
            new = draw.choice(TYPES)
            if kind == 4:
                return re.sub(rf"\b{re.escape(match.group())}\b", new, text)
            return replace(text, match, new)
    elif kind < 8:
        found = list(VALUE.finditer(text))
        if found:
            return replace(text, draw.choice(found), draw.choice(found).group())
    elif kind == 8:
        found = list(WORD.finditer(text))
        if found:
            return replace(text, draw.choice(found), draw.choice(found).group())
    lines = text.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    if kind == 9:
        del lines[at]
    elif kind == 10:
        lines.insert(draw.randrange(len(lines)), lines[at])
    else:
        other = draw.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    return "".join(lines)


def make_case(programs, seed):
    draw = random.Random(seed)
    text, steps = draw.choice(programs)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        text = damage(text, draw)
    kind = draw.randrange(4)
    if kind == 0:
        passes = [draw.choice(OTHERS + PASSES + LOWER)]
    elif kind == 1:
        passes = [draw.choice(LOWER)]
    else:
        passes = steps[:draw.randrange(1, len(steps) + 1)]
        if draw.randrange(3) == 0:
            passes = passes[:3] + ["evo-tile-to-cpu-llvm"]
    return (text.replace("// -----", ""),
            "builtin.module(" + ",".join(passes) + ")")


def in_upstream_parser(stderr):
    """Upstream's parser of attributes crashes at `array<index: ..>` and its
    like, before any code of ours is asked."""
    frames = re.findall(r"^ *#\d+ 0x\w+ (.*)", stderr, re.MULTILINE)
    ours = [i for i, frame in enumerate(frames)
            if "evoformer" in frame and "__interceptor" not in frame]
    parser = [i for i, frame in enumerate(frames)
              if "mlir::detail::Parser::" in frame or "::parse(" in frame]
    return bool(parser) and (not ours or min(parser) < min(ours))


def problem_with(text, pipeline):
    try:
        run = opt(text, f"--pass-pipeline={pipeline}", "-o", "/dev/null")
    except bounded.Hangs as problem:
        return "hangs", str(problem)
    broken = re.search(r"Assertion .*|LLVM ERROR.*|UNREACHABLE.*|"
                       r".*(?:AddressSanitizer|runtime error:).*", run.stderr)
    if (run.returncode not in (0, 1) or broken) and in_upstream_parser(run.stderr):
        return None
    if run.returncode not in (0, 1) or broken:
        return (f"exit code {run.returncode}: "
                f"{broken.group() if broken else 'a crash'}"), run.stderr
    if run.returncode == 1 and not re.search(r"^.*error: ", run.stderr, re.M):
        return "fails without a message", run.stderr
    return None


def parsed(texts):
    """Which of the programs the parser and the verifiers accept; None where
    one of them crashes."""
    lines, starts = 1, []
    for text in texts:
        starts.append(lines)
        lines += text.count("\n") + 3
    try:
        run = opt("\n// -----\n\n".join(texts), "--split-input-file", "-o",
                  "/dev/null")
    except bounded.Hangs:
        return None
    if run.returncode not in (0, 1):
        return None
    refused = {bisect.bisect_right(starts, int(line)) - 1 for line in
               re.findall(r"^<stdin>:(\d+):\d+: error: ", run.stderr, re.M)}
    return [i not in refused for i in range(len(texts))]


def run_batch(programs, seed, numbers):
    """(cases that a pass ran on, [(number, text, pipeline, problem)])."""
    cases = [make_case(programs, seed * 1000003 + number) for number in numbers]
    accepted = parsed([text for text, _ in cases])
    if accepted is None:
        accepted = [True] * len(cases)
    ran, problems = 0, []
    for number, (text, pipeline), good in zip(numbers, cases, accepted):
        if not good:
            continue
        ran += 1
        problem = problem_with(text, pipeline)
        if problem:
            problems.append((number, text, pipeline, problem))
    return ran, problems


def main():
    source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    cases, seed = int(sys.argv[3]), int(sys.argv[4])
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    work.mkdir(parents=True, exist_ok=True)
    programs = generated(source) + list(chunks(source))
    batches = [range(at, min(at + BATCH, first + cases))
               for at in range(first, first + cases, BATCH)]
    ran = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for count, problems in pool.map(
                lambda numbers: run_batch(programs, seed, numbers), batches):
            ran += count
            failed += len(problems)
            for number, text, pipeline, (what, log) in problems:
                path = work / f"case-{seed}-{number}.mlir"
                path.write_text(text)
                path.with_suffix(".log").write_text(log)
                print(f"{path}: {what}\n  evoformer-opt {path} "
                      f"--pass-pipeline='{pipeline}'", flush=True)
    print(f"{len(programs)} programs, {cases} damaged, {ran} of them compiled, "
          f"{failed} problems")
    return 1 if failed or ran * 50 < cases else 0


if __name__ == "__main__":
    sys.exit(main())
