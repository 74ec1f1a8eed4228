# RUN: mkdir -p %t && %python %s %build_dir %t %llvm_prefix/bin %S/Inputs cpu
# RUN: %python %s %build_dir %t %llvm_prefix/bin %S/Inputs sm_80
# RUN: %python %s %build_dir %t %llvm_prefix/bin %S/Inputs gfx942
"""Programs around attention, lowered as docs/embedding.md says, agree with f64,
leave their inputs as they were and free what they allocate: loops and branches
that carry tensors, calls, arithmetic on tensors, buffers, several blocks."""

import ctypes
import os
import sys

import attention
import gpu_program
import numpy as np

build, folder, llvm, inputs, chip = sys.argv[1:]
NAMES = ("for_loop", "for_destination", "for_swap", "while_loop", "branch", "calls",
         "arithmetic", "dynamic_sizes")
BUFFERS = "evoformer-lower{target=cpu stop-after=buffers},"
FREE = "buffer-deallocation-pipeline,"
UPSTREAM = ("convert-elementwise-to-linalg,one-shot-bufferize{"
            "bufferize-function-boundaries allow-return-allocs-from-loops},")
BY_UPSTREAM = "bufferized by upstream"


def attend(x, y, z):
    return attention.reference(x, y, z, [], None)[0]


def reference(name, x, y, n):
    """In f64; `n` iterations."""
    if name == "branch":
        return y if n < 2 else attend(x, y, x)
    if name == "arithmetic":
        r = x + attend(x, y, x) / 2
        return np.exp(attend(r, y, r))
    if name == "for_swap":
        for _ in range(n):
            x, y = y, attend(x, y, x)
        return x - y
    if name in ("calls", "buffers"):
        n = 2
    for _ in range(n):
        x = attend(x, y, x) + (x if name == "dynamic_sizes" else 0)
    return x


def build_program(module, before):
    library = f"{folder}/{chip}.{abs(hash((module, before)))}.so"
    if chip == "cpu":
        gpu_program.compile_for_host(
            module, library, f"{build}/bin", llvm,
            before + "evoformer-lower{target=cpu linalg-kernels}")
        return gpu_program.HostProgram(library)
    os.environ["EVOFORMER_GPU"] = kind = "cuda" if chip == "sm_80" else "hip"
    os.environ["EVOFORMER_GPU_DRIVER"] = (
        f"{build}/test/lib/libEvoformerSimulated-{kind}.so")
    gpu_program.compile_program(module, chip, library, f"{build}/bin", llvm,
                                form="mlir", before=before)
    return gpu_program.Program(library, f"{build}/lib/libevoformer_gpu_runtime.so")


draw = np.random.default_rng(3)


def check(program, name, n, how):
    rows, length = (3, 17) if name == "dynamic_sizes" else (2, 24)
    x, y = (draw.standard_normal((1, rows, length, 2, 16)).astype(np.float32)
            for _ in range(2))
    out = np.full_like(x, np.nan)
    after_x, after_y, _, result = program.call(name, [x.copy(), y.copy(), n, out])
    exact = reference(name, x.astype(np.float64), y.astype(np.float64), n)
    error = np.abs(result - exact).max() / np.abs(exact).max()
    print(f"{name}, {n} iterations, {how}: largest error {error:.1e}")
    assert error < 4e-6, name
    assert np.abs(np.roll(result, 1, -1) - exact).max() > 1e-2  # it can fail
    # Upstream's bufferization writes to any argument that nobody reads later.
    assert how == BY_UPSTREAM or ((after_x == x).all() and (after_y == y).all()), name


class MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
        "uordblks", "fordblks", "keepcost")]


def check_memory():
    """Calls leave no memory behind."""
    used = ctypes.CDLL(None).mallinfo2
    used.restype = MallocInfo
    program = build_program(f"{inputs}/programs.mlir", BUFFERS + FREE)
    arrays = [np.ones((1, 2, 24, 2, 16), np.float32) for _ in range(3)]
    for name in NAMES:
        start, _ = program.bind(name, [*arrays[:2], 2, arrays[2]])
        start()
        before = used().uordblks
        for _ in range(20):
            start()
        left = used().uordblks - before
        assert left < 2 * arrays[0].nbytes, f"{name} leaves {left} bytes"


def run(module, names, before, how, counts=(0, 1, 3)):
    program = build_program(f"{inputs}/{module}.mlir", before)
    for name in names:
        for n in counts if name not in ("calls", "arithmetic", "buffers") else (1,):
            check(program, name, n, how)


run("programs", NAMES, BUFFERS + FREE, "freed by upstream")
if chip == "cpu":
    check_memory()
if chip != "gfx942":
    run("programs", NAMES, "", "as it is", (2,))
    # It does not see that for_destination returns its argument.
    run("programs", [name for name in NAMES if name != "for_destination"], UPSTREAM,
        BY_UPSTREAM, (2,))
    run("blocks", ["blocks"], "lift-cf-to-scf,canonicalize,", "lifted")
    run("buffers", ["buffers", "buffers_in_blocks"], "", "as they are", (0, 2))
