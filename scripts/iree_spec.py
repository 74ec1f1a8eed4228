"""Writes what IREE's compiler needs to call kernels for its own attention op: the
attentions as a module, their object, and a transform spec that finds each of them and
launches what the host program of `evoformer-lower` launches for it.

    python3 scripts/iree_spec.py --tools=build/bin --target=gfx942 FOLDER \\
        'N=8 H=4 Sq=64 Sk=64 D=32 type=bf16' 'N=8 H=4 Sq=64 Sk=64 D=32 type=bf16 mask=hqk:bf16'

A shape says N rows (IREE's first batch dimension), H heads, Sq queries, Sk keys, depth
D and Dv of the values (default D), the type, optionally scale, and the mask's dimensions
out of nhqk in that order with its type: a number is added after the scale, an i1 keeps.
Tensors are [N, S, H, D]. docs/embedding.md, 'From IREE', has the rest."""

import argparse
import json
import pathlib
import struct
import subprocess
import sys

# What IREE aligns a binding to, at least.
ALIGNMENT = 16
TYPES = ("bf16", "f16", "f32")
NUMBERS = ("N", "H", "Sq", "Sk", "D")
LETTERS = "nhqk"
# IREE numbers the dimensions of its maps: row, head, query, value's column, query's
# column, key.
DIMENSIONS = {"n": "d0", "h": "d1", "q": "d2", "k": "d5"}


class Refused(Exception):
    """What is wrong with what the user gave."""


class Shape:
    """One attention that the spec finds."""

    def __init__(self, number, text):
        self.name = f"attention{number}"
        words = {}
        for word in text.split():
            key, equals, value = word.partition("=")
            if not equals or key not in (*NUMBERS, "Dv", "type", "scale", "mask"):
                raise Refused(f"'{word}' in '{text}' is none of "
                              f"{', '.join(NUMBERS)}, Dv, type, scale and mask")
            words[key] = value
        try:
            self.size = {key: int(words.get(key, 1)) for key in NUMBERS}
            self.size["Dv"] = int(words.get("Dv", self.size["D"]))
            scale = float(words.get("scale", self.size["D"] ** -0.5))
        except ValueError as error:
            raise Refused(f"'{text}': {error}") from None
        if min(self.size.values()) < 1:
            raise Refused(f"'{text}' has a size below 1")
        self.scale, = struct.unpack("f", struct.pack("f", scale))
        self.type = words.get("type", "bf16")
        if self.type not in TYPES:
            raise Refused(f"type is {', '.join(TYPES)}, not '{self.type}'")
        self.mask, _, self.mask_type = words.get("mask", "").partition(":")
        if "mask" in words and (
                not self.mask or self.mask_type not in (*TYPES, "i1") or
                self.mask != "".join(x for x in LETTERS if x in self.mask)):
            raise Refused(f"mask is some of {LETTERS} in this order, a colon and "
                          f"{', '.join(TYPES)} or i1, not '{words['mask']}'")

    def tensors(self):
        """(name, sizes, type) of what IREE's op takes and gives, in its order."""
        n, h, sq, sk, d, dv = (self.size[key] for key in (*NUMBERS, "Dv"))
        yield "query", (n, sq, h, d), self.type
        yield "key", (n, sk, h, d), self.type
        yield "value", (n, sk, h, dv), self.type
        if self.mask:
            sizes = dict(zip(LETTERS, (n, h, sq, sk)))
            yield "mask", tuple(sizes[x] for x in self.mask), self.mask_type
        yield "out", (n, sq, h, dv), self.type

    def tensor_types(self):
        return [f"tensor<{'x'.join(map(str, sizes))}x{kind}>"
                for _, sizes, kind in self.tensors()]

    def function(self):
        """The attention as the compiler takes it. Rows are n, and b is 1."""
        sizes = dict(zip(LETTERS, (self.size[x] for x in ("N", "H", "Sq", "Sk"))))
        types = {name: f"memref<1x{'x'.join(map(str, size))}x{kind}>"
                 for name, size, kind in self.tensors()}
        if self.mask:
            types["mask"] = "memref<1x" + "".join(
                f"{sizes[x] if x in self.mask else 1}x" for x in LETTERS) + (
                    f"{self.mask_type}>")
        bias = f"bias(%mask : {types['mask']}) " if self.mask else ""
        operands = " ".join(f"{name}(%{name} : {types[name]})"
                            for name in ("query", "key", "value"))
        return (f"func.func @{self.name}("
                + ", ".join(f"%{name}: {kind}" for name, kind in types.items())
                + f") {{\n  evoformer.attention {operands} {bias}"
                f"outs(%out : {types['out']}) scale({self.scale!r})\n  return\n}}\n")


