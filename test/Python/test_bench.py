# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""`python -m evoformer.bench` on a small case: what it writes, and that it measures
only what is missing."""

import csv
import json
import multiprocessing
import os
import subprocess
import sys
import time

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


def test_suite(tmp_path):
    """Every shape and candidate is measured and checked; one that fails is a
    footnote with its reason, and takes nothing else with it."""
    path = tmp_path / "suite.json"
    done = subprocess.run(
        [sys.executable, "-m", "evoformer.bench", "--suite=small", "--device=cpu",
         "--repeat=1", f"--json={path}", "--peers", "evoformer", "eager",
         "sdpa flash"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    data = json.loads(path.read_text(encoding="utf-8"))
    assert list(data["shapes"]) == ["C24", "A17"] and data["notes"] == []
    for shape in data["shapes"]:
        found = {(c["peer"], c["layout"]): c for c in data["candidates"]
                 if c["shape"] == shape}
        for which in (("evoformer", "model"), ("evoformer", "head-major"),
                      ("eager", "model")):
            for name in ("forward", "backward"):
                assert found[which][name]["ms"] > 0
                assert found[which][name]["equal"]
            assert max(found[which]["errors"].values()) < 0.02
        assert "No available kernel" in found["sdpa flash", "model"]["problems"][
            "forward"]
    assert "* sdpa flash: C24 forward, A17 forward: RuntimeError: No avail" in (
        done.stdout)
    assert "| C24 | " in done.stdout


def test_suite_says_what_it_has():
    done = subprocess.run(
        [sys.executable, "-m", "evoformer.bench", "--suite=small", "--device=cpu",
         "--shapes", "C25"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "suite small has no shape C25; it has C24, A17" in done.stderr


def test_suite_outlives_a_shape():
    """A process that dies, or that does not end, is a note."""
    from evoformer.bench import suite

    def dies(pipe):
        pipe.send("ready")
        pipe.recv()
        os._exit(3)

    def hangs(pipe):
        pipe.send("ready")
        time.sleep(3600)
    for target, seconds, problem in (
            (dies, 3600, "its process ended with 3"),
            (hangs, 1, "took too long and was ended")):
        one = suite.Worker("name", multiprocessing.get_context("fork"), target, ())
        assert one.receive(time.time() + 3600) == "ready"
        assert list(one.measure(time.time() + seconds)) == []
        assert one.problem == problem
        one.end()


def test_wrong_results_are_no_time():
    from evoformer.bench import clock, shapes, worker
    shape = shapes.SUITES["small"]["C24"]
    expected = shapes.reference(shape, "cpu")

    def wrong(q, k, v, mask, pair):
        return q + k + v + pair.sum()
    candidate = worker.Candidate(shape, "cpu", "wrong", wrong, "model")
    candidate.measure(clock.Clock("cpu"), 1, expected)
    assert "forward" not in candidate.record
    assert "wrong: out is" in candidate.record["problems"]["forward"]


def test_peers_agree():
    """What is compared computes one function, in either order of operands."""
    from evoformer.bench import peers, shapes
    shape = shapes.Shape(2, 2, 11, 2, 8, "float32")
    expected = shapes.reference(shape, "cpu")
    for head_major in (False, True):
        (q, k, v, pair), mask, gradient = shapes.make_operands(shape, "cpu",
                                                               head_major)
        for name in ("evoformer", "eager", "sdpa math"):
            out = peers.available("cpu")[name](q, k, v, mask, pair)
            found = torch.autograd.grad(out, (q, k, v, pair), gradient)
            for tensor, wanted in zip((out, *found), expected.values()):
                torch.testing.assert_close(tensor, wanted, rtol=1e-5, atol=1e-5)
