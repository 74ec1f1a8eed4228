# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Dropout in the kernels: which weights it drops, what it makes of outputs and gradients,
where its random numbers come from."""

import evoformer
import numpy as np
import pytest
import torch
from evoformer import flash_attn
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal

STATE = (1234567890123456789, 42)


def draw(seed, offset, stream, rows, columns):
    """16 bits for each row and column, as docs/reference/evo_tile-dialect.md has them."""
    row, column = np.meshgrid(np.arange(rows, dtype=np.uint64),
                              np.arange(columns, dtype=np.uint64), indexing="ij")
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    seed, offset = (np.uint64(one % 2 ** 64) for one in (seed, offset))
    words = [column // np.uint64(8), row, np.full_like(row, stream),
             np.full_like(row, offset & low)]
    keys = [seed & low, (seed ^ offset) >> high]
    for _ in range(7):
        left = np.uint64(0xD2511F53) * words[0]
        right = np.uint64(0xCD9E8D57) * words[2]
        words = [right >> high ^ words[1] ^ keys[0], right & low,
                 left >> high ^ words[3] ^ keys[1], left & low]
        keys = [keys[0] + np.uint64(0x9E3779B9) & low, keys[1] + np.uint64(0xBB67AE85) & low]
    word = np.choose((column // np.uint64(2) % np.uint64(4)).astype(int), words)
    return word >> np.uint64(16) * (column % np.uint64(2)) & np.uint64(0xFFFF)


def kept(p, b, n, h, sq, sk, state=STATE):
    """What each weight is multiplied by."""
    threshold = min(round(p * 65536), 65535)
    masks = [draw(*state, stream, sq, sk) >= threshold for stream in range(b * n * h)]
    return torch.tensor(np.reshape(masks, (b, n, h, sq, sk))) * 65536 / (65536 - threshold)


def state_on(device, state=STATE):
    return torch.tensor(state, dtype=torch.int64, device=device)


def written_out(q, k, v, factors, bias=None, seen=None):
    """[b, s, h, d]."""
    k, v = (t.repeat_interleave(q.shape[2] // k.shape[2], 2) for t in (k, v))
    logits = torch.einsum("bihd,bjhd->bhij", q * q.shape[3] ** -0.5, k)
    if bias is not None:
        logits = logits + bias
    if seen is not None:
        logits = logits.masked_fill(~seen, -torch.inf)
    return torch.einsum("bhij,bjhd->bihd", logits.softmax(-1) * factors.to(logits), v)


def operands(kind, device, heads=4, key_heads=4, sq=37, sk=53, depth=32, batch=2):
    return [normal(batch, sq, heads, depth, kind=kind, device=device),
            *(normal(batch, sk, key_heads, depth, seed=seed, kind=kind, device=device)
              for seed in (1, 2))]


@pytest.mark.parametrize("p", [0.5, 0.97])
def test_masks(device, p):
    """Values that are the identity show each weight."""
    b, h, sq, sk = 2, 3, 21, 45
    q, k, _ = operands(torch.float32, device, heads=h, key_heads=h, sq=sq, sk=sk)
    eye = torch.eye(sk, device=device).reshape(1, sk, 1, sk).expand(b, sk, h, sk)
    args = {"layout": "bshd", "dropout_p": p, "dropout_state": state_on(device)}
    shown = evoformer.attention(q, k, eye, **args).permute(0, 2, 1, 3)
    plain = evoformer.attention(q, k, eye, layout="bshd").permute(0, 2, 1, 3)
    factors = kept(p, b, 1, h, sq, sk)[:, 0].to(device, torch.float32)
    assert torch.equal(shown != 0, factors != 0)
    assert torch.allclose(shown, plain * factors, rtol=1e-5)
    # The same whoever else is there, and where only some keys are seen.
    part = evoformer.attention(q[:1, :, :1], k[:1, :, :1], eye[:1, :, :1], **args)
    factor = kept(p, 1, 1, 1, sq, sk)[0].to(device)
    assert torch.equal(part.permute(0, 2, 1, 3) != 0, factor != 0)
    window = evoformer.attention(q, k, eye, window=(9, 4), **args).permute(0, 2, 1, 3)
    assert torch.equal((window != 0) & (factors != 0), window != 0)


@pytest.mark.parametrize("kind, p, causal", [
    (torch.float16, 0.1, False), (torch.bfloat16, 0.8, True), (torch.float32, 0.1, True)],
    ids=str)
def test_agrees_with_mask(device, kind, p, causal):
    tensors = [*operands(kind, device, key_heads=2),
               normal(1, 4, 37, 53, seed=3, kind=kind, device=device)]
    i, j = torch.arange(37)[:, None], torch.arange(53)
    seen = (j <= i + 16).to(device) if causal else None
    factors = kept(p, 2, 1, 4, 37, 53)[:, 0].to(device)
    compare(lambda q, k, v, bias: evoformer.attention(
                q, k, v, [bias.unsqueeze(1)[:, 0]], layout="bshd", causal=causal,
                dropout_p=p, dropout_state=state_on(device)),
            lambda q, k, v, bias: written_out(q, k, v, factors, bias, seen), tensors)


def test_ragged(device):
    """Draws are of a sequence's own places."""
    lengths = [5, 0, 37, 18]
    ends = torch.tensor([0, *np.cumsum(lengths)], dtype=torch.int32, device=device)
    q, k, v = (t[0] for t in operands(torch.float32, device, sq=60, sk=60, batch=1))
    out = evoformer.attention(q, k, v, layout="shd", cu_seqlens=ends, max_seqlen=40,
                              dropout_p=0.4, dropout_state=state_on(device))
    factors = kept(0.4, 4, 1, 4, 37, 37)[:, 0]
    for b, (first, length) in enumerate(zip(ends.tolist(), lengths)):
        some = slice(first, first + length)
        wanted = written_out(q[None, some], k[None, some], v[None, some],
                             factors[b:b + 1, :, :length, :length].to(device))
        assert torch.allclose(out[some], wanted[0], atol=1e-5)


