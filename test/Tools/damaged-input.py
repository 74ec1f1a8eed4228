# RUN: %python %s %examples %t
"""Damaged copies of the examples: each is accepted or refused with a located
message; evoformer-opt itself survives."""

import pathlib
import random
import re
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Inputs"))
import bounded

CASES = 400
ALPHABET = "0123456789-?x<>(){}[]:,%#!@\"= bnshdqkfi\n"
VALUES = ("0", "1", "-1", "3", "24", "257", "?", "f64", "f16", "bf16", "i1", "f32",
          "9223372036854775807", "99999999999999999999")


# The parser of linalg.transpose in MLIR 22.1 crashes where no list follows its operands;
# such a text never reaches this project.
TRANSPOSE = re.compile(r"linalg\.transpose\s+ins\([^()]*\)\s+outs\([^()]*\)\s+"
                       r"permutation = \[\d+(, \d+)*\]")


def crashes_upstream(text):
    return text.count("linalg.transpose") != len(TRANSPOSE.findall(text))


def damaged(text, draw):
    """One to three edits: a cut, a deletion, a duplication, other characters."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        begin = draw.randrange(len(text) + 1)
        end = min(len(text), begin + draw.choice((1, 1, 2, 5, 20, 80)))
        kind = draw.randrange(7)
        if kind == 0:
            text = text[:begin]
        elif kind == 1:
            text = text[:begin] + text[end:]
        elif kind == 2:
            text = text[:end] + text[begin:]
        elif kind == 3:
            text = text[:begin] + "".join(
                draw.choices(ALPHABET, k=end - begin)) + text[end:]
        elif kind == 4:
            # The same word everywhere: types stay consistent.
            words = sorted(set(re.findall(r"\b(?:\d+|bf16|f16|f32|i1)\b|\?", text)))
            if words:
                old = draw.choice(words)
                text = re.sub(
                    rf"(?<![%.\dA-Za-wyz_]){re.escape(old)}(?![.\dA-Za-wyz_])",
                    draw.choice(VALUES), text)
        else:
            numbers = list(re.finditer(r"\d+|\?|bf16", text))
            if numbers:
                chosen = draw.choice(numbers)
                text = (text[:chosen.start()] + draw.choice(VALUES) +
                        text[chosen.end():])
    return text


def main():
    examples = sorted(pathlib.Path(sys.argv[1]).glob("*.mlir"))
    assert examples, "no examples"
    draw = random.Random(20)
    cases = []
    while len(cases) < CASES:
        case = damaged(draw.choice(examples).read_text(), draw)
        if not crashes_upstream(case):
            cases.append(case)
    # A case is one chunk of a file; the separator must not arise inside.
    separator = "\n// -----\n"
    path = pathlib.Path(sys.argv[2] + ".mlir")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(separator.join(case.replace("// -----", "") for case in cases))
    run = bounded.run(["evoformer-opt", "--split-input-file", path])
    errors = len(re.findall(rf"{re.escape(str(path))}:\d+:\d+: error: ", run.stderr))
    print(f"{CASES} cases, {errors} errors, exit code {run.returncode}")
    if run.returncode != 1 or errors < CASES // 4:
        sys.exit(run.stderr[-4000:])


main()
