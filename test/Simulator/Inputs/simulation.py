# Lowers the general kernels of test/Kernels and runs them in evoformer-sim.
import array
import math
import pathlib
import re
import struct
import subprocess
import sys

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
work.mkdir(parents=True, exist_ok=True)

CHIPS = {"gfx942": "AMD", "gfx1100": "AMD", "sm_80": "NVIDIA"}
# Subgroups along [batch, M, N] of a workgroup, and stages.
SCHEDULES = {"matmul": ("[1, 64, 64]", "[1, 2, 2]", 2),
             "softmax": ("[1, 16, 64]", "[1, 1, 1]", 1),
             "layer_norm": ("[1, 16, 64]", "[1, 1, 1]", 1)}
PASSES = ("builtin.module(evo-tile-assign-layouts,evo-tile-promote-to-lds,"
          "evo-tile-software-pipeline,convert-tile-to-gpu,canonicalize,cse,"
          "gpu.module(convert-gpu-lanes-to-llvm))")


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True,
                            text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def lower(kernel, chip):
    """Lowers a kernel for a chip; returns the file and the workgroup size."""
    table = (source / "lib/Target" / CHIPS[chip] / f"{chip}.mlir").read_text()
    aliases, target = re.fullmatch(
        r"(.*)module attributes \{evo_tile.target = (.*)\} \{\s*\}\s*", table,
        re.DOTALL).groups()
    block, subgroups, stages = SCHEDULES[kernel]
    text = (source / "test/Kernels" / f"{kernel}.mlir").read_text()
    text, count = re.subn(
        r"(evo_tile\.kernel @\w+\([^{]*\)) \{",
        rf"\1 attributes {{schedule = #evo_tile.schedule<v1, block = {block}, "
        rf"subgroups = {subgroups}, stages = {stages}>, target = #chip}} {{",
        text, count=1)
    assert count == 1
    tiles, lowered = work / f"{kernel}.tiles.mlir", work / f"{kernel}.mlir"
    tiles.write_text(f"{aliases}#chip = {target}\n{text}")
    run("evoformer-opt", tiles, f"--pass-pipeline={PASSES}", "-o", lowered)
    threads = re.search(r"gpu.known_block_size = array<i32: (\d+)",
                        lowered.read_text())
    return lowered, int(threads.group(1))


class Arguments:
    """Kernel arguments: memrefs as expanded descriptors, then scalars."""

    def __init__(self):
        self.words, self.memories = [], 0

    def memref(self, spec, *sizes, strides=None):
        strides = strides or [math.prod(sizes[k + 1:])
                              for k in range(len(sizes))]
        self.words += [spec, f"ref:{self.memories}"]
        self.words += [f"i64:{n}" for n in (0, *sizes, *strides)]
        self.memories += 1

    def read(self, typecode, values, *sizes, strides=None):
        file = work / f"in{self.memories}.bin"
        file.write_bytes(array.array(typecode, values).tobytes())
        self.memref(f"in:{file}", *sizes, strides=strides)

    def write(self, size, *sizes):
        self.memref(f"out:{size * math.prod(sizes)}:{work / 'out.bin'}", *sizes)


def bf16(value):
    """The upper half of the f32; exact for the values used here."""
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
