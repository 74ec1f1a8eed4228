"""Attention between projections, which the other modules contain."""

from collections.abc import Sequence
from typing import Optional

from torch import Tensor, nn

from .. import _torch  # noqa: F401  registers torch.ops.evoformer
from .._attention import attention


class GatedAttention(nn.Module):
    """The gated attention block of AlphaFold 2 (supplement, algorithm 7, lines 2
    to 6) from projections to the output:

        q, k, v = linear_q(x), linear_k(y), linear_v(y)
        g       = linear_g(x)
        out     = linear_o(attention(q, k, v, biases, gate=g))

    x: [..., s, c_in], y: [..., sk, c_kv] (default: x), with up to two leading
    dimensions b and n; biases as of evoformer.attention, [b, n, heads, s, sk].
    Returns [..., s, c_out].

    gating: whether there is a gate. q_bias, gate_bias, out_bias: whether linear_q,
    linear_g and linear_o have biases; the default is AlphaFold 2's and OpenFold's.
    OpenFold3, Boltz and Protenix have none, but for linear_q of AttentionPairBias.
    """

    def __init__(self, c_in: int, heads: int, head_dim: int,
                 c_kv: Optional[int] = None, c_out: Optional[int] = None,
                 gating: bool = True, *, q_bias: bool = False,
                 gate_bias: bool = True, out_bias: bool = True) -> None:
        super().__init__()
        c_kv = c_in if c_kv is None else c_kv
        c_out = c_in if c_out is None else c_out
        wide = heads * head_dim
        self.heads, self.head_dim = heads, head_dim
        self.linear_q = nn.Linear(c_in, wide, bias=q_bias)
        self.linear_k = nn.Linear(c_kv, wide, bias=False)
        self.linear_v = nn.Linear(c_kv, wide, bias=False)
        self.linear_g = nn.Linear(c_in, wide, bias=gate_bias) if gating else None
        self.linear_o = nn.Linear(wide, c_out, bias=out_bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """As AlphaFold begins (AlphaFold 2, supplement, 1.11.4): queries, keys and
        values uniform after Glorot, gates sigmoid(1) everywhere, or sigmoid(0)
        without gate_bias, the output 0."""
        for linear in (self.linear_q, self.linear_k, self.linear_v):
            nn.init.xavier_uniform_(linear.weight)
        if self.linear_g is not None:
            nn.init.zeros_(self.linear_g.weight)
        nn.init.zeros_(self.linear_o.weight)
        for each, value in ((self.linear_q, 0.0), (self.linear_g, 1.0),
                            (self.linear_o, 0.0)):
            if each is not None and each.bias is not None:
                nn.init.constant_(each.bias, value)

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:-1], self.heads, self.head_dim)

    def forward(self, x: Tensor, y: Optional[Tensor] = None,
                biases: Sequence[Tensor] = ()) -> Tensor:
        y = x if y is None else y
        gate = None
        if self.linear_g is not None:
            gate = self._split(self.linear_g(x))
        found = attention(self._split(self.linear_q(x)),
                          self._split(self.linear_k(y)),
                          self._split(self.linear_v(y)), biases, gate)
        out: Tensor = self.linear_o(found.flatten(-2))
        return out
