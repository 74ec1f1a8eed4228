"""Attention whose keys are spread over processes (context parallelism). For rows, heads
and queries see docs/distributed.md: there `evoformer.attention` takes DTensors."""

import hashlib
from collections.abc import Sequence
from typing import Any, NoReturn, Optional, Union

import torch
import torch.distributed as dist
from torch import Tensor

from . import _keys, _problem
from ._attention import _check_biases
from ._torch import _autocast, prepare, run_forward
from ._torch_ops import add_gradients

__all__ = ["context_parallel"]

Group = Optional[dist.ProcessGroup]


def context_parallel(query: Tensor, key: Tensor, value: Tensor,
                     biases: Sequence[Tensor] = (), gate: Optional[Tensor] = None,
                     scale: Optional[float] = None, layout: Optional[str] = None,
                     return_lse: bool = False, *, group: Group = None,
                     **options: Any) -> Union[Tensor, tuple[Tensor, Tensor]]:
    """`evoformer.attention` where each process of a group has some of the keys.

    Every process calls it, with

      query, gate  all queries, the same in every process
      key, value   its own part of the keys: those of process 0 are the first. Numbers
                   may differ, and be 0
      biases       their part for these keys, or with a dimension of size 1 there, then
                   the same in every process; where that size says no more than that a
                   process has one key, it is refused
      group        the processes; default: all

    and gets the result of all keys, the same bits in every process. Backward it has the
    gradients of its own key, value and biases, and in every process the same ones of
    query, gate and of biases that have no keys: those of one loss that every process
    computes, not of a sum over processes. So does lse.

    Results of parts are of float32, and are merged in the order of processes, as
    gradients are. Each process sends twice what the result and its gradient take; no
    process has more logits, keys or biases than its own.

    Raises, in every process, what `evoformer.attention` would in any, and ValueError
    where they were not given the same; NotImplementedError for bounds and lengths.
    """
    if not dist.is_initialized():
        raise RuntimeError("there is no process group; accepted is a call after "
                           "torch.distributed.init_process_group")
    group = group or dist.group.WORLD
    if dist.get_rank(group) < 0:
        raise ValueError("this process is not in the group; accepted are calls of those "
                         "that are")
    problem: Optional[Exception] = None
    try:
        _check_kinds(query, key, value, biases, gate)
        if torch.is_autocast_enabled(query.device.type):
            query, key, value, gate, biases = _autocast(query, key, value, gate, biases)
        layout, text = _check(query, key, value, biases, gate, scale, layout, return_lse,
                              options)
    except Exception as error:
        problem = error
        text = f"{type(error).__name__}: {error}"
    _compare(text, problem, query, group)
    assert layout is not None
    query, key, value = (t.resolve_neg() for t in (query, key, value))
    gate = None if gate is None else gate.resolve_neg()
    biases = [bias.resolve_neg() for bias in biases]
    out, lse = _ContextParallel.apply(  # type: ignore[no-untyped-call]
        query, key, value, gate, None if scale is None else float(scale), layout, group,
        *biases)
    return (out, lse) if return_lse else out


def _check_kinds(query: Any, key: Any, value: Any, biases: Any, gate: Any) -> None:
    _check_biases(biases)
    for name, tensor in _problem.name_operands(
            query, key, value, biases, gate).items():
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise TypeError(
                f"{name} is a {type(tensor).__name__}; accepted are tensors of this "
                "process (DTensor.to_local)")


