# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Small networks that learn: the same bits in two runs, and losses of eager mode's."""

import evoformer
import pytest
import torch
from evoformer import score as s
from test_dropout import kept
from torch_cases import one_thread  # noqa: F401

STEPS, BATCH, LENGTH, HEADS, DEPTH, WORDS = 200, 4, 24, 2, 16, 12
DROP = 0.15


def eager(q, k, v, slopes, state, training):
    """[b, s, h, d], op by op."""
    logits = torch.einsum("bihd,bjhd->bhij", q * DEPTH ** -0.5, k)
    i, j = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    distance = (i - j).to(q)
    logits = 4 * torch.tanh(logits / 4) - slopes.reshape(-1, 1, 1) * distance
    weights = logits.masked_fill(distance < 0, -torch.inf).softmax(-1)
    if training:
        weights = weights * kept(DROP, BATCH, 1, HEADS, LENGTH, LENGTH,
                                 tuple(state.tolist()))[:, 0].to(q)
    return torch.einsum("bhij,bjhd->bihd", weights, v)


def ours(q, k, v, slopes, state, training):
    def score(x, b, n, h, i, j, sq, sk, slope):
        return 4 * s.tanh(x / 4) - slope * (i - j)
    dropout = {"dropout_p": DROP, "dropout_state": state} if training else {}
    return evoformer.attention(q, k, v, layout="bshd", causal=True, score=score,
                               captures=[slopes.reshape(-1, 1, 1)], **dropout)


def decays(slopes):
    """RetNet's mask: a factor for each step back, and no key ahead. [h, s, s]"""
    i, j = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    steps = (i - j).to(slopes)
    rates = torch.sigmoid(4 - 10 * slopes).reshape(-1, 1, 1)
    return torch.where(steps < 0, 0, rates ** steps.clamp(min=0))


def eager_retention(q, k, v, slopes, state, training):
    products = torch.einsum("bihd,bjhd->bhij", q * DEPTH ** -0.5, k) * decays(slopes)
    divisor = products.detach().abs().sum(-1, keepdim=True).clamp(min=1)
    return torch.einsum("bhij,bjhd->bihd", products / divisor, v)


def our_retention(q, k, v, slopes, state, training):
    return evoformer.retention(q, k, v, decays(slopes), layout="bshd", causal=True,
                               scale=DEPTH ** -0.5)


class Network(torch.nn.Module):
    """Says for each word what came three before it: attention has to find it."""

    def __init__(self, attend):
        super().__init__()
        self.attend, width = attend, HEADS * DEPTH
        self.words = torch.nn.Embedding(WORDS, width)
        self.places = torch.nn.Embedding(LENGTH, width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.slopes = torch.nn.Parameter(torch.tensor([0.1, 0.02]))
        self.last = torch.nn.Linear(width, WORDS)

    def forward(self, words, state=None):
        x = self.words(words) + self.places.weight
        q, k, v = self.qkv(x).unflatten(-1, (HEADS, 3 * DEPTH)).chunk(3, -1)
        out = self.attend(q, k, v, self.slopes, state, self.training)
        return self.last(x + out.flatten(-2))


def train(attend):
    """Losses of each step, without dropout at the end, and parameters."""
    torch.manual_seed(1)
    network = Network(attend)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    losses = []
    def measure(state=None):
        words = torch.randint(WORDS, (BATCH, LENGTH))
        found = network(words, state)[:, 3:]
        return torch.nn.functional.cross_entropy(found.flatten(0, 1),
                                                 words[:, :-3].flatten())
    for _ in range(STEPS):
        loss = measure(torch.randint(2 ** 62, (2,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    network.eval()
    with torch.no_grad():
        end = torch.stack([measure() for _ in range(10)]).mean()
    return losses, end.item(), [p.detach() for p in network.parameters()]


@pytest.mark.parametrize("attend, written_out", [(ours, eager),
                                                 (our_retention, eager_retention)],
                         ids=["dropout", "retention"])
def test_learns(attend, written_out):
    """A score with a learned slope and dropout, or retention with learned decays, under
    Adam. Rounding errors grow with steps: in the first ones losses are eager mode's, at the
    end about."""
    losses, end, parameters = train(attend)
    again = train(attend)
    assert losses == again[0] and end == again[1]
    assert all(torch.equal(a, b) for a, b in zip(parameters, again[2], strict=True))
    wanted, wanted_end, _ = train(written_out)
    assert losses[:20] == pytest.approx(wanted[:20], rel=1e-4)
    assert sum(losses[-20:]) == pytest.approx(sum(wanted[-20:]), rel=0.05)
    assert end == pytest.approx(wanted_end, rel=0.1)
    # It has learned: a guess has the loss log(WORDS).
    assert end < 0.5 * losses[0]


def test_states_differ():
    torch.manual_seed(9)
    words = torch.randint(WORDS, (BATCH, LENGTH))
    network = Network(ours)
    first, second = (network(words, torch.tensor([1, offset])) for offset in (2, 3))
    assert not torch.equal(first, second)
