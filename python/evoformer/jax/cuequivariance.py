"""In place of cuEquivariance's triangle attention for JAX (cuequivariance_jax)."""

from typing import Any, Optional

import jax
import jax.numpy as jnp

from .._attention import attention
from ._masks import as_bias, fill_rows, mean_over

# What dropped keys have instead of a logit.
_DROPPED = -1e9


def _check(**arrays: Any) -> None:
    for name, array in arrays.items():
        if not isinstance(array, jax.Array):
            raise TypeError(f"{name} is a {type(array).__name__}; accepted is a "
                            "jax.Array")
        if array.ndim != 5:
            raise ValueError(f"{name} has rank {array.ndim}; accepted is 5")


def triangle_attention(q: jax.Array, k: jax.Array, v: jax.Array, bias: jax.Array,
                       mask: Optional[jax.Array], scale: float,
                       precision: Any = None
                       ) -> tuple[jax.Array, jax.Array, jax.Array]:
    """cuEquivariance's `cuequivariance_jax.triangle_attention`:

        softmax over keys of (scale * q k^T + bias where the mask is True, else
        -1e9), times v

    q: [b, n, h, sq, d], k and v: [b, n, h, sk, d], head-major; bias:
    [b, 1, h, sq, sk]; mask: [b, n, 1, 1, sk], True keeps, or None. `precision` has no
    effect: sums are in float32. Returns [b, n, h, sq, d], and of each row the
    logarithm of the sum of exponentials of what the logits are below their maximum,
    and the maximum, both [b, n, h, sq, 1] in float32, without gradients. Inside of jit
    the last two cost nothing where they are not used; where they are, all logits in
    memory.

    A row whose keys are all dropped gives the mean of v; its gradients are those of
    v alone.

    Raises TypeError for what is no array and ValueError for shapes that do not fit.
    """
    _check(q=q, k=k, v=v, bias=bias)
    bias = as_bias(bias, q)
    keep = []
    if mask is not None:
        _check(mask=mask)
        keep = [mask.astype(jnp.bool_)]
    out = attention(q, k, v, [*keep, bias], scale=scale, layout="bnhsd")
    if keep and k.shape[-2]:
        out = fill_rows(out, mean_over(v, -2), ~keep[0].any(-1, keepdims=True))
    q, k, bias = map(jax.lax.stop_gradient, (q, k, bias))
    logits = scale * jnp.einsum("bnhid,bnhjd->bnhij", q, k,
                                preferred_element_type=jnp.float32) + bias
    if keep:
        logits = jnp.where(keep[0], logits, _DROPPED)
    largest = logits.max(-1, keepdims=True, initial=-jnp.inf)
    rest = jax.nn.logsumexp(logits - largest, -1, keepdims=True)
    return out, rest, largest


REPLACES: dict[tuple[str, str], Any] = {
    (module, "triangle_attention"): triangle_attention
    for module in ("cuequivariance_jax", "cuequivariance_jax.triangle")}
BESIDES: dict[str, dict[str, Any]] = {}
