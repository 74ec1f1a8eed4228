# REQUIRES: python-library, models
# RUN: %models-pytest %s
"""The models' weights in evoformer.nn's modules: they load strictly and give what the
models' own modules give."""

import importlib

import pytest
import torch
import torch_reference as reference
from evoformer import nn
from model_cases import CHANNELS, HEADS, HIDDEN, MODELS, PAIR
from torch_cases import one_thread  # noqa: F401

LENGTH, SEQUENCES = 11, 7
NONE = dict(gate_bias=False, out_bias=False)


def triangle(starting, **options):
    return lambda: nn.TriangleAttention(CHANNELS, HEADS, HIDDEN, starting, **options)


def boltz_pair_bias():
    module = importlib.import_module("boltz.model.layers.attention")
    return module.AttentionPairBias(CHANNELS, PAIR, HEADS)


def boltz2_pair_bias():
    module = importlib.import_module("boltz.model.layers.attentionv2")
    return module.AttentionPairBias(CHANNELS, PAIR, HEADS)


def protenix_pair_bias(offset):
    module = importlib.import_module("protenix.model.modules.transformer")
    made = module.AttentionPairBias(has_s=False, create_offset_ln_z=offset, n_heads=HEADS,
                                    c_a=CHANNELS, c_z=PAIR)
    # The other cannot be called in f64.
    made.attention.use_efficient_implementation = False
    return made


def pair_bias(**options):
    return lambda: nn.AttentionPairBias(CHANNELS, PAIR, HEADS, **options)


# By model: theirs (a name of model_cases.py, or how it is made and called), ours.
CASES = {
    "Boltz": [
        ("start", triangle(True, **NONE)), ("end", triangle(False, **NONE)),
        ((boltz_pair_bias, lambda m, s, z, mask: m(s, z, mask)), pair_bias()),
        ((boltz2_pair_bias, lambda m, s, z, mask: m(s, z, mask, s)),
         pair_bias(norm=False))],
    "OpenFold": [
        ("start", triangle(True)), ("end", triangle(False)),
        ("row", lambda: nn.MSARowAttentionWithPairBias(CHANNELS, PAIR, HEADS, HIDDEN)),
        ("column", lambda: nn.MSAColumnAttention(CHANNELS, HEADS, HIDDEN))],
    "OpenFold3": [
        ("start", triangle(True, **NONE)), ("end", triangle(False, **NONE)),
        ("row", lambda: nn.MSARowAttentionWithPairBias(CHANNELS, PAIR, HEADS, HIDDEN,
                                                       **NONE)),
        ("column", lambda: nn.MSAColumnAttention(CHANNELS, HEADS, HIDDEN, **NONE)),
        ("single", lambda: nn.AttentionPairBias(CHANNELS, PAIR, HEADS, HIDDEN))],
    "Protenix": [
        ("start", triangle(True, **NONE)), ("end", triangle(False, **NONE)),
        ((lambda: protenix_pair_bias(True), lambda m, s, z, _: m(s, None, z)),
         pair_bias()),
        ((lambda: protenix_pair_bias(False), lambda m, s, z, _: m(s, None, z)),
         pair_bias(norm_z_bias=False))],
}


def operands(name):
    """Of batches, since Boltz's takes no others; rows keep their first key."""
    generator = torch.Generator().manual_seed(1)
    def draw(*shape):
        return torch.randn(2, *shape, generator=generator)
    def mask(*shape):
        keep = torch.rand(2, *shape, generator=generator) < 0.7
        keep[..., 0] = True
        keep[:, 0] = True
        return keep.float()
    pair = draw(LENGTH, LENGTH, PAIR)
    return {"row": (draw(SEQUENCES, LENGTH, CHANNELS), pair, mask(SEQUENCES, LENGTH)),
            "column": (draw(SEQUENCES, LENGTH, CHANNELS), mask(SEQUENCES, LENGTH)),
            "start": (draw(LENGTH, LENGTH, CHANNELS), mask(LENGTH, LENGTH)),
            "end": (draw(LENGTH, LENGTH, CHANNELS), mask(LENGTH, LENGTH)),
            }.get(name, (draw(LENGTH, CHANNELS), pair, mask(LENGTH)))


@pytest.mark.parametrize("model,index", [
    (model, index) for model in MODELS for index in range(len(CASES[model.__name__]))],
    ids=lambda part: getattr(part, "__name__", part))
def test_weights(model, index):
    theirs, ours = CASES[model.__name__][index]
    try:
        package = importlib.import_module(model.package)
        if isinstance(theirs, str):
            module, call = model.modules[theirs](package), (
                lambda m, *tensors: m(*tensors[:-1], mask=tensors[-1]))
        else:
            module, call = theirs[0](), theirs[1]
    except ImportError as problem:
        pytest.skip(f"{model.package} cannot be imported: {problem} "
                    "(scripts/requirements-models.txt)")
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * torch.randn(parameter.shape, generator=generator))
        own = ours()
        own.load_state_dict(module.state_dict())
        assert own.state_dict().keys() == ours().state_dict().keys()
        *tensors, mask = operands(theirs)
        if model.__name__ == "Protenix" and not isinstance(theirs, str):
            mask = torch.ones_like(mask)  # It takes none.
        eager = call(module, *tensors, mask)
        exact = call(module.double(), *(t.double() for t in tensors), mask.double())
        reference.check(own(*tensors, mask), exact, eager)
