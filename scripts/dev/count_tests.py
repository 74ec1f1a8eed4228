"""Counts the tests of lit's result files together; the line it prints is the last
of `./dev test` and of `.ci/run`. A file without tests, or none because a build
failed, counts as a failed test. Exit code 0 if none failed."""

import collections
import json
import os
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def tests_of(path):
    """(name, code) of every test of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            tests = [(test["name"], test["code"])
                     for test in json.load(file)["tests"]]
        return tests or [(f"no tests in {path}", "UNRESOLVED")]
    except (OSError, ValueError) as error:
        return [(f"no test results: {error}", "UNRESOLVED")]


def main():
    counts = collections.Counter()
    for path in sys.argv[1:]:
        # Where several builds are tested their folders tell the tests apart.
        where = f"{os.path.dirname(path)}: " if len(sys.argv) > 2 else ""
        for name, code in tests_of(path):
            kind = ("passed" if code in PASSED else
                    "skipped" if code in SKIPPED else "failed")
            counts[kind] += 1
            if kind != "passed":
                print(f"{kind}: {where}{name} ({code})")
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line)
    return 1 if counts["failed"] else 0


sys.exit(main())
