# Bounds of keys of numbers that are known when a program runs: kernels compute as few
# tiles as those whose bounds are constants, one program serves any numbers, and random
# cases against f64.
#
# RUN: %python %s %if full %{--full%} | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
#
# More of them: python test/Simulator/key-operands.py --count 500 --seed 7 --targets cpu
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import random_cases
from random_cases import count

# Beyond what 64 bits hold of sums of several.
HUGE = (2**62, -2**62, 2**63 - 1, -2**63, 2**31, -2**31, 2**30)


def check_work():
    """The same with a constant and with an operand, and none where no key is seen.

    The window is as wide as two of the largest blocks: narrower ones get smaller
    blocks, if their width is known.
    """
    for target in ("gfx942", "sm_80"):
        for words in ("Sq=512 Sk=512 D=64", "Sq=384 Sk=384 D=32 bias=bnk:i1:normal "
                      "bias=bhqk:bf16:normal pass=backward"):
            words += " type=bf16 sample=1 window="
            known = count(target, words + "i-260:i+1")
            assert count(target, words + "i-@260:i+1") == known, (target, words)
            assert count(target, words + "i+@-270+@10:i+@1") == known, (target, words)
            none = count(target, words + f"i+@{2**62}:")
            assert all(done < known[kernel] for kernel, done in none.items()), none


class Cases(random_cases.Cases):
    """Of windows whose numbers are operands, some of them huge."""

    def operand(self, match):
        sign, number = match[1], int(match[2])
        plus, minus = ("", "-") if sign in ":=" else ("+", "-")
        value = -number if sign == "-" else number
        start = sign if sign in ":=" else ""
        if self.random.random() < 0.1:
            return f"{start}{plus}@{self.some(HUGE)}"
        more = self.random.randint(-9, 9)
        return start + self.some([f"{plus}@{value}", f"{minus}@{-value}",
                                  f"{plus}@{value + more}-@{more}",
                                  f"{plus}{more}+@{value - more}".replace("+-", "-")])

    def window(self):
        word = ""
        while not re.search("[:=+-][0-9]", word):
            word = super().window()
        return re.sub("([:=+-])([0-9]+)", self.operand, word)


random_cases.run("Bounds of operands", 16, always=check_work, make=Cases)
