# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Queries that see a range of keys: causal attention, windows and bounds as text,
against the function written out with what each query sees, in f64."""

import functools

import evoformer
import numpy as np
import pytest
import torch
import torch_reference as reference
from evoformer import _keys, _torch
from torch_cases import Case, device, gradients, one_thread  # noqa: F401

KINDS = [torch.float32, torch.float16, torch.bfloat16]
LENGTHS = [(19, 19), (33, 5), (70, 133)]

# Arguments, and the first key and the last that query i of sq sees among sk.
RANGES = {
    "causal": (dict(causal=True), lambda i, sq, sk: (0, i + sk - sq)),
    "causal window": (dict(causal=True, window=(7, 5)),
                      lambda i, sq, sk: (i + sk - sq - 7, i + sk - sq)),
    "window": (dict(window=(4, 9)),
               lambda i, sq, sk: (i + sk - sq - 4, i + sk - sq + 9)),
    "left": (dict(window=(3, None)), lambda i, sq, sk: (i + sk - sq - 3, sk)),
    "right": (dict(window=(-1, 3)), lambda i, sq, sk: (0, i + sk - sq + 3)),
    "wide": (dict(window=(1000, 1000)),
             lambda i, sq, sk: (i + sk - sq - 1000, i + sk - sq + 1000)),
    "from the first": (dict(keys=(None, "i+1")), lambda i, sq, sk: (0, i)),
    "blocks": (dict(keys=("i/8*8 - 12", "i/8*8 + 20")),
               lambda i, sq, sk: (i // 8 * 8 - 12, i // 8 * 8 + 19)),
    "none": (dict(keys=("sk", None)), lambda i, sq, sk: (sk, sk))}


def sees(name, sq, sk):
    """[1, 1, 1, sq, sk]"""
    bounds = RANGES[name][1]
    table = [[bounds(i, sq, sk)[0] <= j <= bounds(i, sq, sk)[1] for j in range(sk)]
             for i in range(sq)]
    return torch.tensor(table, dtype=torch.bool).reshape(1, 1, 1, sq, sk)


def written_out(seen):
    def function(query, key, value, biases, gate):
        heads = query.shape[3] // key.shape[3]
        key, value = (t.repeat_interleave(heads, 3) for t in (key, value))
        return reference.attention(query, key, value,
                                   [*biases, seen.to(query.device)], gate)
    return function


def compare(found, expected, operands, weight):
    ours = gradients(found, operands, weight)
    eager = gradients(expected, operands, weight)
    exact = reference.exactly(lambda *t: gradients(expected, t, weight), operands)
    # Gradients of logits are differences of sums over the depth of normal numbers.
    terms = [1.0] + [value_depth(operands) ** 0.5] * (len(ours) - 1)
    for one, true, usual, size in zip(ours, exact, eager, terms, strict=True):
        reference.check(one.detach(), true.detach(), usual.detach(), size)


def value_depth(operands):
    return operands[2].shape[-1]


@pytest.mark.parametrize("sq, sk", LENGTHS)
@pytest.mark.parametrize("name", RANGES)
def test_agrees_with_reference(device, name, sq, sk):
    """With a mask, a pair bias and a gate, and all gradients."""
    kind = KINDS[list(RANGES).index(name) % 3]
    case = Case(device, kind, sq=sq, sk=sk, d=8)
    compare(lambda *t: evoformer.attention(*t, **RANGES[name][0]),
            written_out(sees(name, sq, sk)), case.operands, case.weight)


@pytest.mark.parametrize("name, kind", zip(["causal", "window", "blocks"], KINDS))
def test_grouped_heads(device, name, kind):
    case = Case(device, kind, sq=37, sk=51, h=6)
    key, value = case.normal(1, 2, 51, 2, 16), case.normal(1, 2, 51, 2, 24)
    compare(lambda q, k, v: evoformer.attention(q, k, v, **RANGES[name][0]),
            lambda q, k, v: written_out(sees(name, 37, 51))(q, k, v, [], None),
            [case.query, key, value], case.normal(1, 2, 37, 6, 24).detach())


@pytest.mark.parametrize("name, kind, shared", zip(
    ["causal", "window", "from the first"], KINDS, ["n", "b", "bn"]))
def test_shared_keys(device, name, kind, shared):
    """Keys and values of size 1 of n, b or both, and a bias that drops some."""
    case = Case(device, kind, b=2, n=3, sq=37, sk=51, h=4)
    rows = [1 if letter in shared else size for letter, size in (("b", 2), ("n", 3))]
    key, value = case.normal(*rows, 51, 2, 16), case.normal(*rows, 51, 2, 24)

    def repeated(query, key, value, biases):
        return written_out(sees(name, 37, 51))(
            query, *(t.expand(2, 3, *t.shape[2:]) for t in (key, value)), biases, None)

    compare(lambda *t: evoformer.attention(*t, **RANGES[name][0]), repeated,
            [case.query, key, value, [case.mask]],
            case.normal(2, 3, 37, 4, 24).detach())


@pytest.mark.parametrize("kind", KINDS)
def test_shared_keys_in_parts(device, kind):
    """So few keys that those who share them are summed in parts: by heads of a group,
    and by rows; and the same bits again."""
    case = Case(device, kind, n=3, sq=165, sk=37, h=6)
    for rows in (3, 1):
        key, value = case.normal(1, rows, 37, 1, 16), case.normal(1, rows, 37, 1, 24)

        def grouped(q, k, v):
            return evoformer.attention(q, k, v, causal=True)

        def repeated(q, k, v):
            return written_out(sees("causal", 165, 37))(
                q, *(t.expand(1, 3, *t.shape[2:]) for t in (k, v)), [], None)

        operands = [case.query, key, value]
        weight = case.normal(1, 3, 165, 6, 24).detach()
        compare(grouped, repeated, operands, weight)
        for one, other in zip(gradients(grouped, operands, weight),
                              gradients(grouped, operands, weight), strict=True):
            assert torch.equal(one, other)


# What is compiled for the tests of how it is called.
FEW = ["causal", "blocks"]


@pytest.mark.parametrize("name", FEW)
def test_numpy(name):
    """The same bits as torch's tensors."""
    case = Case(sq=21, sk=34)
    expected = gradients(lambda *t: evoformer.attention(*t, **RANGES[name][0]),
                         case.operands, case.weight)
    q, k, v, (mask, pair), gate = (
        [t.detach().numpy() for t in o] if isinstance(o, list) else o.detach().numpy()
        for o in case.operands)
    out = evoformer.attention(q, k, v, [mask, pair], gate, **RANGES[name][0])
    same, vjp = evoformer.attention_vjp(q, k, v, [mask, pair], gate,
                                        **RANGES[name][0])
    found = vjp(case.weight.numpy())
    for one, other in zip([out, same, found.query, found.key, found.value,
                           found.biases[1], found.gate],
                          [expected[0], *expected], strict=True):
        assert np.array_equal(one, other.detach().numpy())


