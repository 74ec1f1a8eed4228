"""AlphaFold 3's attention of single representations."""

from typing import Optional

from torch import Tensor, nn

from ._gated import GatedAttention
from ._parts import (as_batch, load_under_other_names, make_pair_bias, mask_as_batch,
                     of_keys, of_pairs)


class AttentionPairBias(nn.Module):
    """Attention with pair bias and mask (AlphaFold 3, supplement, algorithm 24, as
    the trunk has it, without conditioning).

    s: [..., n, c_s], any leading dimensions or none; z: [..., n, n, c_z], the same
    ones; mask: [..., n], True (or not 0) keeps, any dimension may be 1. Returns the
    update of s, of its shape; it is 0 where a mask drops all.

    head_dim: default c_s // heads. norm: whether s is normalised here (Boltz: its
    initial_norm; Boltz 2 normalises before). norm_z_bias: whether the normalisation
    of z has a bias (not with Protenix's default create_offset_ln_z=False). State
    dicts of OpenFold3's, Boltz's and, with has_s=False, Protenix's load strictly.
    """

    def __init__(self, c_s: int, c_z: int, heads: int, head_dim: Optional[int] = None,
                 *, norm: bool = True, norm_z_bias: bool = True) -> None:
        super().__init__()
        if head_dim is None:
            if c_s % heads:
                raise ValueError(f"c_s is {c_s}; accepted without head_dim are "
                                 f"multiples of heads, {heads}")
            head_dim = c_s // heads
        self.layer_norm_a = nn.LayerNorm(c_s) if norm else None
        self.layer_norm_z = nn.LayerNorm(c_z, bias=norm_z_bias)
        self.linear_z = make_pair_bias(c_z, heads)
        self.mha = GatedAttention(c_s, heads, head_dim, q_bias=True, gate_bias=False,
                                  out_bias=False)
        load_under_other_names(self, {
            # Boltz
            "norm_s.": "layer_norm_a.", "proj_z.0.": "layer_norm_z.",
            "proj_z.1.": "linear_z.", "proj_q.": "mha.linear_q.",
            "proj_k.": "mha.linear_k.", "proj_v.": "mha.linear_v.",
            "proj_g.": "mha.linear_g.", "proj_o.": "mha.linear_o.",
            # Protenix
            "layernorm_a.": "layer_norm_a.", "layernorm_z.": "layer_norm_z.",
            "linear_nobias_z.": "linear_z.", "attention.": "mha."})

    def forward(self, s: Tensor, z: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        shape = s.shape
        s = as_batch(s, "s", 2)
        if self.layer_norm_a is not None:
            s = self.layer_norm_a(s)
        biases = [of_pairs(self.linear_z(self.layer_norm_z(as_batch(z, "z", 3))))]
        if mask is not None:
            keep = mask_as_batch(mask.unsqueeze(-2), (*shape[:-2], 1, shape[-2]))
            biases.append(of_keys(keep))
        # One row of attention each.
        out: Tensor = self.mha(s.unsqueeze(1), biases=biases)
        return out.reshape(shape)
