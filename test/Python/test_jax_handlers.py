# REQUIRES: python-library, torch
# RUN: env EVOFORMER_CXX=%cxx %torch-pytest %s
"""The handlers as XLA calls them, by the header of the jaxlib at hand: their binary
interface, what they refuse, and on a driver without a device what they launch."""

import ctypes
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from evoformer import _runtime
from evoformer._jax_problem import Signature
from evoformer._library import library

import attention as reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODES = {"bool": 1, "uint8": 6, "float16": 10, "float32": 11, "bfloat16": 16,
         "int32": 4, "int16": 3}
EXECUTE, INITIALIZE = 3, 2


class Given(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("data", ctypes.c_void_p),
                ("rank", ctypes.c_int64), ("sizes", ctypes.POINTER(ctypes.c_int64)))


def build_caller(folder):
    """Its assertions are about the binary interface."""
    made = folder / "xla_caller.so"
    subprocess.run(
        [os.environ["EVOFORMER_CXX"], "-std=c++17", "-shared", "-fPIC", "-o",
         str(made), "-I", jax.ffi.include_dir(), "-I", str(ROOT / "lib" / "CAPI"),
         str(pathlib.Path(__file__).with_name("Inputs") / "xla_caller.cpp")],
        check=True)
    return made


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    made = ctypes.CDLL(str(build_caller(tmp_path_factory.mktemp("caller"))))
    made.callHandler.restype = ctypes.c_char_p
    made.askHandler.restype = ctypes.c_bool
    return made


def table(arrays):
    entries = (Given * len(arrays))()
    for entry, array in zip(entries, arrays):
        entry.type = CODES[array.dtype.name]
        entry.data = array.__array_interface__["data"][0]
        entry.rank = array.ndim
        entry.sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
    return entries


class Frame:
    """A call of an attention on NumPy arrays, right until something is changed."""

    def __init__(self, kind="cpu", target="cpu", dtype=np.float32,
                 shape=(1, 2, 5, 2, 8)):
        draw = np.random.default_rng(0)
        self.kind = kind
        self.operands = [aligned(draw.standard_normal(shape).astype(dtype))
                         for _ in range(3)]
        signature = Signature("bnshd", 0, False, None)
        problem = signature.problem(self.operands)
        self.description = problem.describe()
        self.options = _runtime.compile_options(kind, target)
        self.dims = [*range(5)] * 4
        program = _runtime.Program(_runtime.describe(self.description),
                                   self.options)
        size = program.workspace_bytes(problem.forward_views())
        self.results = [aligned(np.zeros(shape, dtype)),
                        aligned(np.zeros(size, np.uint8))]
        self.ordinal, self.stream, self.old = 0, 4096, False

    def call(self, caller, stage=EXECUTE):
        name = {EXECUTE: "Execute", INITIALIZE: "Initialize"}[stage]
        handler = getattr(library(), f"evoformerXLA{name}{self.kind.upper()}")
        description = self.description and self.description.encode()
        return caller.callHandler(
            handler, stage, self.ordinal, ctypes.c_void_p(self.stream),
            ctypes.c_bool(self.old), table(self.operands), len(self.operands),
            table(self.results), len(self.results), description,
            self.options.encode(), (ctypes.c_int64 * len(self.dims))(*self.dims),
            ctypes.c_size_t(len(self.dims))).decode()


