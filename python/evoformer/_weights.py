"""How weights are made of logits, and retention, whose weights these are."""

import math
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _attention, _problem

# 'softmax', 'linear', 'retention', or ('retention', the least that rows are divided by).
Weights = Union[str, Sequence[Any]]

_ACCEPTED = ("accepted are 'softmax', 'linear', 'retention' and ('retention', least), with "
             "the least that a row is divided by, a finite number from 0 on")


def word(weights: Any) -> str:
    """As the C interface has it; empty for softmax."""
    if isinstance(weights, str) and weights in ("softmax", "linear"):
        return "" if weights == "softmax" else weights
    if weights == "retention":
        return "retention:1.0"
    if (not isinstance(weights, (tuple, list)) or len(weights) != 2 or
            weights[0] != "retention"):
        kind = ValueError if isinstance(weights, (str, tuple, list)) else TypeError
        raise kind(f"weights is {weights!r}; {_ACCEPTED}")
    try:
        least = float(weights[1])
    except (TypeError, ValueError):
        raise TypeError(f"weights is {weights!r}; {_ACCEPTED}") from None
    if not 0 <= least <= 3.4028234663852886e38 or math.isnan(least):
        raise ValueError(f"weights is {weights!r}; {_ACCEPTED}")
    return f"retention:{least!r}"


def check_lse(weights: str, return_lse: bool) -> None:
    if weights and return_lse:
        raise ValueError("return_lse is given with weights that are no softmax; accepted is "
                         "False: lse is the logarithm of a sum of exponentials")


def _decay(score: Any, b: Any, n: Any, h: Any, i: Any, j: Any, sq: Any, sk: Any,
           mask: Any) -> Any:
    return score * mask


def retention(query: Any, key: Any, value: Any, mask: Optional[Any] = None, *,
              layout: str = "bhsd", scale: float = 1.0, least: float = 1.0,
              causal: bool = False) -> Any:
    """The parallel form of RetNet's retention (Sun et al., "Retentive Network: A Successor
    to Transformer for Large Language Models", 2023):

        x[i,j]   = scale * <query[i,:], key[j,:]> * mask[i,j]
        out[i,:] = sum_j x[i,j] * value[j,:] / max(least, sum_j |x[i,j]|)

    in which the divisor is a constant for the gradient. No x is stored.

    Arguments (NumPy arrays, torch tensors or JAX arrays; the latter two have gradients):
      query, key, value: of any layout, 'bhsd' by default, as `evoformer.attention` has
               them; a head of values may be of another depth
      mask:    decays, [b, n, h, sq, sk] as far as the layout has these, any dimension of
               size 1 or missing on the left; of the query's type or float32, or bool:
               False drops the pair. None: 1
      scale:   a number; RetNet's models scale the key before
      least:   what a row is divided by at least, from 0 on; a row that is divided by less
               than 2^-126, which f32 has no quotients for, is 0
      causal:  True: a query sees no key behind it, and what the mask holds there is not
               read

    Returns out, in the layout and of the type of query. More of what a row may be
    (lengths, groups of heads, gates, dropout) `evoformer.attention` takes with
    weights=('retention', least)."""
    options: dict[str, Any] = {"scale": scale, "layout": layout, "causal": causal,
                               "weights": ("retention", least)}
    if mask is not None and str(getattr(mask, "dtype", "")) in ("bool", "torch.bool"):
        options["biases"] = [mask]
    elif mask is not None:
        options |= {"score": _decay, "captures": [mask]}
    attention = _problem.renamed({"biases[0]": "mask", "captures[0]": "mask"},
                                 _attention.attention)
    return attention(query, key, value, **options)
