"""The shared library behind the package, through ctypes."""

import ctypes
import functools
import os
import pathlib

# What evoformerGetInterfaceVersion must say.
INTERFACE = 4


class EvoformerError(RuntimeError):
    """What the compiler, a driver or a launch plan reports."""


def _path() -> str:
    chosen = os.environ.get("EVOFORMER_LIBRARY")
    if chosen:
        return chosen
    return str(pathlib.Path(__file__).with_name("libevoformer.so"))


class Argument(ctypes.Structure):
    """EvoformerArgument of evoformer-c/Runtime.h."""
    _fields_ = (("rank", ctypes.c_int64),
                ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("bits", ctypes.c_uint64))


def _check_version(opened: ctypes.CDLL, path: str) -> None:
    """Before anything of it is used: another build's functions may take other
    arguments, which ctypes cannot see."""
    try:
        version = opened.evoformerGetInterfaceVersion()
    except AttributeError:
        raise EvoformerError(f"{path} is no libevoformer: it lacks "
                             "evoformerGetInterfaceVersion") from None
    if version != INTERFACE:
        raise EvoformerError(f"{path} has interface {version}; this package "
                             f"needs {INTERFACE}: they are of different builds")


def _check_whole(path: str) -> None:
    """A library that was cut off, by a copy or a build that was stopped, is a bus
    error where it is used. Its last part is the table of sections (System V ABI,
    "ELF Header": e_shoff, e_shentsize, e_shnum)."""
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            size = file.seek(0, os.SEEK_END)
    except OSError:
        return  # not found by this name: the loader says more
    if header[:5] != b"\x7fELF\x02":
        return
    offset = int.from_bytes(header[40:48], "little")
    entry, count = (int.from_bytes(header[i:i + 2], "little") for i in (58, 60))
    if size < offset + entry * count:
        raise EvoformerError(f"cannot open {path}: it is cut off after {size} bytes")


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """libevoformer. It exports its C interface alone and is opened without
    RTLD_GLOBAL, so that its LLVM meets none of torch, Triton or jaxlib."""
    path = _path()
    _check_whole(path)
    try:
        opened = ctypes.CDLL(path)
    except OSError as problem:
        raise EvoformerError(
            f"cannot open {path}: {problem}. The library is part of the wheel; "
            "in a checkout build it with './dev build evoformer' and set "
            "EVOFORMER_LIBRARY to build/lib/libevoformer.so") from None
    _check_version(opened, path)
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    out = ctypes.POINTER(pointer)
    for name, result, arguments in (
            ("GetVersion", text, ()),
            ("GetInterfaceVersion", ctypes.c_int, ()),
            ("GetLastError", text, ()),
            ("FreeText", None, (pointer,)),
            ("GetChips", text, ()),
            ("GetPortableChips", text, ()),
            ("DescribeAttention", ctypes.c_int, (text, out)),
            ("Compile", ctypes.c_int, (text, text, out)),
            ("ProgramRelease", None, (pointer,)),
            ("ProgramGetPlan", text, (pointer,)),
            ("ProgramGetOrigin", text, (pointer,)),
            ("DeviceOpen", ctypes.c_int, (text, ctypes.c_int, text, out)),
            ("DeviceGetChip", text, (pointer,)),
            ("DeviceGetDescription", text, (pointer,)),
            ("DeviceSynchronize", ctypes.c_int, (pointer,)),
            ("CallCreate", ctypes.c_int,
             (pointer, pointer, text, ctypes.POINTER(Argument),
              ctypes.c_size_t, out)),
            ("ProgramGetWorkspaceBytes", ctypes.c_int,
             (pointer, text, ctypes.POINTER(Argument), ctypes.c_size_t,
              ctypes.POINTER(ctypes.c_uint64))),
            ("CallRelease", None, (pointer,)),
            ("CallPrepare", ctypes.c_int,
             (pointer, ctypes.POINTER(ctypes.c_uint64),
              ctypes.POINTER(ctypes.c_uint64))),
            ("CallGetLaunches", ctypes.c_int,
             (pointer, ctypes.POINTER(ctypes.c_uint64), out)),
            ("CallRun", ctypes.c_int,
             (pointer, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64,
              ctypes.POINTER(ctypes.c_uint64), pointer))):
        function = getattr(opened, "evoformer" + name)
        function.restype = result
        function.argtypes = arguments
    return opened


def check(status: int) -> None:
    """Raises what a function reports."""
    if status:
        raise EvoformerError(library().evoformerGetLastError().decode(errors="replace"))
