# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Attention of torch tensors: on the processor here, on a GPU by
`pytest -m gpu`."""

import evoformer
import pytest
import torch
import torch_reference as reference
from evoformer import _keys, _torch
from torch.utils.checkpoint import checkpoint
from torch_cases import Case, device, gradients, one_thread  # noqa: F401

TYPES = [torch.float32, torch.float16, torch.bfloat16]


def check_all(operands, weight, function=evoformer.attention):
    found = gradients(function, operands, weight)
    eager = gradients(reference.attention, operands, weight)
    exact = reference.exactly(lambda *given: gradients(
        reference.attention, given, weight), operands)
    for one, true, usual in zip(found, exact, eager, strict=True):
        reference.check(one.detach(), true.detach(), usual.detach())
    return found


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_agrees_with_reference(device, kind):
    case = Case(device, kind, dv=24)
    check_all(case.operands, case.weight)


@pytest.mark.parametrize("sq,sk", [(1, 1), (7, 33), (64, 65), (130, 3)])
def test_odd_lengths(device, sq, sk):
    case = Case(device, sq=sq, sk=sk)
    check_all(case.operands, case.weight)


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("heads", [1, 2])
def test_grouped_heads(device, kind, heads):
    """Six heads of queries share one or two of keys and values."""
    case = Case(device, kind, h=6, sq=21)
    shared = [t.detach()[:, :, :, :heads].requires_grad_()
              for t in (case.key, case.value)]
    operands = (case.query, *shared, [case.mask, case.pair], case.gate)
    def expanded(query, key, value, biases, gate):
        return reference.attention(
            query, *(t.repeat_interleave(6 // heads, 3) for t in (key, value)),
            biases, gate)
    found = gradients(evoformer.attention, operands, case.weight)
    eager = gradients(expanded, operands, case.weight)
    exact = reference.exactly(lambda *given: gradients(
        expanded, given, case.weight), operands)
    for one, true, usual in zip(found, exact, eager, strict=True):
        reference.check(one.detach(), true.detach(), usual.detach())
    again = gradients(evoformer.attention, operands, case.weight)
    assert all(torch.equal(a, b) for a, b in zip(found, again, strict=True))


def test_without_gradient_and_lse(device):
    case = Case(device)
    with torch.no_grad():
        out, lse = evoformer.attention(*case.operands, return_lse=True)
        alone = evoformer.attention(*case.operands)
    again, lse_again = evoformer.attention(*case.operands, return_lse=True)
    assert torch.equal(out, alone) and torch.equal(out, again)
    assert torch.equal(lse, lse_again) and not lse.requires_grad
    assert not out.requires_grad and again.requires_grad
    logits = torch.einsum("bnihd,bnjhd->bnhij", case.query.double() / 4,
                          case.key.double()) + case.pair
    logits = logits.masked_fill(~case.mask, -torch.inf)
    torch.testing.assert_close(lse, logits.logsumexp(-1).float(), rtol=1e-5,
                               atol=1e-5)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_lse_gradient(device, kind):
    """Alone and beside the output's, which it is added to; a query without keys has
    none."""
    case = Case(device, kind)
    case.mask[:, 1] = False
    weight = case.normal(1, 2, 2, 19).detach().float()

    def run(attention, query, key, value, mask, pair, gate, alone):
        out, lse = attention(query, key, value, [mask, pair], gate)
        total = (lse.masked_fill(lse == -torch.inf, 0) * weight).sum()
        if not alone:
            total = total + (out * case.weight.to(out.dtype)).sum()
        leaves = [query, key, pair] + [value, gate] * (not alone)
        return torch.autograd.grad(total, leaves)

    def ours(*operands):
        return evoformer.attention(*operands, return_lse=True)

    def theirs(query, key, value, biases, gate):
        logits = torch.einsum("bnihd,bnjhd->bnhij", query / 4, key) + biases[1]
        seen = biases[0].any(-1, keepdim=True)
        dropped = torch.where(seen, logits.masked_fill(~biases[0], -torch.inf), 0)
        lse = torch.where(seen[..., 0], dropped.logsumexp(-1), 0)
        return reference.attention(query, key, value, biases, gate), lse

    operands = (case.query, case.key, case.value, case.mask, case.pair, case.gate)
    for alone in (True, False):
        found = run(ours, *operands, alone)
        eager = run(theirs, *operands, alone)
        exact = reference.exactly(lambda *t: run(theirs, *t, alone), operands)
        for one, true, usual in zip(found, exact, eager, strict=True):
            reference.check(one, true, usual, 4.0)
    other = [t.movedim(3, 2).detach().requires_grad_() for t in
             (case.query, case.key, case.value)]
    _, lse = evoformer.attention(*other, [case.mask, case.pair], layout="bnhsd",
                                 return_lse=True)
    found = torch.autograd.grad(
        (lse.masked_fill(lse == -torch.inf, 0) * weight).sum(), other[:2])
    for one, same in zip(found, run(ours, *operands, True)):
        assert torch.equal(one.movedim(2, 3), same)


def test_lse_gradient_of_some_keys(device):
    """Where queries see some of the keys: by a bound, lengths, or sequences that lie one
    behind the other."""
    i = torch.arange(19, device=device)
    rows = torch.zeros(2, dtype=torch.int32, device=device)
    rows[0], rows[1] = 5, 0
    starts = torch.tensor([0, 7, 7, 15], dtype=torch.int32, device=device)
    sequence = torch.bucketize(i, starts.long(), right=True)
    same = (sequence[:, None] == sequence[None]) & (i < 15)
    whole = torch.ones(2, 19, 19, dtype=torch.bool, device=device)
    for options, seen in (
            ({"causal": True}, whole & (i[:, None] >= i)),
            ({"key_lengths": rows[None]}, whole & (i < rows[:, None, None])),
            ({"cu_seqlens": starts}, whole & same)):
        case = Case(device)
        weight = case.normal(1, 2, 2, 19).detach()
        _, lse = evoformer.attention(case.query, case.key, case.value, return_lse=True,
                                     **options)
        logits = torch.einsum("bnihd,bnjhd->bnhij", case.query.double() / 4,
                              case.key.double())
        alive = seen[:, None].any(-1)
        exact = torch.where(seen[:, None], logits, -torch.inf)
        exact = torch.where(alive, torch.where(alive[..., None], exact, 0).logsumexp(-1),
                            -torch.inf)
        torch.testing.assert_close(lse, exact.float(), rtol=1e-5, atol=1e-5)
        found, true = (torch.autograd.grad(
            (one.masked_fill(one == -torch.inf, 0) * weight).sum(),
            (case.query, case.key)) for one in (lse, exact))
        for one, right in zip(found, true, strict=True):
            torch.testing.assert_close(one, right, rtol=1e-4, atol=1e-5)


def test_deterministic(device):
    case = Case(device, sq=130, sk=130)
    first = gradients(evoformer.attention, case.operands, case.weight)
    for _ in range(3):
        for a, b in zip(first, gradients(evoformer.attention, case.operands,
                                         case.weight)):
            assert torch.equal(a, b)


def test_gradcheck(device):
    """Against finite differences, in f32: step and bounds are those of its
    precision."""
    case = Case(device, n=1, sq=2, sk=3, h=1, d=2)
    def function(query, key, value, pair, gate):
        return evoformer.attention(query, key, value, [case.mask, pair], gate)
    assert torch.autograd.gradcheck(
        function, (case.query, case.key, case.value, case.pair, case.gate),
        eps=1e-2, atol=2e-3, rtol=2e-3, nondet_tol=0.0)


def test_some_gradients(device):
    """Only what is asked for is computed, and its bits do not depend on it."""
    case = Case(device)
    whole = gradients(evoformer.attention, case.operands, case.weight)
    for wanted in ([0], [4], [3], [1, 2]):
        operands = [t.detach() for t in (case.query, case.key, case.value,
                                         case.pair, case.gate)]
        for i in wanted:
            operands[i].requires_grad_()
        q, k, v, pair, gate = operands
        out = evoformer.attention(q, k, v, [case.mask, pair], gate)
        found = torch.autograd.grad(out, [operands[i] for i in wanted],
                                    case.weight)
        for i, gradient in zip(wanted, found):
            assert torch.equal(gradient, whole[1 + i])


def test_strides_without_copies(device):
    """Views of every kind are read where they lie; gradients fit."""
    case = Case(device)
    packed = torch.cat([case.query, case.key, case.value], -1).detach()
    q, k, v = packed.chunk(3, -1)
    expected = evoformer.attention(q.contiguous(), k.contiguous(),
                                   v.contiguous(), [case.mask, case.pair])
    prepared, inputs = _torch.prepare(q, k, v, (case.mask, case.pair), None,
                                      None, "bnshd", _keys.ALL, (False, False))
    assert not prepared.copies and inputs[0] is q
    assert torch.equal(evoformer.attention(q, k, v, [case.mask, case.pair]),
                       expected)
    turned = [t.transpose(2, 3).contiguous().transpose(2, 3) for t in (q, k, v)]
    assert torch.equal(evoformer.attention(*turned, [case.mask, case.pair]),
                       expected)
    head_major = [t.transpose(2, 3) for t in (q, k, v)]
    assert torch.equal(
        evoformer.attention(*head_major, [case.mask, case.pair], layout="bnhsd"),
        expected.transpose(2, 3))


@pytest.mark.parametrize("kind,usual,largest", [
    (torch.bfloat16, (5e-3, 9e-4), (2e-2, 1e-2)),
    (torch.float16, (7e-4, 1.5e-4), (5e-3, 2e-3))], ids=str)
def test_one_key_and_a_gate(device, kind, usual, largest):
    """What docs/nan-and-inf.md says of gradients that are 0: of a bias, which is
    that of the logit, and of the query."""
    generator = torch.Generator().manual_seed(0)
    query, key, value, gate, weight, bias = (
        torch.randn(shape, generator=generator).to(device, kind)
        .requires_grad_() for shape in
        [(1, 512, 4, 32), (1, 1, 4, 32), (1, 1, 4, 32), (1, 512, 4, 32),
         (1, 512, 4, 32), (4, 512, 1)])
    for one in (gate, None):
        query.grad = bias.grad = None
        out = evoformer.attention(query, key, value, [bias], gate=one)
        out.backward(weight.detach())
        for grad, mean, most in zip((bias.grad, query.grad), usual, largest,
                                    strict=True):
            if one is None:
                assert grad.abs().max() <= 1e-5
            else:
                assert 0.5 * mean < grad.float().square().mean().sqrt() < mean * 1.1
                assert grad.abs().max() <= most * 1.1


def test_expanded(device):
    case = Case(device, n=3)
    key = case.key[:, :1].detach().requires_grad_()
    pair = case.pair[:, :, :1].detach().requires_grad_()
    def function(attention):
        def run(query, key, value, biases, gate):
            mask, pair = biases
            return attention(query, key.expand(1, 3, 19, 2, 16), value,
                             [mask.expand(1, 3, 2, 19, 19),
                              pair.expand(1, 3, 2, 19, 19)], gate)
        return run
    operands = (case.query, key, case.value, [case.mask, pair], case.gate)
    found = gradients(function(evoformer.attention), operands, case.weight)
    eager = gradients(function(reference.attention), operands, case.weight)
    exact = reference.exactly(lambda *given: gradients(
        function(reference.attention), given, case.weight), operands)
    for one, true, usual in zip(found, exact, eager, strict=True):
        reference.check(one.detach(), true.detach(), usual.detach())


def test_depth_apart(device):
    """A depth that is not contiguous is copied."""
    case = Case(device)
    query = case.query.detach().transpose(2, 4).contiguous().transpose(2, 4)
    assert query.stride(-1) != 1
    operands = (query.requires_grad_(), *case.operands[1:])
    for a, b in zip(gradients(evoformer.attention, operands, case.weight),
                    gradients(evoformer.attention, case.operands, case.weight)):
        assert torch.equal(a, b)
    out = evoformer.attention(*case.operands)
    out.sum().backward()  # an expanded gradient
    assert torch.isfinite(case.query.grad).all()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16], ids=str)
def test_autocast(device, kind):
    case = Case(device)
    with torch.autocast(device, kind):
        out = evoformer.attention(*case.operands)
    assert out.dtype == kind
    (out * case.weight).sum().backward()
    assert case.query.grad.dtype == torch.float32
    exact = reference.exactly(reference.attention, case.operands)
    low = [t.detach().to(kind) for t in (case.query, case.key, case.value)]
    eager = reference.attention(*low, [case.mask, case.pair.detach()],
                                case.gate.detach()).to(kind)
    reference.check(out.detach(), exact.detach(), eager)


def test_float_bias_of_another_type(device):
    """A float32 bias stays as it is beside 16-bit operands."""
    case = Case(device, torch.bfloat16)
    pair = case.pair.detach().float().requires_grad_()
    out = evoformer.attention(case.query, case.key, case.value, [pair])
    out.sum().backward()
    assert pair.grad.dtype == torch.float32 and pair.grad.shape == pair.shape


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint(device, reentrant):
    case = Case(device)
    expected = gradients(evoformer.attention, case.operands, case.weight)
    leaves = case.query, case.key, case.value, case.pair, case.gate
    out = checkpoint(lambda q, k, v, pair, gate: evoformer.attention(
        q, k, v, [case.mask, pair], gate), *leaves, use_reentrant=reentrant)
    (out * case.weight).sum().backward()
    for a, b in zip(expected, [out, *(leaf.grad for leaf in leaves)]):
        assert torch.equal(a, b)


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("loss", [torch.sum, lambda out: out.square().sum()])
def test_second_derivative_is_refused(device, registered, loss):
    """Also where the gradient depends on the operands alone."""
    case = Case(device)
    if registered:
        out, _, _ = torch.ops.evoformer.attention(*case.operands, None, "bnshd",
                                                  False, True, "", "", "", 0, 0.0, "",
                                                  *[None] * 7)
    else:
        out = evoformer.attention(*case.operands)
    gradient, = torch.autograd.grad(loss(out), case.query, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        gradient.square().sum().backward()


REFUSED = [
    (lambda c: dict(query=c.query.double()), TypeError, "query has type torch.float64"),
    (lambda c: dict(key=c.key.half()), TypeError, "key has type f16"),
    (lambda c: dict(key=c.key.repeat(1, 2, 1, 1, 1)), ValueError,
     "key has size 4 of dimension 'n' where 2 or 1 is expected"),
    (lambda c: dict(key=c.key[:, :1]), ValueError,
     "value has size 2 of dimension 'n' where 1 is expected"),
    (lambda c: dict(query=c.query.repeat(1, 1, 1, 3, 1), key=c.key.repeat(1, 1, 1, 2, 1)),
     ValueError, "key has size 4 of dimension 'h'; accepted is 6, the query's, or what"),
    (lambda c: dict(value=c.value[:, :, :, :1]), ValueError,
     "value has size 1 of dimension 'h' where 2 is expected"),
    (lambda c: dict(biases=[c.mask.to(torch.uint8)]), TypeError,
     "uint8; with operands of f32 accepted are f32 and bool"),
    (lambda c: dict(biases=[c.pair[..., :5]]), ValueError, r"biases\[0\] has shape"),
    (lambda c: dict(query=c.query.to_sparse()), TypeError, "sparse"),
    (lambda c: dict(biases=[c.pair.detach().numpy(force=True)]), TypeError,
     r"biases\[0\] is a ndarray; accepted is a torch.Tensor"),
    (lambda c: dict(key=c.key.to("meta")), ValueError, "key is on meta, query on"),
    (lambda c: dict(query=torch.randn(1, 2, 19, 2, 300),
                    key=torch.randn(1, 2, 19, 2, 300)), ValueError,
     "head dimension of 300; accepted are 1 to 256"),
]


@pytest.mark.parametrize("change,kind,text", REFUSED)
def test_refuses(change, kind, text):
    case = Case()
    arguments = dict(query=case.query, key=case.key, value=case.value)
    with torch.no_grad(), pytest.raises(kind, match=text):
        evoformer.attention(**{**arguments, **change(case)})


def test_views_of_negated_memory(device):
    """Their memory holds the opposite of what they say."""
    case = Case(device)
    query, key, value = (t.detach() for t in (case.query, case.key, case.value))
    turned = torch._neg_view(query)
    assert torch.equal(evoformer.attention(turned, key, value),
                       evoformer.attention(-query, key, value))
    assert torch.equal(
        evoformer.attention(query, key, value, [torch._neg_view(case.pair.detach())]),
        evoformer.attention(query, key, value, [-case.pair.detach()]))


def test_forward_mode_is_refused(device):
    """Tangents would be lost."""
    case = Case(device)
    query = case.query.detach()
    def function(query):
        return evoformer.attention(query, query, query)
    with pytest.raises(NotImplementedError, match="no forward-mode derivative"):
        torch.func.jvp(function, (query,), (query,))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(query, query)
        with pytest.raises(NotImplementedError, match="no forward-mode derivative"):
            function(dual)
        assert torch.equal(function(query), function(query.clone()))


def test_transforms_are_refused(device):
    query = Case(device).query.detach()
    def total(query):
        return evoformer.attention(query, query, query).sum()
    for transform in (torch.func.grad(total), torch.func.jacrev(total),
                      torch.func.hessian(total)):
        with pytest.raises(NotImplementedError, match="transforms of torch.func"):
            transform(query)
    with pytest.raises(NotImplementedError, match="transforms of torch.func"):
        torch.func.vmap(total)(torch.stack([query, query]))
    # One gradient at a time.
    assert torch.autograd.functional.jacobian(total, query).shape == query.shape
    leaf = query.clone().requires_grad_()
    with pytest.raises(NotImplementedError, match="batch of output gradients"):
        torch.autograd.grad(total(leaf), leaf, torch.ones(3, device=device),
                            is_grads_batched=True)


def test_what_is_no_list_of_biases():
    """A tensor would be taken for its parts."""
    case = Case()
    for biases, name in ((case.pair, "Tensor"), (None, "NoneType")):
        for function in (evoformer.attention, evoformer.explain):
            with pytest.raises(TypeError, match=f"biases is a {name}; accepted is a"):
                function(case.query, case.key, case.value, biases)
    with pytest.raises(TypeError, match="layout is a int"):
        evoformer.attention(case.query, case.key, case.value, layout=5)
    with pytest.raises(TypeError, match="module is a NoneType"):
        evoformer.Program(None)
