"""The functions where models look for them too."""

from . import (flash_attn_func, flash_attn_kvpacked_func, flash_attn_qkvpacked_func,
               flash_attn_varlen_func, flash_attn_varlen_kvpacked_func,
               flash_attn_varlen_qkvpacked_func, flash_attn_with_kvcache)
from ._missing import _get_block_size_n

__all__ = ["_get_block_size_n", "flash_attn_func", "flash_attn_kvpacked_func",
           "flash_attn_qkvpacked_func", "flash_attn_varlen_func",
           "flash_attn_varlen_kvpacked_func", "flash_attn_varlen_qkvpacked_func",
           "flash_attn_with_kvcache"]
