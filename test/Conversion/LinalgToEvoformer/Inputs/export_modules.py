"""Writes attention modules as torch-mlir lowers them, the inputs of the tests.

export_modules.py FOLDER [--square] [--mlir-opt PROGRAM]

needs torch and torch-mlir (scripts/requirements-torch-mlir.txt). Each file is a
module in linalg on tensors, or in TOSA (.tosa.mlir), whose first lines say what
it is. --square gives all dimensions one size, so that a program stays well-formed
when its dimensions are mixed up: what near_misses.py starts from.

torch-mlir carries a newer MLIR than this project's: what MLIR 22 does not read is
listed and rewritten (REWRITES), and every file is read by --mlir-opt.
"""

import argparse
import math
import pathlib
import re
import subprocess
import sys

import torch
import torch.nn.functional as F
from torch_mlir import fx

# (what a newer MLIR writes, what MLIR 22 reads): none so far of what these
# modules lower to.
REWRITES = []
# Sizes: batch, rows, queries, keys, heads, depth, channels.
SIZES = dict(b=2, n=3, q=5, k=7, h=2, d=4, c=6)


def module(function):
    class Module(torch.nn.Module):
        def forward(self, *arguments):
            return function(*arguments)
    return Module()


def heads(x, h):
    """[..., s, h * d] -> [..., h, s, d]"""
    return x.view(*x.shape[:-1], h, -1).transpose(-2, -3)


MASK = "mask"


