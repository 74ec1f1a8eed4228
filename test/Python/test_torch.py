# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Attention of torch tensors: on the processor here, on a GPU by
`pytest -m gpu`."""

import time

import evoformer
import pytest
import torch
import torch._dynamo.testing
import torch_reference as reference
from evoformer import _torch
from torch.utils.checkpoint import checkpoint

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
TYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


class Case:
    def __init__(self, device="cpu", kind=torch.float32, b=1, n=2, sq=19, sk=19,
                 h=2, d=16, dv=None, seed=0):
        self.generator = torch.Generator("cpu").manual_seed(seed)
        self.device, self.kind = device, kind
        dv = dv or d
        self.query = self.normal(b, n, sq, h, d)
        self.key = self.normal(b, n, sk, h, d)
        self.value = self.normal(b, n, sk, h, dv)
        self.gate = self.normal(b, n, sq, h, dv)
        self.pair = self.normal(b, 1, h, sq, sk)
        self.mask = (torch.rand(b, n, 1, 1, sk, generator=self.generator)
                     < 0.8).to(device)
        self.weight = self.normal(b, n, sq, h, dv).detach()

    def normal(self, *shape):
        return torch.randn(shape, generator=self.generator).to(
            self.device, self.kind).requires_grad_()

    @property
    def operands(self):
        return self.query, self.key, self.value, [self.mask, self.pair], self.gate


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Idle threads of torch would wait on a processor that others use."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def gradients(function, operands, weight):
    """The result, and gradients of all float operands."""
    out = function(*operands)
    leaves = [t for t in reference.flat(operands) if t.requires_grad]
    return [out, *torch.autograd.grad((out * weight.to(out.dtype)).sum(), leaves)]


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


def test_without_gradient_and_lse(device):
    case = Case(device)
    with torch.no_grad():
        out, lse = evoformer.attention(*case.operands, return_lse=True)
        alone = evoformer.attention(*case.operands)
    again, lse_again = evoformer.attention(*case.operands, return_lse=True)
    assert torch.equal(out, alone) and torch.equal(out, again)
    assert torch.equal(lse, lse_again) and not lse_again.requires_grad
    assert not out.requires_grad and again.requires_grad
    logits = torch.einsum("bnihd,bnjhd->bnhij", case.query.double() / 4,
                          case.key.double()) + case.pair
    logits = logits.masked_fill(~case.mask, -torch.inf)
    torch.testing.assert_close(lse, logits.logsumexp(-1).float(), rtol=1e-5,
                               atol=1e-5)


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
                                      None, "bnshd", (False, False))
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
                                                  False, True)
    else:
        out = evoformer.attention(*case.operands)
    gradient, = torch.autograd.grad(loss(out), case.query, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        gradient.square().sum().backward()


@pytest.mark.parametrize("scale", [None, 0.5])
def test_opcheck(device, scale):
    case = Case(device)
    torch.library.opcheck(torch.ops.evoformer.attention.default,
                          (*case.operands, scale, "bnshd", True, True))
    torch.library.opcheck(torch.ops.evoformer.attention.default,
                          (case.query, case.key, case.value, [], None, scale,
                           "bnshd", False, True))
    turned = [t.detach().transpose(2, 4) for t in
              (case.query, case.key, case.value)]
    torch.library.opcheck(torch.ops.evoformer.attention.default,
                          (*turned, [], None, scale, "bndhs", False, False))


class Stack(torch.nn.Module):
    """Triangle attention both ways and a transition."""

    def __init__(self, channels=16, heads=2):
        super().__init__()
        self.start = evoformer.nn.TriangleAttention(channels, heads, 8)
        self.end = evoformer.nn.TriangleAttention(channels, heads, 8,
                                                  starting=False)
        self.transition = torch.nn.Sequential(
            torch.nn.LayerNorm(channels), torch.nn.Linear(channels, 32),
            torch.nn.ReLU(), torch.nn.Linear(32, channels))

    def forward(self, z, mask):
        z = z + self.start(z, mask)
        z = z + self.end(z, mask)
        return z + self.transition(z)


def test_compile(device):
    """One graph, and one recompilation when lengths turn out to be dynamic."""
    torch.manual_seed(0)
    torch.compiler.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    model = Stack().to(device)
    compiled = torch.compile(model, fullgraph=True, backend=counter)
    for length in (11, 24, 17, 40, 9):
        z = torch.randn(2, length, length, 16, device=device)
        mask = torch.rand(2, length, length, device=device) < 0.9
        out = compiled(z, mask)
        out.square().sum().backward()
        found = [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        expected = model(z, mask)
        expected.square().sum().backward()
        torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)
        for a, p in zip(found, model.parameters()):
            torch.testing.assert_close(a, p.grad, rtol=1e-3, atol=1e-3)
        model.zero_grad()
    assert counter.frame_count == 2


def train(model, steps, device):
    """Losses of a regression by `model`; the same data each time."""
    torch.manual_seed(1)
    z = torch.randn(1, 12, 12, 16, device=device)
    target = torch.randn(1, 12, 12, 16, device=device)
    mask = torch.rand(1, 12, 12, device=device) < 0.9
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(z, mask) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def make_stack(device):
    torch.manual_seed(0)
    return Stack().to(device)


def test_training(device, monkeypatch):
    """Follows eager mode's loss, twice with equal bits."""
    steps = 300 if device == "cuda" else 60
    first = train(make_stack(device), steps, device)
    assert first == train(make_stack(device), steps, device)
    import evoformer.nn as modules
    monkeypatch.setattr(modules, "attention", lambda q, k, v, biases, gate:
                        reference.attention(q, k, v, biases, gate))
    eager = train(make_stack(device), steps, device)
    assert first[-1] < 0.7 * first[0]
    # What noise does: the same run from data that differ in the last place.
    assert max(abs(a - b) for a, b in zip(first, eager)) < 2e-2 * first[0]


