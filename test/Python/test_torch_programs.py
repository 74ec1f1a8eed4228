# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Attention in programs that torch records: traces, torch.fx's graphs, exported
programs, and tensors without memory."""

import subprocess
import sys

import evoformer
import evoformer.nn
import pytest
import torch
from evoformer import dropins
from torch._subclasses.fake_tensor import FakeTensorMode
from torch_cases import Case, device, gradients, one_thread  # noqa: F401


def call(query, key, value, mask, pair, gate):
    return evoformer.attention(query, key, value, [mask, pair], gate)


def operands_of(case):
    return (case.query, case.key, case.value, case.mask, case.pair, case.gate)


@pytest.mark.parametrize("differentiable", [False, True])
def test_jit_trace(device, differentiable, tmp_path):
    """What is recorded computes: it serves other operands, with gradients too, and
    may be saved."""
    case, other = Case(device), Case(device, seed=1)
    with torch.set_grad_enabled(differentiable):
        traced = torch.jit.trace(call, operands_of(case))
    assert "evoformer::attention" in str(traced.graph)
    file = str(tmp_path / "traced.pt")
    torch.jit.save(traced, file)
    for program in (traced, torch.jit.load(file)):
        found = gradients(lambda q, k, v, biases, gate: program(q, k, v, *biases, gate),
                          other.operands, other.weight)
        for one, true in zip(found, gradients(evoformer.attention, other.operands,
                                              other.weight), strict=True):
            assert torch.equal(one, true)


def test_jit_trace_of_a_drop_in(device):
    case = Case(device)
    q, k, v = (t.detach().transpose(2, 3) for t in (case.query, case.key, case.value))
    mask = case.mask.clone()
    traced = torch.jit.trace(dropins.triangle_attention,
                             (q, k, v, case.pair.detach(), mask))
    mask[:, 1] = False  # As no row was when it was traced.
    assert torch.equal(traced(q, k, v, case.pair.detach(), mask),
                       dropins.triangle_attention(q, k, v, case.pair.detach(), mask))


def test_fx(device):
    """One call in the graph."""
    case = Case(device)
    graph = torch.fx.symbolic_trace(call)
    assert [node.target for node in graph.graph.nodes
            if node.op == "call_function"] == [evoformer.attention]
    assert torch.equal(graph(*operands_of(case)), call(*operands_of(case)))
    def with_lse(query):
        out, lse = evoformer.attention(query, query, query, return_lse=True)
        return out + lse.transpose(-1, -2).unsqueeze(-1)
    assert torch.equal(torch.fx.symbolic_trace(with_lse)(case.query),
                       with_lse(case.query))
    with pytest.raises(TypeError, match="query is a Proxy of torch.fx, which has no"):
        torch.fx.symbolic_trace(lambda query: evoformer.explain(query, query, query))
    with pytest.raises(TypeError, match="q is a Proxy; accepted is a torch.Tensor"):
        torch.fx.symbolic_trace(lambda q: dropins.triangle_attention(q, q, q, q))


EXPORTED = """
import evoformer, sys, torch
assert not hasattr(torch.__loader__, "_loader"), "torch's loader was replaced"
program = torch.export.load(sys.argv[1])
query = torch.ones(1, 2, 5, 2, 8)
out = program.module()(query)
assert torch.equal(out, evoformer.attention(query, query, query))
"""


def test_export(tmp_path):
    """Another process finds the operator, also where torch is imported last."""
    class Module(torch.nn.Module):
        def forward(self, query):
            return evoformer.attention(query, query, query)
    length = torch.export.Dim("length", min=2, max=100)
    program = torch.export.export(Module(), (torch.randn(1, 2, 9, 2, 8),),
                                  dynamic_shapes=({2: length},))
    torch.export.save(program, tmp_path / "program.pt2")
    subprocess.run([sys.executable, "-c", EXPORTED, str(tmp_path / "program.pt2")],
                   check=True)


def test_meta():
    """Shapes, strides and types without memory, and the same refusals."""
    case = Case(b=2, sk=7, dv=24)
    here = gradients(evoformer.attention, case.operands, case.weight)
    case.mask, case.weight = case.mask.to("meta"), case.weight.to("meta")
    for name in ("query", "key", "value", "pair", "gate"):
        setattr(case, name, getattr(case, name).detach().to("meta").requires_grad_())
    for one, other in zip(gradients(evoformer.attention, case.operands, case.weight),
                          here, strict=True):
        assert one.is_meta and one.dtype == other.dtype
        assert one.shape == other.shape and one.stride() == other.stride()
    _, lse = evoformer.attention(*case.operands, return_lse=True)
    assert lse.is_meta and lse.shape == (2, 2, 2, 19)
    for layout, shape in (("bnshd", (2, 2, 19, 2, 24)), ("bnhsd", None)):
        if shape is None:
            with pytest.raises(ValueError, match="key has size 7 of dimension 'h'"):
                evoformer.attention(*case.operands, layout=layout)
        else:
            assert evoformer.attention(*case.operands, layout=layout).shape == shape
    with pytest.raises(TypeError, match="key has type f16"):
        evoformer.attention(case.query, case.key.half(), case.value)
    with pytest.raises(ValueError, match="key is on cpu, query on meta"):
        evoformer.attention(case.query, torch.zeros(case.key.shape), case.value)
    with pytest.raises(TypeError, match="device 'meta'; accepted to explain are 'cpu'"):
        evoformer.explain(*case.operands)
    with torch.device("meta"):
        module = evoformer.nn.TriangleAttention(16, 2, 8)
    assert module(torch.empty(1, 9, 9, 16, device="meta")).shape == (1, 9, 9, 16)
    q = case.query.transpose(2, 3)
    keep = torch.ones(2, 2, 1, 1, 19, dtype=torch.bool, device="meta")
    pair = torch.empty(2, 1, 2, 19, 19, device="meta")
    assert dropins.triangle_attention(q, q, q, pair, keep).shape == q.shape


def draw(make):
    """Operands of drop-ins, whose masks have values that they look at."""
    q, pair = make((1, 2, 7, 2, 8)), make((1, 1, 2, 7, 7))
    return q, pair, make((1, 2, 1, 1, 7))


def call_dropins(q, pair, mask):
    """With masks of numbers and of what to keep."""
    heads = q.transpose(2, 3)
    return [
        dropins.EvoformerAttention.apply(q, q, q, mask, pair),
        dropins.EvoformerAttention.apply(q, q, q, mask > 0, pair),
        dropins.DS4Sci_EvoformerAttention(q, q, q, [mask, pair]),
        dropins.triangle_attention(heads, heads, heads, pair, mask > 0),
        dropins.triangle_attention(heads, heads, heads, pair,
                                   kv_lengths=dropins.mask_to_kv_lengths(mask > 0)),
        dropins.trifast_triangle_attention(
            *[heads.transpose(1, 2)[..., :2, :]] * 3, pair[:, 0, :, :2, :2],
            (mask > 0)[:, :, 0, 0, :2])]


def test_dropins_without_memory():
    """Masks that hold no values are not looked at: meta tensors and torch's fake ones."""
    here = call_dropins(*draw(torch.ones))
    there = call_dropins(*draw(lambda shape: torch.empty(shape, device="meta")))
    with FakeTensorMode():
        fake = call_dropins(*draw(torch.ones))
    for one, other, third in zip(here, there, fake, strict=True):
        assert other.is_meta and third.device == one.device
        assert one.shape == other.shape == third.shape
        assert one.dtype == other.dtype == third.dtype
    with pytest.raises(ValueError, match="mask has shape"):
        dropins.mask_to_kv_lengths(torch.empty(2, 3, device="meta"))


def test_other_devices():
    with FakeTensorMode():
        query = torch.empty(1, 2, 5, 2, 8, device="xpu")
        with pytest.raises(TypeError, match="device 'xpu:0'; accepted are 'cpu', 'cuda'"):
            evoformer.attention(query, query, query)