class Models:
    """A method a module: returns the function and the shapes of its arguments; a
    dtype follows a shape where it is not f32, and MASK where it holds 0 and 1."""

    def __init__(self, sizes):
        self.__dict__.update(sizes)

    # torch's scaled_dot_product_attention and its decomposition.

    def sdpa(self):
        """scaled_dot_product_attention"""
        s = self
        return (F.scaled_dot_product_attention,
                (s.b, s.h, s.q, s.d), (s.b, s.h, s.k, s.d), (s.b, s.h, s.k, s.d))

    def sdpa_float_mask(self):
        """... with a float mask, broadcast over heads"""
        function, *shapes = self.sdpa()
        return (lambda q, k, v, m: function(q, k, v, attn_mask=m),
                *shapes, (self.b, 1, self.q, self.k))

    def sdpa_bool_mask(self):
        """... with a bool mask; rows without keys are zeroed by torch itself"""
        function, *shapes = self.sdpa()
        return (lambda q, k, v, m: function(q, k, v, attn_mask=m),
                *shapes, (self.b, 1, self.q, self.k, torch.bool))

    def sdpa_causal(self):
        """... causal"""
        function, *shapes = self.sdpa()
        return lambda q, k, v: function(q, k, v, is_causal=True), *shapes

    def sdpa_scale(self):
        """... with a scale of its own, on bf16"""
        function, *shapes = self.sdpa()
        return (lambda q, k, v: function(q, k, v, scale=0.3),
                *((*shape, torch.bfloat16) for shape in shapes))

    def sdpa_grouped(self):
        """... where two heads share a head of keys"""
        s = self
        kv = (s.b, s.h, s.k, s.d)
        return (lambda q, k, v: F.scaled_dot_product_attention(
                    q, k, v, enable_gqa=True),
                (s.b, 2 * s.h, s.q, s.d), kv, kv)

    def multi_head(self):
        """torch.nn.functional.multi_head_attention_forward without its weights"""
        s = self
        e = s.h * s.d

        def function(x, w, b, wo, bo):
            out, _ = F.multi_head_attention_forward(
                x, x, x, e, s.h, w, b, None, None, False, 0.0, wo, bo,
                training=False, need_weights=False)
            return out
        return function, (s.q, s.b, e), (3 * e, e), (3 * e,), (e, e), (e,)

    # OpenFold's way of writing AlphaFold 2's attention (Jumper et al., 2021,
    # supplement, algorithms 7, 8, 13 and 19).

    def _openfold(self, x, wq, wk, wv, wg, wo, biases, dtype=None):
        q = heads(F.linear(x, wq), self.h) / math.sqrt(self.d)
        k = heads(F.linear(x, wk), self.h)
        v = heads(F.linear(x, wv), self.h)
        a = torch.matmul(q, k.transpose(-1, -2))
        for bias in biases:
            a = a + bias
        if dtype is None:
            a = torch.softmax(a, dim=-1)
        else:
            a = torch.softmax(a.float(), dim=-1).to(dtype)
        o = torch.matmul(a, v).transpose(-2, -3)
        g = torch.sigmoid(F.linear(x, wg)).view(*x.shape[:-1], self.h, -1)
        o = (o * g).reshape(*x.shape[:-1], -1)
        return F.linear(o, wo)

    def _weights(self, *dtype):
        e = self.h * self.d
        return ((e, self.c, *dtype),) * 4 + ((self.c, e, *dtype),)

    def triangle_start(self):
        """OpenFold's triangle attention around the starting node, f32"""
        s = self

        def function(z, mask, wz, wq, wk, wv, wg, wo):
            z = F.layer_norm(z, (s.c,))
            mask_bias = (1e9 * (mask - 1))[..., :, None, None, :]
            pair = F.linear(z, wz).permute(0, 3, 1, 2).unsqueeze(-4)
            return s._openfold(z, wq, wk, wv, wg, wo, [mask_bias, pair])
        return (function, (s.b, s.q, s.q, s.c), (s.b, s.q, s.q, MASK), (s.h, s.c),
                *s._weights())

    def triangle_end(self):
        """... around the ending node: rows and columns change places"""
        s = self

        def function(z, mask, wz, wq, wk, wv, wg, wo):
            z = z.transpose(-2, -3)
            mask = mask.transpose(-1, -2)
            mask_bias = (1e9 * (mask - 1))[..., :, None, None, :]
            pair = F.linear(z, wz).permute(0, 3, 1, 2).unsqueeze(-4)
            return s._openfold(z, wq, wk, wv, wg, wo,
                               [mask_bias, pair]).transpose(-2, -3)
        return (function, (s.b, s.q, s.q, s.c), (s.b, s.q, s.q, MASK), (s.h, s.c),
                *s._weights())

    def triangle_bf16(self):
        """... in bf16 with a softmax in f32"""
        s = self
        t = torch.bfloat16

        def function(z, mask, wz, wq, wk, wv, wg, wo):
            mask_bias = (1e9 * (mask - 1))[..., :, None, None, :]
            pair = F.linear(z, wz).permute(0, 3, 1, 2).unsqueeze(-4)
            return s._openfold(z, wq, wk, wv, wg, wo, [mask_bias, pair], dtype=t)
        return (function, (s.b, s.q, s.q, s.c, t), (s.b, s.q, s.q, t, MASK),
                (s.h, s.c, t), *s._weights(t))

    def msa_row(self):
        """OpenFold's MSA row attention with a pair bias"""
        s = self

        def function(m, pair, mask, wq, wk, wv, wg, wo):
            mask_bias = (1e9 * (mask - 1))[..., :, None, None, :]
            return s._openfold(m, wq, wk, wv, wg, wo,
                               [mask_bias, pair.unsqueeze(-4)])
        return (function, (s.b, s.n, s.q, s.c), (s.b, s.h, s.q, s.q),
                (s.b, s.n, s.q, MASK), *s._weights())

    def msa_column(self):
        """OpenFold's MSA column attention"""
        s = self

        def function(m, mask, wq, wk, wv, wg, wo):
            m = m.transpose(-2, -3)
            mask_bias = (1e9 * (mask.transpose(-1, -2) - 1))[..., :, None, None, :]
            return s._openfold(m, wq, wk, wv, wg, wo,
                               [mask_bias]).transpose(-2, -3)
        return (function, (s.b, s.n, s.q, s.c), (s.b, s.n, s.q, MASK),
                *s._weights())

    def global_attention(self):
        """OpenFold's global attention: one query a head, all heads share keys"""
        s = self

        def function(q, k, v, mask, g):
            a = torch.matmul(q * s.d ** -0.5, k.transpose(-1, -2))
            a = torch.softmax(a + (1e9 * (mask - 1))[..., :, None, :], dim=-1)
            o = torch.matmul(a, v)
            return o.unsqueeze(-3) * torch.sigmoid(g)
        return (function, (s.b, s.n, s.h, s.d), (s.b, s.n, s.k, s.d),
                (s.b, s.n, s.k, s.d), (s.b, s.n, s.k, MASK),
                (s.b, s.n, s.k, s.h, s.d))

    # Protenix's and AlphaFold 3's (Abramson et al., 2024, supplement,
    # algorithms 7 and 24).

    def pair_bias(self):
        """Attention with pair bias, einsums, a query bias, gate and output gate"""
        s = self

        def function(a, z, mask, wq, bq, wk, wv, wg, wz, wo):
            a = F.layer_norm(a, (s.c,))
            q = F.linear(a, wq, bq).view(s.b, s.q, s.h, s.d)
            k = F.linear(a, wk).view(s.b, s.q, s.h, s.d)
            v = F.linear(a, wv).view(s.b, s.q, s.h, s.d)
            bias = F.linear(F.layer_norm(z, (s.c,)), wz).permute(0, 3, 1, 2)
            logits = torch.einsum("bqhd,bkhd->bhqk", q * s.d ** -0.5, k)
            logits = logits + bias + (-1e9 * (1 - mask))[:, None, None, :]
            weights = torch.softmax(logits, dim=-1)
            o = torch.einsum("bhqk,bkhd->bqhd", weights, v)
            o = o.reshape(s.b, s.q, s.h * s.d) * torch.sigmoid(F.linear(a, wg))
            return F.linear(o, wo)
        w = (s.h * s.d, s.c)
        return (function, (s.b, s.q, s.c), (s.b, s.q, s.q, s.c), (s.b, s.q, MASK), w,
                (s.h * s.d,), w, w, w, (s.h, s.c), (s.c, s.h * s.d))

    def atom_windows(self):
        """Protenix's local attention: windows of queries and of keys"""
        s = self

        def function(q, k, v, pair, g):
            a = q @ k.transpose(-1, -2) * s.d ** -0.5 + pair
            o = torch.softmax(a, dim=-1) @ v
            return o * torch.sigmoid(g)
        kv = (s.b, s.n, s.h, s.k, s.d)
        return (function, (s.b, s.n, s.h, s.q, s.d), kv, kv,
                (s.b, s.n, s.h, s.q, s.k), (s.b, s.n, s.h, s.q, s.d))

    def grid_attention(self):
        """AlphaFold 3's grid self-attention: bool mask by a finite constant"""
        s = self

        def function(q, k, v, mask, pair):
            a = torch.einsum("bnqhd,bnkhd->bnhqk", q * s.d ** -0.5, k)
            a = a + pair[:, None]
            a = torch.where(mask[:, :, None, None, :], a, -1e9)
            return torch.einsum("bnhqk,bnkhd->bnqhd", torch.softmax(a, -1), v)
        kv = (s.b, s.n, s.k, s.h, s.d)
        return (function, (s.b, s.n, s.q, s.h, s.d), kv, kv,
                (s.b, s.n, s.k, torch.bool), (s.b, s.h, s.q, s.k))

    def masked_infinite(self):
        """masked_fill with minus infinity and a plain softmax"""
        s = self

        def function(q, k, v, mask):
            a = q @ k.transpose(-1, -2)
            a = a.masked_fill(~mask[:, None, None, :], -math.inf)
            return torch.softmax(a, -1) @ v
        kv = (s.b, s.h, s.k, s.d)
        return function, (s.b, s.h, s.q, s.d), kv, kv, (s.b, s.k, torch.bool)

    # Other forms of the same.

    def late_division(self):
        """Weights divided by their sum after the product with values, base 2"""
        s = self

        def function(q, k, v, bias):
            x = (q @ k.transpose(-1, -2) * s.d ** -0.5 + bias) * math.log2(math.e)
            p = torch.exp2(x - x.amax(-1, keepdim=True))
            return (p @ v) / p.sum(-1, keepdim=True)
        kv = (s.b, s.h, s.k, s.d)
        return (function, (s.b, s.h, s.q, s.d), kv, kv, (s.b, s.h, s.q, s.k))

    def no_maximum(self):
        """A softmax without its maximum, scaled with its bias"""
        s = self

        def function(q, k, v, bias):
            p = torch.exp((torch.einsum("bqhd,bkhd->bhqk", q, k) + bias) * 0.25)
            p = p / p.sum(-1, keepdim=True)
            return torch.einsum("bhqk,bkhd->bhqd", p, v)
        kv = (s.b, s.k, s.h, s.d)
        return (function, (s.b, s.q, s.h, s.d), kv, kv, (1, s.h, s.q, s.k))

    def weights_returned(self):
        """The weights are a result too: not raised"""
        s = self

        def function(q, k, v):
            p = torch.softmax(q @ k.transpose(-1, -2), -1)
            return p @ v, p
        kv = (s.b, s.h, s.k, s.d)
        return function, (s.b, s.h, s.q, s.d), kv, kv

    def softcap(self):
        """Logits through tanh: not raised"""
        s = self

        def function(q, k, v):
            return torch.softmax(
                5 * torch.tanh(q @ k.transpose(-1, -2) / 5), -1) @ v
        kv = (s.b, s.h, s.k, s.d)
        return function, (s.b, s.h, s.q, s.d), kv, kv


