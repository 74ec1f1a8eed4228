"""Times every kernel of the backward pass: medians on the device's clock, each
launch with the caches evicted before it and in its place among the others, its
share of the roofline, and the memory that a pass takes beside its bound. Prints
tables in Markdown. Needs evoformer-check and, by default, an NVIDIA GPU."""

import argparse
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "python", "evoformer"))
from _peaks import EXPONENTIALS, PEAKS

STEPS = ("delta", "query_grad", "key_value_grad", "head_grads", "bias_grad")
TITLES = {"delta": "delta", "query_grad": "dQ", "key_value_grad": "dK, dV",
          "head_grads": "dQ, dK, dV", "bias_grad": "dBias"}
TRIANGLE = ("B=1 N={0} H=4 Sq={0} Sk={0} D=32 type=bf16 bias=bnk:i1:normal "
            "bias=bhqk:bf16:normal sample=16 pass=backward")
# One row n, of whose pair bias nothing is summed.
ONE_ROW = ("B=4 N=1 H=32 Sq=512 Sk=512 D=64 type=bf16 bias=bnk:i1:normal "
           "bias=bhqk:bf16:normal static=all pass=backward")


class Failed(Exception):
    pass


def measure(tool, case, device="cuda", target="sm_80", repeat=20, extra=()):
    """What evoformer-check says of the case as a dictionary; `device` in it is
    what the device calls itself."""
    command = [tool, f"--device={device}", f"--target={target}", "--warmup=3",
               f"--repeat={repeat}", "--cold-cache", "--kernel-times", *extra,
               case]
    done = subprocess.run(command, capture_output=True, text=True)
    return parse(done.stdout, done.returncode,
                 done.stderr or " ".join(command))


def parse(text, status, problem=""):
    found = next((json.loads(line) for line in text.splitlines()
                  if line.startswith("{")), None)
    if status or found is None:
        raise Failed(f"exit code {status}\n{text[-2000:]}{problem[-2000:]}")
    name = re.search(r"^checking .* on \w+ \((.*)\)$", text, re.MULTILINE)
    found["device"] = name[1] if name else ""
    return found


def step_of(kernel):
    """The step whose main kernel this is; None: one that prepares the next step
    or adds up parts of the one before."""
    return next((step for step in ("attention_attention", *STEPS)
                 if f"_{step}" in f"_{kernel}"), None)


def group(launches):
    """(step, launches that prepare it, its own, those that add up its parts) in
    their order."""
    groups, waiting = [], []
    for launch in launches:
        step = step_of(launch["kernel"])
        if step:
            groups.append((step, waiting, launch, []))
            waiting = []
        elif "_sum_parts" in launch["kernel"] and groups:
            groups[-1][3].append(launch)
        else:
            waiting.append(launch)
    return groups


def floor(cost, peaks):
    """(seconds that a step takes at least, by what)."""
    times = {"matrix": cost["matrix_flops"] / peaks["matrix"],
             "exp": cost["exponentials"] / peaks["exp"],
             "memory": cost["bytes"] / peaks["memory"]}
    bound = max(times, key=times.get)
    return times[bound], bound


def with_heads(costs):
    """The costs where one kernel has the gradients of query, key and value: the third
    product of the first beside those of the others, whose inputs it reads."""
    query, keys = (next(cost for cost in costs if cost["name"] == name)
                   for name in ("query_grad", "key_value_grad"))
    one = {"name": "head_grads", "exponentials": keys["exponentials"],
           "matrix_flops": keys["matrix_flops"] + query["matrix_flops"] / 3,
           "bytes": max(query["bytes"], keys["bytes"])}
    return [one if cost is keys else cost for cost in costs if cost is not query]


def find_peaks(device, given):
    if given:
        return dict(zip(("matrix", "exp", "memory"),
                        (float(number) * 1e12 for number in given.split(","))))
    return next(({"matrix": PEAKS[name][0] * 1e12, "exp": exponentials,
                  "memory": PEAKS[name][2] * 1e12}
                 for name, exponentials in EXPONENTIALS.items()
                 if name in device), None)


