"""Lets PyPI's torch, which is built for CUDA, run without NVIDIA's libraries
(3 GB) where only the processor is used: writes libraries of their names whose
functions say that there is no device.

    python torch_stubs.py FOLDER COMPILER

FOLDER is torch/lib of an installation without its nvidia-* dependencies. What a
stub must define is read from torch's own libraries (System V ABI, "Symbol
Versioning"), so that every lookup of the loader succeeds."""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

# cudaErrorNoDevice (CUDA Runtime API, "Data types"); to other libraries some
# failure.
NO_DEVICE = 100


def read(folder):
    """Needed libraries that are NVIDIA's, and undefined symbols: by library
    where they have a version, else in a list."""
    needed, versioned, plain, defined = set(), collections.defaultdict(set), set(), set()
    for library in sorted(folder.glob("*.so")):
        text = subprocess.run(["readelf", "-W", "--dynamic", "--dyn-syms",
                               str(library)], check=True, capture_output=True,
                              text=True).stdout
        needed |= set(re.findall(r"\(NEEDED\).*\[(lib(?:cu|nv|nccl)[^\]]*)\]", text))
        for line in text.splitlines():
            words = line.split()
            if len(words) < 8 or words[4] not in ("GLOBAL", "WEAK"):
                continue
            name, _, version = words[7].partition("@")
            if words[6] != "UND":
                defined.add(name)
            elif re.match(r"lib(cu|nv)|NVSHMEM", version):
                versioned[version].add(name)
            elif not version and words[4] == "GLOBAL":
                plain.add(name)
    return needed, versioned, plain - defined


def main():
    folder, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    needed, versioned, plain = read(folder)
    # Every program of the driver's own has a device or is not started.
    needed -= {"libcuda.so.1"} | {path.name for path in folder.iterdir()}
    for number, name in enumerate(sorted(needed)):
        versions = {version: names for version, names in versioned.items()
                    if version == name or
                    (version == "NVSHMEM" and name.startswith("libnvshmem"))}
        names = set().union(*versions.values())
        # Names without a version may lie in any library.
        names |= plain if number == 0 else set()
        with tempfile.TemporaryDirectory() as here:
            source, script = (pathlib.Path(here, n) for n in ("stub.c", "map"))
            source.write_text("".join(f"int {n}(void) {{ return {NO_DEVICE}; }}\n"
                                      for n in sorted(names)))
            script.write_text("".join(
                f"{version} {{ {' '.join(n + ';' for n in sorted(listed))} }};\n"
                for version, listed in versions.items()))
            options = [f"-Wl,--version-script={script}"] if versions else []
            subprocess.run([compiler, "-shared", "-fPIC", "-w", "-fno-builtin",
                            "-nostdlib", f"-Wl,-soname,{name}", *options, "-o",
                            str(folder / name), str(source)], check=True)
        print(f"{name}: {len(names)} functions")


if __name__ == "__main__":
    main()