def aligned(array, low=0):
    """A copy at a multiple of 64, and `low` bytes."""
    memory = np.zeros(array.nbytes + 128, np.uint8)
    begin = -memory.ctypes.data % 64 + low
    copy = memory[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def test_metadata(caller):
    """Of every handler: version 0.1, and that command buffers may hold it."""
    for name in ("ExecuteCPU", "ExecuteCUDA", "ExecuteHIP", "InitializeCUDA",
                 "InitializeHIP"):
        answer = (ctypes.c_int * 3)()
        assert caller.askHandler(getattr(library(), "evoformerXLA" + name), answer)
        assert list(answer) == [0, 1, 1]


def test_runs(caller):
    frame = Frame()
    assert frame.call(caller) == ""
    exact, _ = reference.reference(*frame.operands)
    usual = reference.eager(*frame.operands)
    assert reference.within_bounds(frame.results[0], exact, usual)


def test_refuses(caller):
    def change(text, **values):
        frame = Frame()
        out = frame.results[0]
        for name, value in values.items():
            setattr(frame, name, value(frame) if callable(value) else value)
        found = frame.call(caller)
        assert found.startswith("evoformer.attention: ") and text in found, found
        assert not out.any()
    wide = np.zeros((1, 2, 5, 2, 8), np.float16)
    def operands(at, array):
        return lambda frame: [*frame.operands[:at], array, *frame.operands[at + 1:]]
    change("'key' has type f16 (10 of XLA's); accepted is f32",
           operands=operands(1, wide))
    change("'key' has type i32 (4 of XLA's); accepted is f32",
           operands=operands(1, np.zeros((1, 2, 5, 2, 8), np.int32)))
    change("'key' has type another type (3 of XLA's); accepted is f32",
           operands=operands(1, np.zeros((1, 2, 5, 2, 8), np.int16)))
    change("the attribute numbers has 0 numbers; the description takes 2",
           description=lambda frame: frame.description + " ragged",
           operands=lambda frame: [*frame.operands, *[np.zeros(2, np.int32)] * 2],
           dims=[*range(5)] * 3 + [0, 0, *range(5)])
    change("'value' has rank 4; accepted is 5",
           operands=operands(2, np.zeros((2, 5, 2, 8), np.float32)))
    change("dimension 1 of key must equal dimension 1 of query", operands=operands(
        1, np.zeros((1, 3, 5, 2, 8), np.float32)))
    change("'query': size 9 of dimension 4 where 8 is expected",
           operands=operands(0, np.zeros((1, 2, 5, 2, 9), np.float32)))
    change("'query': stride", dims=[0, 1, 4, 3, 2] * 4,
           operands=operands(0, np.zeros((1, 2, 8, 2, 5), np.float32)))
    change("'key' has no dimensions in the attribute dims", dims=[*range(5)])
    change("'key' has dimensions in the attribute dims that are no permutation",
           dims=[*range(5), 0, 1, 2, 3, 3, *range(5), *range(5)])
    change("the attribute dims has 1 numbers too many", dims=[*range(5)] * 4 + [0])
    change("has 3 operands and results besides the workspace; its description "
           "takes 4", operands=lambda frame: frame.operands[:2])
    change("the custom call has no results: the last one is the workspace", results=[])
    change("the last result is the workspace, of type u8 and rank 1",
           results=lambda frame: frame.results[:1])
    change("the custom call lacks one of its attributes: they are the strings "
           "description and options and the int64 array dims", description=None)
    change("unknown word 'colour'", description="colour=red")
    change("unknown option 'colour'", options="device=cpu colour=red")
    change("'target=sm_80 device=cuda', is not for device=cpu",
           options="target=sm_80 device=cuda")
    change("are needed by buffers that lie as these do", results=lambda frame: [
        frame.results[0], np.zeros(1, np.uint8)],
           # What takes a workspace: a mask.
           **masked())
    assert caller.countErrors() == 0


def masked():
    """Changes of a frame that give it a mask of keys."""
    return {"description": lambda frame: frame.description + " bias=bnk:i1",
            "operands": lambda frame: [*frame.operands,
                                       np.ones((1, 2, 1, 1, 5), np.bool_)],
            "dims": [*range(5)] * 5}


def test_threads(caller):
    """Several at a time, of two shapes, and each its own result."""
    import concurrent.futures
    frames = [Frame(shape=(1, 2, 5 + i % 2, 2, 8)) for i in range(16)]
    for number, frame in enumerate(frames):
        frame.operands[2] *= np.float32(number + 1)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda f: f.call(caller), frames)) == [""] * 16
    for frame in frames:
        exact, _ = reference.reference(*frame.operands)
        usual = reference.eager(*frame.operands)
        assert reference.within_bounds(frame.results[0], exact, usual)


