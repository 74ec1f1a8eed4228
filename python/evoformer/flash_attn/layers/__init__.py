"""What models import of FlashAttention's layers."""
