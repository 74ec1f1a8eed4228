# The suite of lit tests: IR through evoformer-opt, whole runs, Python.
import ctypes
import os
import shutil
import sys

sys.path.insert(0, os.path.join(config.source_dir, "test"))
import lit_environment

config.name = "evoformer"
config.test_source_root = os.path.join(config.source_dir, "test")
config.test_exec_root = os.path.join(config.build_dir, "test")
config.test_format = lit_environment.ShellTests(execute_external=False)
config.suffixes = [".mlir", ".test", ".py", ".td"]
config.excludes = ["Inputs", "unit", "lit.cfg.py", "lit_environment.py"]
lit_environment.set_environment(config)
lit_environment.limit_time(lit_config, config)

tools = os.path.join(config.build_dir, "bin")
config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_tools_dir, os.environ["PATH"]])
config.environment["PYTHONPATH"] = os.path.join(config.source_dir, "scripts")

config.substitutions += [(name, lit_environment.shell_word(path)) for name, path in (
    ("%python", config.python),
    ("%targets", os.path.join(config.source_dir, "scripts", "targets.py")),
    ("%cxx", config.cxx),
    ("%llvm_prefix", os.path.dirname(config.llvm_tools_dir)),
    ("%mlir_lib", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")),
    ("%source_dir", config.source_dir),
    ("%build_dir", config.build_dir),
    ("%examples", os.path.join(config.source_dir, "examples")),
)]


def loads(*libraries):
    """Whether one of the libraries, found at run time as we do, loads."""
    for library in libraries:
        try:
            return ctypes.CDLL(library)
        except OSError:
            continue
    return None


def device_count(library, initialise, count):
    number = ctypes.c_int(0)
    try:
        if getattr(library, initialise)(0) != 0:
            return 0
        return number.value if getattr(library, count)(
            ctypes.byref(number)) == 0 else 0
    except AttributeError:
        return 0


def feature(name, present, reason):
    """Tests ask for it by `REQUIRES: name`; without it they are skipped, and
    the reason is printed once."""
    if present:
        config.available_features.add(name)
    else:
        lit_config.note(f"no {name}: {reason}")


cuda = loads("libcuda.so.1")
feature("cuda-device", cuda and device_count(cuda, "cuInit", "cuDeviceGetCount"),
        "libcuda.so.1 finds no device")
hip = loads("libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6")
feature("hip-device", hip and device_count(hip, "hipInit", "hipGetDeviceCount"),
        "libamdhip64.so finds no device")
feature("iree-compile", shutil.which("iree-compile"),
        "iree-compile is not in PATH (pip install iree-base-compiler)")
feature("ptxas", shutil.which("ptxas") or os.access(
    "/usr/local/cuda/bin/ptxas", os.X_OK), "ptxas is not installed")
feature("full", lit_config.params.get("full"),
        "the whole product of cases runs with ./dev test --full")
if config.sanitizer:
    config.available_features.add("sanitizer")
else:
    config.available_features.add("no-sanitizer")
