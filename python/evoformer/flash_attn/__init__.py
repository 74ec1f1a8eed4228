"""FlashAttention 2's functions by its names and signatures (flash_attn 2.8,
https://github.com/Dao-AILab/flash-attention#how-to-use-flashattention), for torch
tensors in float32, float16 and bfloat16, on GPUs and the processor.

Where an option is not there, a NotImplementedError names it."""

from ._dense import flash_attn_func, flash_attn_kvpacked_func, flash_attn_qkvpacked_func
from ._missing import flash_attn_with_kvcache
from ._varlen import (flash_attn_varlen_func, flash_attn_varlen_kvpacked_func,
                      flash_attn_varlen_qkvpacked_func)

__all__ = ["flash_attn_func", "flash_attn_kvpacked_func", "flash_attn_qkvpacked_func",
           "flash_attn_varlen_func", "flash_attn_varlen_kvpacked_func",
           "flash_attn_varlen_qkvpacked_func", "flash_attn_with_kvcache"]
