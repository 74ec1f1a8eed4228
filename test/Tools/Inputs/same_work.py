"""Whether two runs of `evoformer-check --sim-counters=json` executed the same."""

import json
import sys


def operations(path):
    with open(path, encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines if line.startswith("{")]
    if not cases:
        sys.exit(f"{path}: no counters")
    return [[(kernel["name"], kernel["counters"]) for kernel in case["kernels"]]
            for case in cases]


sys.exit(operations(sys.argv[1]) != operations(sys.argv[2]))
