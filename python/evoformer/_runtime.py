"""Programs, devices and calls: thin classes over the C interface."""

import ctypes
import functools
import json
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, Optional

from ._library import Argument, EvoformerError, check, library


class Program:
    """A compiled module."""

    def __init__(self, module: str, options: str = "") -> None:
        """`module` is MLIR text; `options` are those of evoformerCompile
        (evoformer-c/Compile.h)."""
        if not isinstance(module, str) or not isinstance(options, str):
            raise TypeError(f"module is a {type(module).__name__}, options are a "
                            f"{type(options).__name__}; accepted are texts")
        for name, text in (("module", module), ("options", options)):
            if "\0" in text:  # Where C takes a text to end.
                raise ValueError(f"{name}: character {text.index(chr(0))} is NUL; "
                                 "accepted are texts without")
        self._as_parameter_ = ctypes.c_void_p()
        check(library().evoformerCompile(module.encode(), options.encode(),
                                         ctypes.byref(self._as_parameter_)))

    def __del__(self) -> None:
        handle = getattr(self, "_as_parameter_", None)
        if handle:
            library().evoformerProgramRelease(handle)

    @property
    def plan(self) -> Any:
        """The launch plan (docs/launch-plan.md) as Python objects."""
        return json.loads(library().evoformerProgramGetPlan(self))

    @property
    def origin(self) -> str:
        """`compiled`, `memory` or `disk`: where it was found."""
        return _decoded(library().evoformerProgramGetOrigin(self))

    def workspace_bytes(self, views: "Sequence[View | int]") -> int:
        """The workspace of a run with arguments of these sizes and strides at
        addresses that are multiples of 16."""
        needed = ctypes.c_uint64()
        check(library().evoformerProgramGetWorkspaceBytes(
            self, None, _argument_table(views), len(views), ctypes.byref(needed)))
        return needed.value


# Sizes, and strides in elements.
View = tuple[Sequence[int], Sequence[int]]


def _argument_table(views: "Sequence[View | int]") -> Any:
    """The array of EvoformerArgument; numbers are their own values."""
    table = (Argument * len(views))()
    for entry, view in zip(table, views):
        if isinstance(view, int):
            entry.rank, entry.bits = -1, view
            continue
        sizes, strides = view
        numbers = ctypes.c_int64 * len(sizes)
        entry.rank = len(sizes)
        entry.sizes, entry.strides = numbers(*sizes), numbers(*strides)
    return table


def describe(description: str) -> str:
    """The MLIR module of an attention (evoformerDescribeAttention)."""
    text = ctypes.c_void_p()
    check(library().evoformerDescribeAttention(description.encode(),
                                               ctypes.byref(text)))
    return _take(text)


def _decoded(text: bytes) -> str:
    return text.decode()


def _take(text: ctypes.c_void_p) -> str:
    """A text that the library handed out, and releases it."""
    try:
        return ctypes.string_at(text).decode()
    finally:
        library().evoformerFreeText(text)


def chips() -> list[str]:
    """The chips that programs can be compiled for."""
    return _decoded(library().evoformerGetChips()).split()


def portable_chips() -> list[str]:
    """Those of them whose code later chips run, too."""
    return _decoded(library().evoformerGetPortableChips()).split()


class Device:
    """A processor or a GPU: `kind` is cpu, cuda or hip. `chip` is what it is,
    `target` the chip that is compiled for, `description` for people."""

    def __init__(self, kind: str, ordinal: int = 0) -> None:
        self._as_parameter_ = ctypes.c_void_p()
        self.kind, self.ordinal = kind, ordinal
        driver = os.environ.get("EVOFORMER_DRIVER_LIBRARY")
        check(library().evoformerDeviceOpen(
            kind.encode(), ordinal, driver.encode() if driver else None,
            ctypes.byref(self._as_parameter_)))
        self.chip = _decoded(library().evoformerDeviceGetChip(self))
        self.description = _decoded(library().evoformerDeviceGetDescription(self))
        forced = os.environ.get("EVOFORMER_TARGET") if kind != "cpu" else None
        self.target = forced or choose_target(
            self.chip, chips(), portable_chips(), self.description)

    def compile(self, module: str, shape: str = "") -> Program:
        """The program; its kernels are compiled when a call needs them. `shape` is what
        a table of schedules is asked for (schedule_shape)."""
        return Program(module, compile_options(self.kind, self.target, shape))


def compile_options(kind: str, target: str, shape: str = "") -> str:
    """The words of evoformerCompile for a device."""
    products = os.environ.get("EVOFORMER_F32_PRODUCTS", "split")
    words = f"target={target} device={kind} f32_products={products} deferred"
    return f"{words} shape={shape}" if shape else words


