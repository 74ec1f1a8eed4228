# RUN: mkdir -p %t && %python %s %build_dir/bin %t
"""The example of weights: on this CPU, and as machine code of a chip in the simulator,
beside f64. They sum up to 1, and the output is their sum of values."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np

tools, folder = sys.argv[1:]
EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples",
                       "attention_weights.mlir")
ROWS, QUERIES, KEYS, HEADS, DEPTH = 3, 45, 70, 4, 32

random = np.random.default_rng(4)
arrays = {name: random.normal(size=(1, ROWS, size, HEADS, DEPTH)).astype(ml_dtypes.bfloat16)
          for name, size in (("query", QUERIES), ("key", KEYS), ("value", KEYS))}
arrays["mask"] = random.random((1, ROWS, 1, 1, KEYS)) < 0.8
query, key, value = (arrays[name].astype(np.float64) for name in ("query", "key", "value"))
logits = np.einsum("bnqhd,bnkhd->bnhqk", query, key) * DEPTH ** -0.5
logits = np.where(arrays["mask"], logits, -np.inf)
weights = np.exp(logits - logits.max(-1, keepdims=True))
weights /= weights.sum(-1, keepdims=True)
exact = {"out": np.einsum("bnhqk,bnkhd->bnqhd", weights, value), "weights": weights}
sizes = {"out": query.shape, "weights": weights.shape,
         "stats": (2, 1, ROWS, HEADS, QUERIES)}

words = []
for name, array in arrays.items():
    kind = array.dtype == ml_dtypes.bfloat16
    np.save(f"{folder}/{name}.npy", array.view(np.uint16) if kind else array)
    words.append(f"--input={name}={folder}/{name}.npy")
for name, shape in sizes.items():
    words += [f"--shape={name}={'x'.join(map(str, shape))}",
              f"--output={name}={folder}/out.{name}.npy"]
for options in ([], ["--device=sim", "--target=gfx942"], ["--device=sim", "--target=sm_90"]):
    subprocess.run([f"{tools}/evoformer-run", EXAMPLE, *words, *options], check=True)
    for name, wanted in exact.items():
        found = np.load(f"{folder}/out.{name}.npy")
        found = found.view(np.uint16).view(ml_dtypes.bfloat16).astype(np.float64)
        # Rounded to bf16, and weights before values are added up by them.
        allowed = 2.0 ** -8 * abs(wanted).max() * (1 if name == "weights" else 2)
        error = abs(found - wanted).max()
        print(*options, name, f"{error:.1e} of {allowed:.1e}")
        assert error <= allowed, name
        assert abs(np.roll(found, 1, 3) - wanted).max() > 8 * allowed  # it can fail
