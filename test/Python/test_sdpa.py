# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""scaled_dot_product_attention by torch's signature, against torch's own in f64."""

import inspect

import evoformer
import pytest
import torch
import torch_reference as reference
from torch_cases import device, one_thread  # noqa: F401

torch_sdpa = torch.nn.functional.scaled_dot_product_attention


def normal(*shape, seed=0, kind=torch.float32, device="cpu"):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(device, kind).requires_grad_()


def compare(operands, **options):
    """Results and gradients; a mask among `options` has one too where it is float."""
    def run(function, tensors):
        *sequences, mask = tensors
        out = function(*sequences, mask, **options)
        weight = normal(*out.shape, seed=5, kind=out.dtype, device=out.device).detach()
        leaves = [t for t in tensors if t is not None and t.requires_grad]
        return [out, *torch.autograd.grad((out * weight).sum(), leaves)]
    if len(operands) == 3:
        operands = [*operands, None]
    found = run(evoformer.scaled_dot_product_attention, operands)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        eager = run(torch_sdpa, operands)
        exact = reference.exactly(lambda *t: run(torch_sdpa, t), operands)
    for one, true, usual in zip(found, exact, eager, strict=True):
        reference.check(one.detach(), true.detach(), usual.detach())


FRONTS = [(), (3,), (2, 3), (2, 2, 2, 3)]


@pytest.mark.parametrize("sq, sk", [(17, 17), (5, 40), (70, 33)])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16], ids=str)
def test_causal(device, sq, sk, kind):
    given = dict(kind=kind, device=device)
    compare([normal(2, 3, sq, 16, **given), normal(2, 3, sk, 16, seed=1, **given),
             normal(2, 3, sk, 24, seed=2, **given)], is_causal=True, scale=0.5)


@pytest.mark.parametrize("front", FRONTS, ids=str)
def test_agrees_with_torch(device, front):
    sq, sk, given = 5, 40, dict(device=device)
    q, k = normal(*front, sq, 16, **given), normal(*front, sk, 16, seed=1, **given)
    v = normal(*front, sk, 24, seed=2, **given)
    compare([q, k, v])
    if not front:
        return
    keep = torch.rand(sq, sk, generator=torch.Generator().manual_seed(3)) < 0.7
    keep[:, 0] = True
    compare([q, k, v, keep.to(device)])
    compare([q, k, v, keep[0].to(device)])
    compare([q, k, v, normal(*front, sq, sk, seed=4, **given)])
    compare([q, k, v, normal(*front[:-1], 1, 1, sk, seed=4, **given)])


def test_broadcasts(device):
    """Dimensions in front, as matrix products do."""
    q = normal(2, 3, 9, 8, device=device)
    compare([q, normal(1, 3, 11, 8, device=device), normal(2, 1, 11, 8, device=device)])
    compare([q, normal(3, 11, 8, device=device), normal(11, 8, device=device)])
    compare([q, normal(1, 1, 11, 8, device=device), normal(3, 11, 8, device=device),
             normal(2, 1, 1, 11, device=device)], scale=1.0)


@pytest.mark.parametrize("heads, is_causal", [(1, True), (2, False), (8, True)])
def test_grouped_heads(device, heads, is_causal):
    q = normal(2, 8, 21, 16, device=device)
    k, v = (normal(2, heads, 30, 16, seed=seed, device=device) for seed in (1, 2))
    compare([q, k, v], is_causal=is_causal, enable_gqa=True)
    if not is_causal:
        compare([q, k, v, normal(8, 21, 30, seed=3, device=device)], enable_gqa=True)


def test_rows_without_keys(device):
    q, k, v = (normal(1, 2, 6, 8, seed=s, device=device) for s in range(3))
    keep = torch.ones(6, 6, dtype=torch.bool, device=device)
    keep[2] = False
    out = evoformer.scaled_dot_product_attention(q, k, v, keep)
    assert (out[:, :, 2] == 0).all() and (out[:, :, 1] != 0).all()
    out.sum().backward()
    assert (q.grad[:, :, 2] == 0).all() and torch.isfinite(k.grad).all()