def test_generator(device):
    """The default generator of the device says which; each call another."""
    q, k, v = operands(torch.float32, device)
    def call():
        return flash_attn.flash_attn_func(q, k, v, 0.5)
    torch.manual_seed(7)
    first, second = call(), call()
    torch.manual_seed(7)
    assert torch.equal(first, call()) and not torch.equal(first, second)
    out = torch.nn.functional.scaled_dot_product_attention(
        *(t.transpose(1, 2) for t in (q, k, v))).transpose(1, 2)
    mean = torch.stack([call() for _ in range(200)]).mean(0)
    assert (mean - out).abs().max() < 0.4
    torch.manual_seed(7)
    heads_first = evoformer.scaled_dot_product_attention(
        *(t.transpose(1, 2) for t in (q, k, v)), dropout_p=0.5)
    # Rows of one b are the same draws as a batch of them.
    assert torch.equal(heads_first.transpose(1, 2), first)


def test_gradients_keep_the_state(device):
    """Equal bits twice, and what is drawn meanwhile does not matter."""
    q, k, v = (t.requires_grad_() for t in operands(torch.float32, device))
    results = []
    for _ in range(2):
        torch.manual_seed(3)
        out = evoformer.attention(q, k, v, layout="bshd", dropout_p=0.3)
        torch.rand(5, device=device)
        results.append((out, *torch.autograd.grad(out.square().sum(), (q, k, v))))
    assert all(torch.equal(a, b) for a, b in zip(*results))


def test_lse_is_of_all_weights(device):
    q, k, v = operands(torch.float32, device)
    plain = evoformer.attention(q, k, v, layout="bshd", return_lse=True)[1]
    out, lse = evoformer.attention(q, k, v, layout="bshd", return_lse=True, dropout_p=0.6)
    assert torch.equal(lse, plain)


@pytest.mark.parametrize("kind, sk", [(torch.float32, 53), (torch.bfloat16, 300)],
                         ids=str)
def test_probabilities(device, kind, sk):
    """What was dropped is negative, and out is the sum of the rest."""
    with torch.no_grad():
        q, k, v = operands(kind, device, key_heads=2, sk=sk)
        out, lse, shown = flash_attn.flash_attn_func(q, k, v, 0.25, causal=True,
                                                     return_attn_probs=True)
        plain, same = flash_attn.flash_attn_func(q, k, v, causal=True,
                                                 return_attn_probs=True)[:2]
        assert shown.shape == (2, 4, 37, sk) and shown.dtype == kind
        assert torch.equal(lse, same)
        assert 0.2 < (shown < 0).sum() / (shown != 0).sum() < 0.3
        values = v.double().repeat_interleave(2, 2)
        # The largest of each row is 1.
        assert (shown.abs().amax(-1) == 1).all()
        shown = shown / shown.abs().sum(-1, keepdim=True, dtype=torch.float64)
        for weights, wanted in ((shown.abs(), plain), (shown.clamp(min=0) / 0.75, out)):
            found = torch.einsum("bhij,bjhd->bihd", weights.double(), values)
            error = (found - wanted.double()).abs().max()
            assert error < 20 * torch.finfo(kind).eps


def test_probabilities_of_packed(device):
    """Those of each sequence alone, by the same state."""
    with torch.no_grad():
        q, k, v = (t[0] for t in operands(torch.float32, device, sq=60, sk=60, batch=1))
        starts = torch.tensor([0, 11, 11, 40, 55], dtype=torch.int32, device=device)
        ends = torch.tensor([0, 25, 31, 31, 60], dtype=torch.int32, device=device)
        out, _, shown = flash_attn.flash_attn_varlen_func(
            q, k, v, starts, ends, 29, 29, 0.5, return_attn_probs=True)
        assert shown.shape == (4, 4, 29, 29)
        assert 0.4 < (shown < 0).sum() / (shown != 0).sum() < 0.6
        for b in range(4):
            i, j = (slice(t[b], t[b + 1]) for t in (starts, ends))
            lengths = i.stop - i.start, j.stop - j.start
            own = shown[b, :, :lengths[0], :lengths[1]]
            assert shown[b].count_nonzero() == own.count_nonzero() == own.numel()
            own = own / own.abs().sum(-1, keepdim=True)
            found = torch.einsum("hij,jhd->ihd", own.clamp(min=0) * 2, v[j])
            torch.testing.assert_close(found, out[i], rtol=1e-4, atol=1e-5)


