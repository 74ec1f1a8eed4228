# The derivatives that evoformer-split-backward writes for random regions, by the score
# and by each capture, against dual numbers: another way to differentiate, with rules of
# its own, over the program that the region was made of. Both are evaluated in f64 at
# random places.
#
# RUN: %python %s | FileCheck %s
#
# CHECK: 200 regions, 600 derivatives
# CHECK-NOT: {{.}}
#
# More of them: python test/Dialect/Evoformer/random-scores.py --count 10000 --seed 7
import argparse
import math
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import random_scores

SEQUENCE = "memref<1x1x?x4x16xf32, strided<[?, ?, ?, ?, 1]>>"
NUMBER = "memref<1x1x1x1x1xf32>"
PLACES = 4
# Constants of derivatives are of f32, and their folds: of at most 1024 ops.
TOLERANCE = 1024 * 2.0 ** -24


def make_function(number, region):
    lines = "\n        ".join(region.lines())
    operands = (f"query(%q : {SEQUENCE}) key(%q : {SEQUENCE}) value(%q : {SEQUENCE})\n"
                f"      capture(%m0 : {NUMBER}) capture(%m1 : {NUMBER}) output(%q : {SEQUENCE})\n"
                "      stats(%stats : memref<2x1x1x4x?xf32>) output_grad(%q : "
                f"{SEQUENCE})")
    return f"""
func.func @f{number}(%q: {SEQUENCE}, %g: {SEQUENCE}, %stats: memref<2x1x1x4x?xf32>,
    %m0: {NUMBER}, %m1: {NUMBER}, %g0: {NUMBER}, %g1: {NUMBER}) {{
  evoformer.attention_backward
      {operands}
      query_grad(%g : {SEQUENCE}) bias_grad[0](%g0 : {NUMBER}) bias_grad[1](%g1 : {NUMBER})
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32,
            %c0: f32, %c1: f32) {{
        {lines}
      }}
  return
}}
"""


