# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Attention spread over several processes, which speak through gloo."""

import json
import os
import pathlib
import re
import subprocess
import sys

import distributed_cases
import pytest
import torch.multiprocessing


def run_processes(size, tmp_path_factory):
    """The folder where so many processes have written how each case went."""
    folder = str(tmp_path_factory.mktemp("processes"))
    context = torch.multiprocessing.get_context("forkserver")
    # They are many, and importing is what takes them longest.
    context.set_forkserver_preload(["distributed_cases"])
    os.environ.setdefault("EVOFORMER_NUM_THREADS", "1")
    try:
        torch.multiprocessing.start_processes(
            distributed_cases.run, (folder, size), size, start_method="forkserver")
    except Exception as error:
        print(error)
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return run_processes(2, tmp_path_factory)


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    return run_processes(4, tmp_path_factory)


def check(folder, name):
    said = [open(os.path.join(folder, file)).read() for file in os.listdir(folder)
            if file.startswith(name + ".") and not file.endswith(".passed")]
    assert not said, "\n".join(said)
    assert os.path.exists(os.path.join(folder, name + ".passed")), (
        "not reached: see the other cases")


@pytest.mark.parametrize("name", distributed_cases.CASES[2])
def test_two_processes(two, name):
    check(two, name)


@pytest.mark.parametrize("name", distributed_cases.CASES[4])
def test_four_processes(four, name):
    check(four, name)


def test_bench(tmp_path):
    """`python -m evoformer.bench.sharded`, where it checks what it measures."""
    file = tmp_path / "records.json"
    done = subprocess.run(
        [sys.executable, "-m", "evoformer.bench.sharded", "--device", "cpu", "--devices",
         "2", "--rows", "4", "--length", "9", "--heads", "2", "--depth", "16",
         "--repeat", "1", "--json", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    records = json.loads(file.read_text())
    assert [(r["spread"], r["devices"]) for r in records] == [
        ("whole", 1), ("rows", 2), ("keys", 2)]
    for record in records:
        assert 0 < record["forward"] and 0 < record["both"] and record["error"] < 1e-5
    assert "| rows | 2 | " in done.stdout and "| keys | 2 | " in done.stdout


def test_documentation(tmp_path):
    """The programs of docs/distributed.md, as torchrun starts them."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "distributed.md"
    programs = re.findall(r"`(\w+\.py)`:\n(?:.*?\n)??```python\n(.*?)```",
                          page.read_text(encoding="utf-8"), re.DOTALL)
    printed = {}
    for name, text in programs:
        (tmp_path / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "torch.distributed.run", "--standalone",
             "--nproc-per-node", "2", str(tmp_path / name)], capture_output=True,
            text=True)
        assert done.returncode == 0, done.stderr
        printed[name] = done.stdout
    # Lines of processes may run into each other.
    for name, shards in (("rows.py", 4), ("axial.py", 2)):
        assert printed[name].count("(Shard(dim=1),)") == shards
        assert printed[name].count("(Partial(sum),)") == 2
    for process in (0, 1):
        assert f"process {process}: (1, 2, 12, 4, 16), error" in printed["keys.py"]