def stand_in(kind, caller_path, script):
    """What a script prints in a process whose driver has two devices that take any
    code and run nothing."""
    path = pathlib.Path(os.environ["EVOFORMER_BUILD_DIR"], "test", "unit", "lib",
                        f"libEvoformerStandIn-{kind}.so")
    folder = str(pathlib.Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", f"""
import ctypes, os, sys
sys.path.insert(0, {folder!r})
from test_jax_handlers import *
caller = ctypes.CDLL({str(caller_path)!r})
caller.callHandler.restype = ctypes.c_char_p
driver = ctypes.CDLL(os.environ["EVOFORMER_DRIVER_LIBRARY"])
driver.standInStream.restype = ctypes.c_void_p
{script}"""],
        capture_output=True, text=True,
        env={**os.environ, "EVOFORMER_DRIVER_LIBRARY": str(path),
             "EVOFORMER_STAND_IN": "quiet"})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("kind,target", [("cuda", "sm_80"), ("hip", "gfx942")])
def test_gpu(kind, target, tmp_path):
    """`initialize` loads the kernels, on the device that XLA says; `execute`
    launches them on XLA's stream and loads and allocates nothing."""
    found = stand_in(kind, build_caller(tmp_path), f"""
import ml_dtypes
frame = Frame({kind!r}, {target!r}, ml_dtypes.bfloat16, (1, 2, 64, 2, 32))
for ordinal, stream in ((0, 4096), (1, 8192), (0, 4096)):
    frame.ordinal, frame.stream = ordinal, stream
    print(repr(frame.call(caller, INITIALIZE)), driver.standInLoads() > 0,
          driver.standInLaunches())
    before = driver.standInLoads(), driver.standInLaunches()
    print(repr(frame.call(caller)), driver.standInLoads() - before[0],
          driver.standInLaunches() > before[1], driver.standInStream())
frame.ordinal = 2
print(frame.call(caller))
frame.ordinal = -1
print(frame.call(caller))
frame.ordinal, frame.stream = 0, None
print(frame.call(caller))
frame.old = True
print(frame.call(caller))
frame.old, frame.options = False, "target=cpu device=cpu"
print(frame.call(caller))
print(caller.countErrors())
""")
    launches = int(found[2].split()[-1])
    assert found[:6] == ["'' True 0", "'' 0 True 4096",
                         f"'' True {launches}", "'' 0 True 8192",
                         f"'' True {2 * launches}", "'' 0 True 4096"]
    assert "2" in found[6] and found[6].startswith("evoformer.attention: ")
    assert found[7:] == [
        "evoformer.attention: XLA names no device for the custom call",
        "evoformer.attention: XLA names no stream for the custom call",
        "evoformer.attention: this XLA does not tell a handler its device: jaxlib "
        "0.6 or newer is needed",
        "evoformer.attention: the attribute options, 'target=cpu device=cpu', is "
        f"not for device={kind}", "0"]


def test_errors_in_programs():
    """XLA hands the sentence on."""
    q = jnp.ones((1, 2, 5, 2, 8))
    def by_hand(q):
        call = jax.ffi.ffi_call("evoformer_attention", [
            jax.ShapeDtypeStruct(q.shape, q.dtype),
            jax.ShapeDtypeStruct((0,), jnp.uint8)])
        return call(q, q, q, description="type=bf16 depth=8", dims=np.array(
            [*range(5)] * 4), options="target=cpu device=cpu")[0]
    import evoformer  # noqa: F401
    with pytest.raises(jax.errors.JaxRuntimeError, match="evoformer.attention: "
                       "'query' has type f32 .11 of XLA's.; accepted is bf16"):
        jax.block_until_ready(jax.jit(by_hand)(q))
