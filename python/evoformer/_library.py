"""The shared library behind the package, through ctypes."""

import ctypes
import functools
import os
import pathlib

INTERFACE = 1


class EvoformerError(RuntimeError):
    """What the compiler, a driver or a launch plan reports."""


def _path():
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


@functools.lru_cache(maxsize=None)
def library():
    """libevoformer. It exports its C interface alone and is opened without
    RTLD_GLOBAL, so that its LLVM meets none of torch, Triton or jaxlib."""
    path = _path()
    try:
        opened = ctypes.CDLL(path)
    except OSError as problem:
        raise EvoformerError(
            f"cannot open {path}: {problem}. The library is part of the wheel; "
            "in a checkout build it with './dev build evoformer' and set "
            "EVOFORMER_LIBRARY to build/lib/libevoformer.so") from None
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    out = ctypes.POINTER(pointer)
    for name, result, arguments in (
            ("GetVersion", text, ()),
            ("GetInterfaceVersion", ctypes.c_int, ()),
            ("GetLastError", text, ()),
            ("FreeText", None, (pointer,)),
            ("GetChips", text, ()),
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
            ("CallRelease", None, (pointer,)),
            ("CallPrepare", ctypes.c_int,
             (pointer, ctypes.POINTER(ctypes.c_uint64),
              ctypes.POINTER(ctypes.c_uint64))),
            ("CallRun", ctypes.c_int,
             (pointer, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64,
              ctypes.POINTER(ctypes.c_uint64), pointer))):
        function = getattr(opened, "evoformer" + name)
        function.restype = result
        function.argtypes = arguments
    version = opened.evoformerGetInterfaceVersion()
    if version != INTERFACE:
        raise EvoformerError(f"{path} has interface {version}; this package "
                             f"needs {INTERFACE}: they are of different builds")
    return opened


def check(status):
    """Raises what a function reports."""
    if status:
        raise EvoformerError(library().evoformerGetLastError().decode())