def table(found, peaks):
    """The lines of a table: each step of the backward pass, and all of it."""
    costs = [step for step in found["steps"] if step["name"] != "attention"]
    groups = [entry for entry in group(found["launches"])
              if entry[0] != "attention_attention"]
    if any(entry[0] == "head_grads" for entry in groups):
        costs = with_heads(costs)
    if [entry[0] for entry in groups] != [cost["name"] for cost in costs]:
        raise Failed(f"launches {[entry[0] for entry in groups]} do not fit the "
                     f"steps {[cost['name'] for cost in costs]}")
    yield ("| step | kernel, ms | preparing, ms | sums of parts, ms | TFLOP/s | "
           "share of roofline | bound by |")
    yield "|---|---|---|---|---|---|---|"
    total = least = 0.0
    for (step, before, main, after), cost in zip(groups, costs):
        def spent(launches):
            return sum(launch["median_ms"] for launch in launches)
        own = main["median_ms"]
        total += own + spent(before) + spent(after)
        speed = cost["matrix_flops"] / own * 1e-9 if own else 0.0
        cells = [TITLES[step], f"{own:.4f}", f"{spent(before):.4f}",
                 f"{spent(after):.4f}", f"{speed:.1f}"]
        if peaks:
            seconds, bound = floor(cost, peaks)
            least += seconds
            cells += [f"{seconds * 1e3 / own:.2f}" if own else "-", bound]
        else:
            cells += ["-", "-"]
        yield "| " + " | ".join(cells) + " |"
    whole = found["backward"]["median_ms"]
    share = f"{least * 1e3 / whole:.2f}" if peaks and whole else "-"
    yield (f"| all, one after the other | {whole:.4f} | | (sum of the above "
           f"{total:.4f}) | | {share} | |")


def memory(found):
    """A line on what a pass takes and what it may (docs/rationale/workspace.md):
    beside inputs and outputs delta and partial sums, as large as the gradients
    of query, key and value at most; then what prepared copies take of it."""
    size = dict(re.findall(r"(\w+)=(\S+)", found["case"]))
    b, n, h, q, k, d, dv = (int(size[name])
                            for name in ("B", "N", "H", "Sq", "Sk", "D", "Dv"))
    width = {"bf16": 2, "f16": 2, "f32": 4}[size["type"]]
    delta = 4 * b * n * h * q
    parts = b * n * h * width * (q * d + k * (d + dv))
    known = found["input_bytes"] + found["output_bytes"]
    taken = known + found["workspace_bytes"]
    return (f"Memory: inputs and outputs {known / 2**20:.1f} MiB, workspace "
            f"{found['workspace_bytes'] / 2**20:.1f} MiB, together "
            f"{taken / (known + delta + parts):.2f} of inputs + outputs + delta "
            f"+ the most for partial sums ({(known + delta + parts) / 2**20:.1f} "
            "MiB)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", default="build/bin/evoformer-check")
    parser.add_argument("--device", default="cuda",
                        help="cuda, hip, cpu or sim")
    parser.add_argument("--target", default="sm_80", help="chip to compile for")
    parser.add_argument("--sizes", type=int, nargs="*", default=[384, 1024],
                        help="N = S of triangle attention")
    parser.add_argument("--case", action="append", default=[],
                        help="further cases of evoformer-check")
    parser.add_argument("--no-one-row", action="store_true",
                        help="leave out the case of one row n, which is timed "
                             "with both ways to split it")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--peaks", help="matrix TFLOP/s, T exponentials/s and "
                                        "TB/s, with commas between")
    parser.add_argument("--option", action="append", default=[],
                        help="further option of evoformer-check")
    options = parser.parse_args()
    runs = [(TRIANGLE.format(size), ()) for size in options.sizes]
    if not options.no_one_row:
        runs += [(ONE_ROW, (f"--bias-gradients={places}",))
                 for places in ("with-query", "apart")]
    runs += [(case, ()) for case in options.case]
    failed = False
    for case, extra in runs:
        print(f"\n`{' '.join((*extra, case))}`\n")
        try:
            found = measure(options.tool, case, options.device, options.target,
                            options.repeat, (*extra, *options.option))
            print("\n".join(table(found, find_peaks(found["device"],
                                                    options.peaks))))
            print(f"\n{memory(found)}. On {found['device']}.", flush=True)
        except Failed as problem:
            print(f"failed: {problem}", flush=True)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
