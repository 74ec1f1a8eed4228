"""Runs programs on tensors: as they are, by upstream's passes, and raised, with
each evoformer.attention by evoformer-run or by its definition in f64."""

import ctypes
import pathlib
import re
import subprocess

import attention
import numpy as np

# From linalg on tensors to the LLVM dialect, by upstream's passes alone.
LOWERING = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{modify-public-functions=true},convert-linalg-to-loops,"
    "func.func(llvm-request-c-wrappers),expand-strided-metadata,lower-affine,"
    "math-extend-to-supported-types,arith-emulate-unsupported-floats{"
    "source-types=bf16 target-type=f32},arith-expand{include-bf16=true},"
    "convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,"
    "convert-math-to-libm,convert-index-to-llvm,"
    "convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts)")
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)>")
FUNCTION = re.compile(
    r"^  func\.func @(\w+)\((.*?)\)(?: -> (.*?))? \{\n(.*?)^  \}\n", re.M | re.S)
OPERAND = re.compile(r"(\w+)\((%[\w#]+)(?: as (\w+))? : (tensor<[^>]*>)\)")
TYPES = attention.TYPES | {"i64": np.dtype(np.int64), "f64": np.dtype(np.float64)}


def command(*arguments, text=None):
    run = subprocess.run([str(a) for a in arguments], input=text, text=True,
                         capture_output=True)
    if run.returncode:
        raise RuntimeError(f"{arguments[0]}: {run.stderr[:4000]}")
    return run.stdout


def shape_and_type(tensor):
    match = TENSOR.fullmatch(tensor)
    if not match:
        raise ValueError(f"no static tensor: {tensor}")
    return tuple(int(n) for n in match[1].split("x")[:-1]), TYPES[match[2]]


def split_types(text):
    return TENSOR.findall(text) and [m.group(0) for m in TENSOR.finditer(text)]


class Function:
    """A function of a module's text in pretty form."""

    def __init__(self, match):
        self.name, arguments, results, self.body = match.groups()
        self.arguments = re.findall(r"(%\w+): (tensor<[^>]*>)", arguments)
        self.results = split_types(results or "") or []


def masks(text):
    """The arguments that hold 0 and 1, as export_modules.py notes them."""
    match = re.search(r"^// Masks of 0 and 1: (.*)\.$", text, re.M)
    return match[1].split(", ") if match else []


def functions(text):
    return {f.name: f for f in map(Function, FUNCTION.finditer(text))}


def maps(text):
    return "".join(line + "\n" for line in text.splitlines() if line.startswith("#"))


def write_function(name, arguments, results, body):
    head = ", ".join(f"{n}: {t}" for n, t in arguments)
    tail = f" -> ({', '.join(results)})" if results else ""
    return f"  func.func @{name}({head}){tail} {{\n{body}  }}\n"


