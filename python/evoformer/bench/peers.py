"""Triangle attention by every way that is installed: functions of q, k, v
[b, n, s, h, d], a mask [b, n, 1, 1, s] (True keeps) and a pair bias
[b, 1, h, s, s], giving [b, n, s, h, d]."""

import functools
import importlib.util
import re

import torch
import torch.nn.functional as F

import evoformer


_SDPA = {"math": "MATH", "efficient": "EFFICIENT_ATTENTION",
         "cudnn": "CUDNN_ATTENTION", "flash": "FLASH_ATTENTION"}
# What compiles nothing.
READY = ("eager", *(f"sdpa {name}" for name in _SDPA))


def describe(error):
    """In a line. Where torch.compile wraps what was raised, that stands behind."""
    words = " ".join(str(error).split())
    raised = re.search(r"raised exception (\w+)\(\[ConstantVariable\(str: '(.*?)'\)",
                       words)
    if raised:
        return f"{raised[1]}: {raised[2]}"[:300]
    return f"{type(error).__name__}: {words[:300]}"


def ours(q, k, v, mask, pair):
    return evoformer.attention(q, k, v, [mask, pair], layout="bnshd")


def eager(q, k, v, mask, pair):
    q, k, v = (t.transpose(2, 3) for t in (q, k, v))
    logits = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + pair
    weights = logits.masked_fill(~mask, -torch.inf).softmax(-1)
    return (weights @ v).transpose(2, 3)


def _sdpa(backend, q, k, v, mask, pair):
    b, n, s, h, d = q.shape
    q, k, v = (t.transpose(2, 3).reshape(b * n, h, s, d) for t in (q, k, v))
    bias = torch.where(mask, pair, -torch.inf).reshape(b * n, h, s, s)
    with torch.nn.attention.sdpa_kernel(backend):
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    return out.reshape(b, n, h, s, d).transpose(2, 3)


# Tiles (queries x keys), stages and warps of FlexAttention's kernels: forward, then
# both loops of the backward pass.
def _tiling(forward, backward):
    names = (("BLOCK_M", "BLOCK_N", "num_stages", "num_warps"),
             ("BLOCK_M1", "BLOCK_N1", "BLOCK_M2", "BLOCK_N2", "num_stages",
              "num_warps"))
    return {f"{prefix}_{name}": number
            for prefix, names, numbers in zip(("fwd", "bwd"), names,
                                              (forward, backward))
            for name, number in zip(names, numbers)}


_FLEX_TILINGS = {
    "64x64": _tiling((64, 64, 2, 4), (64, 64, 64, 64, 2, 4)),
    "128x64": _tiling((128, 64, 3, 4), (32, 64, 64, 32, 3, 4)),
    "128x64, 8 warps": _tiling((128, 64, 3, 8), (64, 128, 128, 64, 1, 8)),
}


def flex_tilings(device):
    """Options of FlexAttention's kernels by the name of a tiling."""
    return {"default": {}, **(_FLEX_TILINGS if device != "cpu" else {})}


def _compile_flex(options):
    """FlexAttention for static shapes, with a tiling's options."""
    import torch._dynamo.config
    import torch._functorch.config
    from torch.nn.attention.flex_attention import flex_attention
    # A graph is differentiated many times here, and every tiling is a compilation
    # of one function.
    torch._functorch.config.donated_buffer = False
    torch._dynamo.config.recompile_limit = 64

    def run(q, k, v, mask, pair):
        b, n = q.shape[:2]
        # Captured tensors without dimensions of size 1, by views whose gradients are
        # views as well.
        bias, keep = pair.squeeze(1), mask.flatten(2)
        if b == 1:
            bias, keep = bias.squeeze(0), keep.squeeze(0)

        def score(value, row, head, i, j):
            if b == 1:
                value, kept = value + bias[head, i, j], keep[row, j]
            else:
                value = value + bias[row // n, head, i, j]
                kept = keep[row // n, row % n, j]
            return torch.where(kept, value, -torch.inf)
        q, k, v = (t.transpose(2, 3).flatten(0, 1) for t in (q, k, v))
        out = flex_attention(q, k, v, score_mod=score, kernel_options=options)
        return out.unflatten(0, (-1, n)).transpose(2, 3)
    # A break of the graph would run it uncompiled, many times slower.
    return torch.compile(run, dynamic=False, fullgraph=True)


def flex_by(options):
    """FlexAttention with a tiling's options, compiled by its first call."""
    compiled = functools.lru_cache(maxsize=None)(lambda: _compile_flex(options))
    return lambda *operands: compiled()(*operands)


def cuequivariance(q, k, v, mask, pair):
    from cuequivariance_torch import triangle_attention
    q, k, v = (t.transpose(2, 3) for t in (q, k, v))
    return triangle_attention(q, k, v, pair, mask=mask).transpose(2, 3)


def ds4sci(q, k, v, mask, pair):
    from deepspeed.ops.deepspeed4science import DS4Sci_EvoformerAttention
    bias = torch.where(mask, 0.0, -1e9).to(q.dtype)
    return DS4Sci_EvoformerAttention(q, k, v, [bias, pair])


def trifast(q, k, v, mask, pair):
    from trifast import triangle_attention
    q, k, v = (t.permute(0, 3, 1, 2, 4) for t in (q, k, v))
    out = triangle_attention(q, k, v, pair[:, 0], ~mask[:, :, 0, 0])
    return out.permute(0, 2, 3, 1, 4)


def available(device):
    """Names and functions of what can run on the device."""
    from torch.nn.attention import SDPBackend
    found = {"evoformer": ours, "eager": eager, "flex": flex_by({})}
    for name in _SDPA if device != "cpu" else ("math", "flash"):
        found["sdpa " + name] = functools.partial(
            _sdpa, getattr(SDPBackend, _SDPA[name]))
    if device != "cpu":
        for package, function in (("cuequivariance_torch", cuequivariance),
                                  ("deepspeed", ds4sci), ("trifast", trifast)):
            if importlib.util.find_spec(package):
                found[package.split("_")[0]] = function
    return found
