"""Ways to compute the same beside each other: a table of the times of both passes, for
the benchmarks of one kind of attention."""

import argparse
import datetime
import json
import pathlib
import sys

import torch

from . import memory, peers
from .clock import Clock
from .worker import SPIN_MS, WRONG, distance

TYPE = torch.bfloat16


def parse(name, description):
    """The options of `python -m evoformer.bench.NAME`."""
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(f"python -m evoformer.bench.{name}",
                                     description=description)
    parser.add_argument("--device", choices=("cpu", "cuda"),
                        default="cuda" if on_gpu else "cpu")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path, help="file for what is measured")
    return parser.parse_args()


def measure(function, operands, gradient, clock, repeat, expected):
    """Times of both passes, or why there is none. What `expected` has not is put
    there; else it is compared."""
    leaves = [t.detach().requires_grad_() for t in operands]
    out = function(*leaves)

    def backward():
        return torch.autograd.grad(out, leaves, gradient, retain_graph=True)
    results = [out.detach(), *backward()]
    if not expected:
        expected += results
    error = max(map(distance, results, expected))
    if not error < WRONG:
        raise ValueError(f"wrong: {error:.2g} of the norm off")
    equal = all(a.equal(b) for a, b in zip(results[1:], backward()))
    forward = clock.quartiles(lambda: function(*leaves), repeat)[1]
    return {"forward": forward, "backward": clock.quartiles(backward, repeat)[1],
            "error": error, "equal": equal}


def report(options, column, problems):
    """Prints a line for each of `problems`, (title, operands, gradient, what is computed,
    by what, how), and writes what is measured. Those of equal title and `what` are to
    give the same; `column` is what `what` is called."""
    clock = Clock(options.device, SPIN_MS)
    records, expected = [], {}
    print(f"| shape | {column} | by | forward, ms | backward, ms | equal bits |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for title, operands, gradient, what, by, function in problems:
        try:
            record = measure(function, operands, gradient, clock, options.repeat,
                             expected.setdefault((title, what), []))
        except Exception as error:
            print(f"{title}, {what}, {by}: {peers.describe(error)}", file=sys.stderr)
            continue
        records.append({"shape": title, column: what, "by": by, **record})
        print(f"| {title} | {what} | {by} | {record['forward']:.3f} | "
              f"{record['backward']:.3f} | {'yes' if record['equal'] else 'no'} |",
              flush=True)
        memory.release()
    if options.json:
        options.json.write_text(json.dumps({
            "device": (torch.cuda.get_device_name() if options.device == "cuda"
                       else "processor"), "date": datetime.date.today().isoformat(),
            "torch": torch.__version__, "records": records}, indent=1) + "\n",
            encoding="utf-8")
