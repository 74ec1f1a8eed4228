"""Attention of torch tensors.

Two ways lead to the kernels. Eager calls go straight to them, under one
autograd.Function where a gradient is wanted: torch's dispatcher would cost more
than the rest of the call. What has to see an operator (torch.compile, dispatch
modes, the profiler, functorch, tensor subclasses) gets the registered
`torch.ops.evoformer.attention` (_torch_ops.py), which ends in the same functions.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn, Optional

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import _keys, _problem, _runtime

if TYPE_CHECKING:
    from ._explain import Explanation

_TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
          torch.bool: "i1", torch.int32: "i32"}
_GPU = "hip" if torch.version.hip else "cuda"
_DEVICES = ("cpu", "cuda", "meta")
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _meta(tensor: Tensor) -> _problem.Meta:
    return _problem.Meta(tuple(tensor.shape), tuple(tensor.stride()),
                         _TYPES.get(tensor.dtype, str(tensor.dtype)))


def _refuse_device(query: Tensor) -> NoReturn:
    raise TypeError(f"query is on device '{query.device}'; accepted are 'cpu', 'cuda' "
                    "and 'meta'")


def _check_devices(tensors: dict[str, Tensor]) -> None:
    query = tensors["query"]
    if query.device.type not in _DEVICES:
        _refuse_device(query)
    for name, tensor in tensors.items():
        if tensor.layout != torch.strided:
            raise TypeError(f"{name} has layout {tensor.layout}; accepted is "
                            "torch.strided")
        if tensor.device != query.device:
            raise ValueError(f"{name} is on {tensor.device}, query on "
                             f"{query.device}: all operands must be on one "
                             "device")


def _check_types(key: object, value: object, biases: Sequence[object],
                 gate: object, lengths: _problem.Lengths, captures: int) -> bool:
    """Whether all are torch's own kind of tensors."""
    names = ["key", "value", *_problem.name_biases(len(biases), captures)]
    tensors = [key, value, *biases]
    if gate is not None:
        names, tensors = names + ["gate"], tensors + [gate]
    names += lengths.named()
    tensors += lengths.present()
    plain = True
    for name, tensor in zip(names, tensors):
        if type(tensor) not in _PLAIN:
            plain = False
            if not isinstance(tensor, torch.Tensor):
                raise TypeError(f"{name} is a {type(tensor).__name__}; accepted is a "
                                "torch.Tensor, as query is one")
    return plain


def _make_attention(query: Tensor, key: Tensor, value: Tensor,
                    biases: Sequence[Tensor], gate: Optional[Tensor],
                    scale: Optional[float], layout: str, keys: _keys.Keys,
                    differentiable: Sequence[bool], lengths: _problem.Lengths,
                    output: Optional[torch.dtype] = None) -> _problem.Attention:
    """The checked problem of these operands."""
    _check_devices(_problem.name_operands(query, key, value, biases, gate, lengths,
                                          keys.captures))
    return _problem.Attention(
        _meta(query), _meta(key), _meta(value), [_meta(b) for b in biases],
        _meta(gate) if gate is not None else None, scale, layout,
        [i for i, flag in enumerate(differentiable) if flag], keys,
        lengths.map(_meta), _TYPES[output] if output else None)


