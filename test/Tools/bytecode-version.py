# RUN: mkdir -p %t && %python %s %t
"""Bytecode says which version of a dialect it holds; of another it is refused by name."""

import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
# The first section (7, dialect versions) of one byte, which is 2 * 1 + 1.
VERSION = b"\x07\x03\x03"
T = "memref<1x2x64x2x32xbf16>"
MODULES = {
    "evoformer": f"func.func @f(%x: {T}, %y: {T}) {{ evoformer.attention query(%x : {T}) "
                 f"key(%x : {T}) value(%x : {T}) outs(%y : {T}) return }}",
    "evo_tile": "evo_tile.kernel @k(%x: memref<16x16xf32>) attributes {schedule = "
                "#evo_tile.schedule<v1, block = [16, 16, 16], subgroups = [1, 1, 1], "
                "stages = 1>} { evo_tile.return }"}


def opt(*arguments, text=None):
    return subprocess.run(["evoformer-opt", *map(str, arguments)], input=text,
                          capture_output=True)


for name, module in MODULES.items():
    written = opt("--emit-bytecode", text=module.encode())
    assert written.returncode == 0, written.stderr
    file = folder / f"{name}.mlirbc"
    file.write_bytes(written.stdout)
    again = opt(file)
    assert again.returncode == 0 and name.encode() in again.stdout, again.stderr
    file.write_bytes(
        written.stdout.replace(VERSION, b"\x07\x03\x13", 1))
    refused = opt(file)
    assert refused.returncode == 1
    said = refused.stderr.decode()
    assert (f"{file}:0:0: error: the file has version 9 of dialect '{name}'; accepted is 1"
            in said), said
