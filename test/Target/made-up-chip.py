# RUN: %python %s %source_dir %t %mlir_lib | FileCheck %s
"""A chip is data: one that nobody makes (Inputs/odd1.mlir) compiles attention
and a matrix product to the lanes, and gives right numbers on the CPU after each
level on the way."""

# CHECK: bf16 attention: right after tiles, fragments, staged, pipelined
# CHECK: bf16 attention: lanes call llvm.odd.mma.12x4x6.bf16
# CHECK: f16 attention: right after tiles, fragments, staged, pipelined
# CHECK: f16 attention: lanes call llvm.odd.mma.4x8x8.f16
# CHECK: f32 attention: right after tiles, fragments, staged, pipelined
# CHECK: f32 attention: lanes call llvm.fma.f32
# CHECK: bf16 matmul: right after fragments, staged, pipelined; 144 calls
# CHECK: f16 matmul: right after fragments, staged, pipelined; 128 calls
# CHECK-NOT: {{.}}
import pathlib
import re
import sys

sys.path.insert(0, sys.argv[1] + "/test/Kernels/Inputs")
from tiles import STEPS, run, tiles

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
libraries = pathlib.Path(sys.argv[3])
work.mkdir(parents=True, exist_ok=True)
chip = source / "test/Target/Inputs/odd1.mlir"
INTRINSICS = {"bf16": "llvm.odd.mma.12x4x6.bf16",
              "f16": "llvm.odd.mma.4x8x8.f16", "f32": "llvm.fma.f32"}
LEVELS = dict(zip(("fragments", "staged", "pipelined"), STEPS))


def calls(text, intrinsic):
    """How often the lanes' program names the intrinsic; it must be a program
    for lanes, with nothing of the levels above left."""
    assert "gpu.func" in text
    left = re.search(r"evo_tile\.(?!target|launch|schedule)\w+ %", text)
    assert not left, left.group()
    return text.count(f'call_intrinsic "{intrinsic}"')


def attention(kind):
    for level in ("tiles", *LEVELS):
        more = [f"H=5 Sq=17 Sk=100 D=20 Dv=12 type={kind}",
                f"Sq=128 Sk=64 D=32 type={kind}"]
        run("evoformer-check", f"--target={chip}", f"--level={level}",
            f"B=2 N=3 H=2 Sq=33 Sk=65 D=24 type={kind}",
            *(more if level == "pipelined" else []))
    print(f"{kind} attention: right after tiles, {', '.join(LEVELS)}")
    example = (source / "examples/triangle_attention.mlir").read_text()
    path = work / "attention.mlir"
    path.write_text(re.sub(r"bf16", kind, example))
    text = run("evoformer-opt", path,
               f"--evoformer-lower=target={chip} stop-after=lanes")
    assert calls(text, INTRINSICS[kind]), INTRINSICS[kind]
    print(f"{kind} attention: lanes call {INTRINSICS[kind]}")


def matmul(kind):
    def change(text):
        return text.replace("bf16", kind)

    check = (source / "test/Kernels/Inputs/check-matmul.mlir").read_text()
    path, lowered = work / "matmul.mlir", work / "lowered.mlir"
    path.write_text(tiles(source, "matmul", chip, change) + change(check))
    passes = ""
    for level, name in LEVELS.items():
        passes += ("," if passes else "") + name
        run("evoformer-opt", path, "-o", lowered,
            f"--pass-pipeline=builtin.module({passes},evo-tile-to-cpu-llvm)")
        output = run("mlir-runner", lowered, "-e", "main",
                     "-entry-point-result=void", "-O1",
                     f"-shared-libs={libraries}/libmlir_c_runner_utils.so")
        verdicts = re.findall(r"wrong: (\d+) of", output)
        assert verdicts == ["0", "0", "0"], (level, output)
    text = run("evoformer-opt", path, f"--pass-pipeline=builtin.module({passes},"
               "convert-tile-to-gpu)")
    print(f"{kind} matmul: right after {', '.join(LEVELS)};",
          calls(text, INTRINSICS[kind]), "calls")


for kind in INTRINSICS:
    attention(kind)
matmul("bf16")
matmul("f16")
