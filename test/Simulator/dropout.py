# Random attentions that drop weights, forward and all gradients, against a reference
# that draws by itself: with ranges of keys, lengths, ragged sequences, groups of heads,
# biases and scores; few weights and nearly all.
#
# RUN: %python %s %if full %{--full%} | FileCheck %s
#
# CHECK: all right
# CHECK-NOT: {{.}}
#
# More of them: python test/Simulator/dropout.py --count 500 --seed 7 --targets cpu
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import random_cases

# Whatever the schedule: with blocks of keys of other sizes lanes own other keys.
SCHEDULES = {"gfx942": ("k=32", "q=128,k=64"), "gfx1100": ("k=16", "k=48", "q=128,k=64"),
             "sm_80": ("k=16", "k=48", "q=128,k=64")}
# Blocks of queries of which lanes make six, three and three shared calls: words of four
# that are not full.
QUERIES = {"gfx942": "q=96,k=128", "gfx1201": "q=48,k=64", "sm_80": "q=48,k=64"}
CASE = "N=2 H=2 Sq=70 Sk=130 D=32 type=bf16 dropout=0.4:9"


def schedules():
    for target, some in SCHEDULES.items():
        for schedule in some:
            random_cases.check(target, f"--schedule=v1:{schedule}", CASE)
        # One draw of 2^16.
        random_cases.check(target, CASE.replace("0.4:9", "0.00002") + " pass=backward")
    for target, schedule in QUERIES.items():
        random_cases.check(target, f"--schedule=key_value_grad:v1:{schedule}",
                           CASE + " pass=backward")


random_cases.run("Dropout", 16, always=schedules, dropout=random_cases.DROPOUT)
