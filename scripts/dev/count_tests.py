"""Counts the tests of a lit result file; the line it prints is the last of
`./dev test`. Exit code 0 if tests ran and none failed."""

import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    try:
        with open(sys.argv[1]) as file:
            tests = json.load(file)["tests"]
    except (OSError, ValueError) as error:
        print(f"no test results: {error}", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    counts = collections.Counter()
    for test in tests:
        code = test["code"]
        kind = ("passed" if code in PASSED else
                "skipped" if code in SKIPPED else "failed")
        counts[kind] += 1
        if kind != "passed":
            print(f"{kind}: {test['name']} ({code})")
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line)
    return 0 if counts["passed"] and not counts["failed"] else 1


sys.exit(main())
