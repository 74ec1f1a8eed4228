"""Attention op by op in torch, in any type, and the bound that results keep."""

import torch


def normal(*shape, seed=0, kind=torch.float32, device="cpu"):
    """Standard normal numbers, with a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(device, kind).requires_grad_()


def attention(query, key, value, biases=(), gate=None, scale=None):
    """In the default order of dimensions; a query without keys has out 0."""
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    logits = torch.einsum("bnihd,bnjhd->bnhij", query * scale, key)
    for bias in biases:
        if bias.dtype == torch.bool:
            bias = torch.zeros_like(bias, dtype=logits.dtype).masked_fill(
                ~bias, -torch.inf)
        logits = logits + bias.to(logits.dtype)
    alive = (logits > -torch.inf).any(-1, keepdim=True)
    weights = torch.where(alive, logits, 0).softmax(-1)
    weights = torch.where(alive, weights, 0)
    out = torch.einsum("bnhij,bnjhd->bnihd", weights, value)
    return out if gate is None else out * gate.sigmoid()


def exactly(function, tensors):
    """Result and gradients in f64 of what the tensors hold. `tensors` may hold
    None and lists."""
    def convert(tensor):
        if isinstance(tensor, (list, tuple)):
            return [convert(t) for t in tensor]
        if tensor is None or not tensor.is_floating_point():
            return tensor
        return tensor.detach().double().requires_grad_(tensor.requires_grad)
    return function(*map(convert, tensors))


def flat(tensors):
    result = []
    for tensor in tensors:
        result += flat(tensor) if isinstance(tensor, (list, tuple)) else [tensor]
    return [t for t in result if t is not None]


def check(found, exact, eager, terms=1.0, times=2):
    """As near as twice, or `times`, what eager mode's own roundings cost, and a few
    units in the last place of the largest element, or of `terms`: the tests' operands are
    normal numbers, and gradients are differences of terms of that size."""
    assert found.shape == exact.shape and found.dtype == eager.dtype
    assert torch.isfinite(found).all()
    def error(tensor):
        return (tensor.double() - exact).abs().max().item() if exact.numel() else 0
    size = max(exact.abs().max().item(), terms) if exact.numel() else 0
    allowed = times * error(eager) + 4 * torch.finfo(found.dtype).eps * size
    assert error(found) <= allowed, (error(found), error(eager), size)


def run_with_gradients(function, tensors):
    """What a function of tensors gives, and the gradients of a weighted sum of it."""
    out = function(*tensors)
    weight = normal(*out.shape, seed=5, kind=out.dtype, device=out.device).detach()
    return [out, *torch.autograd.grad((out * weight).sum(), tensors)]


def compare(ours, theirs, tensors, times=2, magnitude=None):
    """What a function of tensors gives and the gradients of a weighted sum of it, by us
    and by torch. The first tensor's rows have the depth. `magnitude` is what the absolute
    terms of an element of the last tensor's gradient add up to, which is a long sum."""
    found = run_with_gradients(ours, tensors)
    eager = run_with_gradients(theirs, tensors)
    exact = exactly(lambda *t: run_with_gradients(theirs, t), tensors)
    # Gradients of logits are differences of sums over the depth of normal numbers.
    terms = [1.0] + [tensors[0].shape[-1] ** 0.5] * len(tensors)
    if magnitude is not None:
        terms[-1] = magnitude
    for one, true, usual, size in zip(found, exact, eager, terms, strict=True):
        check(one.detach(), true.detach(), usual.detach(), size, times)
