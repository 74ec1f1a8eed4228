"""`torch.ops.evoformer`: the operators with their shapes, gradients and counts of
operations, for torch.compile, dispatch modes and profilers."""

import logging
from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch import Tensor

from . import _keys, _problem
from ._torch import (NoSecondDerivative, fill_in, needed, prepare, run_backward,
                     run_forward, run_weights)

_library = torch.library.Library("evoformer", "DEF")
_library.define(
    "attention(Tensor query, Tensor key, Tensor value, Tensor[] biases, "
    "Tensor? gate, float? scale, str layout, bool lse, bool stats, "
    "str keys_from, str keys_to, str score, int captures, float dropout_p, "
    "str weights, "
    "Tensor? key_lengths, Tensor? query_lengths, "
    "Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, "
    "SymInt? max_seqlen_q, SymInt? max_seqlen_k, "
    "Tensor? dropout_state) "
    "-> (Tensor, Tensor, Tensor)")
_library.define(
    "attention_backward(Tensor query, Tensor key, Tensor value, "
    "Tensor[] biases, Tensor? gate, Tensor out, Tensor stats, Tensor gradient, "
    "float? scale, str layout, bool[] needs, "
    "str keys_from, str keys_to, str score, int captures, float dropout_p, "
    "str weights, "
    "Tensor? key_lengths, Tensor? query_lengths, "
    "Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, "
    "SymInt? max_seqlen_q, SymInt? max_seqlen_k, "
    "Tensor? dropout_state) -> Tensor[]")
_library.define(
    "attention_weights(Tensor query, Tensor key, Tensor[] biases, float? scale, str layout, "
    "str keys_from, str keys_to, str score, int captures, float dropout_p, "
    "str weights, "
    "Tensor? key_lengths, Tensor? query_lengths, "
    "Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, "
    "SymInt? max_seqlen_q, SymInt? max_seqlen_k, "
    "Tensor? dropout_state) -> Tensor")


def _forward(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
             gate: Optional[Tensor], scale: Optional[float], layout: str, lse: bool,
             stats: bool, keys_from: str, keys_to: str, score: str,
             captures: int, dropout_p: float, weights: str, *lengths: Any) -> tuple[Tensor, ...]:
    prepared, inputs = prepare(query, key, value, tuple(biases), gate, scale,
                               layout, _keys.Keys(keys_from, keys_to, score, captures,
                                                  dropout_p, weights),
                               tuple(b.requires_grad for b in biases),
                               _problem.Lengths(*lengths))
    out, *statistics = run_forward(prepared, inputs, lse, stats)
    return out, *(statistics.pop(0) if wanted else
                  torch.empty(0, dtype=torch.float32, device=out.device)
                  for wanted in (lse, stats))


def _backward(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
              gate: Optional[Tensor], out: Tensor, stats: Tensor, gradient: Tensor,
              scale: Optional[float], layout: str, needs: Sequence[bool],
              keys_from: str, keys_to: str, score: str,
              captures: int, dropout_p: float, weights: str, *lengths: Any) -> list[Tensor]:
    prepared, inputs = prepare(query, key, value, tuple(biases), gate, scale,
                               layout, _keys.Keys(keys_from, keys_to, score, captures,
                                                  dropout_p, weights),
                               tuple(needs[4:]),
                               _problem.Lengths(*lengths),
                               out.dtype if out.dtype != query.dtype else None)
    if out.stride() != prepared.output[1]:
        out = prepared.depth_last(out)
    return run_backward(prepared, inputs, out, stats.contiguous(), gradient,
                        needed(needs, len(biases)))


def _weights(query: Tensor, key: Tensor, biases: Sequence[Tensor], scale: Optional[float],
             layout: str, keys_from: str, keys_to: str, score: str, captures: int,
             dropout_p: float, weights: str, *lengths: Any) -> Tensor:
    # Statistics are the same whatever values are: of depth 1 they take the least time.
    value = key.narrow(layout.index("d"), 0, 1)
    prepared, inputs = prepare(query, key, value, tuple(biases), None, scale, layout,
                               _keys.Keys(keys_from, keys_to, score, captures, dropout_p,
                                          weights),
                               (False,) * len(biases), _problem.Lengths(*lengths))
    _, stats = run_forward(prepared, inputs, False, True)
    return run_weights(prepared, inputs, stats)


for _key in ("CPU", "CUDA"):
    _library.impl("attention", _forward, _key)
    _library.impl("attention_weights", _weights, _key)
    _library.impl("attention_backward", _backward, _key)


# Shapes ----------------------------------------------------------------------

def _depth_last(model: Tensor, shape: Sequence[int], layout: str) -> Tensor:
    """An empty tensor like the kernels' results: dense, depth innermost."""
    at = layout.index("d")
    order = [i for i in range(len(layout)) if i != at] + [at]
    inverse = [order.index(i) for i in range(len(layout))]
    return model.new_empty([shape[i] for i in order]).permute(inverse)


