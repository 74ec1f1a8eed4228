# RUN: %python %s %build_dir
"""What the GPU runtime library says where it cannot go on, and that what it can do
on a driver is done: copies, fills, memory of the host, streams and events."""

import subprocess
import sys

build = sys.argv[1]
PRELUDE = f"""
import ctypes, os, sys
lib = ctypes.CDLL("{build}/lib/libevoformer_gpu_runtime.so")
for name in ("mgpuMemAlloc", "mgpuStreamCreate", "mgpuEventCreate",
             "mgpuModuleLoad", "mgpuModuleGetFunction"):
    getattr(lib, name).restype = ctypes.c_void_p
P, I = ctypes.c_void_p, ctypes.c_int64
"""


def run(kind, code, driver=None):
    environment = {"EVOFORMER_GPU": kind, "EVOFORMER_GPU_DRIVER":
                   driver or f"{build}/test/lib/libEvoformerSimulated-{kind}.so"}
    return subprocess.run([sys.executable, "-c", PRELUDE + code],
                          capture_output=True, text=True, env=environment)


REFUSED = {
    "'vulkan'; it is cuda or hip": ("vulkan", "lib.mgpuStreamCreate()"),
    "device 3 of 1 does not exist": ("cuda", "lib.mgpuSetDefaultDevice(3)"),
    "loading the program's kernels: SIMULATED_ERROR": ("hip", """
m = lib.mgpuModuleLoad(b"nonsense", ctypes.c_size_t(8))
lib.mgpuModuleGetFunction(P(m), b"k")"""),
    "memory with negative strides cannot be registered": ("hip", """
x = (ctypes.c_float * 4)()
a = ctypes.addressof(x)
lib.mgpuMemHostRegisterMemRef(I(1), (I * 5)(a, a, 3, 4, -1), I(4))"""),
    "workgroups exceeds the limit of 2147483647": ("cuda", """
lib.mgpuLaunchKernel(P(1), I(1 << 40), I(1), I(1), I(1), I(1), I(1), 0, None,
                     None, None, ctypes.c_size_t(0))"""),
}
for message, (kind, code) in REFUSED.items():
    done = run(kind, code)
    assert done.returncode < 0 and message in done.stderr, (message, done)
done = run("cuda", "lib.mgpuStreamCreate()", "/nowhere/libcuda.so")
assert "evoformer GPU runtime: no NVIDIA driver here: cannot open /nowhere" in (
    done.stderr), done

WORKS = """
stream, event = P(lib.mgpuStreamCreate()), P(lib.mgpuEventCreate())
for shared in (False, True):
    memory = P(lib.mgpuMemAlloc(ctypes.c_uint64(40), stream, ctypes.c_bool(shared)))
    lib.mgpuMemset32(memory, ctypes.c_uint(7), ctypes.c_size_t(5), stream)
    lib.mgpuMemset16(memory, ctypes.c_ushort(9), ctypes.c_size_t(2), stream)
    lib.mgpuEventRecord(event, stream)
    lib.mgpuStreamWaitEvent(stream, event)
    lib.mgpuEventSynchronize(event)
    back = (ctypes.c_uint32 * 5)()
    lib.mgpuMemcpy(ctypes.byref(back), memory, ctypes.c_size_t(20), stream)
    lib.mgpuMemcpy(None, None, ctypes.c_size_t(0), stream)
    lib.mgpuStreamSynchronize(stream)
    lib.mgpuMemFree(memory, stream)
    print(*back)
lib.mgpuEventDestroy(event)
lib.mgpuStreamDestroy(stream)
print(lib.mgpuStreamCreate() == stream.value)
x = (ctypes.c_float * 6)()
a = ctypes.addressof(x)
for sizes in ((2, 3), (0, 3)):
    view = (I * 7)(a, a, 0, *sizes, 3, 1)
    lib.mgpuMemHostRegisterMemRef(I(2), view, I(4))
    lib.mgpuMemHostUnregisterMemRef(I(2), view, I(4))
# Threads take streams and memory at once.
import threading
def work():
    for _ in range(50):
        stream = P(lib.mgpuStreamCreate())
        memory = P(lib.mgpuMemAlloc(ctypes.c_uint64(64), stream, ctypes.c_bool(False)))
        lib.mgpuMemset32(memory, ctypes.c_uint(7), ctypes.c_size_t(0), stream)
        lib.mgpuMemFree(memory, stream)
        lib.mgpuStreamDestroy(stream)
    finished.append(1)
finished = []
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(finished) == 4
print("done")
"""
for kind in ("cuda", "hip"):
    done = run(kind, WORKS)
    assert done.stdout == "589833 7 7 7 7\n" * 2 + "True\ndone\n", done
