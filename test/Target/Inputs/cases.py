# Runs a check for every AMD chip, type of elements and depth.
import concurrent.futures
import os
import subprocess
import sys

TYPES = ("bf16", "f16", "f32")
# Chips whose loops have been worked on until no wait drains all loads.
NEVER_DRAINS = ("gfx942", "gfx1100")
TARGETS = ("gfx942", "gfx1100")


def report_of(path, target, module, option=""):
    """The report on a module's kernels as final code, which goes to `path`, and
    None; or None and what the compiler says."""
    error = compile_to(f"report={path}", target, module, option)
    if error:
        return None, error
    with open(path, encoding="utf-8") as file:
        return file.read(), None


def compile_to(output, target, module, option=""):
    """Compiles a module to final code, of which `output` says what is kept;
    returns what the compiler says if it does not."""
    run = subprocess.run(
        ["evoformer-opt", f"--evoformer-lower=target={target} {option}",
         f"--evoformer-serialize=format=isa {output}", "-o", os.devnull],
        input=module, capture_output=True, text=True)
    return run.stderr[:1000] if run.returncode else None


def module_of(case):
    """The module of a case of evoformer-check."""
    return subprocess.run(["evoformer-check", "--print-module", case],
                          capture_output=True, text=True, check=True).stdout


def check_all(problems_of, depths, chips=TARGETS):
    """Each depth with one type, and depths 32 and 64 with bf16; the whole
    product with 'all' among the arguments. `problems_of` takes a chip, a type
    and a depth as one tuple and returns lines."""
    cases = [(target, kind, depth) for target in chips
             for place, kind in enumerate(TYPES)
             for step, depth in enumerate(depths)
             if "all" in sys.argv or step % 3 == place or
             (kind == "bf16" and depth in (32, 64))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = sum(pool.map(problems_of, cases), [])
    print(f"{len(cases)} cases, {len(problems)} problems")
    if problems:
        sys.exit("\n".join(problems))
