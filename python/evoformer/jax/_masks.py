"""Rows whose keys are all dropped: functions that fill the logits of dropped keys with
one large negative number give all keys equal weight there."""

from typing import Any

import jax.numpy as jnp


def mean_over(value: Any, axis: int) -> Any:
    """What equal weights give: with size 1 there, in float32."""
    return value.mean(axis, keepdims=True, dtype=jnp.float32)


def fill_rows(out: Any, mean: Any, dead: Any) -> Any:
    """`out` with `mean` where `dead`; both are broadcast to it."""
    return jnp.where(dead, mean.astype(out.dtype), out)


def as_bias(bias: Any, query: Any) -> Any:
    """Of a type that attention takes beside the query's."""
    return (bias if bias.dtype in (query.dtype, jnp.float32)
            else bias.astype(jnp.float32))