class Prepared:
    """What calls with given shapes, strides and types share."""

    __slots__ = ("attention", "forwards", "backwards", "weights", "device", "index",
                 "where", "dtype", "output", "copies", "allocate")

    def __init__(self, query: Tensor, key: Tensor, value: Tensor,
                 biases: Sequence[Tensor], gate: Optional[Tensor],
                 scale: Optional[float], layout: str, keys: _keys.Keys,
                 differentiable: Sequence[bool], lengths: _problem.Lengths,
                 output: Optional[torch.dtype]) -> None:
        self.attention = attention = _make_attention(
            query, key, value, biases, gate, scale, layout, keys, differentiable,
            lengths, output)
        self.device, self.dtype = query.device, output or query.dtype
        self.index = query.get_device() if self.device.type == "cuda" else None
        self.where = (_runtime.device("cpu") if self.index is None else
                      _runtime.device(_GPU, self.index))
        self.output = attention.output()[:2]
        self.copies = attention.copies
        self.forwards: dict[tuple[bool, bool], _runtime.Call] = {}
        self.backwards: dict[Any, _runtime.Call] = {}
        self.weights: Optional[_runtime.Call] = None
        self.allocate = self._allocator()

    def _allocator(self) -> Callable[[int], tuple[object, int]]:
        empty, device, kind = torch.empty, self.device, torch.uint8

        def allocate(size: int) -> tuple[object, int]:
            memory = empty(size, dtype=kind, device=device)
            return memory, memory.data_ptr()
        return allocate

    def depth_last(self, tensor: Tensor) -> Tensor:
        """A copy whose depth is contiguous."""
        meta = self.attention.depth_last(tensor.shape, "")
        copy = torch.empty_strided(meta.shape, meta.strides, dtype=tensor.dtype,
                                   device=tensor.device)
        return copy.copy_(tensor)

    def run(self, call: _runtime.Call, tensors: Sequence[Tensor],
            backward: bool = False) -> None:
        stream = None
        if self.index is not None:
            stream = torch._C._cuda_getCurrentRawStream(self.index)
        addresses = [tensor.data_ptr() for tensor in tensors]
        if torch._C._autograd._profiler_enabled():
            with self._record(call, tensors, addresses, backward):
                call.run(addresses, self.allocate, stream)
        else:
            call.run(addresses, self.allocate, stream)

    def _record(self, call: _runtime.Call, tensors: Sequence[Tensor],
                addresses: Sequence[int], backward: bool
                ) -> AbstractContextManager[Any]:
        """A range of torch's profiler with what is launched in it. Traces hold its
        values where the profiler records shapes."""
        size = self.attention.sizes
        depths = (3 * size["d"] + 2 * size["e"] if backward else
                  size["d"] + size["e"])
        kernels = []
        call.prepare(addresses)
        for kernel in call.launches(addresses):
            report = kernel["report"] or {}
            kernels.append(
                f"{kernel['symbol']}: {kernel['workItems']} x {kernel['threads']} "
                f"threads, {report.get('vector_registers', '?')} registers, "
                f"{kernel['ldsBytes'] + report.get('static_lds_bytes', 0)} bytes of LDS")
        return torch._C._profiler._RecordFunctionFast(
            "evoformer::launch", [], {
                "flops": 2 * depths * self.attention.logits,
                "bytes": sum(t.numel() * t.element_size() for t in tensors),
                "workspace_bytes": call.workspace_bytes,
                "kernels": "; ".join(kernels)})


# By shapes, strides and types. Calls of a new length are cheap to make, so that
# a full table is emptied.
_prepared: dict[tuple[Any, ...], Prepared] = {}
_MOST_PREPARED = 4096


def prepare(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
            gate: Optional[Tensor], scale: Optional[float], layout: str,
            keys: _keys.Keys, differentiable: tuple[bool, ...],
            lengths: _problem.Lengths = _problem.NO_LENGTHS,
            output: Optional[torch.dtype] = None
            ) -> tuple[Prepared, tuple[Tensor, ...]]:
    """(Prepared, the operands as kernels read them). `output`: of another type than
    the operands."""
    identity: tuple[Any, ...] = (
        query.shape, query.stride(), query.dtype, query.device,
        key.shape, key.stride(), key.dtype, key.device,
        value.shape, value.stride(), value.dtype, value.device,
        scale, layout, keys, differentiable, output)
    for bias in biases:
        identity += (bias.shape, bias.stride(), bias.dtype, bias.device)
    if gate is not None:
        identity += (gate.shape, gate.stride(), gate.dtype, gate.device)
    identity += lengths[4:6]
    for name, one in lengths.named().items():
        identity += (name, one.shape, one.stride(), one.dtype, one.device)
    prepared = _prepared.get(identity)
    if prepared is None:
        if len(_prepared) >= _MOST_PREPARED:
            _prepared.clear()
        prepared = _prepared[identity] = Prepared(
            query, key, value, biases, gate, scale, layout, keys, differentiable,
            lengths, output)
    if prepared.copies:
        copied = {i: prepared.depth_last(tensor)
                  for i, tensor in enumerate((query, key, value, gate))
                  if tensor is not None and i in prepared.copies}
        query, key, value = (copied.get(i, tensor)
                             for i, tensor in enumerate((query, key, value)))
        gate = copied.get(3, gate)
    if gate is None:
        return prepared, (query, key, value, *biases, *lengths.present())
    return prepared, (query, key, value, *biases, gate, *lengths.present())


