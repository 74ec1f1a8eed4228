# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""FlashAttention's functions by their names and signatures, against what they
compute, written out in f64: windows are counted from the last query and key."""

import importlib.util
import inspect
import sys

import evoformer
import pytest
import torch
import torch_reference as reference
from evoformer import flash_attn
from evoformer.flash_attn import bert_padding
from evoformer.flash_attn.layers import rotary
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal

KINDS = [torch.float16, torch.bfloat16, torch.float32]
LENGTHS = [(37, 5), (53, 53), (60, 103)]
# causal, window_size, heads of keys
RANGES = [(False, (-1, -1), 6), (True, (-1, -1), 2), (True, (11, 5), 6),
          (False, (-1, 7), 1), (False, (13, 6), 2), (False, (500, 500), 3)]


def seen_keys(sq, sk, causal, window):
    """By one query and key at a time."""
    left, right = window[0], 0 if causal else window[1]
    table = torch.zeros(sq, sk, dtype=torch.bool)
    for i in range(sq):
        for j in range(sk):
            ahead = j - (i + sk - sq)
            table[i, j] = (left < 0 or ahead >= -left) and (right < 0 or ahead <= right)
    return table


def written_out(q, k, v, causal=False, window=(-1, -1), scale=None):
    k, v = (t.repeat_interleave(q.shape[2] // k.shape[2], 2) for t in (k, v))
    seen = seen_keys(q.shape[1], k.shape[1], causal, window).to(q.device)
    q, k, v = (t[:, None] for t in (q, k, v))
    return reference.attention(q, k, v, [seen], None, scale)[:, 0]


@pytest.mark.parametrize("sq, sk", LENGTHS)
@pytest.mark.parametrize("causal, window, heads", RANGES, ids=str)
def test_agrees_with_reference(device, sq, sk, causal, window, heads):
    given = dict(kind=KINDS[(heads + window[0]) % 3], device=device)
    q = normal(2, sq, 6, 24, **given)
    k, v = (normal(2, sk, heads, 24, seed=seed, **given) for seed in (1, 2))
    compare(lambda q, k, v: flash_attn.flash_attn_func(
                q, k, v, causal=causal, window_size=window),
            lambda q, k, v: written_out(q, k, v, causal, window), [q, k, v])


def test_packed(device):
    """The tensors' gradients are packed as they are."""
    kind = torch.bfloat16
    qkv = normal(2, 41, 3, 4, 16, kind=kind, device=device)
    options = dict(softmax_scale=0.3, causal=True, window_size=(9, -1))
    compare(lambda t: flash_attn.flash_attn_qkvpacked_func(t, **options),
            lambda t: written_out(*t.unbind(2), True, (9, -1), 0.3), [qkv])
    q = normal(2, 17, 4, 16, seed=1, kind=kind, device=device)
    kv = normal(2, 41, 2, 2, 16, seed=2, kind=kind, device=device)
    compare(lambda q, kv: flash_attn.flash_attn_kvpacked_func(q, kv, **options),
            lambda q, kv: written_out(q, *kv.unbind(2), True, (9, -1), 0.3), [q, kv])


def test_probabilities(device):
    """(out, lse, None); rows without keys give 0."""
    q, k, v = (normal(2, s, h, 16, seed=s, device=device)
               for s, h in ((50, 4), (30, 2), (30, 2)))
    out, lse, rest = flash_attn.flash_attn_func(q, k, v, causal=True,
                                                return_attn_probs=True)
    assert rest is None and lse.shape == (2, 4, 50) and lse.dtype == torch.float32
    assert torch.equal(out, flash_attn.flash_attn_func(q, k, v, causal=True))
    assert (out[:, :20] == 0).all() and (lse[..., :20] == -torch.inf).all()
    seen = seen_keys(50, 30, True, (-1, -1)).to(device)
    logits = torch.einsum("bihd,bjhd->bhij", q.double() / 4,
                          k.double().repeat_interleave(2, 2))
    torch.testing.assert_close(
        lse, logits.masked_fill(~seen, -torch.inf).logsumexp(-1).float(), rtol=1e-5,
        atol=1e-5)
    out.sum().backward()
    assert (q.grad[:, :20] == 0).all()


def test_equal_bits(device):
    """With deterministic and without; the window as a tensor too."""
    q, k, v = (normal(2, 70, 4, 32, seed=s, kind=torch.bfloat16, device=device)
               for s in range(3))
    def run(**options):
        out = flash_attn.flash_attn_func(q, k, v, **options)
        return [out, *torch.autograd.grad(out.float().square().sum(), [q, k, v])]
    expected = run(window_size=(5, 8))
    for options in (dict(window_size=[5, 8]), dict(window_size=torch.tensor([5, 8])),
                    dict(window_size=(5, 8), deterministic=True)):
        for one, other in zip(run(**options), expected, strict=True):
            assert torch.equal(one, other)


