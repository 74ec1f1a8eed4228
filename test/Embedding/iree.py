# RUN: %python %s %build_dir/bin %examples/iree %t
"""What examples/iree tells IREE of a kernel is what the compiler makes of it, and
where iree-compile is in PATH it takes the object over unchanged."""

import pathlib
import re
import shutil
import subprocess
import sys


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def found(pattern, text):
    match = re.search(pattern, text)
    assert match, f"nothing like {pattern}"
    return match[1]


def check_kernel(spec, lowered):
    """Name, arguments and sizes of the launch that aligned pointers take, which is
    the first."""
    numbers = dict(re.findall(r"(%c\d+) = arith\.constant (\d+) : index", lowered))
    launch = re.search(r"evo_tile\.launch @(\w+) space\((.*?)\) args\((.*?) : ", lowered)
    kernel, space, arguments = launch.groups()
    assert found(r'hal\.dispatch\.extern "(\w+)"', spec) == kernel
    count = 1
    for extent in space.split(", "):
        count *= int(numbers[extent])
    assert int(found(r"%blocks = arith\.constant (\d+)", spec)) == count
    assert spec.count("#hal.pipeline.binding<storage_buffer") == len(arguments.split(", "))
    assert "constants = 0" in spec
    lanes = found(rf"@{kernel}\(.*gpu\.known_block_size = array<i32: (\d+), 1, 1>", lowered)
    assert found(r"workgroup_size = \[(\d+) : index", spec) == lanes


def main(tools, example, folder):
    example, folder = pathlib.Path(example), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lowered = folder / "lowered.mlir"
    run(f"{tools}/evoformer-opt", example / "attention.mlir", "-o", lowered,
        "--evoformer-lower=target=gfx942 abi=pointers",
        f"--evoformer-serialize=format=object out-dir={folder}")
    check_kernel((example / "spec.mlir").read_text(), lowered.read_text())
    compiler = shutil.which("iree-compile")
    if not compiler:
        print("iree-compile is not in PATH: it is not asked")
        return
    run(compiler, example / "program.mlir", "--iree-hal-target-device=hip",
        "--iree-rocm-target=gfx942",
        f"--iree-preprocessing-transform-spec-filename={example / 'spec.mlir'}",
        f"--iree-hal-executable-object-search-path={folder}", "-o", folder / "program.vmfb")
    kernels = (folder / "kernels.hsaco").read_bytes()
    assert kernels in (folder / "program.vmfb").read_bytes(), "the object is not embedded"
    print(f"iree-compile embeds all {len(kernels)} bytes of the object")


main(*sys.argv[1:])
