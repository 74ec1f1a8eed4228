"""Whole programs on a GPU: compiles a module with its host program by upstream's
lowering to a shared library, and calls its functions on arrays. Calling needs
that library, libevoformer_gpu_runtime.so and a driver, no MLIR and no toolkit.

    gpu_program.py MODULE.mlir --target=sm_80 --tools=build/bin -o program.so
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np

# What follows `evoformer-lower{host=gpu}` and `evoformer-serialize{embed}`:
# passes of upstream's.
HOST_PASSES = ("func.func(gpu-async-region),convert-scf-to-cf,"
               "expand-strided-metadata,lower-affine,gpu-to-llvm,"
               "convert-to-llvm,reconcile-unrealized-casts")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr[-4000:]}")


def compile_program(module, target, output, tools, llvm="/usr/lib/llvm-22/bin",
                    form="object", before=""):
    """`form` as evoformer-serialize has it: an object (HSACO, cubin), PTX for
    NVIDIA's driver, or MLIR for the simulator. `before`: passes to run first."""
    runtime = os.path.join(os.path.dirname(tools), "lib")
    with tempfile.TemporaryDirectory() as folder:
        lowered, host = (os.path.join(folder, name)
                         for name in ("host.mlir", "host.ll"))
        run(os.path.join(tools, "evoformer-opt"), module, "-o", lowered,
            f"--pass-pipeline=builtin.module({before}evoformer-lower{{target="
            f"{target} host=gpu}},evoformer-serialize{{embed format={form}}},"
            f"{HOST_PASSES})")
        run(os.path.join(llvm, "mlir-translate"), "--mlir-to-llvmir", lowered,
            "-o", host)
        run(os.path.join(llvm, "clang"), "-shared", "-O1", "-fPIC", "-x", "ir",
            "-Wno-override-module", host, "-o", output, f"-L{runtime}",
            "-levoformer_gpu_runtime", "-Wl,-rpath,$ORIGIN",
            f"-Wl,-rpath,{runtime}")


def compile_for_host(module, output, tools, llvm, passes, plugin=None):
    """Passes that leave the LLVM dialect for this processor; with the plugin they are
    run by upstream's tool."""
    optimizer = [os.path.join(tools, "evoformer-opt")]
    if plugin:
        optimizer = [os.path.join(llvm, "mlir-opt"), f"--load-dialect-plugin={plugin}",
                     f"--load-pass-plugin={plugin}"]
    with tempfile.TemporaryDirectory() as folder:
        lowered, host = (os.path.join(folder, name)
                         for name in ("host.mlir", "host.ll"))
        run(*optimizer, module, "-o", lowered,
            f"--pass-pipeline=builtin.module({passes})")
        run(os.path.join(llvm, "mlir-translate"), "--mlir-to-llvmir", lowered,
            "-o", host)
        run(os.path.join(llvm, "clang"), "-shared", "-O1", "-fPIC", "-x", "ir",
            "-march=native", "-Wno-override-module", host, "-o", output, "-lm")


class Program:
    """A compiled program. Its kernels are loaded at once: set EVOFORMER_GPU and
    EVOFORMER_GPU_DRIVER before."""

    def __init__(self, path, runtime):
        self.runtime = ctypes.CDLL(runtime, ctypes.RTLD_GLOBAL)
        for name in ("mgpuMemAlloc", "mgpuStreamCreate"):
            getattr(self.runtime, name).restype = ctypes.c_void_p
        self.library = ctypes.CDLL(os.path.abspath(path))

    def _copy(self, to, source, array):
        stream = ctypes.c_void_p(self.runtime.mgpuStreamCreate())
        self.runtime.mgpuMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source),
                                ctypes.c_size_t(array.nbytes), stream)
        self.runtime.mgpuStreamSynchronize(stream)
        self.runtime.mgpuStreamDestroy(stream)

    def upload(self, array):
        """The device's address of a copy."""
        address = self.runtime.mgpuMemAlloc(ctypes.c_uint64(array.nbytes), None,
                                            ctypes.c_bool(False))
        self._copy(address, array.ctypes.data, array)
        return address

    def bind(self, function, arrays):
        """Copies the arguments to the device, integers aside: a call and a
        function that copies them back."""
        held = [array if isinstance(array, int) else np.ascontiguousarray(array)
                for array in arrays]
        addresses = [None if isinstance(array, int) else self.upload(array)
                     for array in held]
        arguments = []
        for array, address in zip(held, addresses):
            if address is None:
                arguments.append(ctypes.c_int64(array))
                continue
            strides = [stride // array.itemsize for stride in array.strides]
            arguments += [ctypes.c_void_p(address)] * 2
            arguments += [ctypes.c_int64(number)
                          for number in (0, *array.shape, *strides)]
        entry = getattr(self.library, function)
        entry.restype = None

        def download():
            for array, address in zip(held, addresses):
                if address is not None:
                    self._copy(array.ctypes.data, address, array)
            return held

        return lambda: entry(*arguments), download

    def call(self, function, arrays):
        """The arrays after the call."""
        start, download = self.bind(function, arrays)
        start()
        return download()


class HostProgram(Program):
    """One of `compile_for_host`'s, whose memory is this process's."""

    def __init__(self, path):
        self.library = ctypes.CDLL(os.path.abspath(path))

    def upload(self, array):
        return array.ctypes.data

    def _copy(self, to, source, array):
        pass


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("--target", required=True)
    parser.add_argument("--format", default="object")
    parser.add_argument("--tools", default="build/bin")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    compile_program(options.module, options.target, options.output,
                    os.path.abspath(options.tools), form=options.format)


if __name__ == "__main__":
    main()
