"""The checks behind `./dev lint`.

format    clang-format leaves every C++ file as it is
tidy      clang-tidy (see .clang-tidy) on changed files, or on all with --all;
          a file found clean is not read again until it or a header changes
layering  nothing from the tile level down knows the attention dialect; in the
          step that leaves it, kernels know no schedule and neither the host
style     banners, include guards, white space, syntax of scripts

`--only NAME,...` runs some of them; `--results FILE` writes what came of each as
lit writes the results of tests.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The folders that may include the attention dialect: the dialect itself, the
# steps that make it and leave it, and what assembles the whole.
KNOWS_ATTENTION = (
    "include/Evoformer/Dialect/Evoformer/",
    "include/Evoformer/Conversion/EvoformerToTile/",
    "include/Evoformer/Conversion/LinalgToEvoformer/",
    "include/Evoformer/Pipelines/",
    "lib/Dialect/Evoformer/",
    "lib/Conversion/EvoformerToTile/",
    "lib/Conversion/LinalgToEvoformer/",
    "lib/Pipelines/",
    "test/",
    "tools/",
)

# What follows a banner.
LICENSE = """
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
"""

ATTENTION_INCLUDE = re.compile(
    r'^\s*#?include\s+"Evoformer/(Dialect/Evoformer/|Conversion/EvoformerToTile)')

# The rooms of that step and what each may not include.
TILING = "lib/Conversion/EvoformerToTile/"
ROOMS = {
    "Kernels": re.compile(r'#include "\.\./(Schedules|Host)/'),
    "Schedules": re.compile(r'#include "\.\./Host/'),
}


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout


def files(*suffixes):
    """Tracked and new files, or in a checkout without git all files."""
    try:
        names = git("ls-files", "-co", "--exclude-standard").splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, here in os.walk(ROOT):
            folders[:] = [f for f in folders
                          if not f.startswith((".", "build"))]
            names += [os.path.relpath(os.path.join(folder, name), ROOT)
                      for name in here]
    return sorted(name for name in names if name.endswith(suffixes) and
                  os.path.isfile(os.path.join(ROOT, name)))


def text_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def check_format(options):
    command = [os.path.join(options.llvm, "bin", "clang-format"), "--dry-run",
               "-Werror", *files(".h", ".cpp")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return [line for line in run.stderr.splitlines() if "error:" in line]


def changed_files():
    """Files that differ from the main branch, committed or not."""
    for main in ("origin/main", "main"):
        try:
            base = git("merge-base", "HEAD", main).strip()
        except subprocess.CalledProcessError:
            continue
        new = git("ls-files", "-o", "--exclude-standard")
        return set((git("diff", "--name-only", base) + new).splitlines())
    return None


QUOTED_INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class Contents:
    """Hashes of what clang-tidy reads for a file: itself, the project's and
    the generated headers it includes, however deep, the command and the
    configuration. The compiler's and LLVM's headers stand for a version."""

    def __init__(self, options, tidy):
        self.folders = [ROOT, os.path.join(ROOT, "include"),
                        os.path.join(options.build, "include")]
        self.includes = {}
        version = subprocess.run([tidy, "--version"], check=True,
                                 capture_output=True).stdout
        self.common = version + self.bytes_of(os.path.join(ROOT, ".clang-tidy"))

    @staticmethod
    def bytes_of(path):
        with open(path, "rb") as file:
            return file.read()

    def read(self, path):
        """The hash of a file, and the files that it includes."""
        if path not in self.includes:
            data = self.bytes_of(path)
            found = []
            for name in QUOTED_INCLUDE.findall(data):
                for folder in [os.path.dirname(path), *self.folders]:
                    header = os.path.join(folder, name.decode())
                    if os.path.isfile(header):
                        found.append(os.path.normpath(header))
                        break
            self.includes[path] = hashlib.sha256(data).digest(), found
        return self.includes[path]

    def key(self, path, command):
        seen, left = set(), [path]
        while left:
            here = left.pop()
            if here not in seen:
                seen.add(here)
                left += self.read(here)[1]
        whole = hashlib.sha256(self.common + command.encode())
        for here in sorted(seen):
            whole.update(here.encode() + self.read(here)[0])
        return whole.hexdigest()


def check_tidy(options):
    with open(os.path.join(options.build, "compile_commands.json")) as file:
        commands = {os.path.relpath(entry["file"], ROOT): entry["command"]
                    for entry in json.load(file)}
    chosen = [name for name in files(".cpp") if name in commands]
    changed = None if options.all else changed_files()
    if changed is not None:
        chosen = [name for name in chosen if name in changed]
    tidy = os.path.join(options.llvm, "bin", "clang-tidy")
    contents = Contents(options, tidy)
    # An empty file for each that was found clean, named by what was read.
    cache = os.path.join(options.build, ".dev", "tidy")
    os.makedirs(cache, exist_ok=True)
    keys = {name: contents.key(os.path.join(ROOT, name), commands[name])
            for name in chosen}
    known = set(os.listdir(cache))
    if options.all:
        for key in known - set(keys.values()):
            os.remove(os.path.join(cache, key))
    left = [name for name in chosen if keys[name] not in known]
    print(f"clang-tidy: {len(chosen)} files, of which {len(chosen) - len(left)} "
          "were clean as they are", flush=True)

    def run(name):
        done = subprocess.run([tidy, "-p", options.build, "--quiet", name],
                              cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 0:
            with open(os.path.join(cache, keys[name]), "w"):
                pass
        return name, done

    problems = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for index, (name, done) in enumerate(pool.map(run, left), 1):
            print(f"[{index}/{len(left)}] clang-tidy {name}", flush=True)
            if done.returncode:
                print(done.stdout + done.stderr, flush=True)
                problems.append(f"{name}: see above")
    return problems


def check_layering(options):
    problems = []
    for name in files(".h", ".cpp", ".td"):
        if name.startswith(KNOWS_ATTENTION):
            continue
        for number, line in enumerate(text_of(name).splitlines(), 1):
            if ATTENTION_INCLUDE.match(line):
                problems.append(f"{name}:{number}: only the attention dialect "
                                "and the step that leaves it may include this")
    for room, refused in ROOMS.items():
        for name in files(".h", ".cpp"):
            if not name.startswith(f"{TILING}{room}/"):
                continue
            for number, line in enumerate(text_of(name).splitlines(), 1):
                if refused.match(line):
                    problems.append(f"{name}:{number}: what is in {room} may "
                                    "not include this")
    return problems


def check_style(options):
    problems = []
    for name in files(".h", ".cpp", ".td", ".py", ".sh", ".cmake", ".mlir",
                      ".md", "CMakeLists.txt", "dev", ".ci/run"):
        text = text_of(name)
        if text and not text.endswith("\n"):
            problems.append(f"{name}: no newline at the end")
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip():
                problems.append(f"{name}:{number}: white space at the end")
            if "\t" in line:
                problems.append(f"{name}:{number}: tab")
    for name in files(".h", ".cpp", ".td"):
        text = text_of(name)
        first = text.split("\n", 1)[0]
        banner = f"//===- {os.path.basename(name)} - "
        if name != "cmake/pch.h" and not (first.startswith(banner) and
                                          first.endswith("-===//")):
            problems.append(f"{name}:1: the first line is not '{banner}…-===//'")
        if len(first) > 80:
            problems.append(f"{name}:1: the banner is wider than 80 columns")
        if name != "cmake/pch.h" and not text.startswith(LICENSE, len(first)):
            problems.append(f"{name}:2: the banner is not followed by the two "
                            "lines of the license and a rule")
    for name in files(".h"):
        if not name.startswith("include/"):
            continue
        guard = re.sub(r"\W", "_", name[len("include/"):]).upper()
        text = text_of(name)
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            problems.append(f"{name}: the include guard is not {guard}")
        if re.search(r"^using namespace", text, re.MULTILINE):
            problems.append(f"{name}: 'using namespace' in a header")
    for name in files(".py"):
        try:
            compile(text_of(name), name, "exec")
        except SyntaxError as error:
            problems.append(f"{name}:{error.lineno}: {error.msg}")
    for name in files(".sh", "dev", ".ci/run"):
        run = subprocess.run(["bash", "-n", os.path.join(ROOT, name)],
                             capture_output=True, text=True)
        if run.returncode:
            problems.append(f"{name}: {run.stderr.strip()}")
    return problems


CHECKS = {"format": check_format, "layering": check_layering,
          "style": check_style, "tidy": check_tidy}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--llvm", default="/usr/lib/llvm-22")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--only", default=",".join(CHECKS))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--results")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    failed, tests = False, []
    for name in options.only.split(","):
        if name not in CHECKS:
            parser.error(f"no check '{name}'; there are {', '.join(CHECKS)}")
        problems = CHECKS[name](options)
        tests.append({"name": f"lint :: {name}",
                      "code": "FAIL" if problems else "PASS"})
        print(f"{name}: {'ok' if not problems else f'{len(problems)} problems'}")
        for problem in problems:
            print(problem)
            failed = True
    if options.results:
        with open(options.results, "w", encoding="utf-8") as file:
            json.dump({"tests": tests}, file)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
