"""torch's flex_attention on these kernels: score_mod and mask_mod are traced into the
region of a score; what is a range of keys becomes one, so that tiles outside are not
visited.

Tensors that these functions close over become what the score captures, with gradients.
What they are read by is either an index of the pair; or computed of such before the call,
in torch, where the entries that it finds are taken out of the tensor; or, where it is
another for each pair and the tensor is small, an index of a table inside of kernels."""

import re
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Optional

import torch
from torch import Tensor
from torch.nn.attention import flex_attention as _torch_flex
from torch.nn.attention.flex_attention import (AuxOutput, AuxRequest, BlockMask,
                                               create_block_mask, noop_mask)
from torch.overrides import TorchFunctionMode

from . import _keys, _problem, _score, _torch
from ._score_values import Values, gather

# Of the region's arguments those that torch's functions are given, and whose they are.
_INDICES = {"%b": "b", "%h": "h", "%i": "q", "%j": "k"}
_ACCEPTED_INDEX = ("accepted are numbers, b, h, q_idx and kv_idx, and integers made of these "
                   "and of tensors")

# What torch makes of some functions, which have them inside.
_WRAPPERS = tuple(getattr(_torch_flex, name) for name in ("_MaskModWrapper",)
                  if hasattr(_torch_flex, name))


class _Indexed:
    """A tensor with some of its indices."""

    def __init__(self, captures: "_Captures", tensor: Tensor, indices: tuple[Any, ...]
                 ) -> None:
        self.captures, self.tensor, self.indices = captures, tensor, indices

    def __getitem__(self, index: Any) -> Any:
        more = index if isinstance(index, tuple) else (index,)
        return self.captures.index(self.tensor, self.indices + more)


