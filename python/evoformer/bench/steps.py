"""Each step of attention and of its gradients beside its roofline, as torch's profiler
times the kernels of a call with cold caches.

    python -m evoformer.bench.steps
"""

import argparse
import dataclasses
import re
import statistics
import sys

import torch

from .. import _peaks
from . import peers, shapes, tables
from .clock import Clock

# The steps by their kernels' names, and how they are called here.
TITLES = {"attention": "forward", "delta": "delta", "query_grad": "dQ",
          "key_value_grad": "dK, dV", "head_grads": "dQ, dK, dV",
          "bias_grad": "dBias", "query_bias_grad": "dQ, dBias",
          "slabs": "dQ, dK, dV, dBias"}
OTHERS = "preparing, adding"


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a step computes and moves at least: operations of matrix products,
    exponentials, and bytes of its operands and results, each once."""
    flops: float
    exponentials: float
    bytes: float

    def floor(self, peaks):
        """(seconds that it takes at least, by what)."""
        matrix, exponentials, memory = peaks
        times = {"matrix": self.flops / matrix, "memory": self.bytes / memory,
                 "exponentials": self.exponentials / exponentials}
        bound = max(times, key=times.get)
        return times[bound], bound


def costs(shape):
    """By step. A logit takes two operations for each element of depth and product."""
    logits = shape.batch * shape.rows * shape.heads * shape.length**2
    product = 2 * logits * shape.depth
    width = 4 if shape.type == "float32" else 2
    rows = width * shape.batch * shape.rows * shape.length * shape.heads * shape.depth
    pair = width * shape.batch * shape.heads * shape.length**2
    return {
        "attention": Cost(2 * product, logits, 4 * rows + pair),
        "delta": Cost(0, 0, 2 * rows),
        "query_grad": Cost(3 * product, logits, 5 * rows + pair),
        "key_value_grad": Cost(4 * product, logits, 6 * rows + pair),
        "head_grads": Cost(5 * product, logits, 7 * rows + pair),
        "bias_grad": Cost(2 * product, logits, 4 * rows + 2 * pair),
        "query_bias_grad": Cost(3 * product, logits, 5 * rows + 2 * pair),
        "slabs": Cost(5 * product, logits, 7 * rows + 2 * pair),
    }


def step_of(kernel):
    """The step of a kernel of this name; `OTHERS`: one that prepares a step or adds up
    its parts; None: it is none of this project's."""
    named = re.fullmatch(r"attention_(\w+?)(_\d+)?", kernel)
    return named and (named[1] if named[1] in TITLES else OTHERS)


def find_peaks(device):
    """Operations of 16-bit products, exponentials and bytes a second; None for a device
    of which they are not known."""
    rates = next((rates for name, rates in _peaks.PEAKS.items() if name in device), None)
    exponentials = next((rate for name, rate in _peaks.EXPONENTIALS.items()
                         if name in device), None)
    return rates and exponentials and (rates[0] * 1e12, exponentials, rates[2] * 1e12)


def add_up(launches):
    """What kernels of one pass took by step: from (name, microseconds). The query's
    kernel stores the pair bias's gradient where that has none. Where some rows at a
    time go through memory as slabs, their kernels are one step."""
    spent, count = {}, {}
    for kernel, time in launches:
        if step := step_of(kernel):
            spent[step] = spent.get(step, 0.0) + time
            count[step] = count.get(step, 0) + 1
    if count.get("key_value_grad", 0) > 1:
        parts = "key_value_grad", "query_grad", OTHERS
        spent["slabs"] = sum(spent.pop(step) for step in parts if step in spent)
    elif "query_grad" in spent and "bias_grad" not in spent:
        spent["query_bias_grad"] = spent.pop("query_grad")
    return spent


def profile(shape, repeat):
    """Microseconds by step, forward and backward: medians of some calls."""
    leaves, mask, gradient = shapes.make_operands(shape, "cuda")
    q, k, v, pair = leaves
    flush = Clock("cuda").flush
    passes = []

    def run(record):
        out = None
        for call in (lambda: peers.ours(q, k, v, mask, pair),
                     lambda: torch.autograd.grad(out, leaves, gradient)):
            flush.zero_()
            torch.cuda.synchronize()
            with torch.profiler.profile(
                    activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
                result = call()
                torch.cuda.synchronize()
            out = result if out is None else out
            if record:
                passes.append(add_up(
                    (event.name, event.device_time) for event in seen.events()
                    if event.device_type == torch.autograd.DeviceType.CUDA))
    for number in range(repeat + 2):
        run(number >= 2)
    medians = []
    for of_pass in (passes[0::2], passes[1::2]):
        medians.append({step: statistics.median(spent[step] for spent in of_pass)
                        for step in of_pass[0]})
    return medians


def rows(title, shape, medians, peaks):
    """Of the table: each step with what it takes, its speed, its share of the roofline
    and what bounds that."""
    bounds = costs(shape)
    for spent in medians:
        for step, time in spent.items():
            cells = [title, TITLES.get(step, step), f"{time:.1f}"]
            if step in bounds:
                seconds, bound = bounds[step].floor(peaks) if peaks else (None, "-")
                cells += [f"{bounds[step].flops / time * 1e-6:.0f}",
                          f"{bounds[step].bytes / time * 1e-6:.2f}",
                          f"{seconds * 1e6:.1f}" if peaks else "-",
                          f"{seconds * 1e6 / time:.2f}" if peaks else "-", bound]
            else:
                cells += ["", "", "", "", ""]
            yield tables.row(cells)


def main():
    known = shapes.SUITES["h200"]
    parser = argparse.ArgumentParser(
        "python -m evoformer.bench.steps",
        description="Times of the kernels of attention beside their rooflines.")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE",
                        help=f"of {', '.join(known)} (default: all in 16 bits)")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    if unknown := [name for name in options.shapes if name not in known]:
        parser.error(f"no shape {unknown[0]!r}; there are {', '.join(known)}")
    if not torch.cuda.is_available():
        sys.exit("torch finds no GPU, whose kernels could be timed")
    device = torch.cuda.get_device_name()
    peaks = find_peaks(device)
    print(f"{device}, torch {torch.__version__}"
          + ("" if peaks else "; its rates are not known, add them to _peaks.py"))
    print("| shape | step | us | TFLOP/s | TB/s | roofline, us | share | bound by |\n"
          "|---|---|---|---|---|---|---|---|")
    chosen = options.shapes or [name for name, shape in known.items()
                                if shape.type == "bfloat16"]
    for name in chosen:
        medians = profile(known[name], options.repeat)
        print("\n".join(rows(name, known[name], medians, peaks)), flush=True)


if __name__ == "__main__":
    main()
