# RUN: %python %s
"""What looks for hangs counts the processor's time: a program that computes for
ever is one, a slow one on a busy machine is not."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Inputs"))
import bounded

done = bounded.run(["/bin/sh", "-c", "sleep 3; echo slow"], cpu_seconds=1)
assert (done.returncode, done.stdout) == (0, "slow\n"), done
try:
    bounded.run(["/bin/sh", "-c", "while :; do :; done"], cpu_seconds=1)
    sys.exit("a loop without end was not found")
except bounded.Hangs as problem:
    assert "computes for more than 1 s" in str(problem), problem
