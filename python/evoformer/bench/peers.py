"""Triangle attention by every way that is installed: functions of q, k, v
[b, n, s, h, d], a mask [b, n, 1, 1, s] (True keeps) and a pair bias
[b, 1, h, s, s], giving [b, n, s, h, d]."""

import functools
import importlib.util

import torch
import torch.nn.functional as F

import evoformer


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


@functools.lru_cache(maxsize=None)
def _compiled_flex():
    from torch.nn.attention.flex_attention import flex_attention
    def run(q, k, v, mask, pair):
        n = q.shape[1]
        def score(value, row, head, i, j):
            value = value + pair[row // n, 0, head, i, j]
            return torch.where(mask[row // n, row % n, 0, 0, j], value, -torch.inf)
        q, k, v = (t.transpose(2, 3).flatten(0, 1) for t in (q, k, v))
        out = flex_attention(q, k, v, score_mod=score)
        return out.unflatten(0, (-1, n)).transpose(2, 3)
    return torch.compile(run, dynamic=False)


def flex(*operands):
    return _compiled_flex()(*operands)


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
    found = {"evoformer": ours, "eager": eager}
    for backend in ("MATH", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION",
                    "FLASH_ATTENTION"):
        if device == "cpu" and backend not in ("MATH", "FLASH_ATTENTION"):
            continue
        found["sdpa " + backend.split("_")[0].lower()] = functools.partial(
            _sdpa, getattr(SDPBackend, backend))
    found["flex"] = flex
    if device != "cpu":
        for package, function in (("cuequivariance_torch", cuequivariance),
                                  ("deepspeed", ds4sci), ("trifast", trifast)):
            if importlib.util.find_spec(package):
                found[package.split("_")[0]] = function
    return found
