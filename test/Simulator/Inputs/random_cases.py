"""Random attentions as evoformer-check's words: ranges of keys, lengths of rows, ragged
sequences, groups of heads, biases, types, depths, layouts and statistics, forward and
with all gradients."""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[3] / "scripts"))
import targets

TYPES = ("bf16", "f16", "f32")
# What a row has: all of the keys, lengths, or a place among the sequences.
ROWS = ("all", "lengths", "ragged")


def check(target, *arguments):
    device = [] if target == "cpu" else ["--device=sim"]
    run = subprocess.run(
        ["evoformer-check", "--target=" + target, *device, *arguments],
        capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def count(target, case):
    """Multiply-adds of each kernel that has any, in whichever of its variants, which a
    number tells apart."""
    report, = (json.loads(line) for line in check(
        target, "--guard-bytes=0", "--sim-counters=json", case).splitlines()
        if line.startswith("{"))
    counts = collections.Counter()
    for kernel in report["kernels"]:
        name = re.sub(r"_\d+$", "", kernel["name"])
        counts[name] += kernel["counters"]["matrix_multiply_adds"]
    return {name: done for name, done in counts.items() if done}


# What makes logits of scores; by default the scores are logits.
SCORES = ("softcap:5", "softcap:50", "fastcap:7", "alibi", "temperature:0.3", "swish:0.7",
          "distance:0.4", "buckets:-0.2", "leaky:0.2", "slopes", "matrix",
          "keywise:1.5", "querywise:0.6", "table:0.5")

# With which probability weights are dropped.
DROPOUT = ("0.1", "0.17", "0.5", "0.9", "0.999", "0")

# How weights are made of logits.
WEIGHTS = ("linear", "retention:1", "retention:0", "retention:0.01", "retention:30")


class Cases:
    """Random ones, the same for a seed."""

    def __init__(self, seed, rows=ROWS, scores=(), dropout=(), weights=()):
        self.rows = rows
        self.weights = weights
        self.scores = scores
        self.dropout = dropout
        self.random = random.Random(seed)
        self.some = self.random.choice

    def lengths(self, size):
        kind = self.some(["random"] * 5 + ["half", "full", "numbers"])
        if kind != "numbers":
            return kind
        numbers = [0, 1, size // 2, size, size + 3, -2, self.random.randint(0, size)]
        return ".".join(str(self.some(numbers))
                        for _ in range(self.random.randint(1, 4)))

    def lens(self, sq, sk):
        keys, queries = self.lengths(sk), self.lengths(sq)
        keys, queries = self.some([(keys, queries)] * 3 + [(keys, "none"),
                                                           ("none", queries)])
        return f"lens={keys}:{queries}" + self.some(["", "", "", "/b", "/n"])

    def bound(self, number):
        """Of the keys that query i sees, `number` beside where it stands."""
        place = self.some(["i", "i", "i+sk-sq", "i/32*32", "i/32*32", "i/5*5+sk-sq",
                           "i/16*16", "sk", "sk-sq", ""])
        return f"{place}{number:+d}"

    def window(self):
        """Without ends, open at one, those that are widely used, and any others:
        narrow ones, empty ones, and some that are beyond all keys."""
        low, high = self.random.randint(-60, 30), self.random.randint(-20, 60)
        any_one = self.some(["", self.bound(low)]) + ":" + self.some(
            ["", self.bound(high)])
        window = self.some(
            ["", "", "", ":i+sk-sq+1", ":i+1", "i-20:i+9", "i:i+1", "i+4:i+4",
             "i/32*32-48:i/32*32+80", "i+sk-sq-7:", "3:sk-2", "i-500:i+500",
             "i+sk-sq-9:i+sk-sq+1"] + [any_one] * 6)
        return "" if window in ("", ":") else "window=" + window

    def ragged(self, count, queries, keys):
        """Starts that the device reads: random, or given ones, of which some
        sequences are empty, and some rows are of no sequence."""
        def starts(most):
            if self.some([True, True, False]):
                return "random"
            numbers = [0]
            for _ in range(count):
                numbers.append(max(0, numbers[-1] + self.some(
                    [0, 0, most, most // 2, self.random.randint(0, most)])))
            return ".".join(map(str, numbers)) + f"/{numbers[-1] + self.some([0, 3])}"
        return f"ragged={starts(queries)}:{starts(keys)}"

    def bias(self, kind, backward):
        dims = "".join(c for c in "bnhqk" if self.random.random() < 0.6)
        # Weights that are logits have masks alone.
        kind = "i1" if self.weights else self.some([kind, "f32", "i1"])
        values = self.some(["normal", "normal", "sparse"] if kind == "i1" else
                           # Weights so small that f16 has no digits for their
                           # gradients, with lengths or without.
                           ["normal", "normal", "infinite", "rows",
                            "normal" if backward else "growing"])
        return f"bias={dims}:{kind}:{values}"

    def make(self):
        some, kind = self.some, self.some(TYPES)
        backward = some([False, True])
        b, n = some([(1, 1), (1, 3), (2, 2), (2, 3), (3, 1)])
        group = some([1, 1, 1, 2, 3])
        sq, sk = some([1, 5, 16, 17, 33, 40, 64, 70, 100]), some(
            [1, 7, 16, 31, 48, 64, 65, 90, 130])
        rows = some(self.rows)
        words = [f"B={b} N={n} H={group * some([1, 1, 2])} group={group}",
                 f"Sq={sq} Sk={sk} D={some([5, 8, 16, 24, 32, 32, 33, 40, 64, 96, 128])}",
                 f"type={kind}", some(["", "", "", "out=f32"]),
                 self.lens(sq, sk) if rows == "lengths" else
                 self.ragged(b, sq, sk) if rows == "ragged" else "",
                 some(["", "", "Dv=16", "Dv=40", "Dv=7"]),
                 some([""] * 5 + ["share=n", "" if rows == "ragged" else
                                  some(["share=b", "share=bn"])])]
        words += [self.bias(kind, backward) for _ in range(some([0, 1, 1, 2, 2, 3]))]
        words += [some(["", f"gate={kind}", "gate=f32"]),
                  self.window(),
                  some(["", "nan=1"]), some(["", "static=all", "static=heads"]),
                  some(["", "", "order=bnhsd", "memory=bnhsd", "pad=3 offset=1",
                        "zero=n"]),
                  some(["pass=backward", "pass=backward grads=f32"] if backward else
                       ["", "stats=1", "stats=1"] if self.weights else
                       ["", "lse=1", "lse=1 stats=1"]),
                  f"seed={self.random.randint(1, 999)}"]
        if self.scores:
            words.append("score=" + some(self.scores))
        if self.weights:
            words.append("weights=" + some(self.weights))
            words.append(some(["", "score=matrix", "score=matrix", "score=softcap:5",
                               "score=querywise:0.6", "score=swish:0.7"]))
            words.append(some(["", "", "dropout=0.3"]))
        if self.dropout:
            words.append("dropout=" + some(self.dropout))
            words.append(some(["", "", "score=softcap:5"]))
        return " ".join(word for word in words if word)



def run(description, count, rows=ROWS, always=lambda: None, scores=(), dropout=(),
        weights=(), make=Cases):
    """The command line of a test: `count` cases, for which the processor and all GPUs
    with code of their own take turns, and `always` before them. With --full there are
    four times as many."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default=",".join(["cpu", *targets.gpus()]))
    parser.add_argument("--print", action="store_true", help="only print them")
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args()
    if given.count == count and not given.print:
        always()
    if given.full:
        given.count *= 4
    chosen = given.targets.split(",")
    for number, target in enumerate(chosen):
        # Each has its own: a case on one chip is as good as on another.
        cases = make(f"{given.seed} {target}", rows, scores, dropout, weights)
        lines = [cases.make() + "\n" for _ in range(number, given.count, len(chosen))]
        if given.print:
            print(*lines, sep="", end="")
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.writelines(lines)
            file.flush()
            check(target, "--cases=" + file.name)
    if not given.print:
        print("all right")
