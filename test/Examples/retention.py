# RUN: mkdir -p %t && %python %s %build_dir/bin %t
"""The example of retention: on this CPU, as compiled for it and as it is before
distribution over lanes for a chip, beside its formula in f64 and op by op in bf16."""

import os
import sys

import demo
import ml_dtypes
import numpy as np

tools, folder = sys.argv[1:]
BATCH, QUERIES, KEYS, HEADS, DEPTH = 2, 45, 70, 4, 64


def bf16(array):
    return array.astype(ml_dtypes.bfloat16).astype(np.float64)


def compute(arrays, rounded):
    """`rounded`: what becomes of each intermediate tensor."""
    query, key, value = (arrays[name].astype(np.float64)[:, 0].transpose(0, 2, 1, 3)
                         for name in ("query", "key", "value"))
    scores = rounded(query @ key.transpose(0, 1, 3, 2) * DEPTH ** -0.5)
    behind = np.arange(QUERIES)[:, None] + KEYS - QUERIES - np.arange(KEYS)
    weights = np.where(behind >= 0, rounded(scores * arrays["decay"][0, 0]), 0)
    weights = rounded(weights / np.maximum(abs(weights).sum(-1, keepdims=True), 1))
    return rounded(weights @ value).transpose(0, 2, 1, 3)[:, None]


class Example:
    path = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "retention.mlir")


random = np.random.default_rng(3)
arrays = {name: random.normal(size=(BATCH, 1, size, HEADS, DEPTH)).astype(ml_dtypes.bfloat16)
          for name, size in (("query", QUERIES), ("key", KEYS), ("value", KEYS))}
steps = abs(np.arange(QUERIES)[:, None] + KEYS - QUERIES - np.arange(KEYS))
gamma = 1 - 2.0 ** (-5 - np.arange(HEADS).reshape(HEADS, 1, 1))
arrays["decay"] = (gamma ** steps).astype(np.float32)[None, None]
exact, eager = compute(arrays, lambda array: array), compute(arrays, bf16)
for options in ([], ["--target=gfx942", "--level=pipelined"]):
    result, _ = demo.run_on(tools, Example, arrays, "cpu", folder, options)
    line, good = demo.compare(result, exact, eager)
    print(*options, line)
    if not good:
        sys.exit(line)
    # The check can fail: an output of a wrong row is noticed.
    result[0, 0, 0] = result[0, 0, 1]
    assert not demo.compare(result, exact, eager)[1]
