# RUN: rm -rf %t
# RUN: %python %s %t %if full %{ all %}
"""The walk over final code that looks for matrix instructions that may run without
all lanes (Inputs/whole_waves.py) finds them: behind a branch on lanes in each form,
in its other half, in a loop that lanes leave one by one, in half of the lanes alone.
bounds.py, backward-bounds.py, scratch.py and test/Pipelines/compiles.py take it over
all that they compile for AMD chips. And kernels stay whole in which machine sinking
would move products of WMMA behind the guard of a store: on chips that have these, with
'all' as an argument on every AMD chip."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import targets
from cases import final_code, module_of
from whole_waves import partial_waves

MATRIX = "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]"
SAVE, OTHERS = "s_and_saveexec_b32 s0, vcc_lo", "s_xor_b32 s0, exec_lo, s0"
ELSE = ["s_or_saveexec_b32 s0, s0", "s_xor_b32 exec_lo, exec_lo, s0"]
JOIN = "s_or_b32 exec_lo, exec_lo, s0"
SKIP, END = "s_cbranch_execz .LBB0_1", ".LBB0_1:"
COMPARE = ["s_mov_b32 s0, exec_lo", "v_cmpx_gt_i32_e64 s4, v9"]
LOOP = ["s_mov_b32 s0, 0", ".LBB0_1:"]
LEAVE = ["s_or_b32 s0, vcc_lo, s0", "s_and_not1_b32 exec_lo, exec_lo, s0",
         "s_cbranch_execnz .LBB0_1"]
PARTIAL = {
    "branch": [SAVE, SKIP, MATRIX, END, JOIN],
    "comparison": [*COMPARE, MATRIX, JOIN],
    "other half": [SAVE, OTHERS, SKIP, END, *ELSE, MATRIX, JOIN],
    "never joined": [SAVE, SKIP, END, MATRIX],
    "joined with too few": [SAVE, "s_and_b32 s0, s0, s1", JOIN, MATRIX],
    "register lost": [SAVE, SKIP, "s_load_b128 s[0:3], s[4:5], 0x0", END, JOIN,
                      MATRIX],
    "loop": [*LOOP, MATRIX, *LEAVE, JOIN],
    "one way": ["s_cbranch_scc1 .LBB0_1", SAVE, END, MATRIX],
    "lane lost": [SAVE, "v_writelane_b32 v40, s0, 3", "v_mov_b32_e32 v40, v1",
                  "v_readlane_b32 s0, v40, 3", JOIN, MATRIX],
}
WHOLE = {
    "start": [MATRIX],
    "branch": [SAVE, SKIP, END, JOIN, MATRIX],
    "comparison": [*COMPARE, JOIN, MATRIX],
    "both halves": [SAVE, OTHERS, SKIP, END, *ELSE, JOIN, MATRIX],
    "without others": [SAVE, OTHERS, "s_and_not1_saveexec_b32 s0, s0", JOIN, MATRIX],
    "skipped": [SAVE, SKIP, "s_mov_b32 exec_lo, s0", MATRIX, "s_mov_b32 exec_lo, 0",
                END, JOIN, MATRIX],
    "loop": [*LOOP, *LEAVE, JOIN, MATRIX],
    "uniform": ["s_cbranch_vccnz .LBB0_1", MATRIX, END],
    "lane": [SAVE, "v_writelane_b32 v40, s0, 3", "s_mov_b32 s0, 0",
             "v_readlane_b32 s0, v40, 3", JOIN, MATRIX],
}
# 64 lanes: each half has its own registers.
WIDE = {
    "half": ["s_mov_b64 s[0:1], exec", "s_mov_b32 exec_hi, 0",
             MATRIX.replace("wmma", "mfma")],
    "other register": ["s_and_saveexec_b64 s[0:1], vcc", "s_mov_b32 s1, s3",
                       "s_or_b64 exec, exec, s[0:1]", MATRIX],
}
WIDE_WHOLE = {
    "branch": ["s_and_saveexec_b64 s[0:1], vcc", "s_cbranch_execz .LBB0_1", END,
               "s_or_b64 exec, exec, s[0:1]", MATRIX],
}


def walk(code, lanes):
    lines = [line if line.endswith(":") else f"\t{line}" for line in code]
    return partial_waves("\n".join([
        "kernel:", *lines, "\ts_endpgm",
        f"\t.amdhsa_wavefront_size32 {int(lanes == 32)}"]))


for cases, lanes, whole in ((PARTIAL, 32, False), (WHOLE, 32, True),
                            (WIDE, 64, False), (WIDE_WHOLE, 64, True)):
    for name, code in cases.items():
        found, seen = walk(code, lanes)
        assert seen == ["kernel"], name
        assert bool(found) != whole, (lanes, name, found)
assert partial_waves("kernel:\n\ts_endpgm\n") == ([], [])

chips = targets.gpus(architecture="amdgcn")
wmma = [chip for chip in chips if "wmma" in targets.read(chip)]
assert wmma, chips
for target in chips if "all" in sys.argv else wmma:
    for number, case in enumerate((
            "Sq=37 Sk=53 D=8 type=f16 bias=hqk:f16:normal static=all",
            "Sq=5 Sk=7 D=8 type=f16 static=all")):
        final_code(f"{sys.argv[1]}.{target}-{number}", target,
                   module_of(f"{case} pass=backward"))
