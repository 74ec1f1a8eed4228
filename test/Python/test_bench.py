# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""`python -m evoformer.bench` on a small case: what it writes, and that it measures
only what is missing."""

import csv
import json
import subprocess
import sys

import torch


def bench(folder, *options):
    done = subprocess.run(
        [sys.executable, "-m", "evoformer.bench", "--out", str(folder), "--device",
         "cpu", "--rows", "1", "--heads", "1", "--depth", "8", "--repeat", "1",
         "--warmup", "0", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(folder / "data.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_bench(tmp_path):
    chosen = "--peers", "evoformer", "eager", "sdpa math"
    first = bench(tmp_path, "--lengths", "9", *chosen)
    assert len(first) == 9 and all(r["ms"] > 0 and not r["problem"] for r in first)
    more = bench(tmp_path, "--lengths", "9", "17", *chosen)
    assert more[:9] == first and len(more) == 18
    assert bench(tmp_path, "--draw") == more
    with open(tmp_path / "results.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 18
    for name in ("forward", "backward", "both"):
        for suffix in ("svg", "png"):
            assert list(tmp_path.glob(f"time-{name}-float32-*.{suffix}"))


def test_peers_agree():
    """What is compared computes one function."""
    from evoformer.bench import __main__ as program, peers
    options = type("Options", (), dict(type="float32", rows=2, heads=2, depth=8))
    operands = program.make_operands(options, 11, "cpu")
    expected = peers.eager(*operands)
    for name in ("evoformer", "sdpa math"):
        out = peers.available("cpu")[name](*operands)
        torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)
