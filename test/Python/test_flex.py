# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""flex_attention with torch's signature: score_mod and mask_mod are traced, and agree
with torch's own flex_attention as it is written out."""

import evoformer
import pytest
import torch
from evoformer import _flex
from torch.nn.attention import flex_attention as flex
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal

B, H, S, T, D = 2, 4, 40, 56, 16


def operands(device, kind=torch.float32, key_heads=H):
    return [normal(B, H, S, D, kind=kind, device=device),
            *(normal(B, key_heads, T, D, seed=seed, kind=kind, device=device)
              for seed in (1, 2))]


def written_out(q, k, v, score_mod=None, mask_mod=None):
    """By torch's definition: functions of indices, for every pair."""
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    scores = q @ k.transpose(2, 3) * q.shape[3] ** -0.5
    b, h, i, j = (torch.arange(size, device=q.device).reshape(shape) for size, shape in
                  zip(scores.shape, ((-1, 1, 1, 1), (-1, 1, 1), (-1, 1), (-1,))))
    if score_mod:
        scores = score_mod(scores, b, h, i, j)
    if mask_mod:
        scores = scores.masked_fill(~mask_mod(b, h, i, j), -torch.inf)
    lse = scores.logsumexp(-1)
    weights = (scores - lse[..., None].masked_fill(lse[..., None] == -torch.inf, 0)).exp()
    return weights.to(v.dtype) @ v, lse


def block_mask(mask_mod, device, batch=None, heads=None, size=16):
    return flex.create_block_mask(mask_mod, batch, heads, S, T, device=device,
                                  BLOCK_SIZE=size)


def check(device, score_mod=None, mask_mod=None, more=(), kind=torch.float32,
          **options):
    """`more`: tensors that the functions close over, which have gradients."""
    mask = mask_mod and block_mask(mask_mod, device, B, H)
    tensors = [*operands(device, kind, options.pop("key_heads", H)), *more]
    if more:
        # Functions read the leaves: what is asked for are their gradients.
        run = evoformer.flex_attention(*tensors[:3], score_mod, mask, **options)
        wanted = written_out(*tensors[:3], score_mod, mask_mod)[0]
        torch.testing.assert_close(run, wanted, rtol=2e-4, atol=2e-5)
        seed = normal(*run.shape, seed=9, device=device).detach()
        for one, other in zip(torch.autograd.grad(run, tensors, seed),
                              torch.autograd.grad(wanted, tensors, seed), strict=True):
            torch.testing.assert_close(one, other, rtol=2e-3, atol=2e-4)
        return
    compare(lambda q, k, v: evoformer.flex_attention(q, k, v, score_mod, mask, **options),
            lambda q, k, v: written_out(q, k, v, score_mod, mask_mod)[0], tensors)


def test_score_mods(device):
    def mod(score, b, h, q_idx, kv_idx):
        score = 5.0 * torch.tanh(score / 5.0)
        return torch.where(q_idx - kv_idx > 3, score + 0.1 * (kv_idx - q_idx), score)
    check(device, mod, kind=torch.bfloat16)
    check(device, lambda score, b, h, q, k: score * torch.sigmoid(score), enable_gqa=True,
          key_heads=2)


def test_captured_tensors(device):
    """Read by indices, in any order and some at a time, and single numbers: all have
    gradients."""
    slopes, pair, cap, table = (
        normal(*shape, seed=seed, device=device)
        for seed, shape in enumerate(((H,), (S, T + 3), (), (2, B, T)), start=3))
    def mod(score, b, h, q_idx, kv_idx):
        return (score * cap + slopes[h] * (kv_idx - q_idx).abs() + pair[q_idx, kv_idx] +
                table[1, b, kv_idx])
    check(device, mod, more=[slopes, pair, cap, table])
    tensors = operands(device)
    assert torch.equal(
        evoformer.flex_attention(*tensors, lambda s, b, h, q, k: s + pair[q][k]),
        evoformer.flex_attention(*tensors, lambda s, b, h, q, k: s + pair[q, k]))


