"""Random calls of FlashAttention's functions: lengths, heads of keys, depths, causal,
windows, packed operands and padding as its users have them. Results and gradients are
held to what it promises: so many times the error of attention that is written out in the
operands' type, without a share of the numbers' size.

More of them: python test/Python/flash_attn_cases.py --count 500 --device cuda --long
"""

import argparse
import random

import torch
from evoformer import flash_attn

FORMS = ("func", "kvpacked_func", "qkvpacked_func", "varlen_func",
         "varlen_kvpacked_func", "varlen_qkvpacked_func")
# Queries and keys, and the other way round.
SIZES = [(1, 239), (3, 300), (127, 256), (127, 257), (113, 203), (128, 217), (113, 211),
         (108, 256), (97, 97), (128, 128), (200, 200), (257, 256), (255, 256)]
LONG_SIZES = [(3, 799), (256, 512), (1024, 1024), (1023, 1024), (1025, 1025), (2048, 2048),
              (384, 384), (768, 768), (1024, 128)]
DEPTHS = (16, 32, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 256)


class Call:
    """One of them, the same for a number."""

    def __init__(self, number, is_long=False):
        self.random = random.Random(number)
        some = self.random.choice
        self.name = "flash_attn_" + FORMS[number % len(FORMS)]
        self.is_varlen = "varlen" in self.name
        self.batch = 4 if is_long else 2
        sizes = list(some(SIZES + LONG_SIZES if is_long else SIZES))
        if some([False, True]):
            sizes.reverse()
        self.heads = some([4, 6])
        self.key_heads = some([self.heads, 2, 1])
        if "_qkvpacked" in self.name:
            self.key_heads, sizes[1] = self.heads, sizes[0]
        self.most = sizes
        self.depth = some(DEPTHS)
        self.kind = some([torch.float16, torch.bfloat16])
        self.options = dict(
            causal=some([False, True]), deterministic=some([False, True]),
            window_size=some([(-1, -1), (-1, -1), tuple(
                self.random.randrange(sizes[1]) for _ in range(2))]))
        self.lengths = [[size] * self.batch for size in sizes]
        if self.is_varlen:
            self.lengths = [self.draw_lengths(size) for size in sizes]
            if "_qkvpacked" in self.name:
                self.lengths[1] = self.lengths[0]

    def draw_lengths(self, size):
        """Full, nearly full, or any from a third on."""
        least = self.random.choice([size, max(1, size - 20), max(1, size // 3)])
        return [self.random.randint(least, size) for _ in range(self.batch)]

    def __str__(self):
        return (f"{self.name} of {self.lengths[0]} queries, {self.lengths[1]} keys, "
                f"{self.heads} heads, {self.key_heads} of keys, depth {self.depth}, "
                f"{self.kind}, {self.options}")

    def draw(self, number, device):
        """Query, key, value and the output's gradient, [total, h, d]."""
        generator = torch.Generator().manual_seed(number)
        queries, keys = map(sum, self.lengths)
        return [torch.randn(rows, heads, self.depth, generator=generator)
                .to(device, self.kind)
                for rows, heads in ((queries, self.heads), (keys, self.key_heads),
                                    (keys, self.key_heads), (queries, self.heads))]

    def ours(self, q, k, v, weight):
        """Out, lse and the gradients."""
        operands = [q, k, v]
        if not self.is_varlen:
            operands = [t.unflatten(0, (self.batch, -1)) for t in operands]
            weight = weight.unflatten(0, (self.batch, -1))
        packed = 3 if "_qkvpacked" in self.name else 2 if "_kvpacked" in self.name else 0
        if packed:
            operands[-packed:] = [torch.stack(operands[-packed:], -3)]
        operands = [t.detach().requires_grad_() for t in operands]
        places = []
        if self.is_varlen:
            own = slice(1 if packed == 3 else 2)
            places = [torch.tensor([0, *lengths], device=q.device)
                      .cumsum(0, dtype=torch.int32) for lengths in self.lengths[own]]
            places += self.most[own]
        out, lse, nothing = getattr(flash_attn, self.name)(
            *operands, *places, return_attn_probs=True, **self.options)
        assert nothing is None and lse.dtype == torch.float32
        gradients = list(torch.autograd.grad(out, operands, weight))
        if packed:
            gradients[-1:] = gradients[-1].unbind(-3)
        if not self.is_varlen:
            out, *gradients = (t.flatten(0, 1) for t in (out, *gradients))
            lse = lse.transpose(0, 1).flatten(1)
        return [out.detach(), lse, *gradients]

    def written_out(self, kind, q, k, v, weight):
        """The same, sequence by sequence and operation by operation in a type."""
        q, k, v, weight = (t.detach().to(kind) for t in (q, k, v, weight))
        operands = [t.requires_grad_() for t in (q, k, v)]
        group = self.heads // self.key_heads
        outs, lses = [], []
        for rows in zip(q.split(self.lengths[0]), k.split(self.lengths[1]),
                        v.split(self.lengths[1]), strict=True):
            query, key, value = rows
            key, value = (t.repeat_interleave(group, 1) for t in (key, value))
            logits = torch.einsum("ihd,jhd->hij", query, key * self.depth ** -0.5)
            seen = self.seen(len(query), len(rows[1])).to(q.device)
            logits = logits.masked_fill(~seen, -torch.inf)
            lses.append(logits.detach().logsumexp(-1))
            # A query without keys has out 0.
            alive = seen.any(-1)[:, None]
            weights = torch.where(alive, logits, 0).softmax(-1) * alive
            outs.append(torch.einsum("hij,jhd->ihd", weights, value))
        out = torch.cat(outs)
        return [out.detach(), torch.cat(lses, -1),
                *torch.autograd.grad(out, operands, weight)]

    def seen(self, sq, sk):
        left, right = self.options["window_size"]
        if self.options["causal"]:
            right = 0
        ahead = torch.arange(sk) - (torch.arange(sq)[:, None] + sk - sq)
        seen = torch.ones(sq, sk, dtype=torch.bool)
        if left >= 0:
            seen &= ahead >= -left
        if right >= 0:
            seen &= ahead <= right
        return seen

    def check(self, found, eager, exact):
        out, lse, *gradients = (
            ((one.double() - true).nan_to_num(0, torch.inf, torch.inf).abs().max().item(),
             (usual.double() - true).nan_to_num().abs().max().item())
            for one, usual, true in zip(found, eager, exact, strict=True))
        assert torch.equal(found[1] == -torch.inf, exact[1] == -torch.inf)
        for tensor in (found[0], *found[2:]):
            assert tensor.isfinite().all() and tensor.dtype == self.kind
        assert lse[0] <= 1e-4, lse
        assert out[0] <= 2 * out[1] + 1e-5, out
        # What FlashAttention's own tests allow. Where there is one key, gradients of
        # logits are 0 in eager attention and differences of equal sums here.
        factor, more = (2, 1e-5) if self.options["causal"] else (3, 0)
        if "_qkvpacked" in self.name:
            factor, more = 2, 0
            gradients = [tuple(map(max, zip(*gradients, strict=True)))]
        if max(self.lengths[1]) == 1:
            more = 2e-5
        for error, usual in gradients:
            assert error <= factor * usual + more, gradients


def run(number, device, is_long=False):
    call = Call(number, is_long)
    operands = call.draw(number, device)
    found = call.ours(*operands)
    for one, other in zip(found, call.ours(*operands), strict=True):
        assert torch.equal(one, other), "other bits the second time"
    call.check(found, call.written_out(call.kind, *operands),
               call.written_out(torch.float64, *operands))


def main():
    parser = argparse.ArgumentParser(description="Random calls of FlashAttention's names")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first one's number")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--long", action="store_true", help="sequences to 2048, too")
    given = parser.parse_args()
    failures = 0
    for number in range(given.first, given.first + given.count):
        try:
            run(number, given.device, given.long)
        except Exception as error:  # all of them are counted
            failures += 1
            print(f"{number}: {Call(number, given.long)}\n  {error!r}", flush=True)
    print(f"{given.count - failures} of {given.count} right")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