def run_forward(prepared: Prepared, inputs: Sequence[Tensor], lse: bool, stats: bool
                ) -> list[Tensor]:
    """[out] and, where asked for, lse and stats."""
    device = prepared.device
    shape, strides = prepared.output
    results = [torch.empty_strided(shape, strides, dtype=prepared.dtype,
                                   device=device)]
    shapes = [prepared.attention.lse_shape] * lse
    shapes += [prepared.attention.stats_shape] * stats
    results += [torch.empty(shape, dtype=torch.float32, device=device)
                for shape in shapes]
    if prepared.attention.ragged:
        # What is of no sequence is not written.
        results[0].zero_()
        for statistic in results[1:]:
            statistic.fill_(-torch.inf)
    call = prepared.forwards.get((lse, stats))
    if call is None:
        call = prepared.forwards[lse, stats] = prepared.attention.forward(
            prepared.where, lse, stats)
    prepared.run(call, (*inputs, *results))
    return results


def run_weights(prepared: Prepared, inputs: Sequence[Tensor], stats: Tensor) -> Tensor:
    """The weights, from what a forward call without a gate has stored; negative where
    dropout drops them."""
    if prepared.weights is None:
        prepared.weights = prepared.attention.weights(prepared.where)
    query, key, _, *others = inputs
    weights = torch.empty(prepared.attention.weights_shape, dtype=query.dtype,
                          device=prepared.device)
    prepared.run(prepared.weights, (query, key, *others, stats, weights))
    return weights


_POSITIONS = {"query": 0, "key": 1, "value": 2}


def run_backward(prepared: Prepared, inputs: Sequence[Tensor], out: Tensor,
                 stats: Tensor, gradient: Tensor, needs: tuple[str, ...]
                 ) -> list[Tensor]:
    """The gradients of those operands that `needs` names."""
    attention, device = prepared.attention, prepared.device
    if torch._C._functorch.is_legacy_batchedtensor(gradient):
        raise NotImplementedError(
            "evoformer.attention takes no batch of output gradients "
            "(is_grads_batched, vectorize); accepted is one gradient a call")
    if gradient.is_neg():
        gradient = gradient.resolve_neg()
    if attention.needs_copy(gradient.shape, gradient.stride()):
        gradient = prepared.depth_last(gradient)
    identity = gradient.stride(), needs
    call = prepared.backwards.get(identity)
    if call is None:
        call = prepared.backwards[identity] = attention.backward(
            prepared.where, _meta(gradient), needs)
    results = []
    for name in needs:
        if name.startswith("bias"):
            model = inputs[3 + int(name[4:])]
            results.append(torch.empty(model.shape, dtype=model.dtype,
                                       device=device))
        else:
            # Gates and lengths follow the biases.
            model = inputs[_POSITIONS.get(name, 3 + attention.num_biases)]
            _, strides, _ = attention.depth_last(model.shape, "")
            results.append(torch.empty_strided(
                model.shape, strides, dtype=model.dtype, device=device))
            if attention.ragged:
                results[-1].zero_()
    prepared.run(call, (*inputs, out, stats, gradient, *results), backward=True)
    return results


def needed(flags: Sequence[bool], num_biases: int) -> tuple[str, ...]:
    """Names in the order of the call, from flags of query, key, value, gate and
    the biases."""
    names = [name for name, flag in zip(("query", "key", "value"), flags) if flag]
    names += [f"bias{i}" for i in range(num_biases) if flags[4 + i]]
    return tuple(names + ["gate"] * bool(flags[3]))


def fill_in(needs: Sequence[str], gradients: Sequence[Tensor], num_biases: int
            ) -> tuple[Any, Any, Any, Any, list[Any]]:
    """Gradients of query, key, value, gate and the biases; None where there is
    none."""
    found = dict(zip(needs, gradients))
    return (found.get("query"), found.get("key"), found.get("value"),
            found.get("gate"),
            [found.get(f"bias{i}") for i in range(num_biases)])


