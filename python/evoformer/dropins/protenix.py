"""In place of Protenix's tri-attention."""

from typing import Any, Optional

from torch import Tensor

from .._attention import attention
from ._operands import as_bias, check_optional, check_tensors


class TriAttentionFunction:
    """Protenix's `TriAttentionFunction`; only `apply` is of use."""

    @staticmethod
    def apply(Q: Tensor, K: Tensor, V: Tensor, Bias1: Optional[Tensor],
              Bias2: Optional[Tensor], deterministic: bool = False) -> Tensor:
        """softmax(Q K^T + Bias1 + Bias2) V: the caller has scaled Q.

        Q, K, V: [b, n, s, h, d]; Bias1: [b, n, 1, 1, s], Bias2: [b, 1, h, s, s],
        either may be None. Returns [b, n, s, h, d]; deterministic in any case.
        """
        check_tensors(Q=Q, K=K, V=V)
        check_optional(Bias1=Bias1, Bias2=Bias2)
        biases = [as_bias(bias, Q) for bias in (Bias1, Bias2) if bias is not None]
        out = attention(Q, K, V, biases, scale=1.0, layout="bnshd")
        return out


# Protenix imports it from the first when it is called, and without Triton from the
# package, which has a form of its own then.
REPLACES: dict[tuple[str, str], Any] = {
    ("protenix.model.tri_attention.op", "TriAttentionFunction"):
        TriAttentionFunction,
    ("protenix.model.tri_attention", "TriAttentionFunction"): TriAttentionFunction,
}
BESIDES: dict[str, dict[str, Any]] = {}
