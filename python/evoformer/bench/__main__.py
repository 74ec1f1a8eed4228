"""Times triangle attention (a boolean key mask, a pair bias with gradient) side by
side in one process: forward, backward and both, with peak memory. Medians of runs
with cold caches. Keeps what it measured and measures only what is missing; draws
all that is kept."""

import argparse
import csv
import json
import os
import pathlib
import statistics

import torch

import evoformer
from evoformer._library import library

from . import peers, plots, shapes, suite
from .clock import Clock

FIELDS = ("device", "torch", "version", "peer", "pass", "type", "rows", "length",
          "heads", "depth", "ms", "peak_mb", "problem")
KEY = FIELDS[:10]


def read(path):
    """Records by key; the last of a key counts."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return {tuple(r[name] for name in KEY): r for r in records}


def make_runs(function, shape, device):
    """A function to time for each pass."""
    leaves, mask, weight = shapes.make_operands(shape, device)
    operands = *leaves[:3], mask, leaves[3]
    out = function(*operands)

    def forward():
        with torch.no_grad():
            function(*operands)

    def backward():
        torch.autograd.grad(out, leaves, weight, retain_graph=True)

    def both():
        torch.autograd.grad(function(*operands), leaves, weight)
    return {"forward": forward, "backward": backward, "both": both}


def measure(run, clock, options, device):
    for _ in range(options.warmup):
        run()
    if clock.on_gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    times = [clock(run) for _ in range(options.repeat)]
    peak = ((torch.cuda.max_memory_allocated() - before) / 1e6
            if clock.on_gpu else None)
    return statistics.median(times), peak


def describe_device(device):
    return (evoformer.device("cpu").description if device == "cpu" else
            torch.cuda.get_device_name())


def main():
    parser = argparse.ArgumentParser(prog="python -m evoformer.bench",
                                     description=__doc__)
    on_gpu = torch.cuda.is_available()
    parser.add_argument("--device", choices=("cpu", "cuda"),
                        default="cuda" if on_gpu else "cpu")
    parser.add_argument("--lengths", type=int, nargs="+",
                        default=[128, 256, 384, 512, 768, 1024] if on_gpu else
                        [64, 128, 256, 384])
    parser.add_argument("--rows", type=int, default=0 if on_gpu else 4,
                        help="0: as many as the length")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--type", default="bfloat16" if on_gpu else "float32",
                        choices=("float32", "float16", "bfloat16"))
    parser.add_argument("--peers", nargs="+", help="only these")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path,
                        default=pathlib.Path("bench-results"),
                        help="folder of data, tables and plots")
    parser.add_argument("--again", action="store_true",
                        help="measure what there is data for, too")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    group = parser.add_argument_group("a suite of shapes instead of lengths")
    group.add_argument("--suite", choices=list(shapes.SUITES))
    group.add_argument("--shapes", nargs="+", help="only these of the suite")
    group.add_argument("--json", type=pathlib.Path, help="file for what is measured")
    group.add_argument("--limit", type=float, default=285,
                       help="seconds that all of it may take")
    options = parser.parse_args()
    if options.suite:
        raise SystemExit(suite.run(options, describe_device(options.device)))
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "data.jsonl"
    records = read(path)
    if not options.draw:
        run_all(options, path, records)
    write_tables(options.out, list(records.values()))
    for name in plots.draw(options.out, list(records.values())):
        print(name)


def run_all(options, path, records):
    from tqdm import tqdm
    device = options.device
    found = peers.available(device)
    chosen = options.peers or list(found)
    unknown = sorted(set(chosen) - set(found))
    if unknown:
        raise SystemExit(f"not available here: {', '.join(unknown)}; available "
                         f"are {', '.join(found)}")
    common = {"device": describe_device(device), "torch": torch.__version__,
              "version": library().evoformerGetVersion().decode(),
              "type": options.type, "heads": options.heads,
              "depth": options.depth}
    wanted = []
    for length in options.lengths:
        for peer in chosen:
            for name in ("forward", "backward", "both"):
                record = {**common, "peer": peer, "pass": name, "length": length,
                          "rows": options.rows or length}
                key = tuple(record[field] for field in KEY)
                if options.again or key not in records:
                    wanted.append((key, record))
    clock = Clock(device)
    with open(path, "a", encoding="utf-8") as file, tqdm(
            wanted, unit="run", disable=None) as progress:
        last, runs = None, None
        for key, record in progress:
            progress.set_description(
                f"{record['peer']} {record['pass']} {record['length']}")
            here = record["peer"], record["length"]
            ms = peak = problem = None
            try:
                if here != last:
                    runs, last = {}, here
                    torch.compiler.reset()
                    runs = make_runs(found[record["peer"]], shapes.Shape(
                        1, record["rows"], record["length"], options.heads,
                        options.depth, options.type), device)
                if not runs:
                    raise RuntimeError("did not run at this length")
                ms, peak = measure(runs[record["pass"]], clock, options, device)
            # Whatever another package raises is a result here.
            except Exception as error:
                problem = f"{type(error).__name__}: {error}".splitlines()[0]
            record |= {"ms": ms, "peak_mb": peak, "problem": problem}
            records[key] = record
            file.write(json.dumps(record) + os.linesep)
            file.flush()


def write_tables(folder, records):
    with open(folder / "results.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows({name: r.get(name) for name in FIELDS} for r in records)
    with open(folder / "results.json", "w", encoding="utf-8") as file:
        json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
