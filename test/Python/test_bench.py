# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""`python -m evoformer.bench` on a small case: what it writes, and that it measures
only what is missing."""

import csv
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

import torch


def bench(folder, *options):
    """(the records, what was printed)."""
    done = subprocess.run(
        [sys.executable, "-m", "evoformer.bench", "--out", str(folder), "--device",
         "cpu", "--rows", "1", "--heads", "1", "--repeat", "1", "--warmup", "0",
         *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(folder / "data.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file], done.stdout


def test_bench(tmp_path):
    chosen = "--depth", "8", "--peers", "evoformer", "eager", "sdpa flash"
    first, text = bench(tmp_path, "--lengths", "9", *chosen)
    assert len(first) == 9
    for record in first:
        if record["peer"] == "sdpa flash" and record["pass"] != "forward":
            assert "No available kernel" in record["problem"] and not record["ms"]
        else:
            assert 0 < record["low"] <= record["ms"] <= record["high"]
            assert not record["problem"] and record["peak_mb"] is not None
    assert ("not run: backward, float32, N 1, H 1, D 8, " in text and
            f"sdpa flash (torch {torch.__version__}) at 9: RuntimeError" in text)
    more, _ = bench(tmp_path, "--lengths", "9", "17", *chosen)
    assert more[:9] == first and len(more) == 18
    assert bench(tmp_path, "--draw")[0] == more
    with open(tmp_path / "results.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 18
    for name in ("forward", "backward", "both"):
        for suffix in ("svg", "png"):
            assert len(list(tmp_path.glob(
                f"time-{name}-float32-n1-h1-d8-*.{suffix}"))) == 1
    # Another depth is another figure and takes nothing from the first.
    deeper, _ = bench(tmp_path, "--lengths", "9", "--depth", "16", "--peers",
                      "evoformer")
    assert deeper[:18] == more and len(deeper) == 21
    assert list(tmp_path.glob("time-forward-float32-n1-h1-d16-*.svg"))


def record_of(**changes):
    return {"device": "cpu", "torch": "2", "version": "1", "peer": "evoformer",
            "pass": "forward", "type": "float32", "rows": 0, "length": 16,
            "heads": 1, "depth": 8, "ms": 2.0, "low": 1.0, "high": 4.0,
            "peak_mb": 1.0, "problem": None, **changes}


def test_lines_of_configurations():
    """One line a configuration: versions are lines of one figure, rows, heads and
    depth make figures."""
    from evoformer.bench import plots
    groups = plots.group([record_of(), record_of(version="2"), record_of(length=24),
                          record_of(depth=16), record_of(heads=2),
                          record_of(rows=4), record_of(peer="eager")])
    assert sorted(map(len, groups.values())) == [1, 1, 1, 3]
    lines = groups[plots.configuration(record_of())]
    assert sorted(lines) == ["eager (torch 2)", "evoformer (1)", "evoformer (2)"]
    assert sorted(lines["evoformer (1)"]) == [16, 24]
    assert plots.title(record_of(rows=4)) == "forward, float32, N 4, H 1, D 8, cpu"
    assert "N = S" in plots.title(record_of())


def test_what_is_drawn():
    """Real lengths as ticks, quartiles as bars, GFLOP/s where that is the order of
    magnitude, and footnotes."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from evoformer.bench import plots
    lines = {"evoformer (1)": {16: record_of(), 24: record_of(length=24)},
             "eager (torch 2)": {24: record_of(
                 peer="eager", length=24, ms=None, low=None, high=None,
                 peak_mb=None, problem="MemoryError: none left")}}
    figure, axes = pyplot.subplots()
    assert plots.draw_lines(axes, lines, plots.KINDS[0][2], 1)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["16", "24"]
    (bars,) = axes.containers
    low, high = bars[2][0].get_segments()[0][:, 1]
    assert (low, high) == (1, 4)
    pyplot.close(figure)
    assert list(plots.footnotes(lines)) == [
        "eager (torch 2) at 24: MemoryError: none left"]
    # A rate's quartiles are the other way round.
    low, middle, high = plots.spread(record_of(), plots.rate)
    assert low < middle < high and middle < 1


def test_figures_say_gflops(tmp_path):
    from evoformer.bench import plots
    plots.draw(tmp_path, [record_of(), record_of(length=24)])
    (path,) = tmp_path.glob("tflops-*.svg")
    assert "GFLOP/s" in path.read_text(encoding="utf-8")


def test_reasons():
    from evoformer.bench import peers
    assert peers.describe(ValueError("two\n lines")) == "ValueError: two lines"
    assert peers.describe(RuntimeError(
        "Observed exception\n  Developer debug context: raised exception "
        "NotImplementedError([ConstantVariable(str: 'inference only')])")) == (
            "NotImplementedError: inference only")


def test_peak_of_processor():
    """What a call touches counts, what was there before does not."""
    from evoformer.bench import memory
    before = torch.ones(1 << 24)
    peak = memory.peak_mb(lambda: torch.ones(1 << 25).sum() + before[0], "cpu")
    assert 128 < peak < 200


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


