# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s %t
"""What the demo keeps is shown again as long as nothing that it depends on has
changed, and what failed is never kept."""

import contextlib
import io
import os
import pathlib
import sys

import kept

work = pathlib.Path(sys.argv[1])
tool = work / "tool"
tool.write_text("one")
ran = []


def step(text, good):
    ran.append(text)
    print(text)
    return good


def run(key, text, good=True, again=False):
    """(what is shown, whether the step is good, whether it ran)"""
    kept.digest.cache_clear()
    kept.program.cache_clear()
    ran.clear()
    steps = kept.Steps(work / "steps", [kept.program(str(tool))], again)
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        result = steps.run(key, step, text, good)
    return shown.getvalue().splitlines()[-1], result, bool(ran)


def expect(found, expected):
    assert found == expected, (found, expected)


expect(run("a", "first"), ("first", True, True))
expect(run("a", "second"), ("first", True, False))
expect(run("a", "third", again=True), ("third", True, True))
expect(run("b", "other"), ("other", True, True))
expect(run("a", "fourth"), ("third", True, False))
# Another tool with the same name, size and time of change.
times = tool.stat()
tool.write_text("two")
os.utime(tool, ns=(times.st_atime_ns, times.st_mtime_ns))
expect(run("a", "fifth"), ("fifth", True, True))
expect(run("c", "broken", good=False), ("broken", False, True))
expect(run("c", "mended"), ("mended", True, True))

steps = kept.Steps(work / "steps", [kept.program(str(tool))])
with contextlib.redirect_stdout(io.StringIO()):
    steps.run("a", step, "sixth", True)
steps.finish()
expect(len(os.listdir(work / "steps")), 1)