def test_compile(device):
    q, k, v = (normal(2, 4, 21, 16, seed=s, device=device) for s in range(3))
    mask = normal(2, 1, 21, 21, seed=3, device=device)
    for options in (dict(is_causal=True), dict(attn_mask=mask)):
        def function(q, k, v):
            return evoformer.scaled_dot_product_attention(q, k, v, **options)
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
        results = [[out, *torch.autograd.grad(out.square().sum(), [q, k, v])]
                   for out in (compiled(q, k, v), function(q, k, v))]
        for one, other in zip(*results, strict=True):
            assert torch.equal(one, other)
    traced = torch.fx.symbolic_trace(function)
    assert torch.equal(traced(q, k, v), function(q, k, v))


def test_signature():
    """torch's own, as its documentation has it."""
    given = inspect.signature(evoformer.scaled_dot_product_attention).parameters
    assert {name: p.default for name, p in given.items()} == {
        "query": inspect.Parameter.empty, "key": inspect.Parameter.empty,
        "value": inspect.Parameter.empty, "attn_mask": None, "dropout_p": 0.0,
        "is_causal": False, "scale": None, "enable_gqa": False}


def test_mask_under_autocast():
    """A mask of the type that operands are cast to."""
    q = torch.randn(2, 4, 6, 8)
    mask = torch.randn(6, 6, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        found = evoformer.scaled_dot_product_attention(q, q, q, mask)
        same = evoformer.scaled_dot_product_attention(q, q, q, mask.float())
    assert found.dtype == torch.bfloat16
    assert torch.equal(found, same)


def test_causal_of_a_size():
    """What a trace makes of a condition is one, too."""
    class Module(torch.nn.Module):
        def forward(self, q):
            return evoformer.scaled_dot_product_attention(q, q, q,
                                                          is_causal=q.shape[-2] > 1)
    q = torch.randn(2, 4, 6, 8)
    program = torch.export.export(Module(), (q,), strict=False,
                                  dynamic_shapes=({2: torch.export.Dim("s", min=2)},))
    assert torch.equal(program.module()(q), Module()(q))


def test_bad_arguments():
    q = torch.randn(2, 4, 6, 8)
    def call(*arguments, **options):
        return lambda: evoformer.scaled_dot_product_attention(*arguments, **options)
    for function, error, text in (
            (call(q, q, q, dropout_p=1.0), ValueError, "dropout_p is 1.0; accepted"),
            (call(q, q, q, torch.ones(6, 6), is_causal=True), RuntimeError,
             "attn_mask is given and is_causal is True; accepted is one"),
            (call(q, q, None), TypeError, "value is a NoneType; accepted"),
            (call(q, q, q, [1]), TypeError, "attn_mask is a list; accepted"),
            (call(q, q, q, torch.zeros(6, 6, dtype=torch.long)), TypeError,
             "attn_mask has type torch.int64; with operands of f32 accepted"),
            (call(q, q, q, is_causal="a"), TypeError, "is_causal is 'a'; accepted are True"),
            (call(q, q, q, scale="x"), TypeError, "scale is a str; accepted is a number"),
            (call(q, q, q, scale=torch.ones(2)), TypeError, "scale is a Tensor; accepted"),
            (call(q[0, 0, 0], q, q), ValueError, "query has rank 1; accepted is 2"),
            (call(q, q[:, :2], q[:, :2]), ValueError,
             r"query has shape \(2, 4, 6, 8\), key \(2, 2, 6, 8\).*enable_gqa=True"),
            (call(q, q[:, :3], q[:, :3], enable_gqa=True), ValueError,
             "key has size 3 of dimension 'h'; accepted is 4"),
            (call(q, q, q, torch.ones(5, 6)), ValueError,
             r"attn_mask has shape \(5, 6\); accepted is what broadcasts to \(2, 4, 6"),
            (call(q, q, q, torch.ones(1, 2, 4, 6, 6)), ValueError, "attn_mask has shape"),
            (call(q.double(), q.double(), q.double()), TypeError, "query has type")):
        with pytest.raises(error, match=text):
            function()
