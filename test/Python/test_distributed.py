# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Attention spread over several processes, which speak through gloo."""

import os

import distributed_cases
import pytest
import torch.multiprocessing


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The folder where the processes have written how each case went."""
    folder = str(tmp_path_factory.mktemp("processes"))
    context = torch.multiprocessing.get_context("forkserver")
    # They are many, and importing is what takes them longest.
    context.set_forkserver_preload(["distributed_cases"])
    os.environ.setdefault("EVOFORMER_NUM_THREADS", "1")
    try:
        torch.multiprocessing.start_processes(
            distributed_cases.run, (folder,), distributed_cases.SIZE,
            start_method="forkserver")
    except Exception as error:
        print(error)
    return folder


@pytest.mark.parametrize("name", distributed_cases.CASES)
def test_processes(outcome, name):
    said = [open(os.path.join(outcome, file)).read() for file in os.listdir(outcome)
            if file.startswith(name + ".") and not file.endswith(".passed")]
    assert not said, "\n".join(said)
    assert os.path.exists(os.path.join(outcome, name + ".passed")), (
        "not reached: see the other cases")
