# What attention over a range of keys computes, as a share of attention over all
# of them: matrix instructions executed by each kernel, with the schedules that
# are chosen by default. With 'all' as an argument larger sizes, too, of which shares
# are nearer to what is needed.
#
# RUN: %python %s %if full %{ all %} | FileCheck %s

# CHECK: all right
# CHECK-NOT: {{.}}
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from random_cases import count

CAUSAL = "window=:i+sk-sq+1"
WINDOW = "window=i+sk-sq-127:i+sk-sq+1 sample=1"
BIASES = "bias=bnk:i1:normal bias=bhqk:f32:normal pass=backward sample=1"
# Length, depth, range and what else, and the most that each kernel may compute.
CASES = ((1024, 32, CAUSAL, 0.60), (1024, 64, CAUSAL, 0.60),
         (512, 32, CAUSAL + " " + BIASES, 0.64),
         (2048, 64, WINDOW, 0.12),
         # 32 queries and 128 keys: at least 0.0625.
         (2048, 32, "window=i/32*32-48:i/32*32+80 sample=1", 0.11))
LARGE = ((1024, 32, CAUSAL + " " + BIASES, 0.60), (4096, 64, WINDOW, 0.07))
# Products of a logit, each as long as the depth; all of them are computed
# without a range, see counters.test.
PRODUCTS = {"attention_attention": 2, "attention_query_grad": 3,
            "attention_key_value_grad": 4, "attention_bias_grad": 2}


for target in ("gfx942", "sm_80"):
    for length, depth, words, most in CASES + LARGE * ("all" in sys.argv):
        case = f"Sq={length} Sk={length} D={depth} type=bf16 {words}"
        counted = count(target, case)
        assert counted
        for kernel, products in counted.items():
            share = products / (PRODUCTS[kernel] * length * length * depth)
            assert 0.4 * most < share <= most, (target, case, kernel, share)
print("all right")
