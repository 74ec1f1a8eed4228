"""run_modules.py TOOLS LLVM FOLDER: the modules that torch-mlir made, raised and
run beside what they were."""

import pathlib
import subprocess
import sys

import numpy as np
import programs

tools, llvm, folder = sys.argv[1:4]
MODULES = pathlib.Path(__file__).parent / "modules"
TOSA = ("func.func(tosa-optional-decompositions,tosa-infer-shapes,"
        "tosa-make-broadcastable,tosa-to-linalg-named,canonicalize,"
        "tosa-layerwise-constant-fold,tosa-to-linalg),"
        "func.func(tosa-to-arith,tosa-to-tensor,canonicalize,cse),")
# What is not raised as it is, and the options that raise it.
REFUSED = {
    "grid_attention": ("finite-mask", "rows-without-keys=zero drop-below=-1e4"),
    "masked_infinite": ("rows-without-keys", "rows-without-keys=zero"),
    "weights_returned": ("used", None),
    "softcap": ("no-score", None),
}


def raise_module(text, options="", prefix=""):
    run = subprocess.run(
        [f"{tools}/evoformer-opt", "--remarks-filter=evoformer-raise.*",
         "--remark-format=emitRemark", f"--pass-pipeline=builtin.module({prefix}"
         f"evoformer-raise-attention{{{options}}},canonicalize,cse)"],
        input=text, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stdout, run.stderr


def check(path, problems):
    name = path.name.split(".")[0]
    text = path.read_text()
    prefix = TOSA if path.name.endswith(".tosa.mlir") else ""
    raised, remarks = raise_module(text, prefix=prefix)
    if name in REFUSED:
        remark, options = REFUSED[name]
        if f"[Missed] {remark} |" not in remarks or "evoformer.attention" in raised:
            problems.append(f"{path.name}: no remark '{remark}':\n{remarks}")
        if options is None:
            return f"{path.name}: not raised, {remark}"
        raised, remarks = raise_module(text, options, prefix)
    if raised.count("evoformer.attention") != 1:
        problems.append(f"{path.name}: not raised:\n{remarks}\n{raised}")
        return f"{path.name}: not raised"
    original = text
    if prefix:
        original = programs.command(
            f"{tools}/evoformer-opt",
            f"--pass-pipeline=builtin.module({prefix}canonicalize)", text=text)
    function = programs.functions(original)[name]
    inputs = programs.random_inputs(function, sum(map(ord, name)),
                                    programs.masks(text))
    expected = programs.Library(llvm, original, f"{folder}/{path.name}.so").run(
        name, inputs, function.results)
    got = programs.run_raised(
        llvm, raised, name, inputs, folder, lambda op, arrays: op.by_tool(
            f"{tools}/evoformer-run", folder, arrays))
    # A rounding to bf16 anywhere on the way decides.
    tolerance = 2e-2 if "bf16" in text else 2e-5
    worst = programs.difference(got, expected)
    if not worst <= tolerance:
        problems.append(f"{path.name}: differs by {worst:.1e}")
    return f"{path.name}: raised, differs by {worst:.1e}"


def main():
    problems, paths = [], sorted(MODULES.glob("*.mlir"))
    assert len(paths) >= 12
    for path in paths:
        print(check(path, problems), flush=True)
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
