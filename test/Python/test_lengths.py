# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Rows of their own lengths, against the function written out row by row on the part
of each row that counts, in f64."""

import evoformer
import numpy as np
import pytest
import torch
import torch_reference as reference
from torch_cases import Case, device, gradients, one_thread  # noqa: F401

KINDS = [torch.float32, torch.float16, torch.bfloat16]
# Of two rows n: those of keys, and of queries; None: as many as there are.
LENGTHS = [((21, 5), None), (None, (0, 19)), ((50, 33), (17, 40)), ((0, 99), (-1, 7))]


def tensors(case, keys, queries):
    """Arguments of `attention`."""
    return {name: torch.tensor([lengths], dtype=torch.int32, device=case.query.device)
            for name, lengths in (("key_lengths", keys), ("query_lengths", queries))
            if lengths is not None}


def count(lengths, row, size):
    return size if lengths is None else min(max(lengths[row], 0), size)


def row_by_row(keys, queries, causal=False):
    def function(query, key, value, biases, gate):
        rows = []
        for row in range(query.shape[1]):
            sk = count(keys, row, key.shape[2])
            sq = count(queries, row, query.shape[2])
            own = slice(row, row + 1)
            parts = [bias[:, own if bias.shape[1] > 1 else slice(None), :,
                          :sq if bias.shape[3] > 1 else None,
                          :sk if bias.shape[4] > 1 else None] for bias in biases]
            if causal:
                seen = torch.ones(sq, sk, dtype=torch.bool, device=query.device)
                parts.append(seen.tril(sk - sq)[None, None, None])
            out = reference.attention(query[:, own, :sq], key[:, own, :sk],
                                      value[:, own, :sk], parts, gate[:, own, :sq])
            missing = query.shape[2] - sq
            rows.append(torch.cat([out, out.new_zeros(1, 1, missing, *out.shape[3:])],
                                  2))
        return torch.cat(rows, 1)
    return function


@pytest.mark.parametrize("keys, queries", LENGTHS)
@pytest.mark.parametrize("kind, causal", zip(KINDS, [False, True, False]))
def test_agrees_with_reference(device, kind, causal, keys, queries):
    """With a mask, a pair bias that rows share and a gate, and all gradients."""
    case = Case(device, kind, b=1, sq=40, sk=50, d=8)
    arguments = tensors(case, keys, queries)
    def ours(*operands):
        return evoformer.attention(*operands, causal=causal, **arguments)
    expected = row_by_row(keys, queries, causal)
    exact = reference.exactly(lambda *t: gradients(expected, t, case.weight),
                              case.operands)
    usual = gradients(expected, case.operands, case.weight)
    found = gradients(ours, case.operands, case.weight)
    for one, true, eager in zip(found, exact, usual, strict=True):
        size = 1.0 if one is found[0] else case.value.shape[-1] ** 0.5
        reference.check(one.detach(), true.detach(), eager.detach(), size)


def test_what_lies_behind(device):
    """NaN behind the ends reaches nothing; zeros are written there, and -inf."""
    case = Case(device, b=1, sq=70, sk=90)
    keys, queries = (50, 17), (33, 70)
    arguments = tensors(case, keys, queries)
    def run():
        return gradients(lambda *t: evoformer.attention(*t, **arguments), case.operands,
                         case.weight)
    clean = run()
    with torch.no_grad():
        for row in range(2):
            for operand in (case.key, case.value):
                operand[:, row, keys[row]:] = torch.nan
            for operand in (case.query, case.gate, case.weight):
                operand[:, row, queries[row]:] = torch.nan
        case.pair[..., max(keys):] = torch.nan
    for one, other in zip(run(), clean, strict=True):
        assert torch.equal(one, other)
    out, query, key, value, *_, gate = clean
    for row in range(2):
        for written in (out, query, gate):
            assert (written[:, row, queries[row]:] == 0).all()
        for written in (key, value):
            assert (written[:, row, keys[row]:] == 0).all()
    _, lse = evoformer.attention(case.query, case.key, case.value, return_lse=True,
                                 **arguments)
    for row in range(2):
        assert (lse[:, row, :, queries[row]:] == -torch.inf).all()
        assert lse[:, row, :, :queries[row]].isfinite().all()


def test_numpy():
    """The same bits as torch's tensors; strides of any sign."""
    case = Case(b=1, sq=21, sk=34)
    expected = gradients(
        lambda *t: evoformer.attention(*t, **tensors(case, (30, 7), (20, 5))),
        case.operands, case.weight)
    q, k, v, (mask, pair), gate = (
        [t.detach().numpy() for t in o] if isinstance(o, list) else o.detach().numpy()
        for o in case.operands)
    lengths = dict(key_lengths=np.array([[7, 30]], np.int32)[:, ::-1],
                   query_lengths=np.array([20, 5], np.int32))
    out = evoformer.attention(q, k, v, [mask, pair], gate, **lengths)
    same, vjp = evoformer.attention_vjp(q, k, v, [mask, pair], gate, **lengths)
    found = vjp(case.weight.numpy())
    for one, other in zip([out, same, found.query, found.key, found.value,
                           found.biases[1], found.gate],
                          [expected[0], *expected], strict=True):
        assert np.array_equal(one, other.detach().numpy())


