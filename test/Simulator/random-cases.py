# Random attentions against f64, forward and all gradients, on the processor and in the
# simulator: ranges of keys, lengths, ragged sequences, groups of heads, biases, types,
# depths and layouts together. What no query may see is NaN.
#
# RUN: %python %s %if full %{--full%} | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
#
# More of them: python test/Simulator/random-cases.py --count 500 --seed 7 --targets cpu
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import random_cases

random_cases.run("Random attentions", 24)
