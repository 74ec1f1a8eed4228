"""Measures a suite of shapes through Python: this project, FlexAttention (compiled,
static shapes, several tilings, both orders of operands), eager attention, torch's
scaled_dot_product_attention and the other packages that are installed, in one run."""

import dataclasses
import datetime
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

import torch

from evoformer._library import library

from . import shapes, tables, worker

# Of the time in all: for compiling, for what is being compiled when that is over,
# and for one shape, so that none takes it all.
COMPILING, ENDING, MEASURING = 0.5, 0.2, 0.25


class Worker:
    """A process for a shape: `target`, called with a pipe and the arguments."""

    def __init__(self, name, context, target, arguments):
        self.name = name
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=target, args=(other, *arguments))
        self.process.start()
        other.close()
        self.problem = None

    def receive(self, until):
        """What the process says next; None, with a problem, where it says nothing
        until then or has ended."""
        try:
            if self.pipe.poll(max(0, until - time.time())):
                return self.pipe.recv()
            self.problem = "took too long and was ended"
        except (EOFError, OSError):
            self.process.join(5)
            self.problem = f"its process ended with {self.process.exitcode}"
        return None

    def measure(self, until):
        """Records of candidates, as long as they come."""
        self.pipe.send("go")
        while (said := self.receive(until)) not in (None, "done"):
            yield said

    def end(self):
        self.process.kill()
        self.process.join()


def ask(command):
    """The first line that a program prints; None where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20,
                              cwd=pathlib.Path(__file__).parent, check=True)
        return done.stdout.splitlines()[0].strip()
    except (OSError, subprocess.SubprocessError, IndexError):
        return None


def describe(options, device, chosen):
    """What the measurements hold for."""
    on_gpu = options.device == "cuda"
    return {
        "suite": options.suite, "device": device,
        "date": datetime.date.today().isoformat(),
        "driver": ask(["nvidia-smi", "--query-gpu=driver_version",
                       "--format=csv,noheader"]) if on_gpu else None,
        "torch": torch.__version__,
        "version": library().evoformerGetVersion().decode(),
        "tree": ask(["git", "describe", "--always", "--dirty"]),
        "command": f"python -m evoformer.bench --suite={options.suite}",
        "repeat": options.repeat,
        "shapes": {name: {**dataclasses.asdict(shape), "title": shape.title(),
                          "results_mb": shapes.result_bytes(shape) / 1e6}
                   for name, shape in chosen.items()},
        "candidates": [], "notes": []}


def write(path, data):
    if path:
        new = path.with_name(path.name + ".new")
        new.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        new.replace(path)


def choose(options):
    known = shapes.SUITES[options.suite]
    unknown = sorted(set(options.shapes or ()) - set(known))
    if unknown:
        raise SystemExit(f"suite {options.suite} has no shape {', '.join(unknown)}; "
                         f"it has {', '.join(known)}")
    return {name: shape for name, shape in known.items()
            if not options.shapes or name in options.shapes}


def run(options, device):
    """Prints tables, writes the data; the exit status: 1 where this project did
    not run."""
    begin = time.time()
    end, deadline = begin + options.limit, begin + COMPILING * options.limit
    chosen = choose(options)
    data = describe(options, device, chosen)
    # A process for each shape compiles already.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    context = multiprocessing.get_context("spawn")
    workers = [Worker(name, context, worker.main, (
        shape, options.device, options.peers, options.repeat, deadline))
        for name, shape in chosen.items()]
    try:
        ready = [w for w in workers
                 if w.receive(deadline + ENDING * options.limit)]
        print(f"compiled in {time.time() - begin:.0f} s", file=sys.stderr)
        # Nothing else runs on the device now.
        for one in workers:
            if one not in ready:
                one.end()
        for one in workers:
            if one in ready and time.time() < end:
                until = min(end, time.time() + MEASURING * options.limit)
                data["candidates"] += [{"shape": one.name, **record}
                                       for record in one.measure(until)]
            elif one in ready:
                one.problem = "was not reached in time"
            if one.problem:
                data["notes"].append(f"{one.name}: {one.problem}")
            one.end()
            write(options.json, data)
            print(f"{one.name} until {time.time() - begin:.0f} s", file=sys.stderr)
    finally:
        for one in workers:
            one.end()
    print(tables.render(data), end="")
    missing = [f"{name} {which}" for name in chosen for which in tables.PASSES
               if not tables.fastest(data, name, which, tables.is_ours)]
    if missing and (not options.peers or "evoformer" in options.peers):
        print(f"this project did not run: {', '.join(missing)}", file=sys.stderr)
        return 1
    return 0
