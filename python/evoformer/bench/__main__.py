"""Times triangle attention (a boolean key mask, a pair bias with gradient) side by
side in one process: forward, backward and both, with peak memory. Medians and
quartiles of runs with cold caches. Keeps what it measured and measures only what is
missing; draws all that is kept, a figure for each configuration."""

import argparse
import csv
import json
import os
import pathlib

try:
    import torch
except ModuleNotFoundError:
    raise SystemExit("evoformer.bench measures through torch, which is not installed: "
                     "pip install torch") from None

import evoformer
from evoformer._library import library

from . import memory, peers, plots, shapes, suite, tables
from .clock import Clock

FIELDS = ("device", "torch", "version", "peer", "pass", "type", "rows", "length",
          "heads", "depth", "ms", "low", "high", "peak_mb", "problem")
KEY = FIELDS[:10]


def read(path):
    """Records by key; the last of a key counts."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    # Earlier ones have no quartiles.
    return {tuple(r[name] for name in KEY): {name: r.get(name) for name in FIELDS}
            for r in records}


def make_run(name, function, shape, device):
    """What is timed of a pass; what comes before it is done here. Forward alone
    keeps nothing, so that also what has no backward pass runs."""
    leaves, mask, weight = shapes.make_operands(shape, device)
    operands = *leaves[:3], mask, leaves[3]
    if name == "forward":
        operands = [t.detach() for t in operands]
        return torch.no_grad()(lambda: function(*operands))
    if name == "both":
        return lambda: torch.autograd.grad(function(*operands), leaves, weight)
    out = function(*operands)
    return lambda: torch.autograd.grad(out, leaves, weight, retain_graph=True)


def describe_device(device):
    return (evoformer.device("cpu").description if device == "cpu" else
            torch.cuda.get_device_name())


def parse():
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
    return parser.parse_args()


def main():
    options = parse()
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU here; --device=cpu measures the processor")
    if options.suite:
        raise SystemExit(suite.run(options, describe_device(options.device)))
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "data.jsonl"
    records = read(path)
    if not options.draw:
        run_all(options, path, records)
    kept = list(records.values())
    write_tables(options.out, kept)
    print_times(kept)
    for name in (options.out / "results.csv", options.out / "results.json",
                 *plots.draw(options.out, kept)):
        print(name)
    for lines in plots.group(kept).values():
        record = next(iter(next(iter(lines.values())).values()))
        for note in plots.footnotes(lines):
            print(f"not run: {plots.title(record)}: {note}")


def list_missing(options, chosen, records):
    """Keys and what is known of the records to make."""
    common = {"device": describe_device(options.device), "torch": torch.__version__,
              "version": library().evoformerGetVersion().decode(),
              "type": options.type, "rows": options.rows, "heads": options.heads,
              "depth": options.depth}
    for length in options.lengths:
        for peer in chosen:
            for name in ("forward", "backward", "both"):
                record = {**common, "peer": peer, "pass": name, "length": length}
                key = tuple(record[field] for field in KEY)
                if options.again or key not in records:
                    yield key, record


def run_all(options, path, records):
    from tqdm import tqdm
    device = options.device
    found = peers.available(device)
    chosen = options.peers or list(found)
    unknown = sorted(set(chosen) - set(found))
    if unknown:
        raise SystemExit(f"not available here: {', '.join(unknown)}; available "
                         f"are {', '.join(found)}")
    clock = Clock(device)
    wanted = list(list_missing(options, chosen, records))
    with open(path, "a", encoding="utf-8") as file, tqdm(
            wanted, unit="run", disable=None) as progress:
        last = None
        for key, record in progress:
            progress.set_description(
                f"{record['peer']} {record['pass']} {record['length']}")
            if last != (record["peer"], record["length"]):
                last = record["peer"], record["length"]
                torch.compiler.reset()
            measured = dict.fromkeys(FIELDS[10:])
            try:
                run = make_run(record["pass"], found[record["peer"]], shapes.Shape(
                    1, plots.rows_of(record), record["length"], options.heads,
                    options.depth, options.type), device)
                low, ms, high = clock.quartiles(run, options.repeat, options.warmup)
                measured |= {"low": low, "ms": ms, "high": high,
                             "peak_mb": memory.peak_mb(run, device)}
            # Whatever another package raises is a result here.
            except Exception as error:
                measured["problem"] = peers.describe(error)
            record |= measured
            records[key] = record
            file.write(json.dumps(record) + os.linesep)
            file.flush()


def print_times(records):
    """Medians in ms, a line for each peer and length."""
    times = {}
    for record in records:
        place = tuple(record[field] for field in ("device", "type", "rows", "heads",
                                                  "depth", "length", "peer"))
        times.setdefault(place, {})[record["pass"]] = record
    print("| device | type | N | H | D | S | by | forward, ms | backward | both |\n"
          "|---|---|---|---|---|---|---|---|---|---|")
    for place, of_pass in sorted(times.items()):
        cells = [f"{of_pass[name]['ms']:.3f}" if of_pass.get(name, {}).get("ms") else "-"
                 for name in ("forward", "backward", "both")]
        print(tables.row([*map(str, place), *cells]))


def write_tables(folder, records):
    with open(folder / "results.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(records)
    with open(folder / "results.json", "w", encoding="utf-8") as file:
        json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
