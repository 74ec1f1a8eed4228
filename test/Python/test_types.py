# REQUIRES: python-library, models
# RUN: %models-pytest %s
"""Annotations: the package's own, and what a model's author sees of them."""

import os
import pathlib
import subprocess
import sys

import evoformer
import pytest

pytest.importorskip("mypy")
ROOT = pathlib.Path(__file__).resolve().parents[2]

CLIENT = """
from typing import assert_type

import evoformer
import numpy as np
import torch
from evoformer import dropins, nn

q = torch.ones(1, 2, 5, 2, 8)
assert_type(evoformer.attention(q, q, q, [q], gate=q, scale=0.5, layout="bnshd"),
            torch.Tensor)
assert_type(evoformer.attention(q, q, q, return_lse=True),
            tuple[torch.Tensor, torch.Tensor])
a = np.ones((5, 2, 8))
out, gradients = evoformer.attention_vjp(a, a, a)
assert_type(gradients(out), evoformer.Gradients)
with evoformer.patch(["deepspeed"], stand_in=True) as patched:
    assert_type(patched.replaced, list[str])
assert_type(dropins.DS4Sci_EvoformerAttention(q, q, q, [None]), torch.Tensor)
assert_type(dropins.trifast_triangle_attention(q, q, q, q, q), torch.Tensor)
assert_type(nn.TriangleAttention(8, 2, 4, out_bias=False).forward(q, None),
            torch.Tensor)
assert_type(evoformer.device("cpu").chip, str)
assert_type(evoformer.chips(), list[str])
evoformer.attention_vjp(a, a, a, score=lambda x, *c: x * c[-1], captures=[a])
"""

WRONG = """
import evoformer, torch
q = torch.ones(1, 2, 5, 2, 8)
evoformer.attention(q, q, q, gate=1, layout=3)
"""


def test_annotations(tmp_path):
    """Strictly: nothing to say of the package nor of who uses it well."""
    assert pathlib.Path(evoformer.__file__).with_name("py.typed").exists()
    for name, text in (("client.py", CLIENT), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text)
    # With pyproject.toml's settings.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir",
         os.path.join(os.environ["EVOFORMER_BUILD_DIR"], "test", "Python", "mypy"),
         "python/evoformer", *(str(tmp_path / name) for name in ("client.py", "wrong.py"))],
        cwd=ROOT, capture_output=True, text=True)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1 and "wrong.py:4" in errors[0], done.stdout + done.stderr
    assert 'No overload variant of "attention" matches' in errors[0]
