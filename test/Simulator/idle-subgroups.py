# Subgroups behind the end of a sequence skip the work on it: a key or a query for one
# subgroup more costs that subgroup's products, not those of the whole workgroup; and
# the numbers are those of the reference.
#
# RUN: %python %s | FileCheck %s
# CHECK: 18 kernels counted

import json
import subprocess

GRADIENTS = "bias=hqk:bf16:normal bias=nk:i1:sparse pass=backward"
kernels = 0


def count(chip, sizes, options):
    """Multiply-adds of matrix instructions by kernel."""
    case = f"N=2 H=1 type=bf16 {sizes} {options}"
    text = subprocess.run(
        ["evoformer-check", f"--target={chip}", "--device=sim", "--guard-bytes=0",
         "--partial-sum-bytes=0", "--sim-counters=json", case],
        check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        if line.startswith("{"):
            for kernel in json.loads(line)["kernels"]:
                # Kernels of other alignments have a number behind their name.
                name = kernel["name"].rstrip("_0123456789")
                found[name] = kernel["counters"]["matrix_multiply_adds"]
    return found


def compare(chip, kernel, before, after, most, options):
    """A further subgroup takes at most `most` of what all took before."""
    global kernels
    old, new = (count(chip, sizes, options)[kernel] for sizes in (before, after))
    assert old < new <= old * (1 + most), (chip, kernel, before, after, old, new)
    kernels += 1


# Of four subgroups of 32 keys; one is a quarter.
for chip in ("sm_80", "sm_90"):
    for depth in (8, 16, 32):
        compare(chip, "attention_key_value_grad", "Sq=70 Sk=128", "Sq=70 Sk=130", .26,
                f"D={depth} {GRADIENTS}")
# Subgroups of 32 queries or keys; gfx942's of 64 queries, gfx1100's of 16.
for chip, forward, gradient in (("sm_80", 128, 128), ("gfx942", 256, 128),
                                ("gfx1100", 64, 64)):
    for kernel, before in (("attention", forward), ("query_grad", gradient),
                           ("bias_grad", gradient)):
        compare(chip, f"attention_{kernel}", f"Sq={before} Sk=64",
                f"Sq={before + 2} Sk=64", .51,
                f"D=32 {'bias=hqk:bf16:normal' if kernel == 'attention' else GRADIENTS}")
    compare(chip, "attention_key_value_grad", "Sq=64 Sk=128", "Sq=64 Sk=130", .51,
            f"D=32 {GRADIENTS}")
print(kernels, "kernels counted")
