"""Steps whose output is kept until what they read changes."""

import contextlib
import datetime
import functools
import hashlib
import inspect
import io
import json
import os
import re
import subprocess
import sys


@functools.cache
def digest(path):
    """Of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def program(path):
    """What a program is: its content, and what the file system says of the shared
    libraries that it loads, since LLVM's hold hundreds of megabytes."""
    try:
        libraries = subprocess.run(["ldd", path], capture_output=True,
                                   text=True).stdout
    except OSError:
        libraries = ""
    states = []
    for library in sorted(re.findall(r"=> (/\S+)", libraries)):
        state = os.stat(library)
        states.append((library, state.st_size, state.st_mtime_ns))
    return [digest(path), states]


class Tee(io.StringIO):
    """Shows what is written to it, and holds it."""

    def __init__(self, shown):
        super().__init__()
        self.shown = shown

    def write(self, text):
        self.shown.write(text)
        return super().write(text)

    def flush(self):
        self.shown.flush()


class Steps:
    """Runs steps, or shows what they printed when they last succeeded with the
    same key."""

    def __init__(self, folder, common, again=False):
        """`common`: what all steps depend on, as JSON takes it. `again`: run all."""
        self.folder, self.common, self.again = folder, common, again
        self.ran = self.shown = 0
        self.used = set()
        os.makedirs(folder, exist_ok=True)

    def run(self, key, step, *arguments):
        """Whether the step is good: what it returns. `key`: what it depends on
        beyond what all do."""
        text = json.dumps([self.common, step.__name__, key])
        path = os.path.join(self.folder,
                            hashlib.sha256(text.encode()).hexdigest() + ".json")
        self.used.add(os.path.basename(path))
        if not self.again and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
            print(f"  (of {kept['when']})\n{kept['text']}", end="", flush=True)
            self.shown += 1
            return True
        self.ran += 1
        with contextlib.redirect_stdout(Tee(sys.stdout)) as output:
            good = step(*arguments)
        if good:
            # Whole or not at all, should the program be ended here.
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump({"when": f"{datetime.datetime.now():%Y-%m-%d %H:%M}",
                           "text": output.getvalue()}, file)
            os.replace(path + ".new", path)
        return good

    def finish(self):
        """Forgets what no step asked for."""
        for name in set(os.listdir(self.folder)) - self.used:
            os.remove(os.path.join(self.folder, name))


def sources(*modules):
    """The content of Python modules."""
    return [digest(inspect.getsourcefile(module)) for module in modules]