def _check(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
           gate: Optional[Tensor], scale: Any, layout: Optional[str], return_lse: bool,
           options: dict[str, Any]) -> tuple[str, str]:
    """(the layout, what all processes must agree in)."""
    for name, given in options.items():
        if name not in ("causal", "window", "keys", "key_lengths", "query_lengths",
                        "cu_seqlens", "max_seqlen"):
            raise TypeError(f"context_parallel has no argument {name!r}")
        if given is not None and given is not False:
            raise NotImplementedError(
                f"context_parallel was given {name}; accepted are biases alone: parts of "
                "the keys do not know their place among all")
    layout = _problem.layout_or_default(layout, query.dim())
    # Shapes, types and devices; nothing is compiled.
    prepare(query, key, value, tuple(biases), gate, scale, layout, _keys.ALL,
            (False,) * len(biases), output=torch.float32)
    keys = layout.index("s")
    said = [f"layout {layout}", f"scale {scale}", f"return_lse {bool(return_lse)}"]
    for name, tensor in _problem.name_operands(
            query, key, value, biases, gate).items():
        shape: list[Any] = list(tensor.shape)
        if name in ("key", "value"):
            shape[keys] = "own"
        elif name.startswith("biases") and shape and shape[-1] != 1:
            shape[-1] = "own"
        elif name.startswith("biases") and key.shape[keys] == 1:
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)} and key one key: whether the "
                "bias has a dimension of keys cannot be told; accepted are parts of 0, "
                "2 or more keys")
        said.append(f"{name} {'x'.join(map(str, shape))} {tensor.dtype}"
                    f"{' with gradient' * tensor.requires_grad}")
    return layout, f"{', '.join(said)}, gradients {torch.is_grad_enabled()}"


def _compare(text: str, problem: Optional[Exception], query: Any, group: Group) -> None:
    """That all processes say the same. What one refuses none begins."""
    size = dist.get_world_size(group)
    if size > 1:
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
        device = _device(query, group)
        numbers = torch.empty(size, dtype=torch.int64, device=device)
        dist.all_gather_into_tensor(
            numbers, torch.tensor([number], dtype=torch.int64, device=device), group)
        if len(set(numbers.tolist())) > 1:
            texts: list[Any] = [None] * size
            dist.all_gather_object(texts, text, group)
            if problem is None:
                _refuse(texts)
    if problem is not None:
        raise problem


def _device(query: Any, group: Group) -> torch.device:
    """Where the group's processes can exchange a number, whatever they were given."""
    backend = dist.get_backend(group)
    if backend == "nccl":
        return torch.device("cuda", torch.cuda.current_device())
    if backend != "gloo" and isinstance(query, Tensor):
        return query.device
    return torch.device("cpu")


def _refuse(texts: Sequence[str]) -> NoReturn:
    other = next(i for i, text in enumerate(texts) if text != texts[0])
    raise ValueError(
        f"process 0 has {texts[0]}; process {other} has {texts[other]}; accepted are "
        "operands that differ in their keys alone")


class _ContextParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor,
                gate: Optional[Tensor], scale: Optional[float], layout: str,
                group: dist.ProcessGroup, *biases: Tensor) -> tuple[Tensor, Tensor]:
        part, inputs = prepare(query, key, value, biases, gate, scale, layout, _keys.ALL,
                               tuple(b.requires_grad for b in biases),
                               output=torch.float32)
        out, lse, stats = run_forward(part, inputs, True, True)
        out, lse, stats = _merge(out, lse, stats, layout, query.dtype, group)
        ctx.save_for_backward(query, key, value, gate, *biases, out, lse, stats)
        ctx.rest = scale, layout, group
        ctx.set_materialize_grads(False)
        return out, lse

    @staticmethod
    def backward(ctx: Any, gradient: Optional[Tensor], of_lse: Optional[Tensor]
                 ) -> tuple[Any, ...]:
        query, key, value, gate, *biases, out, lse, stats = ctx.saved_tensors
        scale, layout, group = ctx.rest
        if torch.is_grad_enabled():
            raise NotImplementedError(
                "context_parallel has no second derivative: its gradient cannot be "
                "differentiated")
        flags = ctx.needs_input_grad
        # The statistics are those of all keys, so that these are parts of sums over
        # keys, whatever the other processes have.
        found = add_gradients(query, key, value, biases, gate, out, lse, stats, gradient,
                              of_lse, (*flags[:4], *flags[7:]), scale, layout,
                              (*_keys.ALL, *[None] * 7))
        parts = {i: part for i, part in enumerate(found) if part is not None and (
            i == 0 or i >= 4 and biases[i - 4].shape[-1:] in ((), (1,)))}
        for i, total in zip(parts, _sum([*parts.values()], group)):
            found[i] = total
        return (*found[:4], None, None, None, *found[4:])


