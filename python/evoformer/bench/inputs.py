"""Triangle and pair bias attention of other inputs beside the usual ones: rows without
keys, a first block without keys, large logits, rows that are all made again, f16, and a
gate. Inputs change nothing in what is compiled, but for their type and the gate.

    python -m evoformer.bench.inputs
"""

import dataclasses

import torch

import evoformer

from . import beside, shapes

SHAPES = {"cuda": ("C384", "C1024", "B384", "A1024", "D391"), "cpu": ("C24", "A17")}
# Of rows, those that see no key: 300 of 384.
ROWS_WITHOUT_KEYS = 300 / 384
# Keys that forward's first steps see, on any chip.
FIRST_KEYS = 128
# Logits of normal operands have a standard deviation of 1 before biases.
DEVIATION = 4
# Weights are relative to the first keys': e to this is infinite in every type.
LOWER = 200


def without_keys(mask, pair):
    rows = mask.flatten(0, 1)
    rows[:int(len(rows) * ROWS_WITHOUT_KEYS)] = False


def without_first(mask, pair):
    mask[..., :min(FIRST_KEYS, mask.shape[-1] // 2)] = False


def made_again(mask, pair):
    pair[..., :min(FIRST_KEYS, pair.shape[-1] // 2)] -= LOWER


def problems(device):
    """(title, operands, gradient, what, by, function), see beside.report."""
    suite = {**shapes.SUITES["h200"], **shapes.SUITES["small"]}
    for name in SHAPES[device]:
        shape = suite[name]

        def make(change=None, kind=shape.type, factor=1):
            (q, k, v, pair), mask, gradient = shapes.make_operands(
                dataclasses.replace(shape, type=kind), device)
            q, k, v, pair = (t.detach() for t in (q, k, v, pair))
            if change:
                change(mask, pair)
            return [q * factor, k, v, pair], mask, gradient

        def ours(mask):
            return lambda q, k, v, pair: evoformer.attention(q, k, v, [mask, pair])

        for what, made in (("usual", make),
                           ("rows without keys", lambda: make(without_keys)),
                           ("no first keys", lambda: make(without_first)),
                           ("large logits", lambda: make(factor=DEVIATION)),
                           ("all rows made again", lambda: make(made_again)),
                           ("f16", lambda: make(kind="float16"))):
            operands, mask, gradient = made()
            yield name, operands, gradient, what, "evoformer", ours(mask)
        operands, mask, gradient = make()
        operands.append(torch.randn_like(gradient))
        yield (name, operands, gradient, "gate", "evoformer",
               lambda q, k, v, pair, gate, mask=mask:
               evoformer.attention(q, k, v, [mask, pair], gate))
        yield (name, operands, gradient, "gate", "torch",
               lambda q, k, v, pair, gate, mask=mask:
               evoformer.attention(q, k, v, [mask, pair]) * torch.sigmoid(gate))


def main():
    options = beside.parse("inputs", "Times of attention of other inputs than the usual.")
    beside.report(options, "input", problems(options.device))


if __name__ == "__main__":
    main()
