"""In place of JAX's own scaled dot product attention (jax.nn)."""

from typing import Any, Optional, Union

import jax
import jax.numpy as jnp

from .._attention import attention
from ._masks import as_bias, fill_rows, mean_over


def _with_four(array: Any, name: str) -> Any:
    """With dimensions of size 1 in front, where some are missing."""
    array = jnp.asarray(array)
    if array.ndim > 4:
        raise ValueError(f"{name} has rank {array.ndim}; accepted are up to 4")
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _lengths(lengths: Any, name: str, batch: int) -> Any:
    lengths = jnp.asarray(lengths)
    if lengths.dtype != jnp.int32 or lengths.shape != (batch,):
        raise ValueError(f"{name} has shape {lengths.shape} and type {lengths.dtype}; "
                         f"accepted are {(batch,)} and int32")
    return lengths


def _drop(queries: int, keys: int, is_causal: bool,
          window: Union[None, int, tuple[int, int]], key_lengths: Optional[jax.Array]
          ) -> list[jax.Array]:
    """The masks besides the caller's, each [b, h, t, s] or 1."""
    query, key = jnp.arange(queries)[:, None], jnp.arange(keys)
    masks = []
    if is_causal:
        masks.append(key <= query)
    if window is not None:
        left, right = (window, window) if isinstance(window, int) else window
        masks.append((key >= query - left) & (key <= query + right))
    masks = [mask[None, None] for mask in masks]
    if key_lengths is not None:
        masks.append((key < key_lengths[:, None])[:, None, None, :])
    return masks


def dot_product_attention(
        query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, *,
        scale: Optional[float] = None, is_causal: bool = False,
        query_seq_lengths: Any = None, key_value_seq_lengths: Any = None,
        local_window_size: Union[None, int, tuple[int, int]] = None,
        implementation: Optional[str] = None) -> jax.Array:
    """JAX's `jax.nn.dot_product_attention`:

        softmax(scale * query key^T + bias, masked keys filled) value

    query: [b, t, n, h], key and value: [b, s, k, h], any of them without b; n is a
    multiple of k. bias and mask are broadcast to [b, n, t, s]; True keeps. scale:
    default 1 / sqrt(h). is_causal: query i keeps keys up to i. local_window_size:
    query i keeps the keys from i - left to i + right, in any case. Lengths are int32
    [b]: keys from there on are dropped, queries from there on give 0.
    `implementation` has no effect. Returns [b, t, n, h], of the query's rank and type.

    A row whose keys are all dropped gives the mean of the values, with their gradients
    alone.

    Raises TypeError or ValueError for operands that do not fit, with what was given
    and what is accepted.
    """
    if implementation not in (None, "xla", "cudnn"):
        raise ValueError(f"implementation is {implementation!r}; accepted are None, "
                         "'xla' and 'cudnn'")
    shape = jnp.shape(query)
    query, key, value = (_with_four(a, name) for a, name in (
        (query, "query"), (key, "key"), (value, "value")))
    batch, queries, heads, _ = query.shape
    keys, key_heads = key.shape[1:3]
    biases, masks = [], []
    if bias is not None:
        biases.append(as_bias(_with_four(bias, "bias"), query))
    if mask is not None:
        mask = _with_four(mask, "mask")
        if mask.dtype != jnp.bool_:
            raise TypeError(f"mask has type {mask.dtype}; accepted is bool (what is "
                            "added is a bias)")
        masks.append(mask)
    if key_value_seq_lengths is not None:
        key_value_seq_lengths = _lengths(key_value_seq_lengths,
                                         "key_value_seq_lengths", batch)
    masks += _drop(queries, keys, is_causal, local_window_size,
                   key_value_seq_lengths)
    out = attention(query, key, value, [*masks, *biases], scale=scale, layout="bshd")
    if masks and keys:
        keep = masks[0]
        for other in masks[1:]:
            keep = keep & other
        dead = ~keep.any(-1, keepdims=True)
        mean = jnp.repeat(mean_over(value, 1), heads // key_heads, 2)
        out = fill_rows(out, mean, dead.swapaxes(1, 2))
    if query_seq_lengths is not None:
        lengths = _lengths(query_seq_lengths, "query_seq_lengths", batch)
        kept = jnp.arange(queries) < lengths[:, None]
        out = jnp.where(kept[:, :, None, None], out, 0)
    result: jax.Array = out.reshape(shape[:-1] + out.shape[-1:])
    return result


REPLACES: dict[tuple[str, str], Any] = {
    ("jax.nn", "dot_product_attention"): dot_product_attention}
BESIDES: dict[str, dict[str, Any]] = {}
