"""The values of a traced score's numbers for every pair, as torch's tensors, and what a
tensor holds where such values say."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import torch
from torch import Tensor

_OPERAND = re.compile(r"%\w+")
_CONSTANT = re.compile(r"arith\.constant (\S+)(?: : (\w+))?")
_COMPARED = re.compile(r"arith\.cmp[if] (\w+),")

_OPS: dict[str, Callable[..., Tensor]] = {
    "arith.addi": torch.add, "arith.subi": torch.sub, "arith.muli": torch.mul,
    "arith.addf": torch.add, "arith.subf": torch.sub, "arith.mulf": torch.mul,
    "arith.divf": torch.div, "arith.negf": torch.neg, "math.absf": torch.abs,
    # As int32 has them: towards 0.
    "arith.remsi": torch.fmod,
    "arith.divsi": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "arith.maxsi": torch.maximum, "arith.minsi": torch.minimum,
    "arith.maximumf": torch.maximum, "arith.minimumf": torch.minimum,
    "arith.andi": torch.bitwise_and, "arith.ori": torch.bitwise_or,
    "arith.xori": torch.bitwise_xor, "arith.select": torch.where,
    "arith.sitofp": lambda a: a.to(torch.float32),
    "arith.fptosi": lambda a: a.to(torch.int32),
    "math.exp": torch.exp, "math.exp2": torch.exp2, "math.log": torch.log,
    "math.log2": torch.log2, "math.sqrt": torch.sqrt, "math.rsqrt": torch.rsqrt,
    "math.tanh": torch.tanh}
_COMPARISONS: dict[str, Callable[..., Tensor]] = {
    "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge, "eq": torch.eq,
    "ne": torch.ne}


class Values:
    """`known`: tensors of one rank, by the names of numbers; those of others follow."""

    def __init__(self, known: Mapping[str, Tensor]) -> None:
        self.known = dict(known)

    def find(self, name: str, ops: Mapping[str, str]) -> Tensor:
        """Of `name`; KeyError with a name whose value is not known. `ops`: by the names
        of their results."""
        found = self.known.get(name)
        if found is None:
            if name not in ops:
                raise KeyError(name)
            found = self.known[name] = self._compute(ops[name], ops)
        return found

    def _compute(self, op: str, ops: Mapping[str, str]) -> Tensor:
        if constant := _CONSTANT.fullmatch(op):
            return self._constant(constant[1], constant[2])
        kind = op.split()[0]
        if compared := _COMPARED.match(op):
            # Of floats and integers, signed and ordered: only != is true of NaN.
            function: Any = _COMPARISONS[compared[1].lstrip("osu")]
        elif kind in _OPS:
            function = _OPS[kind]
        else:
            raise KeyError(kind)
        result: Tensor = function(*(self.find(name, ops) for name in _OPERAND.findall(op)))
        return result

    def _constant(self, text: str, kind: Any) -> Tensor:
        like = next(iter(self.known.values()))
        value: Any
        if kind is None:
            value, dtype = text == "true", torch.bool
        elif kind == "i32":
            value, dtype = int(text), torch.int32
        elif text.startswith("0x"):
            bits = torch.tensor(int(text, 16), dtype=torch.int64).to(torch.int32)
            value, dtype = bits.view(torch.float32).item(), torch.float32
        else:
            value, dtype = float(text), torch.float32
        return torch.full((1,) * like.dim(), value, dtype=dtype, device=like.device)


class _Gather(torch.autograd.Function):
    """Entries of a flat tensor, whose gradient is summed in a fixed order, in float32."""

    @staticmethod
    def forward(ctx: Any, entries: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.size, ctx.dtype = len(entries), entries.dtype
        return entries[places]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        places = ctx.saved_tensors[0].flatten()
        parts = gradient.flatten().float()
        total = parts.new_zeros(ctx.size)
        # The one is serial on processors, the other sorts on GPUs.
        if places.device.type == "cpu":
            total.index_add_(0, places, parts)
        else:
            total.index_put_((places,), parts, accumulate=True)
        return total.to(ctx.dtype), None


def gather(tensor: Tensor, places: Sequence[Union[int, Tensor]]) -> Tensor:
    """The entries at places, one for each dimension, all within it."""
    flat: Any = 0
    for place, size in zip(places, tensor.shape):
        flat = flat * size + place
    if not tensor.is_floating_point():
        return tensor.flatten()[flat]
    result: Tensor = _Gather.apply(tensor.flatten(), flat)
    return result
