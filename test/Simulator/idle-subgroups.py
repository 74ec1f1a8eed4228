# Subgroups behind the end of a sequence skip the work on it: a key for one subgroup
# more costs that subgroup's products, not those of the whole workgroup; and the
# numbers are those of the reference.
#
# RUN: %python %s | FileCheck %s
# CHECK: 6 kernels counted

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
                found[kernel["name"]] = kernel["counters"]["matrix_multiply_adds"]
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
print(kernels, "kernels counted")