class _Captures(TorchFunctionMode):
    """Tensors that a function reads while it is traced, as biases: [b, h, q, k]."""

    def __init__(self, sizes: dict[str, int], query: Tensor) -> None:
        super().__init__()
        self.sizes, self.query = sizes, query
        self.tensors: list[Tensor] = []
        # With the tensor, which stays as long as its identity counts.
        self.numbers: dict[Any, tuple[Tensor, _score.Number]] = {}
        self.trace: Any = None
        self.values = Values({name: torch.arange(
            sizes[letter], dtype=torch.int32, device=query.device).reshape(
                [-1 if other == letter else 1 for other in "bhqk"])
            for name, letter in _INDICES.items()})

    def __torch_function__(self, function: Any, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        if function is torch.Tensor.__getitem__:
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            if any(isinstance(one, (_score.Number, _Indexed)) for one in index):
                return self.index(args[0], index)
        return function(*args, **(kwargs or {}))

    def index(self, tensor: Tensor, index: tuple[Any, ...]) -> Any:
        if len(index) < tensor.dim():
            return _Indexed(self, tensor, index)
        if len(index) > tensor.dim():
            self.trace.refuse(f"{len(index)} indices of a tensor of rank {tensor.dim()}")
        letters, view = "", tensor
        for one in index:
            letter = _INDICES.get(getattr(one, "_name", ""), "")
            if letter and letter not in letters:
                size, whole = view.shape[len(letters)], self.sizes[letter]
                if size < whole:
                    self.trace.refuse(f"an index up to {whole - 1} of a dimension of "
                                      f"size {size}; accepted is {whole} or more")
                view = view.narrow(len(letters), 0, whole)
                letters += letter
            elif isinstance(one, int) and not isinstance(one, bool):
                view = view.select(len(letters), one)
            else:
                return self._gather(tensor, index)
        key = self._key(tensor, index)
        if key not in self.numbers:
            order = sorted(range(len(letters)), key=lambda at: "bhqk".index(letters[at]))
            sizes = [self.sizes[c] if c in letters else 1 for c in "bhqk"]
            read = self._read(view.permute(order).reshape(sizes))
            self.numbers[key] = tensor, read
        return self.numbers[key][1]

    def _key(self, tensor: Tensor, index: tuple[Any, ...]) -> Any:
        return id(tensor), tuple(getattr(one, "_name", one) for one in index)

    def _place(self, index: Any, size: int) -> Any:
        """An integer, or integers [b, h, q, k] with any size 1, counted from the first."""
        if isinstance(index, int) and not isinstance(index, bool):
            return index + size if index < 0 else index
        if not isinstance(index, _score.Number) or index._kind != "i32":
            self.trace.refuse("an index of a tensor that is no integer; " + _ACCEPTED_INDEX)
        try:
            found = self.values.find(index._name, self.trace.ops()).long()
        except KeyError:
            self.trace.refuse("an index of a tensor that depends on the score or on an entry "
                              "of a table; " +
                              _ACCEPTED_INDEX)
        return torch.where(found < 0, found + size, found)

    def _gather(self, tensor: Tensor, index: tuple[Any, ...]) -> _score.Number:
        """By indices that are computed."""
        key = self._key(tensor, index)
        if key in self.numbers:
            return self.numbers[key][1]
        places = [self._place(one, size) for one, size in zip(index, tensor.shape)]
        of_pairs = [at for at, place in enumerate(places) if not isinstance(place, int) and
                    place.shape[2] != 1 and place.shape[3] != 1]
        others = [place for at, place in enumerate(places) if at not in of_pairs]
        if (len(of_pairs) == 1 and tensor.is_floating_point() and
                1 <= tensor.shape[of_pairs[0]] <= _score.MOST_ENTRIES and
                all(isinstance(place, int) or place[0, 0].numel() == 1 for place in others)):
            read = self._look_up(tensor, index[of_pairs[0]], of_pairs[0], others)
        else:
            for place, size in zip(places, tensor.shape):
                if not isinstance(place, int) and not place.numel():
                    continue
                least, most = ((place, place) if isinstance(place, int) else
                               map(int, torch.aminmax(place)))
                if least < 0 or most >= size:
                    self.trace.refuse(f"an index from {least} to {most} of a dimension "
                                      f"of size {size}")
            read = self._read(gather(tensor, places))
        self.numbers[key] = tensor, read
        return read

    def _look_up(self, tensor: Tensor, index: Any, at: int, others: list[Any]
                 ) -> _score.Number:
        """An entry of a table in the dimension `at`, by another index for each pair. What
        is looked up twice is captured twice: a gradient is that of one place."""
        place = [one if isinstance(one, int) else one[:, :, 0, 0] for one in others]
        # Without indices there is one table for all.
        table = tensor.movedim(at, -1)[tuple(place)]
        sizes = (1,) * (3 - table.dim()) + tuple(table.shape)
        captured = self._read(table.reshape(*sizes[:2], 1, sizes[2]))
        entries = tensor.shape[at]
        inside = _score.where(index < 0, index + entries, index)
        result: _score.Number = self.trace.emit(
            f"evoformer.lookup {captured._name}[{inside._name}] : "
            f"vector<{entries}xf32>", "f32")
        return result

    def number(self, tensor: Any) -> "Optional[_score.Number]":
        """Of a tensor that has only one."""
        if not isinstance(tensor, Tensor) or tensor.numel() != 1:
            return None
        number: _score.Number = self.index(tensor, (0,) * tensor.dim())
        return number

    def _read(self, tensor: Tensor) -> _score.Number:
        if tensor.device != self.query.device:
            self.trace.refuse(f"a tensor on {tensor.device}; accepted is "
                              f"{self.query.device}, that of query")
        if tensor.dtype == torch.bool:
            return self._capture(tensor.float()) != 0.0
        if tensor.is_floating_point():
            kept = tensor.dtype in (torch.float32, self.query.dtype)
            return self._capture(tensor if kept else tensor.float())
        if tensor.dtype == torch.int64:
            least, most = torch.aminmax(tensor) if tensor.numel() else (0, 0)
            if not -2 ** 31 <= int(least) <= int(most) < 2 ** 31:
                self.trace.refuse("a tensor with numbers beyond those of int32")
        elif tensor.dtype not in (torch.int32, torch.int16, torch.int8, torch.uint8):
            self.trace.refuse(f"a tensor of {tensor.dtype}; accepted are floats, integers "
                              "and bool")
        whole = tensor.to(torch.int32)
        high, low = (self._integer(half.float()) for half in (whole >> 16, whole & 0xFFFF))
        return high * 65536 + low

    def _integer(self, tensor: Tensor) -> _score.Number:
        number = self._capture(tensor)
        converted: _score.Number = self.trace.emit(
            f"arith.fptosi {number._name} : f32 to i32", "i32")
        return converted

    def _capture(self, tensor: Tensor) -> _score.Number:
        name = f"%c{len(self.tensors)}"
        self.tensors.append(tensor)
        self.values.known[name] = tensor.detach().float()
        return _score.Number(self.trace, name, "f32")


# Ranges ------------------------------------------------------------------------

class _Affine(NamedTuple):
    """query * i + key * j + number"""
    query: int
    key: int
    number: int


_BINARY = re.compile(r"arith\.(addi|subi) (%\w+), (%\w+) : i32")
_CONSTANT = re.compile(r"arith\.constant (-?\d+) : i32")
_COMPARED = re.compile(r"arith\.cmpi (sge|sgt|sle|slt), (%\w+), (%\w+) : i32")
_BOTH = re.compile(r"arith\.andi (%\w+), (%\w+) : i1")


def _find_range(condition: str, ops: dict[str, str]) -> tuple[str, str, list[str]]:
    """The bounds of keys in a conjunction, and what is left of that."""
    def affine(name: str) -> Optional[_Affine]:
        if name in ("%i", "%j"):
            return _Affine(int(name == "%i"), int(name == "%j"), 0)
        op = ops.get(name, "")
        if found := _CONSTANT.fullmatch(op):
            return _Affine(0, 0, int(found[1]))
        if not (found := _BINARY.fullmatch(op)):
            return None
        a, b = affine(found[2]), affine(found[3])
        if a is None or b is None:
            return None
        sign = 1 if found[1] == "addi" else -1
        return _Affine(*(x + sign * y for x, y in zip(a, b)))

    def bound(name: str) -> Optional[tuple[bool, str]]:
        """(whether it is the end, what it says)."""
        found = _COMPARED.fullmatch(ops.get(name, ""))
        if not found:
            return None
        a, b = affine(found[2]), affine(found[3])
        if a is None or b is None:
            return None
        # 0 <= query * i + key * j + number.
        if found[1] in ("sle", "slt"):
            a, b = b, a
        query, key, number = (x - y for x, y in zip(a, b))
        number -= found[1] in ("sgt", "slt")
        if (query, key) not in ((1, -1), (-1, 1), (0, -1), (0, 1)) or abs(number) > 2 ** 29:
            return None
        place = "i" if query else ""
        if key < 0:
            return True, f"{place}{number + 1:+d}"
        return False, f"{place}{-number:+d}"

    bounds, rest, left = {}, [], [condition]
    while left:
        name = left.pop()
        if both := _BOTH.fullmatch(ops.get(name, "")):
            left += both.groups()
            continue
        if ops.get(name) == "arith.constant true":
            continue
        found = bound(name)
        if found is None or found[0] in bounds:
            rest.append(name)
        else:
            bounds[found[0]] = found[1]
    # Bounds are sums that start with i or a number.
    first, end = (bounds.get(end, "").removeprefix("+") for end in (False, True))
    return first, end, rest


# Blocks ------------------------------------------------------------------------

# Those that have been looked at: their tensors and the versions of these.
_checked: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()


def _dense(counts: Optional[Tensor], indices: Optional[Tensor], like: Tensor) -> Tensor:
    """Which blocks a list has."""
    columns = like.shape[-1]
    if counts is None or indices is None:
        return torch.zeros(like.shape, dtype=torch.bool, device=like.device)
    listed = torch.arange(columns, device=like.device) < counts[..., None]
    dense = torch.zeros((*like.shape[:-1], columns + 1), dtype=torch.bool,
                        device=like.device)
    at = torch.where(listed, indices.long(), columns)
    return dense.scatter(-1, at, True)[..., :columns]


def _check_blocks(mask: BlockMask) -> None:
    """The blocks must be what mask_mod implies: kernels ask that, and no list."""
    tensors = (mask.kv_num_blocks, mask.kv_indices, mask.full_kv_num_blocks,
               mask.full_kv_indices)
    versions = [one if one is None else one._version for one in tensors]
    known, of_known = _checked.get(mask, ((), ()))
    if (len(known) == len(tensors) and versions == of_known and
            all(a is b for a, b in zip(known, tensors))):
        return
    batch, heads = mask.kv_indices.shape[:2]
    implied = create_block_mask(mask.mask_mod, batch, heads, *mask.seq_lengths,
                                device=mask.kv_indices.device, BLOCK_SIZE=mask.BLOCK_SIZE)
    if mask.kv_indices.shape != implied.kv_indices.shape:
        raise ValueError(
            f"block_mask has {tuple(mask.kv_indices.shape)} blocks of {mask.BLOCK_SIZE} "
            f"where its mask_mod has {tuple(implied.kv_indices.shape)}; accepted are "
            "those that create_block_mask makes of it")
    def both(one: BlockMask) -> tuple[Tensor, Tensor]:
        return (_dense(one.kv_num_blocks, one.kv_indices, implied.kv_indices),
                _dense(one.full_kv_num_blocks, one.full_kv_indices, implied.kv_indices))
    partial, full = both(mask)
    some, whole = both(implied)
    wrong = ((some | whole) & ~(partial | full)) | (full & ~whole)
    if wrong.any():
        b, h, row, column = wrong.nonzero()[0].tolist()
        raise ValueError(
            f"block_mask lists other blocks than its mask_mod implies, first block "
            f"({row}, {column}) of batch {b} and head {h}; accepted are those that "
            "create_block_mask makes of mask_mod, which alone says what is seen")
    _checked[mask] = tensors, versions


# The function --------------------------------------------------------------------

def _trace(score_mod: Any, mask_mod: Any, sizes: dict[str, int], query: Tensor
           ) -> tuple[_keys.Keys, list[Tensor]]:
    captures = _Captures(sizes, query)
    x, b, n, h, i, j, *_ = range(8)
    record = _score.Trace(score_mod or mask_mod)
    record.read_other = captures.number
    captures.trace = record
    numbers = record.arguments()
    first, end = "", ""
    rest: list[str] = []
    with captures:
        score = numbers[x]
        if score_mod is not None:
            score = score_mod(score, *(numbers[at] for at in (b, h, i, j)))
        if mask_mod is not None:
            record.enter(mask_mod)
            mask = record.convert(mask_mod(*(numbers[at] for at in (b, h, i, j))), "i1")
            first, end, rest = _find_range(mask._name, record.ops())
            for name in reversed(rest):
                score = _score.where(_score.Number(record, name, "i1"), score,
                                     float("-inf"))
    if score_mod is None and not rest:
        return _keys.Keys(first, end), []
    return (_keys.Keys(first, end, record.finish(score), len(captures.tensors)),
            captures.tensors)


def _refuse(name: str, given: object, accepted: str) -> NoReturn:
    raise TypeError(f"{name} is a {type(given).__name__}; accepted is {accepted}")


@torch.compiler.disable  # type: ignore[misc, untyped-decorator, unused-ignore]
def flex_attention(query: Tensor, key: Tensor, value: Tensor,
                   score_mod: Optional[Callable[..., Any]] = None,
                   block_mask: Optional[BlockMask] = None,
                   scale: Optional[float] = None, enable_gqa: bool = False,
                   return_lse: bool = False, kernel_options: Optional[Any] = None, *,
                   return_aux: Optional[AuxRequest] = None) -> Any:
    """torch.nn.attention.flex_attention.flex_attention, with its arguments and results.

    `score_mod` and the mask_mod of `block_mask` are called once, with numbers that
    record what is done with them, as `score` of evoformer.attention. Tensors that they
    read are captured, with gradients: by b, h, q_idx and kv_idx where they lie; by integers
    made of these and of tensors (`slopes[h // 2]`, `owner[document[q_idx]]`) as what torch
    takes out of them before the call; and those of up to 64 entries of an integer of each
    pair (`table[q_idx - kv_idx + 15]`) as tables inside of kernels, where an integer beyond
    the ends counts as the end. A larger one of each pair is as much memory as the logits
    of all b and h that it depends on. Bounds of kv_idx that grow with q_idx become ranges
    of keys, which kernels skip tiles by; what else a mask says is part of the score. The
    lists of blocks must be what the mask_mod implies. `kernel_options` are hints for other
    kernels, and say nothing here. Inside of torch.compile the call is one of its own,
    between graphs: evoformer.attention's `score` is compiled with the rest."""
    for name, one in (("query", query), ("key", key), ("value", value)):
        if not isinstance(one, Tensor):
            _refuse(name, one, "a torch.Tensor")
        if one.dim() != 4:
            raise ValueError(f"{name} has rank {one.dim()}; accepted is 4, [batch, heads, "
                             "sequence, depth]")
    if score_mod is not None and not callable(score_mod):
        _refuse("score_mod", score_mod, "a function of (score, b, h, q_idx, kv_idx)")
    if block_mask is not None and not isinstance(block_mask, BlockMask):
        _refuse("block_mask", block_mask, "a BlockMask of torch.nn.attention.flex_attention")
    if query.shape[1] != key.shape[1] and not enable_gqa:
        raise ValueError(f"query has {query.shape[1]} heads, key {key.shape[1]}; accepted "
                         "is one number of both, or enable_gqa=True")
    if return_aux is not None and (return_lse or return_aux.max_scores):
        raise NotImplementedError("return_aux with return_lse or max_scores; accepted is "
                                  "AuxRequest(lse=True)")
    sizes = {"b": query.shape[0], "h": query.shape[1], "q": query.shape[2],
             "k": key.shape[2]}
    mask_mod = None
    if block_mask is not None:
        lengths = tuple(block_mask.seq_lengths)
        if lengths != (sizes["q"], sizes["k"]):
            raise ValueError(f"block_mask is of {lengths} queries and keys; accepted are "
                             f"those of query and key, {(sizes['q'], sizes['k'])}")
        for letter, size in zip("bh", block_mask.kv_indices.shape[:2]):
            if size not in (1, sizes[letter]):
                raise ValueError(f"block_mask has size {size} of dimension '{letter}'; "
                                 f"accepted are 1 and {sizes[letter]}")
        _check_blocks(block_mask)
        mask_mod = block_mask.mask_mod
        if isinstance(mask_mod, _WRAPPERS):
            mask_mod = mask_mod.fn
        if mask_mod is noop_mask:
            mask_mod = None
    keys, captures = _keys.ALL, list[Tensor]()
    if score_mod is not None or mask_mod is not None:
        keys, captures = _trace(score_mod, mask_mod, sizes, query)
    wants_lse = return_lse or (return_aux is not None and return_aux.lse)
    found = _torch.attention(query, key, value, captures, None, scale, "bhsd", wants_lse,
                             keys, _problem.NO_LENGTHS)
    if return_aux is None:
        return found
    return (found[0], AuxOutput(lse=found[1])) if wants_lse else (found, AuxOutput())