def _refuse_transforms() -> None:
    """torch.func's, which would need rules for batches of calls."""
    interpreter = torch._C._functorch.peek_interpreter_stack()
    if interpreter is not None and interpreter.key() in (
            torch._C._functorch.TransformType.Vmap,
            torch._C._functorch.TransformType.Grad):
        raise NotImplementedError(
            "evoformer.attention does not run inside transforms of torch.func "
            "(vmap, grad, vjp, jacrev); accepted are torch.autograd's backward "
            "and grad, and one call for a whole batch")


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor,
                gate: Optional[Tensor], scale: Optional[float], layout: str,
                keys: _keys.Keys, lengths: _problem.Lengths, *biases: Tensor) -> Tensor:
        ctx.prepared, inputs = prepare(
            query, key, value, biases, gate, scale, layout, keys,
            tuple([bias.requires_grad for bias in biases]), lengths)
        out, stats = run_forward(ctx.prepared, inputs, False, True)
        ctx.save_for_backward(*inputs, out, stats)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, *_: Any) -> tuple[Any, ...]:
        *inputs, out, stats = ctx.saved_tensors
        num_biases = ctx.prepared.attention.num_biases
        flags = ctx.needs_input_grad
        needs = needed((*flags[:4], *flags[8:]), num_biases)
        gradients = run_backward(ctx.prepared, inputs, out, stats, gradient,
                                 needs)
        if torch.is_grad_enabled():
            # create_graph=True.
            gradients = NoSecondDerivative.apply(  # type: ignore[no-untyped-call]
                len(gradients), *gradients, gradient, *inputs)
        *four, biases = fill_in(needs, gradients, num_biases)
        return (*four, *[None] * 4, *biases)


