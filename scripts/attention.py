"""Biased gated attention in numpy: inputs, the f64 reference, a model of eager
execution, and the comparison. Dimension orders are the op's default ones."""

import math

import ml_dtypes
import numpy as np

TYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
         "bf16": np.dtype(ml_dtypes.bfloat16), "i1": np.dtype(np.bool_)}


def _rows(query, biases):
    """Every (b, n, h) with the biases' values there as f64 [Sq or 1, Sk or 1].
    A bias is indexed with 0 where its size is 1."""
    batch, rows, _, heads, _ = query.shape
    for b in range(batch):
        for n in range(rows):
            for h in range(heads):
                yield b, n, h, [
                    bias[b if bias.shape[0] > 1 else 0,
                         n if bias.shape[1] > 1 else 0,
                         h if bias.shape[2] > 1 else 0] for bias in biases]


def _additive(bias):
    """A bias as an f64 addend: an i1 bias keeps where true."""
    if bias.dtype == np.bool_:
        return np.where(bias, 0.0, -np.inf)
    return bias.astype(np.float64)


def reference(query, key, value, biases=(), gate=None, scale=None):
    """out [B,N,Sq,H,Dv] and lse [B,N,H,Sq] in f64."""
    batch, rows, queries, heads, depth = query.shape
    keys = key.shape[2]
    if scale is None:
        scale = np.float32(1 / math.sqrt(depth))
    out = np.zeros((batch, rows, queries, heads, value.shape[4]))
    lse = np.full((batch, rows, heads, queries), -np.inf)
    for b, n, h, here in _rows(query, biases):
        addends = np.zeros((queries, keys))
        for bias in here:
            addends = addends + _additive(bias)
        dropped = np.isneginf(addends)
        with np.errstate(invalid="ignore"):
            logits = float(scale) * (query[b, n, :, h].astype(np.float64) @
                                     key[b, n, :, h].astype(np.float64).T)
        logits = np.where(dropped, -np.inf, logits + addends)
        alive = ~dropped.all(axis=1)
        if keys == 0 or not alive.any():
            continue
        top = np.where(alive, logits.max(axis=1), 0.0)
        weights = np.exp(logits - top[:, None])
        total = weights.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            lse[b, n, h] = np.where(alive, top + np.log(total), -np.inf)
            mean = (weights / total[:, None]) @ value[b, n, :, h].astype(
                np.float64)
        out[b, n, :, h] = np.where(alive[:, None], mean, 0.0)
    if gate is not None:
        out = out / (1 + np.exp(-gate.astype(np.float64)))
    return out, lse


def eager(query, key, value, biases=(), gate=None, scale=None):
    """What a framework does op by op in the type of its inputs: products
    accumulate in f32, every result is rounded to the type."""
    kind = query.dtype

    def rounded(array):
        return array.astype(kind).astype(np.float32)

    batch, rows, queries, heads, depth = query.shape
    if scale is None:
        scale = 1 / math.sqrt(depth)
    out = np.zeros((batch, rows, queries, heads, value.shape[4]), kind)
    for b, n, h, here in _rows(query, biases):
        scaled = rounded(query[b, n, :, h].astype(np.float32) * np.float32(scale))
        logits = rounded(scaled @ key[b, n, :, h].astype(np.float32).T)
        for bias in here:
            logits = rounded(logits + _additive(bias).astype(np.float32))
        with np.errstate(invalid="ignore"):
            weights = np.exp(logits - logits.max(axis=1, keepdims=True))
            weights = rounded(weights / weights.sum(axis=1, keepdims=True))
        out[b, n, :, h] = (weights @ value[b, n, :, h].astype(np.float32)
                           ).astype(kind)
    if gate is not None:
        gates = rounded(1 / (1 + np.exp(-gate.astype(np.float32))))
        out = (out.astype(np.float32) * gates).astype(kind)
    return out


def row_errors(result, exact):
    """The error of each row (the last dimension) relative to the row's norm."""
    difference = np.linalg.norm(result.astype(np.float64) - exact, axis=-1)
    size = np.linalg.norm(exact, axis=-1)
    return np.where(size > 0, difference / np.where(size > 0, size, 1),
                    difference)


def tolerance(kind):
    """What is allowed on top of twice eager's error: 1e-6 in f32, otherwise
    one unit in the last place of the output's type."""
    return 1e-6 if kind == np.float32 else float(ml_dtypes.finfo(kind).eps)


def within_bounds(result, exact, eager_result):
    """Whether every row is as near to `exact` as the project promises."""
    allowed = 2 * row_errors(eager_result, exact) + tolerance(result.dtype)
    return bool(np.all(row_errors(result, exact) <= allowed))


def save(path, array):
    """numpy's file format knows no bf16: two-byte raw elements stand for it."""
    if array.dtype == TYPES["bf16"]:
        array = array.view(np.dtype("V2"))
    np.save(path, array, allow_pickle=False)


def load(path):
    array = np.load(path, allow_pickle=False)
    return array.view(TYPES["bf16"]) if array.dtype == np.dtype("V2") else array
