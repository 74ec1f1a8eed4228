"""Functions with the names, signatures and meaning of other attention functions of
JAX. `evoformer.patch(["jax", "cuequivariance_jax"])` puts them in their place."""

from .cuequivariance import triangle_attention
from .nn import dot_product_attention

__all__ = ["dot_product_attention", "triangle_attention"]