def test_none_and_all(device):
    q, k, v = operands(torch.float32, device)
    plain = evoformer.attention(q, k, v, layout="bshd")
    assert torch.equal(evoformer.attention(q, k, v, layout="bshd", dropout_p=0.0), plain)
    assert torch.equal(evoformer.attention(q, k, v, layout="bshd", dropout_p=1e-9), plain)
    most = evoformer.attention(q, k, v, layout="bshd", dropout_p=0.99999)
    assert (most == 0).float().mean() > 0.98 and most.isfinite().all()


def test_numpy(device):
    """The same draws of NumPy arrays, and their gradients."""
    q, k, v = operands(torch.float32, device)
    arrays = [t.detach().cpu().numpy() for t in (q, k, v)]
    state = np.array(STATE, np.int64)
    args = {"layout": "bshd", "dropout_p": 0.3}
    out, vjp = evoformer.attention_vjp(*arrays, **args, dropout_state=state)
    again = evoformer.attention(*arrays, **args, dropout_state=state)
    assert np.array_equal(out, again)
    tensors = [t.detach().requires_grad_() for t in (q, k, v)]
    wanted = evoformer.attention(*tensors, **args, dropout_state=state_on(device))
    assert np.allclose(out, wanted.detach().cpu().numpy(), atol=1e-5)
    gradients = torch.autograd.grad(wanted.sum(), tensors)
    given = vjp(np.ones_like(out))
    for one, other in zip(given[:3], gradients):
        assert np.allclose(one, other.cpu().numpy(), atol=1e-4)
    with pytest.raises(ValueError, match="without dropout_state; accepted are both"):
        evoformer.attention(*arrays, **args)


def test_compiles(device):
    """As eager calls do, with the same random numbers."""
    tensors = operands(torch.float32, device)

    def call(q, k, v):
        return evoformer.attention(q, k, v, layout="bshd", dropout_p=0.5,
                                   dropout_state=state_on(device))
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    q, k, v = (t.requires_grad_() for t in tensors)
    out, same = compiled(q, k, v), call(q, k, v)
    assert torch.equal(out, same)
    for a, b in zip(*(torch.autograd.grad(o.sum(), (q, k, v)) for o in (out, same))):
        assert torch.equal(a, b)
    drawn = torch.compile(lambda q, k, v: flash_attn.flash_attn_func(q, k, v, 0.5),
                          backend="aot_eager")
    assert not torch.equal(drawn(*tensors), drawn(*tensors))


def test_memory():
    """A pass takes no more than without."""
    from evoformer import _problem, _runtime
    def workspace(p):
        sizes = (2, 1, 300, 4, 32)
        meta = _problem.Meta(sizes, _problem.dense(sizes), "bf16")
        keys = evoformer._keys.ALL._replace(dropout_p=p)
        lengths = _problem.Lengths(dropout=_problem.Meta((2,), (1,), "int64"))
        attention = _problem.Attention(meta, meta, meta, keys=keys, lengths=lengths)
        where = _runtime.device("cpu")
        calls = [attention.forward(where, stats=True),
                 attention.backward(where, meta, ["query", "key", "value"])]
        return [call.workspace_bytes for call in calls]
    assert workspace(0.5) == workspace(0.0)


def test_errors(device):
    q, k, v = operands(torch.float32, device)
    def refuse(error, match, p=0.5, **more):
        with pytest.raises(error, match=match):
            evoformer.attention(q, k, v, layout="bshd", dropout_p=p, **more)
    refuse(ValueError, "dropout_p is 1.0; accepted are 0 to before 1", p=1.0)
    refuse(ValueError, "dropout_p is -0.1; accepted", p=-0.1)
    refuse(ValueError, "dropout_p is nan; accepted", p=float("nan"))
    # In f32 it is 1.
    refuse(ValueError, "dropout_p is 0.999999999; accepted", p=0.999999999)
    refuse(TypeError, "dropout_p is a str; accepted is a number", p="many")
    state = state_on(device)
    refuse(TypeError, "dropout_state has type torch.float64; accepted is int64",
           dropout_state=state.double())
    refuse(TypeError, "dropout_state has type i32; accepted is int64",
           dropout_state=state.int())
    refuse(ValueError, r"dropout_state has shape \(3,\); accepted is \(2,\)",
           dropout_state=torch.zeros(3, dtype=torch.int64, device=device))
    refuse(TypeError, "dropout_state is a list; accepted is a torch.Tensor",
           dropout_state=[1, 2])
    with pytest.raises(ValueError, match="dropout_p is 1.0"):
        flash_attn.flash_attn_func(q, k, v, 1.0)