def test_lse(device):
    case = Case(device, sq=33, sk=21)
    for name in FEW:
        arguments = RANGES[name][0]
        out, lse = evoformer.attention(case.query, case.key, case.value, return_lse=True,
                                       **arguments)
        seen = sees(name, 33, 21)[0, 0].to(device)
        logits = torch.einsum("bnihd,bnjhd->bnhij", case.query.double() / 4,
                              case.key.double()).masked_fill(~seen, -torch.inf)
        torch.testing.assert_close(lse, logits.logsumexp(-1).float(), rtol=1e-5,
                                   atol=1e-5)
        dead = ~seen[0].any(-1)
        assert (out[:, :, dead] == 0).all() and (lse[..., dead] == -torch.inf).all()


@pytest.mark.parametrize("name", FEW)
def test_deterministic(device, name):
    case = Case(device, sq=70, sk=133)
    def run():
        return gradients(lambda *t: evoformer.attention(*t, **RANGES[name][0]),
                         case.operands, case.weight)
    for one, other in zip(run(), run(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", ["key", "value", "pair"])
def test_keys_that_are_not_seen(device, name):
    """NaN there reaches nothing, and their gradients are 0. Values have it behind the
    tiles that are read: a weight of 0 times NaN is NaN. Where tiles hold it, GPUs sum
    again, in another order."""
    sq, sk = (64, 200) if name == "value" else (30, 50)
    case = Case(device, sq=sq, sk=sk)
    def run():
        return gradients(lambda *t: evoformer.attention(*t, keys=(None, "i+1")),
                         case.operands, case.weight)
    clean = run()
    with torch.no_grad():
        if name == "pair":
            seen = sees("from the first", sq, sk).to(device)
            case.pair.masked_fill_(~seen, torch.nan)
        else:
            getattr(case, name)[:, :, sk - 20 if name == "key" else 192:] = torch.nan
    found = run()
    for one, other in zip(found, clean, strict=True):
        if device == "cpu" or name == "value":
            assert torch.equal(one, other)
        else:
            assert not other.isnan().any()
            assert (one - other).norm() <= 16 * torch.finfo(one.dtype).eps * other.norm()
    for gradient in found[2:4]:
        assert (gradient[:, :, sq:] == 0).all()


# torch's tools --------------------------------------------------------------------

def test_opcheck(device):
    case = Case(device, sq=9, sk=12)
    torch.library.opcheck(torch.ops.evoformer.attention.default,
                          (*case.operands, None, "bnshd", True, True, "", "i+sk-sq+1",
                           "", 0, 0.0, "", *[None] * 7))


@pytest.mark.parametrize("name", FEW)
def test_compile(device, name):
    """One graph, for all lengths."""
    def function(*operands):
        return evoformer.attention(*operands, **RANGES[name][0])
    compiled = torch.compile(function, fullgraph=True, dynamic=True,
                             backend="aot_eager")
    for sq, sk in LENGTHS[1:]:
        case = Case(device, sq=sq, sk=sk)
        for one, other in zip(gradients(compiled, case.operands, case.weight),
                              gradients(function, case.operands, case.weight),
                              strict=True):
            assert torch.equal(one, other)


def test_compile_windows(device):
    """Whose numbers change from call to call."""
    def function(left, right, *operands):
        return evoformer.attention(*operands, window=(left, right))
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    case = Case(device, sq=19, sk=19)
    for window in ((3, 0), (4, 0), (4, 6), (-1, 2)):
        for one, other in zip(
                gradients(functools.partial(compiled, *window), case.operands, case.weight),
                gradients(functools.partial(function, *window), case.operands, case.weight),
                strict=True):
            assert torch.equal(one, other)


def test_programs(device):
    """Traced by torch.fx and torch.jit, exported, and on meta."""
    case = Case(device)
    operands = [t.detach() for t in (case.query, case.key, case.value)]

    class Module(torch.nn.Module):
        def forward(self, q, k, v):
            return evoformer.attention(q, k, v, causal=True)

    expected = Module()(*operands)
    for program in (torch.fx.symbolic_trace(Module()),
                    torch.jit.trace(Module(), operands),
                    torch.export.export(Module(), tuple(operands)).module()):
        assert torch.equal(program(*operands), expected)
    assert not torch.equal(evoformer.attention(*operands), expected)
    meta = [t.to("meta") for t in operands]
    assert Module()(*meta).shape == expected.shape
    with pytest.raises(ValueError, match="keys has the bound 'i,1'"):
        evoformer.attention(*meta, keys=(None, "i,1"))


@pytest.mark.parametrize("name", RANGES)
def test_counts(name):
    """Operations and explanations count what is seen."""
    case = Case(sq=33, sk=21)
    pairs = int(sees(name, 33, 21).sum())
    if name in FEW:
        with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
            gradients(lambda *t: evoformer.attention(*t, **RANGES[name][0]),
                      case.operands, case.weight)
        assert counter.get_total_flops() == (2 + 5) * 2 * 2 * 2 * 16 * pairs
        shown = evoformer.explain(*case.operands, **RANGES[name][0])
        assert shown.operations == 2 * 2 * 2 * 2 * 16 * pairs
    prepared, _ = _torch.prepare(
        case.query, case.key, case.value, (), None, None, "bnshd",
        _keys.resolve(RANGES[name][0].get("causal", False),
                      RANGES[name][0].get("window"), RANGES[name][0].get("keys")), ())
    assert prepared.attention.logits == 2 * 2 * pairs


@pytest.mark.parametrize("arguments, seen, pairs", [
    (dict(), 64, 64 * 64), (dict(keys=(None, "8")), 8, 64 * 8),
    (dict(keys=("sk", None)), 0, 0), (dict(causal=True), 64, 64 * 65 // 2)], ids=str)
def test_explained_bytes(arguments, seen, pairs):
    """Keys, values and elements of biases that some query sees; a head of keys of two."""
    query, key = torch.zeros(1, 1, 64, 2, 16), torch.zeros(1, 1, 64, 1, 16)
    mask, pair = torch.ones(1, 1, 1, 1, 64, dtype=bool), torch.zeros(1, 1, 2, 64, 64)
    shown = evoformer.explain(query, key, key, [mask, pair], **arguments)
    assert shown.bytes == 4 * (2 * 2 * 64 * 16 + 2 * seen * 16) + seen + 4 * 2 * pairs
    assert evoformer.explain(query[:, :, :0], key, key, [mask], **arguments).bytes == 0


def test_nothing_is_kept_of_a_whole_range():
    """Without arguments nothing is said to the compiler, nor where a side is open."""
    assert _keys.resolve(False, None, None) == _keys.ALL
    assert _keys.resolve(False, (-1, None), None) == _keys.ALL
    assert _keys.resolve(False, (2 ** 30, 2 ** 62), None) == _keys.ALL
    assert _keys.resolve(True, (None, 5), None) == _keys.Keys("", "i+sk-sq+1")


@pytest.mark.parametrize("arguments, error, text", [
    (dict(causal=1), TypeError, "causal is 1; accepted are True and False"),
    (dict(causal="yes"), TypeError, "causal is 'yes'; accepted are"),
    (dict(window=5), TypeError, r"window is a int; accepted is a pair \(left, right\)"),
    (dict(window=(1, 2, 3)), ValueError, r"window is \(1, 2, 3\), of 3 numbers; accepted"),
    (dict(window=(-2, 0)), ValueError, r"window is \(-2, 0\); accepted .* 0 or more"),
    (dict(window=(1.5, 0)), TypeError, r"window is \(1.5, 0\); accepted"),
    (dict(window=(0, True)), TypeError, r"window is \(0, True\); accepted"),
    (dict(window="12"), TypeError, "window is a str; accepted"),
    (dict(keys="i"), TypeError, "keys is 'i'; accepted is a pair of texts"),
    (dict(keys=(1, None)), TypeError, r"keys is \(1, None\); accepted is a pair of"),
    (dict(keys=("i", "i", "i")), TypeError, r"keys is \('i', 'i', 'i'\); accepted"),
    (dict(keys=("i", None), causal=True), ValueError, "keys is given with causal"),
    (dict(keys=("i", None), window=(1, 1)), ValueError, "keys is given with causal"),
    *((dict(keys=(None, text)), ValueError, "keys has the bound .* accepted are sums")
      for text in ("j", "i*2", "-i", "i+i", "i/4*5", "i/0*0", "i/4", "sq+sq", "i 1 2x",
                   "1073741825", "1073741825-5", "i+-1", "+", "i+"))], ids=str)
def test_bad_arguments(arguments, error, text):
    case = Case()
    arrays = [t.detach() for t in (case.query, case.key, case.value)]
    for operands in (arrays, [t.numpy() for t in arrays]):
        for function in (evoformer.attention, evoformer.explain):
            with pytest.raises(error, match=text):
                function(*operands, **arguments)


@pytest.mark.parametrize("text", ["i", "-5+i", "i/32*32-48", "sk-sq+i/7*7+3", "7", "-3",
                                  "-sq+sk+i", "1073741824", "i-1073741824"])
def test_bounds_are_read_as_the_compiler_does(text):
    """Keys of equal weight: how many there are."""
    case = Case(n=1, h=1, sq=23, sk=29)
    _, lse = evoformer.attention(torch.zeros_like(case.query), case.key, case.value,
                                 return_lse=True, keys=(None, text))
    bound = _keys.parse(text)
    assert lse[0, 0, 0].exp().round().tolist() == [
        min(max(bound.at(query, 23, 29), 0), 29) for query in range(23)]
