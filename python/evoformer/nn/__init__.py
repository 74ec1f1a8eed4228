"""Modules for torch: AlphaFold 2's and 3's attention blocks around
evoformer.attention, from the normalisation of their input to its update.

Parameters are named as in OpenFold, and where that has none, as in OpenFold3; those
of OpenFold3, Boltz and Protenix load under their own names too, strictly. Which
layers have biases differs between them and is chosen when a module is made. All
begin as AlphaFold's do (AlphaFold 2, supplement, 1.11.4): update 0, gates open."""

from ._gated import GatedAttention
from ._msa import MSAColumnAttention, MSARowAttentionWithPairBias
from ._pair_bias import AttentionPairBias
from ._triangle import TriangleAttention

__all__ = ["AttentionPairBias", "GatedAttention", "MSAColumnAttention",
           "MSARowAttentionWithPairBias", "TriangleAttention"]
