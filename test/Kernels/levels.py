# The general kernels give the same right numbers on the CPU after each of the
# steps towards a GPU.
#
# RUN: %python %s %source_dir %t %mlir_lib | FileCheck %s

# CHECK-COUNT-15: right
# CHECK-NOT: {{.}}
import pathlib
import re
import subprocess
import sys

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
libraries = pathlib.Path(sys.argv[3])
work.mkdir(parents=True, exist_ok=True)

CHIPS = {"gfx942": "AMD", "gfx1100": "AMD", "sm_80": "NVIDIA"}
# Subgroups along [batch, M, N] of a workgroup, stages, and the levels to run.
KERNELS = {"matmul": ("[1, 64, 64]", "[1, 2, 2]", 2, (1, 2, 3)),
           "softmax": ("[1, 16, 64]", "[1, 1, 1]", 1, (3,)),
           "layer_norm": ("[1, 16, 64]", "[1, 1, 1]", 1, (3,))}
STEPS = ("evo-tile-assign-layouts", "evo-tile-promote-to-lds",
         "evo-tile-software-pipeline")


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True,
                            text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def program(kernel, chip):
    """The kernel with a target and a schedule, and the host that checks it."""
    table = (source / "lib/Target" / CHIPS[chip] / f"{chip}.mlir").read_text()
    aliases, target = re.fullmatch(
        r"(.*)module attributes \{evo_tile.target = (.*)\} \{\s*\}\s*", table,
        re.DOTALL).groups()
    block, subgroups, stages, _ = KERNELS[kernel]
    folder = source / "test/Kernels"
    text, count = re.subn(
        r"(evo_tile\.kernel @\w+\([^{]*\)) \{",
        rf"\1 attributes {{schedule = #evo_tile.schedule<v1, block = {block}, "
        rf"subgroups = {subgroups}, stages = {stages}>, target = #chip}} {{",
        (folder / f"{kernel}.mlir").read_text(), count=1)
    assert count == 1
    check = folder / "Inputs" / f"check-{kernel.replace('_', '-')}.mlir"
    return f"{aliases}#chip = {target}\n{text}\n{check.read_text()}"


for chip in CHIPS:
    for kernel, (_, _, _, levels) in KERNELS.items():
        tiles = work / f"{kernel}.{chip}.mlir"
        tiles.write_text(program(kernel, chip))
        for level in levels:
            name = f"{kernel}, {chip}, after {STEPS[level - 1]}"
            staged = work / "staged.mlir"
            run("evoformer-opt", tiles, "-o", staged,
                "--pass-pipeline=builtin.module("
                + ",".join(STEPS[:level]) + ")")
            # The step did something, else this run would prove nothing.
            text = staged.read_text()
            assert "lane_map" in text or "frag" in text, name
            if level > 1 and kernel == "matmul":
                assert "evo_tile.alloc_lds" in text, name
            lowered = work / "lowered.mlir"
            run("evoformer-opt", staged, "--evo-tile-to-cpu-llvm", "-o",
                lowered)
            output = run(
                "mlir-runner", lowered, "-e", "main",
                "-entry-point-result=void", "-O1", "-shared-libs="
                + str(libraries / "libmlir_c_runner_utils.so"))
            verdicts = re.findall(r"wrong: (\d+) of", output)
            right = verdicts == ["0", "0", "0"]
            print(name, "right" if right else f"WRONG {verdicts}")
