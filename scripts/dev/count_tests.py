"""Counts the tests of lit's result files together; the line it prints is the last
of `./dev test` and of `.ci/run`. A file without tests, or none because a build
failed, counts as a failed test. Exit code 0 if none failed. Before it stands what the
tests took of the processor's time (test/lit_environment.py notes it; those of
GoogleTest have none) and which took most of it."""

import collections
import json
import os
import re
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


SHOWN = 25


def tests_of(path):
    """(name, code, seconds of the processor or None) of every test of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            tests = [(test["name"], test["code"], seconds_of(test.get("output", "")))
                     for test in json.load(file)["tests"]]
        return tests or [(f"no tests in {path}", "UNRESOLVED", None)]
    except (OSError, ValueError) as error:
        return [(f"no test results: {error}", "UNRESOLVED", None)]


def seconds_of(output):
    noted = re.findall(r"^processor seconds: ([\d.]+)$", output, re.MULTILINE)
    return float(noted[-1]) if noted else None


def show_seconds(seconds):
    """seconds: (seconds, name) of each test."""
    print(f"processor's time of {len(seconds)} tests: {sum(s for s, _ in seconds):.0f} s")
    for time, name in sorted(seconds, reverse=True)[:SHOWN]:
        if time >= 1:
            print(f"{time:7.1f} s {name}")


def main():
    counts = collections.Counter()
    seconds = []
    for path in sys.argv[1:]:
        # Where several builds are tested their folders tell the tests apart.
        where = f"{os.path.dirname(path)}: " if len(sys.argv) > 2 else ""
        for name, code, time in tests_of(path):
            if time is not None:
                seconds.append((time, where + name))
            kind = ("passed" if code in PASSED else
                    "skipped" if code in SKIPPED else "failed")
            counts[kind] += 1
            if kind != "passed":
                print(f"{kind}: {where}{name} ({code})")
    if seconds:
        show_seconds(seconds)
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line)
    return 1 if counts["failed"] else 0


sys.exit(main())