def test_memory_that_lacks_for_a_while():
    """What does not fit beside other shapes is tried again alone."""
    from evoformer.bench import clock, peers, shapes, worker
    shape = shapes.SUITES["small"]["C24"]
    calls = []

    def function(*operands):
        calls.append(1)
        if len(calls) == 1:
            raise torch.OutOfMemoryError("none left")
        return peers.eager(*operands)
    candidate = worker.Candidate(shape, "cpu", "some", function, "model")
    candidate.compile()
    assert candidate.record["problems"] == {}
    candidate.measure(clock.Clock("cpu"), 1, shapes.reference(shape, "cpu"))
    assert candidate.record["backward"]["ms"] > 0


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


def run_beside(name, path):
    """What a benchmark of one kind of attention has measured on the CPU, and printed."""
    done = subprocess.run(
        [sys.executable, "-m", f"evoformer.bench.{name}", "--device", "cpu",
         "--repeat", "1", "--json", str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    records = json.loads(path.read_text(encoding="utf-8"))["records"]
    for record in records:
        assert record["forward"] > 0 and record["backward"] > 0
        assert record["error"] < 0.02 and record["equal"]
        assert record["by"] in done.stdout
    return records, done.stdout


def test_ranges(tmp_path):
    """Causal attention and rows with lengths beside the whole."""
    records, _ = run_beside("ranges", tmp_path / "ranges.json")
    assert [(r["keys"], r["by"]) for r in records] == [
        ("full", "evoformer"), ("causal", "evoformer"), ("half", "evoformer"),
        ("half keys", "evoformer"), ("full", "sdpa math"), ("causal", "sdpa math")]


def test_depths(tmp_path):
    """Every depth, and lengths that fill no block beside the next multiple of 32."""
    records, _ = run_beside("depths", tmp_path / "depths.json")
    assert [(r["of each"], r["shape"]) for r in records] == [
        ("depth", "D 8"), ("depth", "D 24"), ("depth", "D 32"), ("length", "S 33"),
        ("length", "S 64")]


def test_kernels():
    """Kernels of one's own, of which each is compared with what it should give."""
    examples = pathlib.Path(__file__).parents[2] / "examples" / "tiles"
    done = subprocess.run(
        [sys.executable, "-m", "evoformer.bench.kernels", str(examples), "--device", "cpu",
         "--repeat", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [line.split("|")[1].strip() for line in done.stdout.splitlines()] == [
        "kernel", "---", "matmul", "softmax", "layer_norm"]


def test_inputs(tmp_path):
    """Other inputs than the usual, and a gate by this project and by torch."""
    records, _ = run_beside("inputs", tmp_path / "inputs.json")
    assert [(r["shape"], r["input"], r["by"]) for r in records] == [
        (shape, what, by) for shape in ("C24", "A17") for what, by in (
            ("usual", "evoformer"), ("rows without keys", "evoformer"),
            ("no first keys", "evoformer"), ("large logits", "evoformer"),
            ("all rows made again", "evoformer"), ("f16", "evoformer"),
            ("gate", "evoformer"), ("gate", "torch"))]


def test_scores(tmp_path):
    """Scores of one's own and dropout."""
    records, printed = run_beside("scores", tmp_path / "scores.json")
    assert [(r["score"], r["by"]) for r in records] == [
        (what, "evoformer") for what in (
            "pair bias", "softcap", "softcap, fast_tanh", "ALiBi", "causal",
            "causal, dropout", "causal, softcap")]
    assert all(record["score"] in printed for record in records)


def test_steps():
    """Kernels by step, and their rooflines: the arithmetic of it."""
    from evoformer.bench import shapes, steps

    spent = steps.add_up([
        ("attention_key_bias", 1.0), ("attention_attention", 10.0),
        ("attention_query_grad_13", 5.0), ("attention_query_grad", 2.0),
        ("attention_sum_parts", 0.5), ("vectorized_elementwise_kernel", 7.0)])
    assert spent == {steps.OTHERS: 1.5, "attention": 10.0, "query_bias_grad": 7.0}
    assert steps.add_up([("attention_query_grad", 5.0), ("attention_bias_grad_1", 1.0)]) == {
        "query_grad": 5.0, "bias_grad": 1.0}
    assert steps.add_up([
        ("attention_delta", 1.0), ("attention_key_value_grad", 2.0),
        ("attention_query_grad", 3.0), ("attention_sum_parts", 4.0),
        ("attention_key_value_grad", 5.0)]) == {"delta": 1.0, "slabs": 14.0}
    shape = shapes.Shape(1, 2, 64, 4, 32, "bfloat16")
    logits = 2 * 4 * 64 * 64
    cost = steps.costs(shape)["attention"]
    assert cost.flops == 2 * 2 * logits * 32 and cost.exponentials == logits
    assert cost.bytes == 2 * (4 * 2 * 64 * 4 * 32 + 4 * 64 * 64)
    assert cost.floor((cost.flops, cost.exponentials / 3, 1e30)) == (3, "exponentials")
    lines = list(steps.rows("X", shape, [spent], (cost.flops, 1e30, 1e30)))
    assert [line.split("|")[2].strip() for line in lines] == [
        steps.OTHERS, "forward", "dQ, dBias"]
    assert lines[1].rstrip(" |").endswith("matrix")
    assert steps.find_peaks("NVIDIA H200") and not steps.find_peaks("a toaster")
    done = subprocess.run([sys.executable, "-m", "evoformer.bench.steps", "C3"],
                          capture_output=True, text=True)
    assert done.returncode == 2 and "no shape 'C3'; there are C384" in done.stderr