class NoSecondDerivative(torch.autograd.Function):
    """Hands on the first `count` tensors, which depend on the others, and
    refuses to be differentiated. (torch's once_differentiable lets pass what
    depends on the inputs alone, as if it were constant.)"""

    @staticmethod
    def forward(ctx: Any, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(t.view_as(t) for t in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *_: Any) -> NoReturn:
        raise NotImplementedError(
            "evoformer.attention has no second derivative: its gradient cannot "
            "be differentiated")


def _sharded(*operands: Any) -> Any:
    """The module that knows shards, if there are any."""
    tensors = sys.modules.get("torch.distributed.tensor")
    if tensors is not None:
        query, key, value, biases, gate, lengths = operands
        for one in (query, key, value, *biases, gate, *lengths):
            if isinstance(one, tensors.DTensor):
                from . import _torch_sharding
                return _torch_sharding
    return None


def _wants_operator(query: Tensor) -> bool:
    """Whether something has to see a registered operator."""
    return (torch.compiler.is_compiling() or type(query) not in _PLAIN or
            torch._C._is_tracing() or query.is_meta or
            torch._C._len_torch_dispatch_stack() > 0 or
            torch._C._functorch.peek_interpreter_stack() is not None or
            torch._C._autograd._profiler_enabled())


def _autocast(query: Tensor, key: Tensor, value: Tensor, gate: Optional[Tensor],
              biases: Sequence[Tensor]
              ) -> tuple[Tensor, Tensor, Tensor, Optional[Tensor], Sequence[Tensor]]:
    """What torch does to matrix products: operands take the region's type.
    float32 biases stay, they are added in float32 anyway."""
    kind = torch.get_autocast_dtype(query.device.type)
    if kind not in (torch.float16, torch.bfloat16):
        return query, key, value, gate, biases
    query, key, value = query.to(kind), key.to(kind), value.to(kind)
    if gate is not None and gate.dtype != torch.float32:
        gate = gate.to(kind)
    biases = tuple(b.to(kind) if b.is_floating_point() and
                   b.dtype not in (kind, torch.float32) else b for b in biases)
    return query, key, value, gate, biases


def _refuse_tangents(tensors: Iterable[object]) -> None:
    """Forward-mode differentiation: tangents would be dropped without a word."""
    for tensor in tensors:
        if (isinstance(tensor, torch.Tensor) and
                forward_ad.unpack_dual(tensor).tangent is not None):
            raise NotImplementedError(
                "evoformer.attention has no forward-mode derivative; accepted is "
                "reverse mode (backward, torch.autograd.grad)")


def draw_state(device: torch.device) -> Tensor:
    """Seed and offset of dropout, of the device's default generator: manual_seed and
    captured graphs have their way."""
    return torch.randint(-2 ** 63, 2 ** 63 - 1, (2,), dtype=torch.int64, device=device)


def attention(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
              gate: Optional[Tensor], scale: Optional[float], layout: Optional[str],
              return_lse: bool, keys: _keys.Keys,
              lengths: _problem.Lengths = _problem.NO_LENGTHS) -> Any:
    plain = _check_types(key, value, biases, gate, lengths, keys.captures)
    if query.device.type not in _DEVICES:
        _refuse_device(query)
    if forward_ad._current_level >= 0:
        _refuse_tangents((query, key, value, gate, *biases))
    layout = _problem.layout_or_default(layout, query.dim())
    if scale is not None:
        scale = _problem.to_number("scale", scale)
    if not query.is_meta and torch.is_autocast_enabled(query.device.type):
        query, key, value, gate, biases = _autocast(query, key, value, gate,
                                                    biases)
    wants_gradient = torch.is_grad_enabled() and (
        query.requires_grad or key.requires_grad or value.requires_grad or
        (gate is not None and gate.requires_grad) or
        any([bias.requires_grad for bias in biases]))
    drawn = draw_state(query.device) if keys.dropout_p and lengths.dropout is None else None
    if drawn is not None:
        lengths = lengths._replace(dropout=drawn)
    if not plain or (return_lse and wants_gradient) or _wants_operator(query):
        sharded = None
        if not torch.compiler.is_compiling():
            _refuse_transforms()
            # What a trace records serves later calls, those with gradients too.
            wants_gradient = wants_gradient or torch._C._is_tracing()
            sharded = _sharded(query, key, value, biases, gate, lengths)
        if sharded is not None:
            named = _problem.name_operands(query, key, value, biases, gate, lengths,
                                           keys.captures)
            if drawn is not None:
                del named["dropout_state"]
            sharded.check(named, layout)
            if drawn is not None:
                lengths = lengths._replace(dropout=sharded.share(drawn, named))
        if query.is_meta or sharded is not None:
            # Nothing else looks at what they are as a whole.
            _make_attention(query, key, value, biases, gate, scale, layout, keys, (),
                            lengths)
        out, lse, _ = torch.ops.evoformer.attention(
            query, key, value, list(biases), gate, scale, layout, return_lse,
            wants_gradient, *keys, *lengths)
        return (out, lse) if return_lse else out
    # Views of negated memory: kernels read the memory. (torch's dispatcher
    # resolves them for operators.)
    if query.is_neg() or key.is_neg() or value.is_neg():
        query, key, value = (t.resolve_neg() for t in (query, key, value))
    if gate is not None and gate.is_neg():
        gate = gate.resolve_neg()
    if any([bias.is_neg() for bias in biases]):
        biases = [bias.resolve_neg() for bias in biases]
    if wants_gradient:
        return _Attention.apply(  # type: ignore[no-untyped-call]
            query, key, value, gate, scale, layout, keys, lengths, *biases)
    prepared, inputs = prepare(query, key, value, biases, gate, scale, layout, keys,
                               (False,) * len(biases), lengths)
    results = run_forward(prepared, inputs, return_lse, False)
    return tuple(results) if return_lse else results[0]


@torch.no_grad()
def attention_weights(query: Tensor, key: Tensor, biases: Sequence[Tensor],
                      scale: Optional[float], layout: Optional[str], keys: _keys.Keys,
                      lengths: _problem.Lengths) -> Any:
    _check_types(key, key, biases, None, lengths, keys.captures)
    if query.device.type not in _DEVICES:
        _refuse_device(query)
    if forward_ad._current_level >= 0:
        _refuse_tangents((query, key, *biases))
    layout = _problem.layout_or_default(layout, query.dim())
    if scale is not None:
        scale = _problem.to_number("scale", scale)
    if not query.is_meta and torch.is_autocast_enabled(query.device.type):
        query, key, _, _, biases = _autocast(query, key, key, None, biases)
    if not torch.compiler.is_compiling():
        _refuse_transforms()
        sharded = _sharded(query, key, key, biases, None, lengths)
        if sharded is not None:
            sharded.check(_problem.name_operands(query, key, key, biases, None, lengths,
                                                 keys.captures), layout)
        # Nothing else looks at what they are as a whole.
        _make_attention(query, key, key, biases, None, scale, layout, keys, (), lengths)
    return torch.ops.evoformer.attention_weights(
        query, key, list(biases), scale, layout, *keys, *lengths)


def explain(query: Tensor, key: Tensor, value: Tensor, biases: Sequence[Tensor],
            gate: Optional[Tensor], scale: Optional[float], layout: Optional[str],
            keys: _keys.Keys, lengths: _problem.Lengths) -> "Explanation":
    from ._explain import Explanation
    _check_types(key, value, biases, gate, lengths, keys.captures)
    if query.is_meta:
        raise TypeError("query is on device 'meta'; accepted to explain are 'cpu' and "
                        "'cuda'")
    prepared, inputs = prepare(
        query, key, value, tuple(biases), gate, scale,
        _problem.layout_or_default(layout, query.dim()), keys, (False,) * len(biases),
        lengths)
    call = prepared.attention.forward(prepared.where)
    return Explanation(prepared.attention, prepared.where, call,
                       [tensor.data_ptr() for tensor in inputs] + [0])


# Registers the operators.
from . import _torch_ops  # noqa: E402
