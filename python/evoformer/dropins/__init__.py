"""Functions with the names, signatures and meaning of other packages' attention
kernels, for torch tensors, one file for each package. `evoformer.patch()` puts
them in their place."""

from .cuequivariance import mask_to_kv_lengths, triangle_attention
from .deepspeed import DS4Sci_EvoformerAttention
from .protenix import TriAttentionFunction
from .trifast import trifast_triangle_attention
from .triton import EvoformerAttention

__all__ = ["DS4Sci_EvoformerAttention", "EvoformerAttention",
           "TriAttentionFunction", "mask_to_kv_lengths", "triangle_attention",
           "trifast_triangle_attention"]
