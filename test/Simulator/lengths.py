# Rows of their own lengths: what kernels compute of half-filled rows, as a share of
# full ones, with the schedules that are chosen by default; and random cases against
# f64, in which all that lies behind the ends is NaN.
#
# RUN: %python %s | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
#
# More of them: python test/Simulator/lengths.py --count 500 --seed 7 --targets cpu
import argparse
import json
import random
import subprocess
import tempfile

TARGETS = ("cpu", "gfx942", "gfx1100", "sm_80")
TYPES = ("bf16", "f16", "f32")


def check(target, *arguments):
    device = [] if target == "cpu" else ["--device=sim"]
    run = subprocess.run(
        ["evoformer-check", "--target=" + target, *device, *arguments],
        capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def count(target, case):
    """Multiply-adds of each kernel that has any."""
    report, = (json.loads(line) for line in check(
        target, "--guard-bytes=0", "--sim-counters=json", case).splitlines()
        if line.startswith("{"))
    counts = {kernel["name"]: kernel["counters"]["matrix_multiply_adds"]
              for kernel in report["kernels"]}
    return {name: done for name, done in counts.items() if done}


def check_work():
    """Half of the keys; and half of the queries as well, a quarter of the logits."""
    for target in ("gfx942", "sm_80"):
        for words in ("N=2 Sq=1024 Sk=1024 D=64 sample=1",
                      "N=2 Sq=512 Sk=512 D=32 bias=bnk:i1:normal "
                      "bias=bhqk:bf16:normal sample=1 pass=backward"):
            full = count(target, words + " type=bf16")
            for lengths, most in (("half", 0.54), ("half:half", 0.27)):
                some = count(target, f"{words} type=bf16 lens={lengths}")
                assert some.keys() == full.keys()
                for kernel, done in some.items():
                    share = done / full[kernel]
                    assert 0.9 * most < share <= most, (target, words, lengths,
                                                        kernel, share)


class Cases:
    """Random ones, the same for a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.some = self.random.choice

    def lengths(self, size):
        kind = self.some(["random"] * 5 + ["half", "full", "numbers"])
        if kind != "numbers":
            return kind
        numbers = [0, 1, size // 2, size, size + 3, -2, self.random.randint(0, size)]
        return ".".join(str(self.some(numbers))
                        for _ in range(self.random.randint(1, 4)))

    def bias(self, kind, backward):
        dims = "".join(c for c in "bnhqk" if self.random.random() < 0.6)
        kind = self.some([kind, "f32", "i1"])
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
        keys, queries = self.lengths(sk), self.lengths(sq)
        keys, queries = some([(keys, queries)] * 3 + [(keys, "none"),
                                                      ("none", queries)])
        words = [f"B={b} N={n} H={group * some([1, 1, 2])} group={group}",
                 f"Sq={sq} Sk={sk} D={some([8, 16, 24, 32, 32, 40, 64, 96, 128])}",
                 f"type={kind} lens={keys}:{queries}" + some(["", "", "", "/b", "/n"]),
                 some(["", "", "Dv=16", "Dv=40"])]
        words += [self.bias(kind, backward) for _ in range(some([0, 1, 1, 2, 2, 3]))]
        words += [some(["", f"gate={kind}", "gate=f32"]),
                  some(["", "", "", "window=:i+sk-sq+1", "window=i-20:i+9",
                        "window=i/32*32-48:i/32*32+80", "window=i+sk-sq-7:",
                        "window=3:sk-2"]),
                  some(["", "nan=1"]), some(["", "static=all", "static=heads"]),
                  some(["", "", "order=bnhsd", "memory=bnhsd", "pad=3 offset=1",
                        "zero=n"]),
                  some(["pass=backward", "pass=backward grads=f32"] if backward else
                       ["", "lse=1", "lse=1 stats=1"]),
                  f"seed={self.random.randint(1, 999)}"]
        return " ".join(word for word in words if word)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", default=",".join(TARGETS))
    given = parser.parse_args()
    if given.count == parser.get_default("count"):
        check_work()
    for target in given.targets.split(","):
        # Each has its own: a case on one chip is as good as on another.
        cases = Cases(f"{given.seed} {target}")
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.writelines(cases.make() + "\n" for _ in range(given.count))
            file.flush()
            check(target, "--cases=" + file.name)
    print("all right")


main()
