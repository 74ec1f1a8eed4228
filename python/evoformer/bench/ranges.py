"""Causal attention and attention of rows with lengths: times beside the same shape in
full, and beside FlexAttention and torch's scaled_dot_product_attention.

    python -m evoformer.bench.ranges
"""

import dataclasses

import torch
import torch.nn.functional as F

import evoformer

from . import beside, peers


@dataclasses.dataclass(frozen=True)
class Shape:
    """Queries, keys and values [batch, length, heads, depth], without a bias."""
    batch: int
    heads: int
    length: int
    depth: int

    def title(self):
        return f"B {self.batch}, H {self.heads}, S {self.length}, D {self.depth}"


SHAPES = {"cuda": [Shape(2, 16, 4096, 64), Shape(2, 16, 4096, 128)],
          "cpu": [Shape(1, 2, 64, 16)]}


def ours(**options):
    return lambda q, k, v: evoformer.attention(q, k, v, layout="bnshd",
                                               **options)


def sdpa(backend, causal):
    """torch's scaled_dot_product_attention by one of its backends."""
    def run(*operands):
        q, k, v = (t.squeeze(1).transpose(1, 2) for t in operands)
        with torch.nn.attention.sdpa_kernel(backend):
            out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return out.transpose(1, 2).unsqueeze(1)
    return run


def flex(shape, device, options):
    """Causal FlexAttention: blocks beyond the diagonal are skipped."""
    import torch._functorch.config
    from torch.nn.attention.flex_attention import (create_block_mask,
                                                   flex_attention)
    torch._functorch.config.donated_buffer = False
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, shape.length,
                             shape.length, device=device)

    def run(*operands):
        q, k, v = (t.squeeze(1).transpose(1, 2) for t in operands)
        out = flex_attention(q, k, v, block_mask=mask, kernel_options=options)
        return out.transpose(1, 2).unsqueeze(1)
    return torch.compile(run, dynamic=False, fullgraph=True)


def candidates(shape, device):
    """(what is computed, by what, how): 'full', 'causal', or 'half', rows of which
    each has half of its queries and keys."""
    from torch.nn.attention import SDPBackend
    half = torch.full((shape.batch, 1), shape.length // 2, dtype=torch.int32,
                      device=device)
    yield "full", "evoformer", ours()
    yield "causal", "evoformer", ours(causal=True)
    yield "half", "evoformer", ours(key_lengths=half, query_lengths=half)
    yield "half keys", "evoformer", ours(key_lengths=half)
    for name, backend in (("flash", SDPBackend.FLASH_ATTENTION),
                          ("cudnn", SDPBackend.CUDNN_ATTENTION),
                          ("math", SDPBackend.MATH)):
        if (name == "math") == (device == "cpu"):
            yield "full", f"sdpa {name}", sdpa(backend, False)
            yield "causal", f"sdpa {name}", sdpa(backend, True)
    if device != "cpu":
        for tiling, options in peers.flex_tilings(device).items():
            yield "causal", f"flex {tiling}", flex(shape, device, options)


def problems(device):
    """(title, operands, gradient, what, by, function), see beside.report."""
    for shape in SHAPES[device]:
        sizes = shape.batch, 1, shape.length, shape.heads, shape.depth
        torch.manual_seed(0)
        *operands, gradient = (torch.randn(sizes, device=device, dtype=beside.TYPE)
                               for _ in range(4))
        for candidate in candidates(shape, device):
            yield shape.title(), operands, gradient, *candidate


def main():
    options = beside.parse("ranges", "Times of causal attention and of rows with lengths, "
                                     "beside the whole.")
    beside.report(options, "keys", problems(options.device))


if __name__ == "__main__":
    main()
