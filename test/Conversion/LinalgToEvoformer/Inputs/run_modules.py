"""run_modules.py TOOLS LLVM FOLDER: the modules that torch-mlir made, and forms
that it does not make, raised and run beside what they were."""

import pathlib
import subprocess
import sys

import attention
import programs

tools, llvm, folder = sys.argv[1:4]
INPUTS = pathlib.Path(__file__).parent
TOSA = ("func.func(tosa-optional-decompositions,tosa-infer-shapes,"
        "tosa-make-broadcastable,tosa-to-linalg-named,canonicalize,"
        "tosa-layerwise-constant-fold,tosa-to-linalg),"
        "func.func(tosa-to-arith,tosa-to-tensor,canonicalize,cse),")
# What is not raised as it is, and the options that raise it.
REFUSED = {
    "grid_attention": ("finite-mask", "rows-without-keys=zero drop-below=-1e4"),
    "masked_infinite": ("rows-without-keys", "rows-without-keys=zero"),
    "indices": ("rows-without-keys", "rows-without-keys=zero"),
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
    # As this printer writes it.
    original = programs.command(f"{tools}/evoformer-opt", text=text)
    if prefix:
        original = programs.command(
            f"{tools}/evoformer-opt",
            f"--pass-pipeline=builtin.module({prefix}canonicalize)", text=text)
    function = programs.functions(original)[name]
    inputs = programs.random_inputs(function, sum(map(ord, name)),
                                    programs.masks(text))
    exact = programs.Library(
        llvm, programs.widen(original), f"{folder}/{path.name}.f64.so").run(
            name, programs.widen_arrays(inputs),
            [programs.widen(t) for t in function.results])
    before = programs.difference(programs.Library(
        llvm, original, f"{folder}/{path.name}.so").run(
            name, inputs, function.results), exact)
    after = programs.difference(programs.run_raised(
        llvm, raised, name, inputs, folder, lambda op, arrays: op.by_tool(
            f"{tools}/evoformer-run", folder, arrays)), exact)
    # The project's promise for a single attention, here for the whole module.
    allowed = 2 * before + max(attention.tolerance(
        programs.shape_and_type(t)[1]) for t in function.results)
    if not after <= allowed:
        problems.append(f"{path.name}: off by {after:.1e}, before by {before:.1e}")
    return f"{path.name}: raised, off by {after:.1e}, before by {before:.1e}"


def main():
    problems, paths = [], sorted(INPUTS.glob("modules/*.mlir"))
    assert len(paths) >= 12
    paths += sorted(INPUTS.glob("forms/*.mlir"))
    for path in paths:
        print(check(path, problems), flush=True)
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