# What processes exchange -----------------------------------------------------

def _deal(rows: Tensor, group: dist.ProcessGroup) -> Tensor:
    """Each process's part of the rows of all: [processes, part, …]."""
    size = dist.get_world_size(group)
    part = -(-rows.shape[0] // size)
    missing = size * part - rows.shape[0]
    if missing:
        rows = torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])])
    dealt = torch.empty_like(rows)
    dist.all_to_all_single(dealt, rows.contiguous(), group=group)
    return dealt.view(size, part, *rows.shape[1:])


def _collect(part: Tensor, count: int, group: dist.ProcessGroup) -> Tensor:
    """All rows of their parts."""
    size = dist.get_world_size(group)
    rows = part.new_empty(size * part.shape[0], *part.shape[1:])
    dist.all_gather_into_tensor(rows, part.contiguous(), group)
    return rows[:count]


def _merge(out: Tensor, lse: Tensor, stats: Tensor, layout: str, kind: torch.dtype,
           group: dist.ProcessGroup) -> tuple[Tensor, Tensor, Tensor]:
    """Of all keys from those of parts, out of float32; the first is of type `kind`.

    `stats` are a reference, in units of 16 logits (base e for float32, else 2), and
    the binary logarithm of the sum of the weights relative to it."""
    unit = 16 * (1.4426950408889634 if kind == torch.float32 else 1)
    at, order = layout.index("d"), _problem.Layout(layout).statistic_order()
    outs = out.movedim(at, -1)
    shape = outs.shape
    statistics = torch.stack([lse, *stats], -1).permute(*order, -1)
    count = lse.numel()
    dealt = _deal(torch.cat([outs.reshape(count, shape[-1]),
                             statistics.reshape(count, 3)], 1), group)
    parts, lses, references, logarithms = dealt.split([shape[-1], 1, 1, 1], 2)
    # Those of NaN are, too.
    alive = lses != -torch.inf
    references = references.masked_fill(~alive, -torch.inf)
    reference = references.amax(0)
    # Of queries that see no key of any part nothing is left but 0.
    reference = reference.masked_fill(~alive.any(0), 0)
    powers = unit * (references - reference) + logarithms
    highest = powers.amax(0).masked_fill(~alive.any(0), 0)
    weights = torch.exp2(powers - highest).masked_fill(~alive, 0)
    total = _in_order(weights)
    merged = _in_order(weights * parts) / total.clamp(min=torch.finfo(total.dtype).tiny)
    logarithm = highest + total.log2()
    dead = ~alive.any(0)
    natural = (unit * reference + logarithm) * 0.6931471805599453
    if kind == torch.float32:
        # In base e as it is: base 2 would round large ones.
        natural = 16 * reference + logarithm * 0.6931471805599453
    rows = _collect(torch.cat([
        merged, natural.masked_fill(dead, -torch.inf), reference,
        logarithm.masked_fill(dead, 0)], 1), count, group)
    outs, statistics = rows.split([shape[-1], 3], 1)
    inverse = [order.index(i) for i in range(len(order))]
    statistics = statistics.reshape(*shape[:-1], 3).permute(*inverse, -1)
    lse, *both = (t.contiguous() for t in statistics.unbind(-1))
    return (outs.to(kind).reshape(shape).movedim(-1, at), lse, torch.stack(both))


def _in_order(parts: Tensor) -> Tensor:
    """Their sum, one behind the other."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _sum(tensors: Sequence[Tensor], group: dist.ProcessGroup) -> list[Tensor]:
    """Of all processes, in float32."""
    if not tensors:
        return []
    flat = torch.cat([t.float().reshape(-1) for t in tensors])
    total = _collect(_in_order(_deal(flat, group)), flat.numel(), group)
    return [one.reshape(t.shape).to(t.dtype) for one, t in
            zip(total.split([t.numel() for t in tensors]), tensors)]
