# Checks what evoformer-check --sim-counters=json printed for one head of 64
# queries, 64 keys and a depth of 32.
import json
import sys

reports = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")
           if line.startswith("{")]
assert len(reports) == 1
report = reports[0]
products = sum(kernel["counters"]["matrix_multiply_adds"]
               for kernel in report["kernels"])
ideal = 2 * 64 * 64 * 32
assert products >= ideal
assert report["ideal"]["matrix_multiply_adds"] == ideal
assert report["against_ideal"]["matrix_multiply_adds"] == products / ideal
assert report["ideal"]["global_bytes"] == 4 * 64 * 32 * 2
assert all(kernel["launches"] == 1 for kernel in report["kernels"])
assert report["lane_operations_per_second"] > 0