def example(shape, index):
    dtype = torch.float32
    if shape[-1] == MASK:
        shape = shape[:-1]
    if isinstance(shape[-1], torch.dtype):
        *shape, dtype = shape
    if dtype == torch.bool:
        return torch.arange(math.prod(shape)).view(shape) % (index + 2) != 0
    # Equal arguments would be taken for one.
    return torch.full(tuple(shape), 0.25 * (index + 1), dtype=dtype)


def export(name, models, kind):
    function, *shapes = getattr(models, name)()
    examples = [example(shape, index) for index, shape in enumerate(shapes)]
    lowered = fx.export_and_import(module(function), *examples, output_type=kind,
                                   func_name=name)
    text = "\n".join(line.rstrip() for line in str(lowered).splitlines())
    for pattern, replacement in REWRITES:
        text, count = re.subn(pattern, replacement, text)
        if count:
            print(f"{name}: rewrote {pattern} {count} times")
    masks = [f"%arg{index}" for index, shape in enumerate(shapes)
             if shape[-1] == MASK]
    notes = f"// Masks of 0 and 1: {', '.join(masks)}.\n" if masks else ""
    what = " ".join(getattr(Models, name).__doc__.split())
    return (f"// {what}.\n// Made by Inputs/export_modules.py; torch "
            f"{torch.__version__}.\n{notes}\n{text.strip()}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--square", action="store_true")
    parser.add_argument("--mlir-opt", default="mlir-opt")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    models = Models(dict.fromkeys(SIZES, 4) if options.square else SIZES)
    names = [name for name in vars(Models) if not name.startswith("_")]
    problems = 0
    for name in options.only or names:
        kinds = {"mlir": "linalg-on-tensors"}
        if name in ("sdpa", "sdpa_float_mask", "triangle_start") and not options.square:
            kinds["tosa.mlir"] = "tosa"
        for suffix, kind in kinds.items():
            path = options.folder / f"{name}.{suffix}"
            path.write_text(export(name, models, kind))
            run = subprocess.run([options.mlir_opt, path, "-o", "/dev/null"],
                                 capture_output=True, text=True)
            if run.returncode:
                problems += 1
                print(f"{path}: MLIR 22 does not read it\n{run.stderr}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
