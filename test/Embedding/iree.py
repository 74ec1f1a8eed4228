# RUN: mkdir -p %t && %python %s %source_dir/scripts/iree_spec.py %build_dir/bin %t
"""The spec that scripts/iree_spec.py writes for IREE's compiler launches kernels that
compute IREE's attention: what it says, launch by launch, is done in the simulator and
compared with f64. What cannot be written is refused. (iree-compile.py has IREE's compiler
take it.)"""

import pathlib
import re
import subprocess
import sys

import ml_dtypes
import numpy as np

SHAPES = ("N=8 H=4 Sq=64 Sk=64 D=32 type=bf16",
          "N=8 H=4 Sq=64 Sk=64 D=32 type=bf16 mask=hqk:bf16",
          "N=2 H=2 Sq=40 Sk=72 D=32 type=bf16 mask=hqk:bf16",
          "N=3 H=2 Sq=70 Sk=90 D=24 Dv=40 type=f16 scale=0.25 mask=nk:i1")
LAUNCH = re.compile(
    r'%(\w+) = hal\.dispatch\.extern "(\w+)"\[%(\w+)\]\(([^)]*)\) : \(([^)]*)\) -> (\S+)'
    r'.*?constants = (\d+).*?workgroup_size = \[(\d+) : index', re.S)
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "i1": np.bool_}

script, tools, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def write(*shapes, target="gfx942", expect=None):
    done = subprocess.run(
        [sys.executable, script, f"--tools={tools}", f"--target={target}", folder, *shapes],
        capture_output=True, text=True)
    assert (done.returncode == 0) == (expect is None), done.stderr
    assert expect is None or expect in done.stderr, done.stderr


def array_of(tensor):
    *sizes, kind = re.match(r"tensor<(.*)>", tensor)[1].split("x")
    return [int(size) for size in sizes], TYPES[kind]


def launch_all(function, inputs):
    """Does what a function of the spec says; returns the output's file and type."""
    constants = dict(re.findall(r"%(\w+) = arith\.constant (\d+) : \w+", function))
    files = {}
    for name, array in inputs.items():
        files[name] = folder / f"{name}.bin"
        files[name].write_bytes(array.tobytes())
    for result, kernel, count, operands, types, out, numbers, lanes in \
            LAUNCH.findall(function):
        names = re.findall(r"%(\w+)", operands)
        # IREE passes buffers first and then what are no buffers.
        scalars = names[:int(numbers)]
        assert types.split(", ")[:len(scalars)] == ["i32"] * len(scalars)
        sizes, kind = array_of(out)
        files[result] = folder / f"{result}.bin"
        size = int(np.prod(sizes)) * np.dtype(kind).itemsize
        arguments = [*(f"in:{files[name]}" for name in names[len(scalars):]),
                     f"out:{size}:{files[result]}",
                     *(f"i32:{constants[name]}" for name in scalars)]
        run(tools / "evoformer-sim", folder / "lowered.mlir", f"--kernel={kernel}",
            f"--grid={constants[count]}", f"--block={lanes}",
            *(f"--arg={argument}" for argument in arguments))
    returned = re.search(r"util\.return %(\w+) : (\S+)", function)
    return files[returned[1]], *array_of(returned[2])


def attend(q, k, v, mask, scale):
    """IREE's op, in f64."""
    logits = scale * np.einsum("nqhd,nkhd->nhqk", q, k)
    if mask is not None:
        logits = np.where(mask, logits, -np.inf) if mask.dtype == bool else logits + mask
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return np.einsum("nhqk,nkhd->nqhd", weights / weights.sum(-1, keepdims=True), v)


def check(shape, function):
    draw = np.random.default_rng(4)
    parameters = re.search(r"@\w+\((.*?)\) ->", function)[1]
    inputs = {}
    for name, tensor in re.findall(r"%(\w+): (tensor<\S+>)", parameters):
        sizes, kind = array_of(tensor)
        inputs[name] = (draw.random(sizes) < 0.7 if kind is np.bool_ else
                        draw.standard_normal(sizes).astype(kind))
    path, sizes, kind = launch_all(function, inputs)
    got = np.fromfile(path, dtype=kind).reshape(sizes).astype(np.float64)
    words = dict(word.split("=") for word in shape.split())
    mask = inputs.pop("mask", None)
    exact = {name: array.astype(np.float64) for name, array in inputs.items()}
    if mask is not None:
        letters = words["mask"].split(":")[0]
        mask = np.expand_dims(mask, [i for i, x in enumerate("nhqk") if x not in letters])
        mask = mask if mask.dtype == bool else mask.astype(np.float64)
    scale = np.float32(words.get("scale", float(words["D"]) ** -0.5))
    want = attend(exact["query"], exact["key"], exact["value"], mask, np.float64(scale))
    # Weights and outputs are rounded to the type once each, and weights sum up to 1:
    # two halves of an ulp of the largest value.
    allowed = float(ml_dtypes.finfo(kind).eps) * np.abs(exact["value"]).max()
    error = np.abs(got - want).max()
    assert error <= allowed, f"{shape}: {error} > {allowed}"
    print(f"{shape}: {error:.1e} of {allowed:.1e}")


write(*SHAPES)
functions = re.findall(r"util\.func private.*?\n  }", (folder / "spec.mlir").read_text(),
                       re.S)
assert len(functions) == len(SHAPES)
for pair in zip(SHAPES, functions):
    check(*pair)
# The second's mask lies well, the third's has no rows of whole blocks, and the fourth's is a key
# sum.
assert [len(LAUNCH.findall(x)) for x in functions] == [1, 1, 3, 2]

write("N=8 heads=4", expect="'heads=4' in 'N=8 heads=4' is none of N, H, Sq, Sk, D, Dv, "
      "type, scale and mask")
write("N=eight", expect="'N=eight': invalid literal")
write("N=0", expect="'N=0' has a size below 1")
write("type=f64", expect="type is bf16, f16, f32, not 'f64'")
write("mask=kq:f32", expect="mask is some of nhqk in this order, a colon and bf16, f16, "
      "f32 or i1, not 'kq:f32'")
write("D=300", expect="error")
