"""Attention along the rows and the columns of an alignment."""

from typing import Optional

from torch import Tensor, nn

from ._gated import GatedAttention
from ._parts import (as_batch, load_under_other_names, make_pair_bias, mask_as_batch,
                     of_keys, of_pairs)


class MSARowAttentionWithPairBias(nn.Module):
    """Row-wise gated self-attention with pair bias (AlphaFold 2, supplement,
    algorithm 7).

    m: [..., s, r, c_m], any leading dimensions or none; z: [..., r, r, c_z], the same
    ones; mask: [..., s, r], True (or not 0) keeps, any dimension may be 1. Returns
    the update of m, of its shape; the attention of a row whose mask drops all is 0.

    out_bias, gate_bias: of linear_o and linear_g; both for OpenFold, none for
    OpenFold3. Their state dicts load strictly.
    """

    def __init__(self, c_m: int, c_z: int, heads: int, head_dim: int, *,
                 gate_bias: bool = True, out_bias: bool = True) -> None:
        super().__init__()
        self.layer_norm_m = nn.LayerNorm(c_m)
        self.layer_norm_z = nn.LayerNorm(c_z)
        self.linear_z = make_pair_bias(c_z, heads)
        self.mha = GatedAttention(c_m, heads, head_dim, gate_bias=gate_bias,
                                  out_bias=out_bias)

    def forward(self, m: Tensor, z: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        biases = [of_pairs(self.linear_z(self.layer_norm_z(as_batch(z, "z", 3))))]
        if mask is not None:
            biases.append(of_keys(mask_as_batch(mask, m.shape[:-1])))
        out: Tensor = self.mha(self.layer_norm_m(as_batch(m, "m", 3)), biases=biases)
        return out.reshape(m.shape)


class MSAColumnAttention(nn.Module):
    """Column-wise gated self-attention (AlphaFold 2, supplement, algorithm 8).

    m: [..., s, r, c_m], any leading dimensions or none; mask: [..., s, r], True (or
    not 0) keeps, any dimension may be 1. Returns the update of m, of its shape; the
    attention of a column whose mask drops all is 0.

    out_bias, gate_bias: of linear_o and linear_g; both for OpenFold, none for
    OpenFold3. Their state dicts load strictly.
    """

    def __init__(self, c_m: int, heads: int, head_dim: int, *,
                 gate_bias: bool = True, out_bias: bool = True) -> None:
        super().__init__()
        self.layer_norm_m = nn.LayerNorm(c_m)
        self.mha = GatedAttention(c_m, heads, head_dim, gate_bias=gate_bias,
                                  out_bias=out_bias)
        load_under_other_names(self, {"_msa_att.": ""})  # OpenFold, OpenFold3

    def forward(self, m: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        columns = self.layer_norm_m(as_batch(m, "m", 3)).transpose(1, 2)
        biases = []
        if mask is not None:
            biases.append(of_keys(mask_as_batch(mask, m.shape[:-1]).transpose(1, 2)))
        out: Tensor = self.mha(columns, biases=biases)
        return out.transpose(1, 2).reshape(m.shape)
