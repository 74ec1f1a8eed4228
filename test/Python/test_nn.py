# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""The modules: what they compute, how they begin, what they refuse."""

import pytest
import torch
from evoformer import nn
from torch_cases import one_thread  # noqa: F401
import torch_reference as reference

C, PAIR, HEADS, DEPTH = 16, 12, 2, 8


def randomized(module):
    """Outputs and gates begin with 0."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * torch.randn(parameter.shape, generator=generator))
    return module


def draw(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def keep(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(3)) < 0.7


def normalized(x, norm):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], norm.weight, norm.bias)


def gated(mha, x, biases):
    """Lines 2 to 6 of algorithm 7."""
    def heads(linear):
        return linear(x).unflatten(-1, (mha.heads, mha.head_dim))
    out = reference.attention(heads(mha.linear_q), heads(mha.linear_k),
                              heads(mha.linear_v), biases, heads(mha.linear_g))
    return mha.linear_o(out.flatten(-2))


def triangle(module, z, mask):
    z = z if module.starting else z.transpose(1, 2)
    mask = mask if module.starting else mask.transpose(1, 2)
    z = normalized(z, module.layer_norm)
    pair = torch.einsum("bijc,hc->bhij", z, module.linear.weight)[:, None]
    out = gated(module.mha, z, [pair, mask[:, :, None, None, :]])
    return out if module.starting else out.transpose(1, 2)


def row(module, m, z, mask):
    z = normalized(z, module.layer_norm_z)
    pair = torch.einsum("bijc,hc->bhij", z, module.linear_z.weight)[:, None]
    return gated(module.mha, normalized(m, module.layer_norm_m),
                 [pair, mask[:, :, None, None, :]])


def column(module, m, mask):
    m = normalized(m, module.layer_norm_m).transpose(1, 2)
    mask = mask.transpose(1, 2)[:, :, None, None, :]
    return gated(module.mha, m, [mask]).transpose(1, 2)


def pair_bias(module, s, z, mask):
    z = normalized(z, module.layer_norm_z)
    pair = torch.einsum("bijc,hc->bhij", z, module.linear_z.weight)[:, None]
    return gated(module.mha, normalized(s, module.layer_norm_a)[:, None],
                 [pair, mask[:, None, None, None, :]])[:, 0]


CASES = {
    "start": (lambda: nn.TriangleAttention(C, HEADS, DEPTH), triangle,
              (draw(2, 9, 9, C), keep(2, 9, 9))),
    "end": (lambda: nn.TriangleAttention(C, HEADS, DEPTH, starting=False,
                                         out_bias=False, gate_bias=False), triangle,
            (draw(2, 9, 9, C), keep(2, 9, 9))),
    "row": (lambda: nn.MSARowAttentionWithPairBias(C, PAIR, HEADS, DEPTH), row,
            (draw(2, 5, 9, C), draw(2, 9, 9, PAIR), keep(2, 5, 9))),
    "column": (lambda: nn.MSAColumnAttention(C, HEADS, DEPTH), column,
               (draw(2, 5, 9, C), keep(2, 5, 9))),
    "pair bias": (lambda: nn.AttentionPairBias(C, PAIR, HEADS), pair_bias,
                  (draw(2, 9, C), draw(2, 9, 9, PAIR), keep(2, 9))),
}


@pytest.mark.parametrize("name", CASES)
def test_computes(name):
    """Result and gradients, against the algorithm written out."""
    make, written_out, operands = CASES[name]
    module = randomized(make())
    *tensors, mask = operands
    def run(function, module):
        kind = next(module.parameters()).dtype
        leaves = [t.to(kind).requires_grad_() for t in tensors]
        out = function(*leaves, mask)
        return [out, *torch.autograd.grad((out * draw(*out.shape, seed=5)).sum(),
                                          [*leaves, *module.parameters()])]
    found = run(module, module)
    eager = run(lambda *given: written_out(module, *given), module)
    exact = run(lambda *given: written_out(module, *given), module.double())
    # Gradients of what all rows share are sums of terms that cancel, some to 0.
    terms = max(t.abs().max().item() for t in exact)
    for one, true, usual in zip(found, exact, eager, strict=True):
        reference.check(one.detach(), true.detach(), usual.detach(), terms)


@pytest.mark.parametrize("name", CASES)
def test_leading_dimensions(name):
    """None, or several, and masks with dimensions of size 1 or without some."""
    make, _, (*tensors, mask) = CASES[name]
    module = randomized(make())
    with torch.no_grad():
        whole = module(*tensors, mask)
        assert torch.equal(module(*(t[0] for t in tensors), mask[0]), whole[0])
        deep = module(*(t.view(2, 1, 1, *t.shape[1:]) for t in tensors),
                      mask.view(2, 1, 1, *mask.shape[1:]))
        assert torch.equal(deep.view(whole.shape), whole)
        same = module(*tensors, mask[:1].expand_as(mask))
        for given in (mask[:1], mask[0], mask[0].float()):
            assert torch.equal(module(*tensors, given), same)
        some = mask[..., :1].expand_as(mask)
        assert torch.equal(module(*tensors, mask[..., :1]), module(*tensors, some))
        assert module(*tensors).shape == tensors[0].shape
        assert module(*(t[:0] for t in tensors)).shape == (0, *tensors[0].shape[1:])


@pytest.mark.parametrize("name", CASES)
def test_begins_as_alphafold(name):
    """AlphaFold 2, supplement, 1.11.4."""
    torch.manual_seed(0)
    make, _, (*tensors, _) = CASES[name]
    module = make()
    assert not module(*tensors).any()
    mha = module.mha
    limit = (6 / (C + HEADS * DEPTH)) ** 0.5
    for linear in (mha.linear_q, mha.linear_k, mha.linear_v):
        largest = linear.weight.abs().max()
        assert 0.9 * limit < largest <= limit
    assert not mha.linear_g.weight.any() and not mha.linear_o.weight.any()
    for bias, value in ((mha.linear_g.bias, 1), (mha.linear_o.bias, 0),
                        (mha.linear_q.bias, 0)):
        assert bias is None or (bias == value).all()
    pair = getattr(module, "linear", None) or getattr(module, "linear_z", None)
    if pair is not None:
        assert 0.5 < pair.weight.std() * pair.in_features ** 0.5 < 1.5


def test_biases_are_chosen():
    def names(**options):
        return set(dict(nn.GatedAttention(C, HEADS, DEPTH, **options)
                        .named_parameters()))
    usual = {f"linear_{c}.weight" for c in "qkvgo"} | {"linear_g.bias", "linear_o.bias"}
    assert names() == usual
    assert names(q_bias=True) == usual | {"linear_q.bias"}
    assert names(gate_bias=False, out_bias=False) == {
        f"linear_{c}.weight" for c in "qkvgo"}
    assert names(gating=False) == {name for name in usual if "_g" not in name}
    module = nn.AttentionPairBias(C, PAIR, HEADS, norm=False, norm_z_bias=False)
    assert set(dict(module.named_parameters())) == {
        "layer_norm_z.weight", "linear_z.weight", "mha.linear_q.bias",
        *(f"mha.linear_{c}.weight" for c in "qkvgo")}


def renamed(module, names):
    """The state of a module, by the names that another package has for its parts."""
    state = {}
    for name, tensor in module.state_dict().items():
        for ours, theirs in names.items():
            if name.startswith(ours):
                name = theirs + name[len(ours):]
                break
        state[name] = tensor
    return state


@pytest.mark.parametrize("name,names", [
    ("end", {"linear.": "linear_z."}),
    ("column", {"": "_msa_att."}),
    ("pair bias", {"layer_norm_a": "norm_s", "layer_norm_z": "proj_z.0",
                   "linear_z": "proj_z.1", "mha.linear_": "proj_"}),
    ("pair bias", {"layer_norm_": "layernorm_", "linear_z": "linear_nobias_z",
                   "mha": "attention"})])
def test_other_names(name, names):
    """Strictly, also within another module; one too many or too few is reported."""
    make = CASES[name][0]
    source = randomized(make())
    state = renamed(source, names)
    assert state.keys() != source.state_dict().keys()
    loaded = make()
    loaded.load_state_dict(state)
    outer = torch.nn.ModuleDict({"inner": make()})
    outer.load_state_dict({"inner." + key: value for key, value in state.items()})
    for other in (loaded, outer["inner"]):
        for one, two in zip(source.parameters(), other.parameters(), strict=True):
            assert torch.equal(one, two)
    with pytest.raises(RuntimeError, match="Unexpected key"):
        make().load_state_dict({**state, "linear_nothing.weight": torch.ones(1)})
    with pytest.raises(RuntimeError, match="Missing key"):
        make().load_state_dict(dict(list(state.items())[1:]))


def test_refuses():
    module = nn.TriangleAttention(C, HEADS, DEPTH)
    with pytest.raises(ValueError, match="z has rank 2; accepted is 3 or more"):
        module(draw(9, C))
    for shape in ((9, 8), (2, 9, 9)):
        with pytest.raises(ValueError, match=r"mask has shape .* accepted is \(1, 9, 9\)"):
            module(draw(1, 9, 9, C), keep(*shape))
    with pytest.raises(ValueError, match="c_s is 16; accepted without head_dim are"):
        nn.AttentionPairBias(16, PAIR, 3)
    assert nn.AttentionPairBias(16, PAIR, 3, 4)(draw(9, 16), draw(9, 9, PAIR)).shape == (
        9, 16)