def test_compile(device):
    q, k, v = (normal(2, 21, 4, 16, seed=s, device=device) for s in range(3))
    def function(q, k, v):
        return flash_attn.flash_attn_func(q, k, v, causal=True, window_size=(6, 0))
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    results = [[out, *torch.autograd.grad(out.square().sum(), [q, k, v])]
               for out in (compiled(q, k, v), function(q, k, v))]
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


COMMON = ["dropout_p", "softmax_scale", "causal", "window_size", "softcap",
          "alibi_slopes", "deterministic", "return_attn_probs"]
LENGTHS_OF_TWO = ["cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k"]


@pytest.mark.parametrize("name, operands", [
    ("flash_attn_func", ["q", "k", "v"]), ("flash_attn_kvpacked_func", ["q", "kv"]),
    ("flash_attn_qkvpacked_func", ["qkv"]),
    ("flash_attn_varlen_func", ["q", "k", "v", *LENGTHS_OF_TWO]),
    ("flash_attn_varlen_kvpacked_func", ["q", "kv", *LENGTHS_OF_TWO]),
    ("flash_attn_varlen_qkvpacked_func", ["qkv", "cu_seqlens", "max_seqlen"])])
def test_signatures(name, operands):
    """FlashAttention 2.8's."""
    found = inspect.signature(getattr(flash_attn, name)).parameters
    last = ["block_table"] if name == "flash_attn_varlen_func" else []
    assert list(found) == operands + COMMON + last
    assert [found[word].default for word in COMMON] == [
        0.0, None, False, (-1, -1), 0.0, None, False, False]


def test_what_is_not_there():
    q = torch.randn(2, 9, 4, 16)
    counts = torch.tensor([0, 9, 18], dtype=torch.int32)
    flat = q.flatten(0, 1)
    two = (counts, counts, 9, 9)
    calls = [
        (lambda: flash_attn.flash_attn_varlen_func(
            flat, flat, flat, *two, block_table=counts), "block_table"),
        (lambda: flash_attn.flash_attn_with_kvcache(q, q, q, causal=True),
         "flash_attn_with_kvcache"),
        *((lambda f=getattr(rotary, n): f(q), "layers.rotary.apply_rotary_emb")
          for n in ("apply_rotary_emb", "apply_rotary_emb_func", "apply_rotary_emb_torch",
                    "apply_rotary_emb_qkv_", "apply_rotary_emb_kv_")),
        (lambda: rotary.RotaryEmbedding(16), "layers.rotary.RotaryEmbedding yet")]
    for call, text in calls:
        with pytest.raises(NotImplementedError, match=text):
            call()


def test_padding(device):
    """Rows of several lengths, not all from their first position, as the varlen functions
    read them, and back; with gradients."""
    mask = torch.tensor([[1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 1, 1]], device=device)
    unused = torch.tensor([[0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]], device=device)
    x = normal(3, 5, 2, 4, seed=1, device=device).requires_grad_()
    for kinds in (torch.int64, torch.bool):
        packed, indices, starts, most, used = bert_padding.unpad_input(x, mask.to(kinds))
        assert torch.equal(packed, x[mask.bool()]) and most == 3
        assert starts.tolist() == [0, 3, 3, 6] and starts.dtype == torch.int32
        assert used.tolist() == [3, 0, 3] and used.dtype == torch.int32
        found = bert_padding.unpad_input(x, mask.to(kinds), unused.to(kinds))
        assert torch.equal(found[0], x[(mask + unused).bool()])
        assert found[2].tolist() == [0, 4, 5, 8]
        assert (found[3], found[4].tolist()) == (4, [3, 0, 3])
    whole = bert_padding.pad_input(packed, indices, 3, 5)
    assert torch.equal(whole, x * mask[..., None, None])
    grad, = torch.autograd.grad((whole * 3).sum(), x)
    assert torch.equal(grad, (3.0 * mask[..., None, None]).expand_as(x))
    lengths = torch.tensor([[2, 1, 0, 0, 0], [0, 0, 0, 0, 0], [4, 0, 0, 0, 0]], device=device)
    packed, indices, starts, most = bert_padding.unpad_input_for_concatenated_sequences(
        x, lengths)
    assert torch.equal(packed, torch.cat([x[0, :3], x[2, :4]]))
    assert starts.tolist() == [0, 2, 3, 7] and most == 4
    out = flash_attn.flash_attn_varlen_func(packed, packed, packed, starts, starts, most, most)
    assert torch.equal(bert_padding.pad_input(out, indices, 3, 5)[2, :4], out[3:])
    assert torch.equal(bert_padding.index_put_first_axis(out, indices, 15)[10:14], out[3:])
    with pytest.raises(ValueError, match=r"attention_mask has shape \(3, 4\); accepted is "
                       r"\(3, 5\), the first two dimensions"):
        bert_padding.unpad_input(x, mask[:, :4])


