"""Triangle attention."""

from typing import Optional

from torch import Tensor, nn

from ._gated import GatedAttention
from ._parts import (as_batch, load_under_other_names, make_pair_bias, mask_as_batch,
                     of_keys, of_pairs)


class TriangleAttention(nn.Module):
    """Triangular gated self-attention around the starting or the ending node
    (AlphaFold 2, supplement, algorithms 13 and 14; AlphaFold 3, 14 and 15).

    z: [..., n, n, c_in], any leading dimensions or none; mask: [..., n, n], True (or
    not 0) keeps, any dimension may be 1. Returns the update of z, of its shape; the
    attention of a row whose mask drops all is 0.

    out_bias, gate_bias: of linear_o and linear_g; both for OpenFold, none for
    OpenFold3, Boltz and Protenix. Their state dicts load strictly.
    """

    def __init__(self, c_in: int, heads: int, head_dim: int, starting: bool = True, *,
                 gate_bias: bool = True, out_bias: bool = True) -> None:
        super().__init__()
        self.starting = starting
        self.layer_norm = nn.LayerNorm(c_in)
        self.linear = make_pair_bias(c_in, heads)
        self.mha = GatedAttention(c_in, heads, head_dim, gate_bias=gate_bias,
                                  out_bias=out_bias)
        load_under_other_names(self, {"linear_z.": "linear."})  # OpenFold3

    def forward(self, z: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        shape = z.shape
        z = as_batch(z, "z", 3)
        keep = None if mask is None else mask_as_batch(mask, shape[:-1])
        if not self.starting:
            z = z.transpose(1, 2)
            keep = None if keep is None else keep.transpose(1, 2)
        z = self.layer_norm(z)
        biases = [of_pairs(self.linear(z))]
        if keep is not None:
            biases.append(of_keys(keep))
        out: Tensor = self.mha(z, biases=biases)
        return (out if self.starting else out.transpose(1, 2)).reshape(shape)
