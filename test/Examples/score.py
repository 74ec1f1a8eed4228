# RUN: mkdir -p %t && %python %s %build_dir/bin %t
"""The example with a score: on this CPU, as compiled for it and as it is before
distribution over lanes for a chip, beside its formula in f64 and op by op in bf16."""

import os
import sys

import attention
import demo
import ml_dtypes
import numpy as np

tools, folder = sys.argv[1:]
BATCH, QUERIES, KEYS, HEADS, DEPTH, CAP = 2, 45, 70, 8, 64, 2.0


def bf16(array):
    return array.astype(ml_dtypes.bfloat16).astype(np.float64)


def compute(arrays, rounded):
    """`rounded`: what becomes of each intermediate tensor."""
    query, key, value = (arrays[name].astype(np.float64)[:, 0].transpose(0, 2, 1, 3)
                         for name in ("query", "key", "value"))
    scores = rounded(query @ key.transpose(0, 1, 3, 2) * DEPTH ** -0.5)
    behind = np.arange(QUERIES)[:, None] + KEYS - QUERIES - np.arange(KEYS)
    slopes = arrays["slopes"].astype(np.float64).reshape(HEADS, 1, 1)
    logits = rounded(rounded(CAP * np.tanh(scores / CAP)) - slopes * abs(behind))
    logits = np.where(behind >= 0, logits, -np.inf)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights = rounded(weights / weights.sum(-1, keepdims=True))
    return rounded(weights @ value).transpose(0, 2, 1, 3)[:, None]


class Example:
    path = os.path.join(os.path.dirname(__file__), "..", "..", "examples",
                        "score_attention.mlir")


random = np.random.default_rng(3)
arrays = {name: random.normal(size=(BATCH, 1, size, HEADS, DEPTH)).astype(ml_dtypes.bfloat16)
          for name, size in (("query", QUERIES), ("key", KEYS), ("value", KEYS))}
arrays["slopes"] = 2.0 ** -np.arange(1, 9, dtype=np.float32).reshape(1, 1, 8, 1, 1)
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
