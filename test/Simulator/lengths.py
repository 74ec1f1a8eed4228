# Rows of their own lengths: what kernels compute of half-filled rows, as a share of
# full ones, with the schedules that are chosen by default; and random cases against
# f64, in which all that lies behind the ends is NaN.
#
# RUN: %python %s %if full %{--full%} | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
#
# More of them: python test/Simulator/lengths.py --count 500 --seed 7 --targets cpu
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import random_cases
from random_cases import count


def check_work():
    """Half of the keys; and half of the queries as well, a quarter of the logits."""
    for target in ("gfx942", "sm_80"):
        for words in ("N=2 Sq=512 Sk=512 D=64 sample=1",
                      "Sq=512 Sk=512 D=32 bias=bnk:i1:normal "
                      "bias=bhqk:bf16:normal sample=1 pass=backward"):
            full = count(target, words + " type=bf16")
            for lengths, most in (("half", 0.54), ("half:half", 0.27)):
                some = count(target, f"{words} type=bf16 lens={lengths}")
                assert some.keys() == full.keys()
                for kernel, done in some.items():
                    share = done / full[kernel]
                    assert 0.9 * most < share <= most, (target, words, lengths,
                                                        kernel, share)


random_cases.run("Rows of their own lengths", 16, rows=("lengths",), always=check_work)
