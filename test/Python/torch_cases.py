"""What the tests of torch tensors share."""

import pytest
import torch
import torch_reference as reference

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Idle threads of torch would wait on a processor that others use."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


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


def gradients(function, operands, weight):
    """The result, and gradients of all float operands."""
    out = function(*operands)
    leaves = [t for t in reference.flat(operands) if t.requires_grad]
    return [out, *torch.autograd.grad((out * weight.to(out.dtype)).sum(), leaves)]