def _fake_forward(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
                  gate: Optional[Tensor], scale: Optional[float], layout: str,
                  lse: bool, stats: bool, keys_from: str, keys_to: str, score: str,
                  captures: int, dropout_p: float, weights: str, *lengths: Any
                  ) -> tuple[Tensor, Tensor, Tensor]:
    sizes = dict(zip(layout, query.shape))
    shape = [*query.shape]
    shape[layout.index("d")] = value.shape[layout.index("d")]
    statistic = [sizes["s"] if c == "q" else sizes[c] for c in
                 _problem.Layout(layout).statistic]
    kind = torch.float32
    return (_depth_last(query, shape, layout),
            query.new_empty(statistic if lse else [0], dtype=kind),
            query.new_empty([2, *statistic] if stats else [0], dtype=kind))


def _fake_backward(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
                   gate: Optional[Tensor], out: Tensor, stats: Tensor, gradient: Tensor,
                   scale: Optional[float], layout: str, needs: Sequence[bool],
                   keys_from: str, keys_to: str, score: str,
                   captures: int, dropout_p: float, weights: str, *lengths: Any) -> list[Tensor]:
    results = [_depth_last(t, t.shape, layout)
               for t, flag in zip((query, key, value), needs) if flag]
    results += [bias.new_empty(bias.shape)
                for bias, flag in zip(biases, needs[4:]) if flag]
    if gate is not None and needs[3]:
        results.append(_depth_last(gate, gate.shape, layout))
    return results


def _fake_weights(query: Tensor, key: Tensor, biases: Sequence[Tensor],
                  scale: Optional[float], layout: str, keys_from: str, keys_to: str,
                  score: str, captures: int, dropout_p: float, weights: str,
                  key_lengths: Optional[Tensor], query_lengths: Optional[Tensor],
                  cu_seqlens_q: Optional[Tensor], cu_seqlens_k: Optional[Tensor],
                  max_seqlen_q: Optional[int], max_seqlen_k: Optional[int],
                  dropout_state: Optional[Tensor]) -> Tensor:
    at = layout.index("s")
    sizes: dict[str, Any] = {**dict(zip(layout, query.shape)), "q": query.shape[at],
                             "k": key.shape[at]}
    if cu_seqlens_q is not None:
        sizes |= {"b": cu_seqlens_q.shape[0] - 1,
                  "q": sizes["q"] if max_seqlen_q is None else max_seqlen_q,
                  "k": sizes["k"] if max_seqlen_k is None else max_seqlen_k}
    letters = _problem.Layout(layout, cu_seqlens_q is not None).bias
    return query.new_empty([sizes[c] for c in letters])


torch.library.register_fake("evoformer::attention", _fake_forward, lib=_library)
torch.library.register_fake("evoformer::attention_weights", _fake_weights, lib=_library)
torch.library.register_fake("evoformer::attention_backward", _fake_backward,
                            lib=_library)


# Gradients -------------------------------------------------------------------