def test_bad_operands():
    q = torch.randn(2, 9, 4, 16)
    starts = torch.tensor([0, 9], dtype=torch.int32)
    for call, error, text in (
            (lambda: flash_attn.flash_attn_func(q, q, None), TypeError,
             "v is a NoneType; accepted is a torch.Tensor"),
            (lambda: flash_attn.flash_attn_func(q[0], q, q), ValueError,
             "q has rank 3; accepted is 4"),
            (lambda: flash_attn.flash_attn_qkvpacked_func(q), ValueError,
             "qkv has rank 4; accepted is 5"),
            (lambda: flash_attn.flash_attn_kvpacked_func(q, torch.stack([q] * 3, 2)),
             ValueError, r"kv has shape \(2, 9, 3, 4, 16\); accepted is size 2"),
            (lambda: flash_attn.flash_attn_func(q, q[:, :, :3], q[:, :, :3]), ValueError,
             "k has 3 heads; accepted is 4, as q has, or what divides it"),
            (lambda: flash_attn.flash_attn_func(q, q, q[:, :, :2]), ValueError,
             "v has 2 heads; accepted is 4, as k has"),
            (lambda: flash_attn.flash_attn_func(q, q[:1], q[:1]), ValueError,
             "k has size 1 of the first dimension; accepted is 2, as q has"),
            (lambda: flash_attn.flash_attn_func(q, q, q, softmax_scale="x"), TypeError,
             "softmax_scale is a str; accepted is a number, or None"),
            (lambda: flash_attn.flash_attn_func(q, q, q, softcap=[1]), TypeError,
             "softcap is a list; accepted is a number"),
            (lambda: flash_attn.flash_attn_func(q, q, q, window_size=(1, 2, 3)),
             ValueError, r"window_size is \(1, 2, 3\), of 3 numbers; accepted is a pair"),
            (lambda: flash_attn.flash_attn_func(q, q, q, window_size=(-5, 0)),
             ValueError, r"window is \(-5, 0\); accepted is a pair"),
            (lambda: flash_attn.flash_attn_func(q, q, q, window_size=3),
             TypeError, r"window_size is a int; accepted is a pair \(left, right\)"),
            (lambda: flash_attn.flash_attn_varlen_func(
                q[0], q[0], q[0], starts, starts, 9, 9, window_size=None),
             TypeError, r"window_size is a NoneType; accepted is a pair")):
        with pytest.raises(error, match=text):
            call()


# In its place -----------------------------------------------------------------------

def test_patch_stand_in():
    """What models import of the package, where it is not installed."""
    if importlib.util.find_spec("flash_attn"):
        pytest.skip("FlashAttention is installed")
    with evoformer.patch(stand_in=True):
        assert importlib.util.find_spec("flash_attn") is None  # by name alone
    with evoformer.patch(["flash_attn"], stand_in=True) as patched:
        import flash_attn as theirs
        from flash_attn import flash_attn_with_kvcache
        from flash_attn.bert_padding import index_first_axis, pad_input, unpad_input
        from flash_attn.flash_attn_interface import (USE_TRITON_ROCM, _get_block_size_n,
                                                     flash_attn_func,
                                                     flash_attn_kvpacked_func)
        from flash_attn.layers.rotary import RotaryEmbedding, apply_rotary_emb
        assert "flash_attn.flash_attn_func" in patched.replaced
        assert flash_attn_func is theirs.flash_attn_func is flash_attn.flash_attn_func
        assert flash_attn_kvpacked_func is flash_attn.flash_attn_kvpacked_func
        assert tuple(map(int, theirs.__version__.split("."))) >= (2, 6, 0)
        q = torch.randn(1, 5, 2, 8)
        assert torch.equal(flash_attn_func(q, q, q, causal=True),
                           evoformer.attention(q, q, q, layout="bshd", causal=True))
        assert not USE_TRITON_ROCM and _get_block_size_n(q.device, 8, True, False) > 2 ** 20
        assert pad_input is bert_padding.pad_input
        assert unpad_input is bert_padding.unpad_input
        assert index_first_axis is bert_padding.index_first_axis
        for missing in (flash_attn_with_kvcache, RotaryEmbedding, apply_rotary_emb):
            with pytest.raises((NotImplementedError, TypeError), match="yet|missing"):
                missing(q)
    assert importlib.util.find_spec("flash_attn") is None


def test_patch_of_an_installed_package(monkeypatch):
    """What is there is replaced, the rest stays the package's own."""
    def original():
        raise AssertionError("the other package's kernel ran")
    import types
    for name in ("flash_attn", "flash_attn.flash_attn_interface"):
        module = types.ModuleType(name)
        module.__path__ = []
        module.__spec__ = importlib.util.spec_from_loader(name, None)
        module.flash_attn_func = module.flash_attn_with_kvcache = original
        monkeypatch.setitem(sys.modules, name, module)
    model = types.ModuleType("some_model")
    model.attend = original
    theirs = sys.modules["flash_attn"]
    with evoformer.patch(["flash_attn"]):
        assert theirs.flash_attn_func is flash_attn.flash_attn_func
        assert theirs.flash_attn_with_kvcache is original
    assert theirs.flash_attn_func is original
