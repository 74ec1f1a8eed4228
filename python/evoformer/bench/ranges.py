"""Causal attention and attention of rows with lengths: times beside the same shape in
full, and beside FlexAttention and torch's scaled_dot_product_attention.

    python -m evoformer.bench.ranges
"""

import argparse
import dataclasses
import json
import pathlib
import sys

import torch
import torch.nn.functional as F

import evoformer

from . import memory, peers
from .clock import Clock
from .worker import SPIN_MS, WRONG, distance

TYPE = torch.bfloat16


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


def measure(function, operands, gradient, clock, repeat, expected):
    """Times of both passes, or why there is none. What `expected` has not is put
    there; else it is compared."""
    leaves = [t.detach().requires_grad_() for t in operands]
    out = function(*leaves)

    def backward():
        return torch.autograd.grad(out, leaves, gradient, retain_graph=True)
    results = [out.detach(), *backward()]
    if not expected:
        expected += results
    error = max(map(distance, results, expected))
    if not error < WRONG:
        raise ValueError(f"wrong: {error:.2g} of the norm off")
    equal = all(a.equal(b) for a, b in zip(results[1:], backward()))
    forward = clock.quartiles(lambda: function(*leaves), repeat)[1]
    return {"forward": forward, "backward": clock.quartiles(backward, repeat)[1],
            "error": error, "equal": equal}


def main():
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser("python -m evoformer.bench.ranges", description=(
        "Times of causal attention and of rows with lengths, beside the whole."))
    parser.add_argument("--device", choices=("cpu", "cuda"),
                        default="cuda" if on_gpu else "cpu")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path, help="file for what is measured")
    options = parser.parse_args()
    clock = Clock(options.device, SPIN_MS)
    records = []
    print("| shape | keys | by | forward, ms | backward, ms | equal bits |\n"
          "| --- | --- | --- | --- | --- | --- |")
    for shape in SHAPES[options.device]:
        sizes = shape.batch, 1, shape.length, shape.heads, shape.depth
        torch.manual_seed(0)
        *operands, gradient = (torch.randn(sizes, device=options.device, dtype=TYPE)
                               for _ in range(4))
        expected = {}
        for what, by, function in candidates(shape, options.device):
            try:
                record = measure(function, operands, gradient, clock, options.repeat,
                                 expected.setdefault(what, []))
            except Exception as error:
                print(f"{shape.title()}, {what}, {by}: {peers.describe(error)}",
                      file=sys.stderr)
                continue
            records.append({"shape": shape.title(), "keys": what, "by": by, **record})
            print(f"| {shape.title()} | {what} | {by} | {record['forward']:.3f} | "
                  f"{record['backward']:.3f} | {'yes' if record['equal'] else 'no'} |",
                  flush=True)
            memory.release()
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n",
                                encoding="utf-8")


if __name__ == "__main__":
    main()