def _setup(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    query, key, value, biases, gate, ctx.scale, ctx.layout, has_lse, _, *rest = inputs
    ctx.keys, lengths = rest[:6], _problem.Lengths(*rest[6:])
    out, lse, stats = output
    ctx.mark_non_differentiable(*([] if has_lse else [lse]), stats)
    ctx.set_materialize_grads(False)
    ctx.num_biases, ctx.gated = len(biases), gate is not None
    tensors = (query, key, value, *biases, *([gate] if ctx.gated else []))
    ctx.flags = [t.requires_grad for t in tensors]
    ctx.has_lengths = tuple(one is not None for one in (*lengths[:4], lengths.dropout))
    ctx.most = lengths[4:6]
    ctx.save_for_backward(*tensors, *lengths.present(), out, lse, stats)


def _as_output(statistic: Tensor, layout: str) -> Tensor:
    """With the output's dimensions, of depth 1."""
    order = _problem.Layout(layout).statistic_order()
    return statistic.permute(order).unsqueeze(layout.index("d"))


def add_gradients(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
                  gate: Optional[Tensor], out: Tensor, lse: Tensor, stats: Tensor,
                  gradient: Optional[Tensor], of_lse: Optional[Tensor],
                  needs: Sequence[bool], scale: Optional[float], layout: str,
                  rest: Sequence[Any]) -> list[Optional[Tensor]]:
    """Gradients of query, key, value, the gate and the biases, from those of out and
    lse; `rest` are the operator's arguments behind `needs`."""
    def run(value: Tensor, gate: Optional[Tensor], out: Tensor, gradient: Tensor,
            needs: Sequence[bool]) -> list[Optional[Tensor]]:
        if not any(needs):
            return [None] * len(needs)
        gradients = torch.ops.evoformer.attention_backward(
            query, key, value, biases, gate, out, stats, gradient, scale, layout,
            needs, *rest)
        *four, of_biases = fill_in(needed(needs, len(biases)), gradients, len(biases))
        return [*four, *of_biases]

    results: list[Optional[Tensor]] = [None] * len(needs)
    if gradient is not None:
        results = run(value, gate, out, gradient, needs)
    if of_lse is not None:
        # The weight of a logit is its share in lse, and a logit's gradient is its
        # weight times (gradient of the weight - delta), where delta is the sum of
        # output times gradient: that of values of 0 whose delta is -of_lse. lse
        # is constant where no key is seen.
        zeros = torch.zeros_like(value.narrow(layout.index("d"), 0, 1))
        delta = _as_output(-of_lse.masked_fill(lse == -torch.inf, 0), layout)
        more = run(zeros, None, delta, torch.ones_like(delta),
                   [*needs[:2], False, False, *needs[4:]])
        results = [a if b is None else b if a is None else a + b
                   for a, b in zip(results, more)]
    return results


def _gradients(ctx: Any, gradient: Optional[Tensor], of_lse: Optional[Tensor], _: Any
               ) -> tuple[Any, ...]:
    query, key, value, *rest, out, lse, stats = ctx.saved_tensors
    biases, rest = rest[:ctx.num_biases], rest[ctx.num_biases:]
    gate = rest.pop(0) if ctx.gated else None
    *lengths, dropout = (rest.pop(0) if has else None for has in ctx.has_lengths)
    if stats.numel() == 0 and out.numel() != 0:
        raise RuntimeError("torch.ops.evoformer.attention was called without "
                           "stats=True, which its gradient needs")
    flags = ctx.flags
    needs = [*flags[:3], ctx.gated and flags[-1], *flags[3:3 + ctx.num_biases]]
    found = add_gradients(query, key, value, biases, gate, out, lse, stats, gradient,
                          of_lse, needs, ctx.scale, ctx.layout,
                          (*ctx.keys, *lengths, *ctx.most, dropout))
    return (*found[:3], found[4:], found[3], *[None] * 17)


torch.library.register_autograd("evoformer::attention", _gradients,
                                setup_context=_setup, lib=_library)
torch.library.register_autograd("evoformer::attention_backward",
                                NoSecondDerivative.backward, lib=_library)


# Operations ------------------------------------------------------------------

def _logits(query: Sequence[int], key: Sequence[int], layout: str,
            keys: _keys.Keys, key_lengths: Any = None, query_lengths: Any = None,
            cu_seqlens_q: Any = None, cu_seqlens_k: Any = None,
            max_seqlen_q: Optional[int] = None, max_seqlen_k: Optional[int] = None,
            dropout_state: Any = None) -> int:
    """Where rows have lengths those of full ones, of packed sequences at most."""
    at = layout.index("s")
    memory = {"b": 1, **dict(zip(layout, query)), "q": query[at], "k": key[at]}
    sizes = dict(memory)
    if cu_seqlens_q is not None:
        sizes |= {"b": cu_seqlens_q[0] - 1,
                  "q": query[at] if max_seqlen_q is None else max_seqlen_q,
                  "k": key[at] if max_seqlen_k is None else max_seqlen_k}
    return (memory.get("n", 1) * memory.get("h", 1) *
            _problem.count_pairs(keys, sizes, memory))


def _forward_operations(query: Sequence[int], key: Sequence[int], value: Sequence[int],
                        biases: Any, gate: Any, scale: Any, layout: str, lse: Any,
                        stats: Any, keys_from: str, keys_to: str, score: str,
                        captures: int, dropout_p: float, weights: str, *lengths: Any,
                        out_shape: Any = None, **named: Any) -> int:
    """Both matrix products."""
    depth = layout.index("d")
    logits = _logits(query, key, layout, _keys.Keys(keys_from, keys_to), *lengths,
                     **named)
    return 2 * logits * (query[depth] + value[depth])


def _backward_operations(query: Sequence[int], key: Sequence[int],
                         value: Sequence[int], biases: Any, gate: Any, out: Any,
                         stats: Any, gradient: Any, scale: Any, layout: str,
                         needs: Any, keys_from: str, keys_to: str, score: str,
                         captures: int, dropout_p: float, weights: str, *lengths: Any,
                         out_shape: Any = None, **named: Any) -> int:
    """Logits again, the weights' gradient, and those of query, key and value."""
    depth = layout.index("d")
    logits = _logits(query, key, layout, _keys.Keys(keys_from, keys_to), *lengths,
                     **named)
    return 2 * logits * (3 * query[depth] + 2 * value[depth])


def _count_operations() -> None:
    # Its import warns where there is no Triton; nothing here needs one.
    logger = logging.getLogger("torch.utils.flop_counter")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        from torch.utils.flop_counter import register_flop_formula
    finally:
        logger.setLevel(level)
    operators = torch.ops.evoformer
    register_flop_formula(operators.attention)(_forward_operations)
    register_flop_formula(operators.attention_backward)(_backward_operations)


_count_operations()
