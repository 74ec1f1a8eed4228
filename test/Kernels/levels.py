# The general kernels give the same right numbers on the CPU after each of the
# steps towards a GPU.
#
# RUN: %python %s %source_dir %t %mlir_lib | FileCheck %s

# CHECK-NOT: WRONG
# CHECK: all run
# CHECK-NOT: {{.}}
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from tiles import CHIPS, STEPS, run, tiles

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
libraries = pathlib.Path(sys.argv[3])
work.mkdir(parents=True, exist_ok=True)

# After how many steps to run each.
LEVELS = {"matmul": (1, 2, 3), "softmax": (3,), "layer_norm": (3,),
          "l2_norm": (3,)}


def program(kernel, chip):
    """The kernel and the host that checks it."""
    check = (source / "test/Kernels/Inputs"
             / f"check-{kernel.replace('_', '-')}.mlir")
    return tiles(source, kernel, chip) + check.read_text()


for chip in CHIPS:
    for kernel, levels in LEVELS.items():
        start = work / f"{kernel}.{chip}.mlir"
        start.write_text(program(kernel, chip))
        for level in levels:
            name = f"{kernel}, {chip}, after {STEPS[level - 1]}"
            staged = work / "staged.mlir"
            run("evoformer-opt", start, "-o", staged,
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
print("all run")