def test_layouts(device):
    """Where b or n is left out lengths lack it, and one number serves all rows."""
    case = Case(device, b=1, sq=20, sk=30)
    q, k, v = (t.detach() for t in (case.query, case.key, case.value))
    def lengths(*numbers):
        return torch.tensor(numbers, dtype=torch.int32, device=device)
    expected = evoformer.attention(q, k, v, key_lengths=lengths([30, 11]))
    assert torch.equal(evoformer.attention(q[0], k[0], v[0],
                                           key_lengths=lengths(30, 11)), expected[0])
    one = evoformer.attention(q, k, v, key_lengths=lengths(11))
    assert torch.equal(one[:, 1], expected[:, 1])
    for shared in (lengths(11).reshape(()), lengths([11]).expand(1, 2)):
        assert torch.equal(evoformer.attention(q, k, v, key_lengths=shared), one)
    alone = evoformer.attention(q[0, 1], k[0, 1], v[0, 1],
                                key_lengths=lengths(11).reshape(()))
    assert torch.equal(alone, expected[0, 1])


# torch's tools --------------------------------------------------------------------

def test_opcheck(device):
    case = Case(device, b=1, sq=9, sk=12)
    torch.library.opcheck(
        torch.ops.evoformer.attention.default,
        (*case.operands, None, "bnshd", True, True, "", "", "", 0, 0.0, "",
         *tensors(case, (5, 12), (0, 9)).values(), *[None] * 5))


def test_compile(device):
    """One graph for all lengths."""
    def function(lengths, *operands):
        return evoformer.attention(*operands, key_lengths=lengths)
    compiled = torch.compile(function, fullgraph=True, dynamic=True,
                             backend="aot_eager")
    torch._dynamo.reset()
    with torch._dynamo.config.patch(error_on_recompile=True):
        for keys in ((3, 20), (0, 11)):
            case = Case(device, b=1, sq=20, sk=20)
            lengths = tensors(case, keys, None)["key_lengths"]
            for one, other in zip(
                    gradients(lambda *t, lengths=lengths: compiled(lengths, *t),
                              case.operands, case.weight),
                    gradients(lambda *t, lengths=lengths: function(lengths, *t),
                              case.operands, case.weight), strict=True):
                assert torch.equal(one, other)


def test_programs(device):
    """Traced by torch.fx, exported, and on meta."""
    case = Case(device, b=1)
    operands = [t.detach() for t in (case.query, case.key, case.value)]
    operands += tensors(case, (3, 5), None).values()

    class Module(torch.nn.Module):
        def forward(self, q, k, v, lengths):
            return evoformer.attention(q, k, v, key_lengths=lengths)

    expected = Module()(*operands)
    for program in (torch.fx.symbolic_trace(Module()),
                    torch.export.export(Module(), tuple(operands)).module()):
        assert torch.equal(program(*operands), expected)
    assert Module()(*[t.to("meta") for t in operands]).shape == expected.shape


def test_counts():
    """Operations are counted as those of full rows: the numbers are the device's."""
    case = Case(b=1, sq=33, sk=21)
    arguments = tensors(case, (3, 5), None)
    with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
        gradients(lambda *t: evoformer.attention(*t, **arguments), case.operands,
                  case.weight)
    plain = evoformer.explain(*case.operands)
    shown = evoformer.explain(*case.operands, **arguments)
    assert shown.operations == plain.operations
    assert counter.get_total_flops() == 7 * shown.operations // 2
    assert shown.bytes == plain.bytes + 8
    assert "key_lengths=n" in str(shown)


@pytest.mark.parametrize("name", ["key_lengths", "query_lengths"])
def test_bad_arguments(name):
    case = Case(b=1)
    arrays = [t.detach() for t in (case.query, case.key, case.value)]
    for given, error, text in (
            (torch.tensor([[1, 2]]), TypeError,
             f"{name} has type .*int64; accepted is int32"),
            (torch.ones(1, 3, dtype=torch.int32), ValueError,
             rf"{name} has shape \(1, 3\); accepted are 2 dimensions 'bn', each of size "
             r"1 or that of \(1, 2\)"),
            (torch.ones(1, 1, 2, dtype=torch.int32), ValueError,
             rf"{name} has shape \(1, 1, 2\); accepted")):
        for function in (evoformer.attention, evoformer.explain):
            with pytest.raises(error, match=text):
                function(*arrays, **{name: given})
            with pytest.raises(error, match=text):
                function(*[t.numpy() for t in arrays], **{name: given.numpy()})
    of = name.split("_")[0]
    for number in (-1, 20):
        wrong = torch.tensor([[3, number]], dtype=torch.int32)
        with pytest.raises(ValueError, match=rf"{name}\[0, 1\] is {number}; accepted are 0 "
                           f"to 19, the size of dimension 's' of {of}"):
            evoformer.attention(*arrays, **{name: wrong}, check_lengths=True)
        evoformer.attention(*arrays, **{name: wrong})
        # What else is wrong is said first.
        with pytest.raises(ValueError, match="layout 'bnhd'|layout is 'bnhd'"):
            evoformer.attention(*arrays, **{name: wrong}, layout="bnhd",
                                check_lengths=True)
    with pytest.raises(TypeError, match=f"{name} is a list; accepted is an array in int32"):
        evoformer.attention(*arrays, **{name: [1, 2]}, check_lengths=True)
    with pytest.raises(TypeError, match=f"{name} is a list; accepted is a torch.Tensor"):
        evoformer.attention(*arrays, **{name: [1, 2]})
    with pytest.raises(ValueError, match="accepted are none, a single number"):
        evoformer.attention(*[t[0, 0] for t in arrays],
                            **{name: torch.ones(2, dtype=torch.int32)})
