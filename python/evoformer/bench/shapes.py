"""Triangle attention by its sizes: the operands of a shape, the suites of shapes
that are measured together, and what its results must be."""

import dataclasses

import torch

from . import peers


@dataclasses.dataclass(frozen=True)
class Shape:
    """Queries, keys and values [batch, rows, length, heads, depth], a boolean key
    mask that a tenth of the keys fails, a pair bias with a gradient."""
    batch: int
    rows: int
    length: int
    heads: int
    depth: int
    type: str

    def title(self):
        return (f"B {self.batch}, N {self.rows}, S {self.length}, H {self.heads}, "
                f"D {self.depth}, {self.type}")


# C, A, B: triangle and pair bias attention as AlphaFold-class models have them; D:
# an odd length, and depths of 64 and 128.
SUITES = {
    "h200": {
        "C384": Shape(1, 384, 384, 4, 32, "bfloat16"),
        "C1024": Shape(1, 1024, 1024, 4, 32, "bfloat16"),
        "B384": Shape(1, 512, 384, 8, 32, "bfloat16"),
        "A1024": Shape(4, 1, 1024, 32, 64, "bfloat16"),
        "D391": Shape(1, 391, 391, 4, 32, "bfloat16"),
        "D64": Shape(1, 256, 1024, 4, 64, "bfloat16"),
        "D128": Shape(1, 256, 1024, 4, 128, "bfloat16"),
        "C384-f16": Shape(1, 384, 384, 4, 32, "float16"),
        "C384-f32": Shape(1, 384, 384, 4, 32, "float32"),
    },
    # Other sizes of the same, up to short sequences with many heads.
    "h200-sizes": {
        "A256": Shape(4, 1, 256, 32, 64, "bfloat16"),
        "A384": Shape(4, 1, 384, 32, 64, "bfloat16"),
        "A512": Shape(4, 1, 512, 32, 64, "bfloat16"),
        "A2048": Shape(4, 1, 2048, 32, 64, "bfloat16"),
        "B256": Shape(1, 128, 256, 8, 32, "bfloat16"),
        "C256": Shape(1, 256, 256, 4, 32, "bfloat16"),
        "C512": Shape(1, 512, 512, 4, 32, "bfloat16"),
        "C768": Shape(1, 768, 768, 4, 32, "bfloat16"),
        "D24": Shape(1, 1, 768, 16, 24, "bfloat16"),
        "D48": Shape(1, 1, 768, 16, 48, "bfloat16"),
    },
    # For a processor, and for the tests of this program.
    "small": {
        "C24": Shape(1, 4, 24, 2, 8, "float32"),
        "A17": Shape(2, 1, 17, 2, 16, "bfloat16"),
    },
}

GRADIENTS = ("query", "key", "value", "pair")


def make_operands(shape, device, head_major=False):
    """(what is differentiated: query, key, value, pair bias; the mask; the
    output's gradient), the same numbers in either order. `head_major`: queries,
    keys, values and the output's gradient lie as [batch, rows, heads, length,
    depth]; their dimensions are ordered as ever."""
    generator = torch.Generator(device).manual_seed(0)

    def normal(*sizes):
        return torch.randn(sizes, generator=generator, device=device).to(
            getattr(torch, shape.type))

    sizes = shape.batch, shape.rows, shape.length, shape.heads, shape.depth
    operands = [normal(*sizes) for _ in range(4)]
    pair = normal(shape.batch, 1, shape.heads, shape.length, shape.length)
    mask = torch.rand(shape.batch, shape.rows, 1, 1, shape.length,
                      generator=generator, device=device) > 0.1
    if head_major:
        operands = [t.transpose(2, 3).contiguous().transpose(2, 3)
                    for t in operands]
    q, k, v, gradient = operands
    return [t.requires_grad_() for t in (q, k, v, pair)], mask, gradient


def result_bytes(shape):
    """Of the output and all gradients."""
    width = 4 if shape.type == "float32" else 2
    return width * shape.batch * shape.heads * shape.length * (
        4 * shape.rows * shape.depth + shape.length)


def reference(shape, device):
    """The output, "out", and GRADIENTS by eager attention in float32, some rows at
    a time."""
    (q, k, v, pair), mask, gradient = make_operands(shape, device)
    wide = [t.detach().float() for t in (q, k, v, gradient)]
    results = [torch.empty_like(t) for t in wide]
    bias = pair.detach().float()
    bias_gradient = torch.zeros_like(bias)
    # About 2^28 logits at once.
    step = max(1, (1 << 28) // (shape.heads * shape.length**2))
    for b in range(shape.batch):
        for n in range(0, shape.rows, step):
            def part(tensor):
                return tensor[b:b + 1, n:n + step]
            leaves = [part(t).clone().requires_grad_() for t in wide[:3]]
            leaves.append(bias[b:b + 1].clone().requires_grad_())
            out = peers.eager(*leaves[:3], part(mask), leaves[3])
            found = torch.autograd.grad(out, leaves, part(wide[3]))
            for whole, piece in zip(results, (out.detach(), *found[:3])):
                part(whole).copy_(piece)
            bias_gradient[b:b + 1] += found[3]
    return dict(zip(("out", *GRADIENTS), (*results, bias_gradient)))