def test_profiler_and_flops(device):
    case = Case(device)
    with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
        evoformer.attention(*case.operands).sum().backward()
    one_product = 2 * 1 * 2 * 2 * 19 * 19 * 16
    assert counter.get_total_flops() == (2 + 5) * one_product
    with torch.profiler.profile() as profile:
        evoformer.attention(*case.operands)
    assert any(event.name == "evoformer::attention" for event in profile.events())


REFUSED = [
    (lambda c: dict(query=c.query.double()), TypeError, "query has type torch.float64"),
    (lambda c: dict(key=c.key.half()), TypeError, "key has type f16"),
    (lambda c: dict(key=c.key[:, :1]), ValueError,
     "key has size 1 of dimension 'n' where 2 is expected"),
    (lambda c: dict(biases=[c.mask.to(torch.uint8)]), TypeError, "uint8"),
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


def test_host_time():
    """Of a call that launches on the processor but computes nothing; the goals
    are 25 us, and 40 us for a forward with gradient. Machines that run tests are
    busy: three times that is allowed."""
    case = Case(b=0)
    operands = case.operands
    def best(times=1500):
        shortest = 1.0
        for _ in range(times):
            begin = time.perf_counter()
            evoformer.attention(*operands)
            shortest = min(shortest, time.perf_counter() - begin)
        return shortest
    with_gradient = best()
    with torch.no_grad():
        without = best()
    print(f"host time {without * 1e6:.1f} us, {with_gradient * 1e6:.1f} us with "
          "gradient")
    assert without < 75e-6 and with_gradient < 120e-6


@pytest.mark.gpu
def test_other_streams():
    case = Case("cuda", sq=200, sk=200)
    expected = evoformer.attention(*case.operands)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        out = evoformer.attention(*case.operands)
        doubled = out * 2
    stream.synchronize()
    assert torch.equal(doubled, expected * 2)


@pytest.mark.gpu
def test_cuda_graph():
    case = Case("cuda")
    operands = [t.detach() for t in case.operands[:3]]
    for _ in range(2):
        evoformer.attention(*operands, [case.mask, case.pair.detach()])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = evoformer.attention(*operands, [case.mask, case.pair.detach()])
    operands[0].copy_(torch.randn_like(operands[0]))
    graph.replay()
    expected = evoformer.attention(*operands, [case.mask, case.pair.detach()])
    torch.cuda.synchronize()
    assert torch.equal(out, expected)


@pytest.mark.gpu
def test_several_gpus():
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    results = []
    for device in ("cuda:1", "cuda:0"):
        case = Case(device)
        results.append([t.cpu() for t in gradients(
            evoformer.attention, case.operands, case.weight)])
        assert torch.cuda.current_device() == 0
    for a, b in zip(*results):
        assert torch.equal(a, b)
