"""The functions where models look for them too."""

from . import (flash_attn_func, flash_attn_kvpacked_func, flash_attn_qkvpacked_func,
               flash_attn_varlen_func, flash_attn_varlen_kvpacked_func,
               flash_attn_varlen_qkvpacked_func, flash_attn_with_kvcache)
from ._probabilities import _get_block_size_n

# Which of its backends FlashAttention has: it is asked by what runs on both.
USE_TRITON_ROCM = False

__all__ = ["USE_TRITON_ROCM", "_get_block_size_n", "flash_attn_func", "flash_attn_kvpacked_func",
           "flash_attn_qkvpacked_func", "flash_attn_varlen_func",
           "flash_attn_varlen_kvpacked_func", "flash_attn_varlen_qkvpacked_func",
           "flash_attn_with_kvcache"]