def schedule_shape(description: str, views: "Sequence[View | int]") -> str:
    """What a table of schedules is asked for, where there is one: the element type,
    the depth, queries, keys, and batches times rows times heads."""
    if not os.environ.get("EVOFORMER_SCHEDULES"):
        return ""
    words = dict(word.partition("=")[::2] for word in description.split())
    # Query, key and, but for weights, value are [b, n, s, h, d].
    operands = 2 if words.get("pass") == "weights" else 3
    query, key, *value = (view[0] for view in views[:operands]
                          if not isinstance(view, int))
    batch, rows, queries, heads, _ = query
    depth = max(sizes[4] for sizes in (query, *value))
    numbers = (depth, queries, key[2], batch * rows * heads)
    # Of nothing, the table's least.
    return ",".join([words["type"], *(str(max(number, 1)) for number in numbers)])


def _number(chip: str) -> int:
    """The compute capability of `sm_90` as a number; -1 of another vendor's."""
    found = re.fullmatch(r"sm_(\d+)", chip)
    return int(found[1]) if found else -1


def choose_target(chip: str, known: Sequence[str], portable: Sequence[str],
                  description: str) -> str:
    """The known chip whose code runs on `chip`: itself, or an older portable one, whose
    PTX runs on later ones: the newest of its generation, else the newest first one of a
    generation, which has the most memory."""
    if chip in known:
        return chip
    number = _number(chip)
    older = [name for name in portable if 0 <= _number(name) <= number]
    for fits in (lambda name: _number(name) // 10 == number // 10,
                 lambda name: _number(name) % 10 == 0):
        if found := list(filter(fits, older)):
            return max(found, key=_number)
    raise EvoformerError(
        f"unsupported device: {description} is {chip or 'of an unknown chip'}; "
        f"supported are {', '.join(known)} and NVIDIA's newer than these. "
        "EVOFORMER_TARGET forces one of them")


@functools.lru_cache(maxsize=None)
def device(kind: str, ordinal: int = 0) -> Device:
    return Device(kind, ordinal)


class Call:
    """A function of a program with sizes and strides, on a device."""

    __slots__ = ("_as_parameter_", "_addresses", "workspace_bytes", "_run",
                 "program")

    def __init__(self, program: Program, where: Device,
                 views: "Sequence[View | int]") -> None:
        """`views` has one for each argument, arrays before numbers: of these there are
        no addresses."""
        self._as_parameter_ = ctypes.c_void_p()
        self.program = program
        self._addresses = ctypes.c_uint64 * len(views)
        self.workspace_bytes = 0
        self._run = library().evoformerCallRun
        check(library().evoformerCallCreate(
            program, where, None, _argument_table(views), len(views),
            ctypes.byref(self._as_parameter_)))

    def __del__(self) -> None:
        handle = getattr(self, "_as_parameter_", None)
        if handle:
            library().evoformerCallRelease(handle)

    def prepare(self, addresses: Sequence[int]) -> None:
        """Loads the kernels; afterwards `workspace_bytes` is what a run with
        addresses of this alignment takes."""
        needed = ctypes.c_uint64()
        check(library().evoformerCallPrepare(
            self, self._addresses(*addresses), ctypes.byref(needed)))
        self.workspace_bytes = max(self.workspace_bytes, needed.value)

    def launches(self, addresses: Sequence[int]) -> Any:
        """What a run with addresses of this alignment launches, as dicts of
        `name`, `symbol`, `workItems`, `threads`, `ldsBytes` and `report`."""
        text = ctypes.c_void_p()
        check(library().evoformerCallGetLaunches(
            self, self._addresses(*addresses), ctypes.byref(text)))
        return json.loads(_take(text))

    def run(self, addresses: Sequence[int],
            allocate: Callable[[int], tuple[object, int]],
            stream: Optional[int] = None, wait: Optional[Device] = None) -> None:
        """Runs it. `allocate(bytes)` gives an object that keeps a workspace
        alive, and its address. With `wait`, the device, it has ended when this
        returns; otherwise the memory may only be used again on the stream."""
        packed = self._addresses(*addresses)
        available = ctypes.c_uint64(self.workspace_bytes)
        kept, workspace = (allocate(self.workspace_bytes)
                           if self.workspace_bytes else (None, 0))
        status = self._run(self, packed, workspace, available, stream)
        if status == 2:
            # The first run, or one with addresses of another alignment.
            self.workspace_bytes = available.value
            kept, workspace = allocate(self.workspace_bytes)
            status = self._run(self, packed, workspace, available, stream)
        check(status)
        if wait is not None:
            check(library().evoformerDeviceSynchronize(wait))
        del kept
