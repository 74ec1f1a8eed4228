# What attention over a range of keys computes, as a share of attention over all
# of them: matrix instructions executed by each kernel, with the schedules that
# are chosen by default.
#
# RUN: %python %s | FileCheck %s

# CHECK: all right
# CHECK-NOT: {{.}}
import json
import subprocess

CAUSAL = "window=:i+sk-sq+1"
BIASES = "bias=bnk:i1:normal bias=bhqk:f32:normal pass=backward sample=1"
# Length, depth, range and what else, and the most that each kernel may compute.
CASES = ((1024, 32, CAUSAL, 0.60), (1024, 64, CAUSAL, 0.60),
         (1024, 32, CAUSAL + " " + BIASES, 0.60),
         (4096, 64, "window=i+sk-sq-127:i+sk-sq+1 sample=1", 0.07))
# Products of a logit, each as long as the depth; all of them are computed
# without a range, see counters.test.
PRODUCTS = {"attention_attention": 2, "attention_query_grad": 3,
            "attention_key_value_grad": 4, "attention_bias_grad": 2}


def count(target, case):
    """Multiply-adds of each kernel that has any."""
    run = subprocess.run(
        ["evoformer-check", "--target=" + target, "--device=sim",
         "--guard-bytes=0", "--sim-counters=json", case],
        capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    report, = (json.loads(line) for line in run.stdout.splitlines()
               if line.startswith("{"))
    products = {}
    for kernel in report["kernels"]:
        done = kernel["counters"]["matrix_multiply_adds"]
        if done:
            products[kernel["name"]] = done
    assert products
    return products


for target in ("gfx942", "sm_80"):
    for length, depth, words, most in CASES:
        case = f"Sq={length} Sk={length} D={depth} type=bf16 {words}"
        for kernel, products in count(target, case).items():
            share = products / (PRODUCTS[kernel] * length * length * depth)
            assert 0.4 * most < share <= most, (target, case, kernel, share)
print("all right")
