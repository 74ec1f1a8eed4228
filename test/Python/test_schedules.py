# REQUIRES: python-library
# RUN: %pytest %s
"""Schedules that a table has for a shape (docs/tuning.md)."""

import json

import numpy as np
import pytest

import evoformer
from evoformer import _problem, _runtime

SHAPE = "f32,8,64,64,4"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A function that writes a table of a schedule for this processor and sets the
    environment variable."""
    def write(schedule, kernel="attention", shape=SHAPE, version=1):
        path = tmp_path / "schedules.json"
        path.write_text(json.dumps({"version": version, "schedules": [
            {"chip": "cpu", "kernel": kernel, "shape": shape, "schedule": schedule}]}))
        monkeypatch.setenv("EVOFORMER_SCHEDULES", str(path))
        monkeypatch.setenv("EVOFORMER_CACHE_DIR", "")
    return write


def plan(words):
    module = _runtime.describe("type=f32 heads=2 depth=8")
    return _runtime.Program(module, f"target=cpu device=cpu {words}").plan


def test_the_table_is_asked(table):
    usual = plan("")
    table("q=16,k=16")
    assert plan("") == usual  # nobody said a shape
    assert plan("shape=f32,8,65,64,4") == usual  # of another class
    assert plan(f"shape={SHAPE}") != usual
    assert plan(f"shape={SHAPE}") == plan("schedule=attention:v1:q=16,k=16")
    assert plan("shape=f32,8,33,40,3") == plan(f"shape={SHAPE}")
    # What is forced comes first; what cannot be had is the default.
    assert (plan(f"shape={SHAPE} schedule=attention:v1:q=8")
            == plan("schedule=attention:v1:q=8"))
    table("subgroups=4x1")
    assert plan(f"shape={SHAPE}") == usual


def test_calls_say_their_shape(table, monkeypatch):
    asked = []
    compile_options = _runtime.compile_options
    monkeypatch.setattr(_runtime, "compile_options", lambda *words: asked.append(
        words[2]) or compile_options(*words))
    draw = np.random.default_rng(0)
    q, k, v = (draw.standard_normal((1, 2, size, 2, 8)).astype(np.float32)
               for size in (40, 33, 33))
    usual = evoformer.attention(q, k, v)
    assert asked == [""]
    table("q=16,k=16", shape="f32,8,40,33,4")
    tuned = evoformer.attention(q[:, :, :39], k, v)
    assert asked[1:] == ["f32,8,39,33,4"]
    np.testing.assert_allclose(tuned, usual[:, :, :39], atol=1e-5)


def test_shapes(monkeypatch):
    view = lambda *sizes: (sizes, _problem.dense(sizes))
    query, key, value = view(2, 3, 40, 4, 8), view(2, 3, 50, 2, 8), view(2, 3, 50, 2, 16)
    bias = view(2, 1, 4, 40, 50)
    monkeypatch.delenv("EVOFORMER_SCHEDULES", raising=False)
    assert _runtime.schedule_shape("type=bf16", [query, key, value]) == ""
    monkeypatch.setenv("EVOFORMER_SCHEDULES", "some.json")
    assert _runtime.schedule_shape("type=bf16 heads=4", [query, key, value, bias]) == \
        "bf16,16,40,50,24"
    assert _runtime.schedule_shape("type=f16 pass=weights", [query, key, bias]) == \
        "f16,8,40,50,24"
    assert _runtime.schedule_shape("type=f16", [view(0, 3, 0, 4, 8), key, value]) == \
        "f16,16,1,50,1"


@pytest.mark.parametrize("shape, said", [
    ("f32,8,64", "shape 'f32,8,64' is not a type"),
    ("f32,8,64,64,none", "is not a type"),
])
def test_wrong_shapes(shape, said):
    with pytest.raises(evoformer.EvoformerError, match=said):
        plan(f"shape={shape}")


def test_wrong_tables(table, monkeypatch):
    table("q=16", version=9)
    with pytest.raises(evoformer.EvoformerError, match="has version 9; known is 1"):
        plan(f"shape={SHAPE}")
    monkeypatch.setenv("EVOFORMER_SCHEDULES", "/does/not/exist.json")
    with pytest.raises(evoformer.EvoformerError, match="exist.json"):
        plan(f"shape={SHAPE}")
    plan("")  # asks for none
    with pytest.raises(evoformer.EvoformerError, match="needs shape=, which the table is asked for"):
        plan("schedules=x.json")
