# RUN: %python %s
"""The numpy reference against sums written out term by term."""

import math
import unittest

import attention
import numpy as np


def by_definition(query, key, value, biases, gate, scale):
    """The op's formula as nested loops over scalars."""
    batch, rows, queries, heads, depth = query.shape
    keys = key.shape[2]
    out = np.zeros((batch, rows, queries, heads, value.shape[4]))
    for b, n, i, h in np.ndindex(batch, rows, queries, heads):
        weights = []
        for j in range(keys):
            logit = scale * sum(float(query[b, n, i, h, d]) * float(key[b, n, j, h, d])
                                for d in range(depth))
            kept = True
            for bias in biases:
                place = tuple(0 if size == 1 else at
                              for size, at in zip(bias.shape, (b, n, h, i, j)))
                if bias.dtype == np.bool_:
                    kept = kept and bool(bias[place])
                else:
                    logit += float(bias[place])
            weights.append(math.exp(logit) if kept else 0.0)
        for e in range(value.shape[4]):
            total = sum(w * float(value[b, n, j, h, e])
                        for j, w in enumerate(weights))
            mean = total / sum(weights) if sum(weights) else 0.0
            out[b, n, i, h, e] = mean / (1 + math.exp(-float(gate[b, n, i, h, e])))
    return out


class Reference(unittest.TestCase):
    def setUp(self):
        draw = np.random.default_rng(1)
        shape = (2, 3, 5, 2, 4)
        self.query, self.key, self.value, self.gate = (
            draw.standard_normal(shape).astype(np.float32) for _ in range(4))
        self.mask = draw.random((2, 3, 1, 1, 5)) < 0.7
        self.mask[1, 2] = False
        self.pair = draw.standard_normal((2, 1, 2, 5, 5)).astype(np.float32)
        self.scale = 0.75

    def test_definition(self):
        arguments = (self.query, self.key, self.value, (self.mask, self.pair),
                     self.gate, self.scale)
        out, lse = attention.reference(*arguments)
        np.testing.assert_allclose(out, by_definition(*arguments), atol=1e-12)
        self.assertTrue(np.all(out[1, 2] == 0))
        self.assertTrue(np.all(np.isneginf(lse[1, 2])))
        self.assertTrue(np.all(np.isfinite(lse[0][self.mask[0, :, 0, 0].any(-1)])))

    def test_large_mask_cancels(self):
        everywhere = np.full((1, 1, 1, 1, 5), -1e9, np.float32)
        plain, _ = attention.reference(self.query, self.key, self.value)
        masked, _ = attention.reference(self.query, self.key, self.value,
                                        (everywhere,))
        np.testing.assert_allclose(masked, plain, atol=1e-6)

    def test_dropped_key_ignores_nan(self):
        keep = np.ones((1, 1, 1, 1, 5), np.bool_)
        keep[..., 3] = False
        self.key[:, :, 3] = np.nan
        out, _ = attention.reference(self.query, self.key, self.value, (keep,))
        self.assertTrue(np.all(np.isfinite(out)))

    def test_eager_is_near_and_bounds_bite(self):
        exact, _ = attention.reference(self.query, self.key, self.value,
                                       (self.pair,), self.gate)
        result = attention.eager(self.query, self.key, self.value, (self.pair,),
                                 self.gate)
        self.assertTrue(attention.within_bounds(result, exact, result))
        result[0, 0, 0, 0, 0] *= np.float32(1.001)
        self.assertFalse(attention.within_bounds(
            result, exact, attention.eager(self.query, self.key, self.value,
                                           (self.pair,), self.gate)))


if __name__ == "__main__":
    unittest.main()