def divide(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


COMPARE = {"oeq": lambda a, b: a == b,
           "olt": lambda a, b: a < b, "oge": lambda a, b: a >= b,
           "ogt": lambda a, b: a > b, "ole": lambda a, b: a <= b,
           "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}
COMPARE |= {"s" + name[1:]: COMPARE[name] for name in ("olt", "oge", "ogt", "ole")}
INTEGER = {"addi": lambda a, b: a + b, "subi": lambda a, b: a - b,
           "muli": lambda a, b: a * b, "minsi": min, "maxsi": max,
           "divsi": divide, "remsi": lambda a, b: a - b * divide(a, b),
           "andi": lambda a, b: a & b, "ori": lambda a, b: a | b,
           "xori": lambda a, b: a ^ b}
BINARY = {"addf": lambda a, b: a + b, "subf": lambda a, b: a - b,
          "mulf": lambda a, b: a * b, "divf": lambda a, b: a / b,
          "maximumf": max, "minimumf": min, "maxnumf": max, "minnumf": min}
UNARY = {"negf": lambda a: -a, "absf": abs, "exp": math.exp, "exp2": lambda a: 2.0 ** a,
         "log": math.log, "log2": math.log2, "sqrt": math.sqrt,
         "rsqrt": lambda a: a ** -0.5, "tanh": math.tanh}
# Derivatives of these, of operand a.
SLOPES = {"negf": lambda a: -1, "absf": lambda a: math.copysign(1, a), "exp": math.exp,
          "exp2": lambda a: 2.0 ** a * math.log(2), "log": lambda a: 1 / a,
          "log2": lambda a: 1 / (a * math.log(2)), "sqrt": lambda a: 0.5 / math.sqrt(a),
          "rsqrt": lambda a: -0.5 * a ** -1.5, "tanh": lambda a: 1 - math.tanh(a) ** 2}


def wrap(value):
    return (value + 2 ** 31) % 2 ** 32 - 2 ** 31


class Dual:
    """A number with its derivatives by x, c0 and c1."""

    def __init__(self, value, slopes=(0, 0, 0)):
        self.value, self.slopes = value, slopes

    def combine(self, value, *factors):
        """`factors`: (of how much, of whom)."""
        return Dual(value, [sum(f * d.slopes[k] for f, d in factors) for k in range(3)])


def evaluate_duals(region, place):
    values = {name: Dual(place[name], [float(name == other) for other in
                                       random_scores.FLOATS])
              for name in random_scores.FLOATS}
    values |= {name: place[name] for name in random_scores.INTEGERS}
    for name, op, operands, attribute in region.steps:
        given = [values[one] for one in operands]
        short = op.split(".")[-1] if not op.startswith(("constant", "select")) else op
        a, b = (given + [None, None])[:2]
        if op.startswith("constant"):
            result = Dual(attribute) if op == "constant.f32" else attribute
        elif op.startswith("select"):
            result = given[1] if a else given[2]
        elif short == "cmpf":
            result = COMPARE[attribute](a.value, b.value)
        elif short == "cmpi":
            result = COMPARE[attribute](a, b)
        elif short == "sitofp":
            result = Dual(float(a))
        elif short == "fptosi":
            result = int(a.value)
        elif short in INTEGER:
            result = wrap(INTEGER[short](a, b))
        elif short in ("maximumf", "maxnumf"):
            result = a if a.value >= b.value else b
        elif short in ("minimumf", "minnumf"):
            result = a if a.value <= b.value else b
        elif short == "addf":
            result = a.combine(a.value + b.value, (1, a), (1, b))
        elif short == "subf":
            result = a.combine(a.value - b.value, (1, a), (-1, b))
        elif short == "mulf":
            result = a.combine(a.value * b.value, (b.value, a), (a.value, b))
        elif short == "divf":
            result = a.combine(a.value / b.value, (1 / b.value, a),
                               (-a.value / b.value ** 2, b))
        elif short == "fma":
            c = given[2]
            result = a.combine(a.value * b.value + c.value, (b.value, a), (a.value, b),
                               (1, c))
        else:
            result = a.combine(UNARY[short](a.value), (SLOPES[short](a.value), a))
        values[name] = result
    return values[region.result]


OP = re.compile(r"(%\w+) = (\w+)\.(\w+) (?:(o\w\w|s\w\w|eq|ne|u\w\w), )?([^:]*?)"
                r"(?: fastmath<\w+>)? : .*")


def read_steps(text):
    """For each function its steps' regions: (arguments, lines, what they yield)."""
    functions = []
    for function in text.split("func.func @f")[1:]:
        steps = []
        for step in function.split("score(")[1:]:
            head, body = step.split(") {\n", 1)
            arguments = re.findall(r"%\w+", head)
            lines, last = body.split("evoformer.yield", 1)
            steps.append((arguments, lines, re.findall(r"%\w+", last.split(":")[0])))
        functions.append(steps)
    return functions


def parse(lines):
    for line in lines.strip().splitlines():
        if not line.strip():
            continue
        constant = re.fullmatch(r"(%\w+) = arith.constant (\S+)(?: : (\w+))?", line.strip())
        if constant:
            word = constant[2]
            yield (constant[1], "constant", None,
                   word == "true" if word in ("true", "false") else
                   int(word) if constant[3] == "i32" else
                   math.inf if word == "0x7F800000" else float(word))
            continue
        found = OP.fullmatch(line.strip())
        assert found, line
        yield found[1], found[3], re.findall(r"%\w+", found[5]), found[4]


def evaluate(program, arguments, results, place):
    """What a region yields, and the largest of its numbers."""
    names = ("%x", "%b", "%n", "%h", "%i", "%j", "%sq", "%sk", "%c0", "%c1")
    values = {mine: place[name] for mine, name in zip(arguments, names)}
    largest = 1.0
    for name, op, operands, attribute in program:
        given = [values[one] for one in operands or ()]
        if op == "constant":
            result = attribute
        elif op == "select":
            result = given[1] if given[0] else given[2]
        elif op in ("cmpf", "cmpi"):
            result = COMPARE[attribute](*given)
        elif op == "sitofp":
            result = float(given[0])
        elif op == "fptosi":
            result = int(given[0])
        elif op in INTEGER:
            result = wrap(INTEGER[op](*given))
        elif op == "fma":
            result = given[0] * given[1] + given[2]
        elif op in BINARY:
            result = BINARY[op](*given)
        else:
            result = UNARY[op](*given)
        # What an exponential is asked whether it is is infinite.
        if isinstance(result, float) and (op != "constant" or math.isfinite(result)):
            largest = max(largest, abs(result))
        values[name] = result
    return [values[name] for name in results], largest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    source = random.Random(f"places {given.seed}")
    derivatives = nonzero = 0
    for first in range(0, given.count, 200):
        regions = [random_scores.Region(f"{given.seed} {number}")
                   for number in range(first, min(first + 200, given.count))]
        text = "".join(make_function(number, region)
                       for number, region in enumerate(regions))
        run = subprocess.run(["evoformer-opt", "--evoformer-split-backward"], input=text,
                             capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr[:4000]
        functions = read_steps(run.stdout)
        assert len(functions) == len(regions)
        for number, (region, steps) in enumerate(zip(regions, functions)):
            assert len(steps) == 3, len(steps)
            # The gradients of what is captured come before the query's.
            steps = steps[-1:] + steps[:-1]
            programs = [list(parse(step[1])) for step in steps]
            for _ in range(PLACES):
                place = {name: source.uniform(-2, 2) for name in random_scores.FLOATS}
                place |= {name: source.randrange(40) for name in random_scores.INTEGERS}
                wanted = evaluate_duals(region, place)
                for k, (step, program) in enumerate(zip(steps, programs)):
                    (value, slope), largest = evaluate(program, step[0], step[2], place)
                    assert abs(value - wanted.value) <= TOLERANCE * largest, (
                        f"region {first + number}: {value}, not {wanted.value}")
                    assert abs(slope - wanted.slopes[k]) <= TOLERANCE * largest, (
                        f"region {first + number}: the derivative by "
                        f"{random_scores.FLOATS[k]} is {slope}, not {wanted.slopes[k]}")
                    nonzero += abs(slope) > 10 * TOLERANCE * largest
            derivatives += len(steps)
    # What is compared is something.
    assert nonzero > derivatives * PLACES / 4, (nonzero, derivatives)
    print(f"{given.count} regions, {derivatives} derivatives")


main()
