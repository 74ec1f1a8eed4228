# Random attentions whose logits a region makes of scores, forward and all gradients,
# against scores that somebody wrote down in f64: functions, indices and captured
# tensors, with ranges of keys, lengths, ragged sequences, groups of heads and biases.
#
# RUN: %python %s %if full %{--full%} | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
#
# More of them: python test/Simulator/scores.py --count 500 --seed 7 --targets cpu
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import random_cases

random_cases.run("Scores", 16, scores=random_cases.SCORES)
