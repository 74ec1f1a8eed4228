"""Times of every depth, and of lengths that fill no block, beside the next multiple of
32: whether one is much dearer than a larger one.

    python -m evoformer.bench.depths --json=docs/data/depths.json
"""

import torch

import evoformer

from . import beside

# Rows, heads and length of the depths; rows, heads and depth of the lengths.
DEPTHS = {"cuda": (64, 4, 1024, range(8, 257, 8)), "cpu": (1, 2, 64, (8, 24, 32))}
LENGTHS = {"cuda": (64, 4, 32, (97, 200, 385, 777)), "cpu": (1, 2, 16, (33,))}
STEP = 32


def whole(size):
    """The next multiple of STEP."""
    return -(-size // STEP) * STEP


def problem(title, what, device, rows, heads, length, depth):
    """See beside.report. A tenth of the keys is masked."""
    torch.manual_seed(0)
    operands = [torch.randn(1, rows, length, heads, depth, device=device,
                            dtype=beside.TYPE) for _ in range(4)]
    bias = torch.randn(1, 1, heads, length, length, device=device, dtype=beside.TYPE)
    mask = torch.rand(1, rows, 1, 1, length, device=device) > 0.1
    *inputs, gradient = operands
    return (title, [*inputs, bias], gradient, what, "evoformer",
            lambda q, k, v, bias: evoformer.attention(q, k, v, [mask, bias]))


def problems(device):
    rows, heads, length, depths = DEPTHS[device]
    for depth in depths:
        yield problem(f"D {depth}", "depth", device, rows, heads, length, depth)
    rows, heads, depth, lengths = LENGTHS[device]
    for length in sorted({*lengths, *map(whole, lengths)}):
        yield problem(f"S {length}", "length", device, rows, heads, length, depth)


def main():
    options = beside.parse("depths", "Times of every depth, and of lengths that fill no "
                                     "block.")
    beside.report(options, "of each", problems(options.device))


if __name__ == "__main__":
    main()
