# REQUIRES: python-library, models
# RUN: %models-pytest %s
"""The models' own attention modules, told to use each of their kernels under
`evoformer.patch()`, beside their own plain way: result and gradients."""

import copy
import importlib
import itertools

import evoformer
import pytest
import torch
import torch_reference as reference
from model_cases import CHANNELS, MODELS, PAIR
from torch_cases import one_thread  # noqa: F401

# More than the 16 up to which the models use no kernel; the last chunk holds one.
LENGTH, CHUNK = 21, 5
SEQUENCES = 19
# The models call DeepSpeed's kernel in bf16.
KINDS = {"deepspeed": torch.bfloat16}


@pytest.fixture(scope="module", autouse=True)
def patched():
    """While the models are imported, too: that is when they look for kernels. Some
    want a GPU before they look for cuEquivariance, whose kernels need one."""
    with pytest.MonkeyPatch.context() as context, evoformer.patch(
            stand_in=True) as result:
        context.setattr(torch.cuda, "is_available", lambda: True)
        for model in MODELS:
            try:
                package = importlib.import_module(model.package)
                for make in model.modules.values():
                    make(package)
                model.found, model.reason = package, None
            except ImportError as problem:
                model.found, model.reason = None, f"cannot be imported: {problem}"
        context.undo()
        yield result


def draw(*shape):
    return torch.randn(shape, generator=draw.generator)


class Case:
    """Operands of a module by name, and its mask with one row that drops all."""

    def __init__(self, name, batch):
        draw.generator = torch.Generator().manual_seed(len(name))
        rows = SEQUENCES if name in ("row", "column") else LENGTH
        pair = dict(z=draw(*batch, LENGTH, LENGTH, PAIR))
        if name == "single":
            self.operands = dict(a=draw(*batch, LENGTH, CHANNELS), **pair)
            mask = torch.rand(*batch, LENGTH, generator=draw.generator) < 0.7
            mask.view(-1, LENGTH)[-1] = False
        else:
            shape = (*batch, rows, LENGTH)
            first = "m" if name in ("row", "column") else "x"
            self.operands = {first: draw(*shape, CHANNELS)}
            if name == "row":
                self.operands |= pair
            mask = torch.rand(shape, generator=draw.generator) < 0.7
            # By row of keys, which the second of the two are.
            turned = mask.transpose(-1, -2) if name in ("end", "column") else mask
            turned[..., 3, :] = False
            self.dead = (slice(None),) * len(batch) + (3,)
        self.mask = mask.float()
        self.keys = -2 if name in ("end", "column") else -1

    def mask_that_cancels(self):
        """Where all keys carry the same number, softmax does not see it."""
        dead = (self.mask == 0).all(self.keys, keepdim=True)
        return torch.where(dead, 1.0, self.mask)


def randomize(module):
    """Of nearly all of these, outputs and gates begin with 0."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * torch.randn(parameter.shape, generator=generator))


def run(module, case, mask, kind, flags):
    """Result and gradients of the operands and of all parameters, as float32 but
    for f64."""
    module = copy.deepcopy(module).to(kind)
    operands = {name: t.to(kind).requires_grad_() for name, t in case.operands.items()}
    out = module(**operands, mask=mask.to(kind), **flags)
    weight = torch.randn(case_shape(case), generator=torch.Generator().manual_seed(8))
    gradients = torch.autograd.grad(
        (out.view(weight.shape) * weight.to(kind)).sum(),
        [*operands.values(), *module.parameters()])
    results = [out.view(weight.shape), *gradients]
    return [t.detach() if kind == torch.float64 else t.detach().float()
            for t in results]


def case_shape(case):
    return next(iter(case.operands.values())).shape


def with_inf(module, inf):
    for part in module.modules():
        if hasattr(part, "inf"):
            part.inf = inf
    return module


CASES = [(model, name, kernel, shape)
         for model in MODELS for name, kernel, shape in itertools.product(
             model.modules, model.kernels, ("unbatched", "batched", "chunked"))
         # The first is in no chunks; cuEquivariance's kernel wants a pair bias, which
         # the second has not.
         if not (shape == "chunked" and name == "single") and
         (name, kernel) != ("column", "cuequivariance")]


@pytest.mark.parametrize("model,name,kernel,shape", CASES,
                         ids=lambda part: getattr(part, "__name__", part))
def test_agrees_with_its_own_plain_way(model, name, kernel, shape, monkeypatch):
    if model.found is None:
        pytest.skip(f"{model.package} {model.reason} "
                    "(scripts/requirements-models.txt)")
    batch = {"batched": (2,)}.get(shape, ())
    if batch and (model.__name__, kernel) == ("Protenix", "cuequivariance"):
        batch = (1,)  # It takes the first batch of the kernel's result.
    flags = dict(chunk_size=CHUNK) if shape == "chunked" else {}
    case = Case(name, batch)
    module = model.modules[name](model.found)
    randomize(module)
    calls = count_calls(kernel, monkeypatch)
    found = run(module, case, case.mask, torch.float32,
                {**flags, **model.kernels[kernel]})
    assert len(calls) == number_of_calls(model, name, shape)
    if kernel == "cuequivariance":
        # Bool there: rows without keys have equal weights, as from any number that
        # swallows the logits.
        exact = run(with_inf(copy.deepcopy(module), 1e30), case, case.mask,
                    torch.float64, {})
        usual = run(module, case, case.mask, torch.float32, {})
    else:
        # Added there, and in exact arithmetic it cancels where all keys carry it.
        mask = case.mask_that_cancels()
        exact = run(module, case, mask, torch.float64, {})
        usual = run(module, case, mask, KINDS.get(kernel, torch.float32), {})
    # Gradients of what all rows share are sums of terms that cancel, some to 0.
    terms = max(1.0, *(t.abs().max().item() for t in exact))
    for one, true, eager in zip(found, exact, usual, strict=True):
        if kernel in KINDS:
            reference.check(one.to(KINDS[kernel]), true, eager.to(KINDS[kernel]))
        else:
            reference.check(one, true, eager, terms)


def count_calls(kernel, monkeypatch):
    """Of attention by the drop-in: a model that goes its plain way makes none."""
    dropin = importlib.import_module(f"evoformer.dropins.{kernel}")
    calls, attention = [], dropin.attention
    def counted(*arguments, **keywords):
        calls.append(arguments)
        return attention(*arguments, **keywords)
    monkeypatch.setattr(dropin, "attention", counted)
    return calls


def number_of_calls(model, name, shape):
    if shape != "chunked" or model.__name__ == "Boltz":  # which does not chunk then
        return 1
    return -(-(SEQUENCES if name == "row" else LENGTH) // CHUNK)


def test_replaced(patched):
    for name in ("cuequivariance_torch.primitives.triangle.triangle_attention",
                 "deepspeed.ops.deepspeed4science.DS4Sci_EvoformerAttention"):
        assert name in patched.replaced