class Library:
    """A module compiled for this machine by upstream's passes and clang."""

    def __init__(self, llvm, text, path):
        lowered = command(f"{llvm}/bin/mlir-opt", f"--pass-pipeline={LOWERING}",
                          text=text)
        ir = command(f"{llvm}/bin/mlir-translate", "--mlir-to-llvmir", text=lowered)
        command(f"{llvm}/bin/clang", "-w", "-shared", "-fPIC", "-O0",
                "-ffp-contract=off", "-x", "ir", "-", "-o", path, "-lm", text=ir)
        self.library = ctypes.CDLL(str(path))

    def run(self, name, inputs, results):
        arrays = [np.array(a, order="C", copy=True) for a in inputs]
        outputs = [np.zeros(*shape_and_type(t)) for t in results]
        descriptors = [self.descriptor(a) for a in (*arrays, *outputs)]
        getattr(self.library, f"_mlir_ciface_{name}")(
            *(ctypes.byref(d) for d in descriptors))
        return outputs

    @staticmethod
    def descriptor(array):
        class Descriptor(ctypes.Structure):
            _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
                        ("offset", ctypes.c_int64),
                        ("sizes", ctypes.c_int64 * array.ndim),
                        ("strides", ctypes.c_int64 * array.ndim)]
        strides = [s // array.itemsize for s in array.strides]
        return Descriptor(array.ctypes.data, array.ctypes.data, 0,
                          (ctypes.c_int64 * array.ndim)(*array.shape),
                          (ctypes.c_int64 * array.ndim)(*strides))


def widen(text):
    """A program in f64: conversions between floats do nothing then."""
    text = re.sub(r"arith\.(extf|truncf) (%\w+) : \w+ to \w+",
                  r"arith.bitcast \2 : f64 to f64", text)
    text = re.sub(r"\b0xFF80(0000)?\b", "0xFFF0000000000000", text)
    return re.sub(r"\b(f32|bf16)\b|(?<=x)(f32|bf16)\b", "f64", text)


def widen_arrays(arrays):
    """Floats of any kind in f64, everything else as it is."""
    return [array.astype(np.float64)
            if array.dtype in (TYPES["f32"], TYPES["bf16"]) else array
            for array in arrays]


class AttentionText:
    """An evoformer.attention in a function's body: where it is and what it says."""

    def __init__(self, body):
        match = re.search(r"^    (%\w+) = evoformer\.attention\n(?:     .*\n)+", body,
                          re.M)
        self.start, self.end = match.span()
        self.result, text = match[1], match[0]
        self.operands = [(role, name, order or
                          ("bnhqk" if role == "bias" else "bnshd"), tensor)
                         for role, name, order, tensor in OPERAND.findall(text)]
        self.scale = np.float32(re.search(r"scale\((.*?)\)", text)[1])
        self.text = text

    @property
    def inputs(self):
        return [o for o in self.operands if o[0] != "outs"]

    @property
    def output(self):
        return next(o for o in self.operands if o[0] == "outs")

    def by_definition(self, arrays):
        """In f64, as docs/reference/evoformer-dialect.md defines it."""
        values = {"bias": []}
        for (role, _, order, _), array in zip(self.inputs, arrays):
            canonical = "bnhqk" if role == "bias" else "bnshd"
            array = np.transpose(array, [order.index(c) for c in canonical])
            if role == "bias":
                values[role].append(array)
            else:
                values[role] = array
        group = re.search(r"group_size\((\d+)\)", self.text)
        for role in ("key", "value"):
            values[role] = np.repeat(values[role], int(group[1]) if group else 1, 3)
        exact, _ = attention.reference(
            values["query"], values["key"], values["value"], values["bias"],
            values.get("gate"), float(self.scale))
        order = self.output[2]
        return np.transpose(exact, ["bnshd".index(c) for c in order])

    def module(self):
        """The op alone in a function."""
        names, lines = {}, self.text
        arguments = []
        for index, (_, name, _, tensor) in enumerate(self.operands):
            names.setdefault(name, f"%a{index}")
            if names[name] == f"%a{index}":
                arguments.append((f"%a{index}", tensor))
        lines = OPERAND.sub(lambda m: m[0].replace(
            f"({m[2]}", f"({names[m[2]]}"), lines)
        lines = lines.replace(f"    {self.result} =", "    %result =")
        tensor = self.output[3]
        body = f"{lines}    return %result : {tensor}\n"
        return names, "module {\n" + write_function(
            "attention", arguments, [tensor], body) + "}\n"

    def by_tool(self, tool, folder, arrays):
        """By evoformer-run on this CPU."""
        folder = pathlib.Path(folder)
        names, text = self.module()
        path = folder / "attention.mlir"
        path.write_text(text)
        options = []
        for (_, name, _, _), array in zip(self.inputs, arrays):
            file = folder / f"{names[name][1:]}.npy"
            attention.save(file, array)
            options.append(f"--input={names[name][1:]}={file}")
        _, name, _, tensor = self.output
        output = names[name][1:]
        shape, kind = shape_and_type(tensor)
        command(tool, path, *dict.fromkeys(options),
                f"--shape={output}={'x'.join(map(str, shape))}",
                f"--output={output}={folder}/out.npy")
        return attention.load(folder / "out.npy").astype(kind)


def cut(text, name):
    """A raised function in three: up to its first attention, the attention, and
    everything once the attention's result is known."""
    function = functions(text)[name]
    op = AttentionText(function.body)
    inputs = op.inputs
    before = function.body[:op.start] + (
        "    return " + ", ".join(n for _, n, _, _ in inputs) + " : " +
        ", ".join(t for *_, t in inputs) + "\n")
    after = function.body[:op.start] + function.body[op.end:]
    parts = (
        write_function(f"{name}_before", function.arguments,
                       [t for *_, t in inputs], before),
        write_function(f"{name}_after",
                       [*function.arguments, (op.result, op.output[3])],
                       function.results, after))
    return op, parts


def run_raised(llvm, text, name, inputs, folder, attend):
    """Every attention of a raised function in turn by `attend(op, arrays)`."""
    inputs = list(inputs)
    step = 0
    while "evoformer.attention" in text:
        op, (before, after) = cut(text, name)
        assert "evoformer.attention" not in before
        head = maps(text)
        library = Library(llvm, f"{head}module {{\n{before}}}\n",
                          f"{folder}/{name}_{step}.so")
        arrays = library.run(f"{name}_before", inputs, [t for *_, t in op.inputs])
        inputs.append(attend(op, arrays).astype(shape_and_type(op.output[3])[1]))
        text = f"{head}module {{\n{after.replace(f'{name}_after', name, 1)}}}\n"
        step += 1
    results = functions(text)[name].results
    library = Library(llvm, text, f"{folder}/{name}_end.so")
    return library.run(name, inputs, results)


def difference(got, exact):
    """The largest difference relative to the largest number; NaN counts as
    infinite."""
    worst = 0.0
    for a, b in zip(got, exact, strict=True):
        error = np.abs(a.astype(np.float64) - b).max() / np.abs(b).max()
        worst = max(worst, error if np.isfinite(error) else np.inf)
    return worst


def random_inputs(function, seed, masks=()):
    """Finite numbers, and masks (those of i1, and arguments so named) that keep
    most keys and the first."""
    generator = np.random.default_rng(seed)
    arrays = []
    for name, tensor in function.arguments:
        shape, kind = shape_and_type(tensor)
        if kind == np.bool_ or name in masks:
            keep = generator.random(shape) < 0.7
            # The first key is kept, whichever dimension the keys' is.
            arrays.append((keep | (np.indices(shape).min(0) == 0)).astype(kind))
        elif kind.kind == "i":
            arrays.append(generator.integers(0, 3, shape).astype(kind))
        else:
            arrays.append(generator.standard_normal(shape).astype(kind))
    return arrays
