"""Programs that are expected to end. What counts is the processor's time, which a
busy machine does not change; a program that sleeps for ever is ended by lit's own
limit (test/lit_environment.py)."""

import signal
import subprocess

# A hundred times what the longest takes.
CPU_SECONDS = 120


class Hangs(Exception):
    pass


def run(command, cpu_seconds=CPU_SECONDS, **options):
    """subprocess.run with the output as text; raises Hangs where the program, or
    one that it starts, computes for longer. The program gets a signal at which
    LLVM's tools print where they were."""
    options = {"capture_output": True, "text": True, **options}
    result = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -S -t {cpu_seconds}; exec "$@"', "sh",
         *(str(word) for word in command)], **options)
    if result.returncode == -signal.SIGXCPU:
        raise Hangs(f"{' '.join(map(str, command))}\ncomputes for more than "
                    f"{cpu_seconds} s\n{(result.stderr or '')[-2000:]}")
    return result