def test_computed_indices(device):
    """Of b and h, of queries or keys, through tensors, of each pair: all have gradients."""
    slopes, far, near, owners, parts = (
        normal(*shape, seed=seed, device=device) for seed, shape in enumerate(
            ((H // 2,), (S + T,), (3, H, 9), (7,), (5, 4)), start=3))
    document = (torch.arange(T, device=device) * 5 // T).int()
    owner = torch.tensor([6, 0, 3, 3, -1], device=device)
    def mod(score, b, h, q_idx, kv_idx):
        score = score + slopes[h // 2] * parts[document[kv_idx], q_idx % 4]
        score = score + owners[owner[document[q_idx]]] + parts[b, b]
        # As long as the logits are wide, and a table, which two indices read.
        at = (q_idx - kv_idx) // 8 + 4
        return score + far[q_idx - kv_idx + T] + near[2, h, at] * near[2, h, at - 4]
    check(device, mod, more=[slopes, far, near, owners, parts])
    captured = _flex._trace(mod, None, {"b": B, "h": H, "q": S, "k": T},
                            torch.zeros(1, device=device))[1]
    assert [tuple(one.shape) for one in captured if one.shape[3] == 9] == [(1, H, 1, 9)] * 2
    def masked(b, h, q_idx, kv_idx):
        return owner[document[q_idx]] != document[(kv_idx + 1) % T]
    check(device, mask_mod=masked)


def test_tensors_made_while_traced(device):
    """Each counts as long as the function is traced, and so do those of one element."""
    table = torch.randint(0, 2, (12, H), device=device)

    def score_mod(score, b, h, q, k):
        for row in range(12):
            score = torch.where((table[row] > 0)[h], score, score * 1.125 + row)
        return score * torch.full((1, 1), 0.5, device=device)

    check(device, score_mod)


def test_functions_with_functions_inside(device):
    class Not:
        def __init__(self, function):
            self.fn = function

        def __call__(self, b, h, q, k):
            return ~self.fn(b, h, q, k)

    check(device, None, Not(lambda b, h, q, k: q >= k + 3))


def test_ranges():
    """What a mask says by bounds is no work of the score's."""
    def find(mask_mod):
        keys, _ = _flex._trace(None, mask_mod, {"b": B, "h": H, "q": S, "k": T},
                               torch.zeros(1))
        return keys[:3]
    assert find(lambda b, h, q, k: q >= k) == ("", "i+1", "")
    assert find(lambda b, h, q, k: k < q) == ("", "i+0", "")
    assert find(lambda b, h, q, k: (q - k <= 8) & (q + 3 > k)) == ("i-8", "i+3", "")
    assert find(flex.and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: k >= 4)
                ) == ("4", "i+1", "")
    assert find(lambda b, h, q, k: k < 24) == ("", "24", "")
    first, end, score = find(lambda b, h, q, k: (q >= k) & (k % 3 == 0))
    assert (first, end) == ("", "i+1") and "arith.select" in score
    first, end, score = find(lambda b, h, q, k: (q >= k) | (k < 5))
    assert (first, end) == ("", "") and "arith.select" in score
    assert find(lambda b, h, q, k: q + k > 3)[:2] == ("", "")


def test_masks(device):
    check(device, mask_mod=lambda b, h, q, k: q >= k, kind=torch.bfloat16)
    check(device, mask_mod=lambda b, h, q, k: (q - k < 9) & (q >= k) & (h != 1))
    # A prefix that all see, documents, and rows without keys.
    documents = torch.arange(max(S, T), device=device) // 13
    kept = torch.rand(B, T, generator=torch.Generator().manual_seed(4)).to(device) > 0.3
    prefix = flex.or_masks(lambda b, h, q, k: k < 5, lambda b, h, q, k: q >= k)
    check(device, lambda score, b, h, q, k: score * 0.5, prefix)
    def mask(b, h, q, k):
        return (documents[q] == documents[k]) & kept[b, k] & (q > 2)
    check(device, mask_mod=mask)
    out, lse = evoformer.flex_attention(*operands(device), None, block_mask(
        mask, device, B, H), return_lse=True)
    assert (out[:, :, :3] == 0).all() and (lse[:, :, :3] == -torch.inf).all()


def test_lse(device):
    """The natural logarithm, with a gradient; as torch's own function gives it."""
    tensors = operands(device)
    def mod(score, b, h, q, k):
        return score - 0.1 * (q - k).abs()
    mask = block_mask(lambda b, h, q, k: q + 16 >= k, device)
    compare(lambda q, k: evoformer.flex_attention(q, k, tensors[2], mod, mask,
                                                  return_lse=True)[1],
            lambda q, k: written_out(q, k, tensors[2], mod, lambda b, h, i, j:
                                     i + 16 >= j)[1], tensors[:2])
    out, aux = evoformer.flex_attention(*tensors, mod, mask,
                                        return_aux=flex.AuxRequest(lse=True))
    wanted, lse = written_out(*tensors, mod, lambda b, h, i, j: i + 16 >= j)
    torch.testing.assert_close(out, wanted, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(aux.lse, lse, rtol=1e-5, atol=1e-5)


def test_compile(device):
    """A call of its own between graphs."""
    tensors = operands(device)
    def run(q, k, v):
        return evoformer.flex_attention(q * 2, k, v, lambda s, b, h, i, j: s - abs(i - j))
    assert torch.equal(torch.compile(run, backend="aot_eager")(*tensors), run(*tensors))


def test_blocks():
    """Lists of blocks that mask_mod does not imply are no mask that is ignored."""
    tensors = operands("cpu")
    def causal(b, h, q, k):
        return q >= k
    mask = block_mask(causal, "cpu")
    wanted = evoformer.flex_attention(*tensors, None, mask)
    # All blocks listed as ones to be masked say the same.
    rows, columns = mask.kv_indices.shape[2:]
    all_of_them = torch.arange(columns, dtype=torch.int32).expand(1, 1, rows, columns)
    count = torch.full((1, 1, rows), columns, dtype=torch.int32)
    same = flex.BlockMask.from_kv_blocks(count, all_of_them, BLOCK_SIZE=16,
                                         mask_mod=causal, seq_lengths=(S, T))
    assert torch.equal(evoformer.flex_attention(*tensors, None, same), wanted)
    for counts, mask_mod in ((torch.ones_like(count), causal), (count - 1, None)):
        other = flex.BlockMask.from_kv_blocks(counts, all_of_them, BLOCK_SIZE=16,
                                              mask_mod=mask_mod, seq_lengths=(S, T))
        with pytest.raises(ValueError, match="lists other blocks than its mask_mod"):
            evoformer.flex_attention(*tensors, None, other)
    # Full blocks are not masked.
    full = flex.BlockMask.from_kv_blocks(
        torch.zeros_like(count), all_of_them, count, all_of_them, BLOCK_SIZE=16,
        mask_mod=causal, seq_lengths=(S, T))
    with pytest.raises(ValueError, match="lists other blocks than its mask_mod"):
        evoformer.flex_attention(*tensors, None, full)
    # Lists that are changed after they have been looked at.
    mask.kv_num_blocks.zero_()
    with pytest.raises(ValueError, match="lists other blocks than its mask_mod"):
        evoformer.flex_attention(*tensors, None, mask)


def test_refused():
    tensors = operands("cpu")
    table, small = torch.zeros(200), torch.zeros(3)
    def refuse(message, score_mod=None, mask=None, error=TypeError, given=tensors,
               **options):
        with pytest.raises(error) as caught:
            evoformer.flex_attention(*given, score_mod, mask, **options)
        assert message in str(caught.value), str(caught.value)
    refuse("an index from 85 to 218 of a dimension of size 200",
           lambda s, b, h, q, k: s + table[2 * q - k + 140])
    refuse("test_flex.py", lambda s, b, h, q, k: s + table[2 * q - k + 200])
    refuse("an index of a tensor that depends on the score or on an entry of a table; "
           "accepted are numbers, b, h",
           lambda s, b, h, q, k: s + table[s.int()])
    refuse("an index of a tensor that is no integer; accepted",
           lambda s, b, h, q, k: s + table[q * 0.5])
    refuse("an index up to 3 of a dimension of size 3", lambda s, b, h, q, k: s + small[h])
    refuse("2 indices of a tensor of rank 1", lambda s, b, h, q, k: s + table[q, k])
    refuse("a Tensor; accepted are", lambda s, b, h, q, k: s + table)
    refuse("a tensor of torch.complex64; accepted are floats",
           lambda s, b, h, q, k: s + table.to(torch.complex64)[q])
    refuse("numbers beyond those of int32",
           lambda s, b, h, q, k: s + (table.long() + 2 ** 40)[q])
    refuse("score_mod is a int; accepted is a function", 3)
    refuse("block_mask is a bool; accepted is a BlockMask", None, True)
    refuse("query is a list; accepted is a torch.Tensor", given=[[], *tensors[1:]])
    refuse("query has rank 3; accepted is 4", given=[tensors[0][0], *tensors[1:]],
           error=ValueError)
    refuse("key 2; accepted is one number of both, or enable_gqa=True", error=ValueError,
           given=operands("cpu", key_heads=2))
    refuse("max_scores; accepted is AuxRequest(lse=True)", error=NotImplementedError,
           return_aux=flex.AuxRequest(max_scores=True))
    refuse("block_mask is of (16, 16) queries and keys; accepted are", error=ValueError,
           mask=flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, 16, 16,
                                       device="cpu"))
    refuse("block_mask has size 3 of dimension 'h'", error=ValueError,
           mask=block_mask(lambda b, h, q, k: q >= k, "cpu", None, 3))