class Buffer:
    """Memory that kernels get a pointer to: an argument, or what the program
    allocates between two launches."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind


class Program:
    """The host program of one attention, run with aligned arguments: everything in
    it but pointers is a number then, and what is left are launches."""

    def __init__(self, function, names, threads):
        self.values, self.launches, self.threads = {}, [], threads
        for argument, name in zip(function["args"], names, strict=True):
            self.values[argument["value"]] = (Buffer(name, argument["type"]),
                                              self.view(argument["type"]))
        self.run(function["body"])

    @staticmethod
    def view(kind):
        return {"offset": kind["offset"], "sizes": kind["shape"],
                "strides": kind["strides"]}

    def get(self, operand):
        return self.values[operand] if isinstance(operand, str) else operand

    def run(self, ops):
        for op in ops:
            name = op["op"].replace(".", "_")
            operands = [self.get(operand) for operand in op.get("operands", [])]
            if name in ("scf_yield", "func_return"):
                return operands
            method = getattr(self, name, None)
            if not method:
                raise Refused(f"the host program has a '{op['op']}', which a spec "
                              "cannot say")
            results = method(op, *operands)
            self.values.update(zip(op.get("results", []), results or []))
        return []

    @staticmethod
    def arith_constant(op):
        return [op["value"]]

    def memref_alloc(self, op):
        sizes = [self.get(size) for size in op["sizes"]]
        strides = [1]
        for size in reversed(sizes[1:]):
            strides.insert(0, strides[0] * size)
        buffer = Buffer(op["results"][0].replace("%", "%space"),
                        {**op["type"], "shape": sizes})
        return [(buffer, {"offset": 0, "sizes": sizes, "strides": strides})]

    @staticmethod
    def memref_dealloc(_op, _memory):
        return []

    @staticmethod
    def memref_cast(_op, memory):
        return [memory]

    @staticmethod
    def memref_transpose(op, memory):
        buffer, view = memory
        return [(buffer, {"offset": view["offset"],
                          **{key: [view[key][k] for k in op["permutation"]]
                             for key in ("sizes", "strides")}})]

    @staticmethod
    def memref_extract_strided_metadata(_op, memory):
        view = memory[1]
        return [memory, view["offset"], *view["sizes"], *view["strides"]]

    @staticmethod
    def memref_extract_aligned_pointer_as_index(_op, memory):
        return [memory[0]]

    @staticmethod
    def arith_remui(_op, left, right):
        if not isinstance(left, Buffer):
            return [left % right]
        if ALIGNMENT % right:
            raise Refused(f"a pointer is asked for {right} bytes of alignment")
        return [0]

    @staticmethod
    def arith_cmpi(op, left, right):
        return [(left == right, left != right, *[left < right, left <= right,
                                                 left > right, left >= right] * 2)
                [op["predicate"]]]

    @staticmethod
    def arith_andi(_op, left, right):
        return [left & right]

    @staticmethod
    def arith_addi(_op, left, right):
        return [left + right]

    @staticmethod
    def arith_muli(_op, left, right):
        return [left * right]

    @staticmethod
    def arith_divui(_op, left, right):
        return [left // right]

    @staticmethod
    def arith_index_cast(_op, value):
        return [value]

    @staticmethod
    def arith_select(_op, condition, left, right):
        return [left if condition else right]

    @staticmethod
    def cf_assert(op, condition):
        if not condition:
            raise Refused(op["message"])

    def scf_if(self, op, condition):
        return self.run(op["then"] if condition else op["else"])

    def evo_tile_launch(self, op, *operands):
        count = 1
        for extent in op["space"]:
            count *= self.get(extent)
        # A mask that lies well is not copied.
        if count:
            self.launches.append((op["kernel"], count, operands))


def tensor_of(buffer):
    sizes = "".join(f"{size}x" for size in buffer.kind["shape"])
    return f"tensor<{sizes}{buffer.kind['memref']}>"


def write_launches(shape, program, target):
    """A function of IREE's that does what the host program does. What a kernel
    writes is a result: the output, or memory that a later one reads."""
    *inputs, output = zip([name for name, *_ in shape.tensors()], shape.tensor_types())
    known = {name: (f"%{name}", kind) for name, kind in inputs}
    lines = [f"  util.func private @launch_{shape.name}("
             + ", ".join(f"%{name}: {kind}" for name, kind in inputs)
             + f") -> {output[1]} {{"]
    for step, (kernel, count, operands) in enumerate(program.launches):
        buffers = [x for x in operands if isinstance(x, Buffer)]
        numbers = [x for x in operands if not isinstance(x, Buffer)]
        if any(isinstance(x, Buffer) for x in operands[len(buffers):]):
            raise Refused(f"'{kernel}' does not take its pointers first")
        # Bindings are in the order of arguments, results last.
        results = [x for x in buffers if x.name not in known]
        if len(results) != 1 or buffers[-1] is not results[0]:
            raise Refused(f"'{kernel}' does not write to its last pointer alone")
        arguments = [(f"%s{step}n{k}", "i32") for k in range(len(numbers))]
        lines += [f"    {name} = arith.constant {number} : i32"
                  for (name, _), number in zip(arguments, numbers)]
        arguments += [known[x.name] for x in buffers[:-1]]
        result = output[1] if results[0].name == "out" else tensor_of(results[0])
        names, types = (", ".join(x[k] for x in arguments) for k in range(2))
        bindings = ", ".join(
            ["#hal.pipeline.binding<storage_buffer, ReadOnly>"] * (len(buffers) - 1)
            + ["#hal.pipeline.binding<storage_buffer>"])
        lines.append(f"""\
    %s{step}count = arith.constant {count} : index
    %s{step} = hal.dispatch.extern "{kernel}"[%s{step}count]({names}) : ({types}) -> {result}
      count(%device: !hal.device, %count: index) -> (index, index, index) {{
        %one = arith.constant 1 : index
        hal.return %count, %one, %one : index, index, index
      }}
      layout(#hal.pipeline.layout<constants = {len(numbers)}, bindings = [{bindings}]>)
      objects({{#{target} ordinal(0) = [#hal.executable.object<{{path = "kernels.hsaco"}}>]}})
      <{{workgroup_size = [{program.threads[kernel]} : index, 1 : index, 1 : index]}}>""")
        known[results[0].name] = (f"%s{step}", result)
    if "out" not in known:
        raise Refused("no kernel writes the output")
    return "\n".join([*lines, f"    util.return {known['out'][0]} : {output[1]}", "  }"])


def maps_of(shape):
    """The indexing maps of IREE's op, in the order of its operands."""
    maps = ["d0, d2, d1, d4", "d0, d5, d1, d4", "d0, d5, d1, d3", ""]
    if shape.mask:
        maps.append(", ".join(DIMENSIONS[x] for x in shape.mask))
    return [f"affine_map<(d0, d1, d2, d3, d4, d5) -> ({results})>"
            for results in (*maps, "d0, d2, d1, d3")]


def attention_of(shape, indent):
    """IREE's op on values named as the operands are."""
    names = [name for name, *_ in shape.tensors()]
    types = shape.tensor_types()
    ins = ["query", "key", "value", "scale", *names[3:-1]]
    in_types = [*types[:3], "f32", *types[3:-1]]
    # Written out, so that a float is read as what it is.
    bits, = struct.unpack("<I", struct.pack("<f", shape.scale))
    return "\n".join(indent + line for line in f"""\
%scale = arith.constant 0x{bits:08X} : f32
%result = iree_linalg_ext.attention <{{indexing_maps = [{', '.join(maps_of(shape))}]}}>
  ins({', '.join('%' + x for x in ins)} : {', '.join(in_types)})
  outs(%out : {types[-1]}) {{
^bb0(%score: f32):
  iree_linalg_ext.yield %score : f32
}} -> {types[-1]}""".splitlines())


def write_match(shape):
    """The sequences that find the op and that call the function in its place."""
    pairs = [*zip([name for name, *_ in shape.tensors()], shape.tensor_types())]
    # IREE's operands are query, key, value, scale, mask.
    numbers = [0, 1, 2, 4][:len(pairs) - 1]
    taken = [f"%v{k}" for k in numbers]
    return f"""\
  transform.named_sequence @match_{shape.name}(%op: !transform.any_op {{transform.readonly}}) -> (!transform.any_value, !transform.any_value) {{
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %op {{
    ^bb0({', '.join(f'%{name}: {kind}' for name, kind in pairs)}):
{attention_of(shape, '      ')}
    }} : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }}
  transform.named_sequence @call_{shape.name}(%ins: !transform.any_value {{transform.readonly}}, %out: !transform.any_value {{transform.readonly}}) {{
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %func = transform.util.import_symbol @launch_{shape.name} into %module if undefined : (!transform.any_op) -> !transform.any_op
""" + "".join(
        f"    {value} = transform.get_operand %root[{k}] : (!transform.any_op) -> "
        "!transform.any_value\n" for k, value in zip(numbers, taken)) + f"""\
    %all = transform.merge_handles {', '.join(taken)} : !transform.any_value
    transform.util.cast_and_call %func(%all) -> %out after %root {{
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    }} : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }}"""


def write_spec(shapes, programs, chip):
    """The whole transform library."""
    pairs = ",\n        ".join(f"@match_{x.name} -> @call_{x.name}" for x in shapes)
    functions = "\n".join(write_launches(shape, programs[shape.name], "target")
                          for shape in shapes)
    matches = "\n".join(map(write_match, shapes))
    return f"""\
#target = #hal.executable.target<"rocm", "rocm-hsaco-fb", {{target_arch = "{chip}"}}>
module attributes {{transform.with_named_sequence}} {{
{functions}
{matches}
  transform.named_sequence @__transform_main(%module: !transform.any_op) {{
    %funcs = transform.structured.match ops{{["util.func"]}} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %funcs : !transform.any_op {{
    ^bb1(%func: !transform.any_op):
      transform.foreach_match in %func
        {pairs}
        : (!transform.any_op) -> (!transform.any_op)
    }}
    transform.apply_dce to %module : !transform.any_op
    transform.yield
  }}
}}
"""


def write_program(shapes):
    """A program of IREE's with each of the attentions, to try the spec on."""
    functions = []
    for shape in shapes:
        *inputs, output = zip([name for name, *_ in shape.tensors()],
                              shape.tensor_types())
        functions.append(
            f"func.func @{shape.name}({', '.join(f'%{n}: {t}' for n, t in inputs)})"
            f" -> {output[1]} {{\n  %out = tensor.empty() : {output[1]}\n"
            f"{attention_of(shape, '  ')}\n  return %result : {output[1]}\n}}\n")
    return "".join(functions)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr.strip())


def write_all(tools, chip, folder, texts):
    shapes = [Shape(number, text) for number, text in enumerate(texts)]
    folder.mkdir(parents=True, exist_ok=True)
    source, lowered, plan = (folder / name for name in (
        "attention.mlir", "lowered.mlir", "plan.json"))
    source.write_text("".join(shape.function() for shape in shapes))
    run(tools / "evoformer-opt", source, "-o", lowered,
        f"--evoformer-lower=target={chip} abi=pointers",
        f"--evoformer-serialize=format=object out-dir={folder}")
    if not (folder / "kernels.hsaco").exists():
        raise Refused(f"IREE's spec embeds an HSACO, which '{chip}' has none of")
    run(tools / "evoformer-run", lowered, f"--target={chip}", "--device=sim", "--no-run",
        f"--function={shapes[0].name}", f"--emit-plan={plan}")
    made = json.loads(plan.read_text())
    threads = {kernel["name"]: kernel["threads"] for kernel in made["kernels"]}
    for kernel in made["kernels"]:
        if kernel["ldsBytes"]:
            raise Refused(f"'{kernel['name']}' takes {kernel['ldsBytes']} bytes of "
                          "dynamic LDS, which a spec cannot say")
    functions = {function["name"]: function for function in made["functions"]}
    programs = {shape.name: Program(functions[shape.name],
                                    [name for name, *_ in shape.tensors()], threads)
                for shape in shapes}
    (folder / "spec.mlir").write_text(write_spec(shapes, programs, chip))
    (folder / "program.mlir").write_text(write_program(shapes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tools", type=pathlib.Path, default="build/bin")
    parser.add_argument("--target", default="gfx942")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("shapes", nargs="+")
    options = parser.parse_args()
    try:
        write_all(options.tools, options.target, options.folder, options.shapes)
    except Refused as refused:
        sys.exit(f"iree_spec: {refused}")


if __name__ == "__main__":
    main()
