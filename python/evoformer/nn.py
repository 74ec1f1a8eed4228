"""Modules for torch. Parameters are named as in OpenFold, so that its weights
load."""

import torch
from torch import nn

from . import _torch  # noqa: F401  registers torch.ops.evoformer
from ._attention import attention


class GatedAttention(nn.Module):
    """The gated attention block of AlphaFold 2 (supplement, algorithm 7, lines 2
    to 6) from projections to the output:

        q, k, v = linear_q(x), linear_k(y), linear_v(y)    no bias
        g       = linear_g(x)
        out     = linear_o(attention(q, k, v, biases, gate=g))

    x: [..., s, c_in], y: [..., sk, c_kv] (default: x), with up to two leading
    dimensions b and n; biases as of evoformer.attention, [b, n, heads, s, sk].
    Returns [..., s, c_out].
    """

    def __init__(self, c_in, heads, head_dim, c_kv=None, c_out=None,
                 gating=True):
        super().__init__()
        c_kv = c_in if c_kv is None else c_kv
        c_out = c_in if c_out is None else c_out
        wide = heads * head_dim
        self.heads, self.head_dim = heads, head_dim
        self.linear_q = nn.Linear(c_in, wide, bias=False)
        self.linear_k = nn.Linear(c_kv, wide, bias=False)
        self.linear_v = nn.Linear(c_kv, wide, bias=False)
        self.linear_g = nn.Linear(c_in, wide) if gating else None
        self.linear_o = nn.Linear(wide, c_out)

    def _split(self, x):
        return x.unflatten(-1, (self.heads, self.head_dim))

    def forward(self, x, y=None, biases=()):
        y = x if y is None else y
        gate = None
        if self.linear_g is not None:
            gate = self._split(self.linear_g(x))
        out = attention(self._split(self.linear_q(x)),
                        self._split(self.linear_k(y)),
                        self._split(self.linear_v(y)), biases, gate)
        return self.linear_o(out.flatten(-2))


class TriangleAttention(nn.Module):
    """Triangular gated self-attention around the starting or the ending node
    (AlphaFold 2, supplement, algorithms 13 and 14).

    z: [b, n, n, c_in]; mask: [b, n, n], True (or not 0) keeps. Returns the update
    of z.
    """

    def __init__(self, c_in, heads, head_dim, starting=True):
        super().__init__()
        self.starting = starting
        self.layer_norm = nn.LayerNorm(c_in)
        self.linear = nn.Linear(c_in, heads, bias=False)
        self.mha = GatedAttention(c_in, heads, head_dim)

    def forward(self, z, mask=None):
        if not self.starting:
            z = z.transpose(1, 2)
            mask = mask.transpose(1, 2) if mask is not None else None
        z = self.layer_norm(z)
        # [b, 1, heads, q, k], shared by all rows.
        biases = [self.linear(z).permute(0, 3, 1, 2).unsqueeze(1)]
        if mask is not None:
            biases.append(mask.to(torch.bool)[:, :, None, None, :])
        out = self.mha(z, biases=biases)
        return out if self.starting else out.transpose(1, 2)
