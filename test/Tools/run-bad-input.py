# RUN: %python %s %examples %t
"""What evoformer-run and evoformer-check are given wrongly: an error that says
what, exit code 1, and no file that was not there before."""

import io
import os
import pathlib
import re
import shutil
import stat
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Inputs"))
import bounded
import numpy as np
import targets

examples, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
problems = []

SOURCE = re.sub("bf16", "f32", (examples / "triangle_attention.mlir").read_text())
B, N, S, H, D = 1, 2, 17, 4, 32


def run(*command):
    return bounded.run(command, cwd=work)


def expect(message, *command, code=1):
    before = set(work.rglob("*"))
    result = run(*command)
    if (result.returncode != code or
            not re.search(message, result.stderr + result.stdout)):
        problems.append(f"{' '.join(map(str, command))}\n  wanted: {message}\n"
                        f"  exit code {result.returncode}: "
                        f"{(result.stderr + result.stdout)[:400]}")
    new = set(work.rglob("*")) - before
    if new:
        problems.append(f"{' '.join(map(str, command))} left {new}")


def save(name, array):
    np.save(work / name, array)
    return (work / f"{name}.npy").read_bytes()


(work / "attention.mlir").write_text(SOURCE)
result = run("evoformer-run", "attention.mlir", "--emit-plan=plan.json",
             "--no-run")
assert result.returncode == 0, result.stderr
plan = (work / "plan.json").read_text()
draw = np.random.default_rng(0)
for name in ("query", "key", "value"):
    good = save(name, draw.standard_normal((B, N, S, H, D)).astype(np.float32))
save("mask", np.ones((B, N, 1, 1, S), bool))
save("pair", np.zeros((B, 1, H, S, S), np.float32))


def arguments(out="out.npy", **other):
    files = {name: f"{name}.npy" for name in ("query", "key", "value", "mask",
                                              "pair")} | other
    return ([f"--input={name}={file}" for name, file in files.items()]
            + [f"--shape=out={B}x{N}x{S}x{H}x{D}", f"--output=out={out}"])


# It works at all, and twice: what is there is replaced.
for _ in range(2):
    result = run("evoformer-run", "plan.json", *arguments())
    assert result.returncode == 0, result.stderr
    assert np.load(work / "out.npy").shape == (B, N, S, H, D)
(work / "out.npy").unlink()

# Files that are no arrays, or arrays of something else.
cases = {
    "cut": (good[:len(good) // 2], "takes 17408 bytes, it holds"),
    "header": (good[:20], "it ends within the header"),
    "garbage": (bytes(range(256)) * 8, "does not start with the format's magic"),
    "empty": (b"", "does not start with the format's magic"),
    "longer": (good + b"xx", "takes 17408 bytes, it holds 17410"),
    "overflow": (good.replace(b"(1, 2, 17, 4, 32)",
                              b"(9999999999, 9999999999, 17, 4, 32)"),
                 "its size overflows"),
    "negative": (good.replace(b"(1, 2, 17, 4, 32)", b"(1, -2, 17, 4, 32)"),
                 "'shape' is no tuple of sizes"),
}
for name, (contents, message) in cases.items():
    (work / f"{name}.npy").write_bytes(contents)
    expect(f"'{name}.npy': not a readable .npy file: .*{message}",
           "evoformer-run", "plan.json", *arguments(query=f"{name}.npy"))
arrays = {
    "rank": (np.zeros((B, N, S, D), np.float32), r"is \?x\?x\?x4x32xf32, not"),
    "heads": (np.zeros((B, N, S, 5, D), np.float32), "not 1x2x17x5x32xf32"),
    "half": (np.zeros((B, N, S, H, D), np.float16), "not 1x2x17x4x32xf16"),
    "complex": (np.zeros((B, N, S, H, D), np.complex64),
                "unsupported element type 'c8'"),
    "objects": (np.array([None]), "unsupported element type 'O'"),
    # Sizes that the operands must share are checked where they meet.
    "longer_query": (np.zeros((B, N, S + 1, H, D), np.float32),
                     "Sq: dimension 2 of output must equal dimension 2 of query"
                     "|Sq: dimension 3 of bias #1 must equal dimension 2 of "
                     "query"),
}
for name, (array, message) in arrays.items():
    save(name, array)
    expect(message, "evoformer-run", "plan.json", *arguments(query=f"{name}.npy"))
# A key that stands there twice is read as Python reads it: the last one counts.
added = b"'shape': (1,), "
twice = good.replace(b"'shape'", added + b"'shape'", 1)
twice = twice.replace(b" " * len(added) + b"\n", b"\n", 1)
(work / "twice.npy").write_bytes(twice)
assert np.load(work / "twice.npy").shape == (B, N, S, H, D)
result = run("evoformer-run", "plan.json", *arguments(query="twice.npy"))
assert result.returncode == 0, result.stderr
(work / "out.npy").unlink()

expect("'absent.npy': No such file or directory", "evoformer-run", "plan.json",
       *arguments(query="absent.npy"))
expect("argument 'query' is given twice", "evoformer-run", "plan.json",
       *arguments(), "--input=query=key.npy")
expect("has too few arguments for the files given", "evoformer-run",
       "plan.json", *arguments(), "--input=query.npy", "--input=key.npy")
for option in ("input", "output"):
    expect("'nobody=query.npy' names no argument of function "
           "'triangle_attention' .a file of this name is './nobody=query.npy'",
           "evoformer-run", "plan.json", *arguments(),
           f"--{option}=nobody=query.npy")
expect("'nobody=1x2' names no argument of function 'triangle_attention'",
       "evoformer-run", "plan.json", "--shape=nobody=1x2")
expect("layout '0,0,1,2,3' of argument 'query' is no order of its dimensions",
       "evoformer-run", "plan.json", *arguments(), "--layout=query=0,0,1,2,3")
expect("needs an input file or --shape", "evoformer-run", "plan.json",
       "--input=query=query.npy")

# Scalars.
(work / "scalars.mlir").write_text(
    "func.func @f(%x: f32, %n: index, %m: memref<?xf32>) { return }")
expect("argument 'x' needs --scalar=x=<number>", "evoformer-run",
       "scalars.mlir")
expect("'many' is no number", "evoformer-run", "scalars.mlir",
       "--scalar=x=many")
expect("'1.5' is no integer", "evoformer-run", "scalars.mlir", "--scalar=x=1",
       "--scalar=n=1.5")

# Sizes.
expect("'1x2x17x4x99999999999999999999' is no shape like 1x2x3", "evoformer-run",
       "plan.json", "--random=1", "--shape=query=1x2x17x4x99999999999999999999")
expect("is too large", "evoformer-run", "plan.json", "--random=1",
       "--shape=query=1x9999999999x9999999999x4x32")
expect("takes .* MiB, this machine has .* MiB of memory", "evoformer-run",
       "plan.json", "--random=1", "--shape=query=1x9999999x999x4x32")
expect("the case takes .* MiB, this machine has", "evoformer-check",
       "Sq=999999999 Sk=99999")
expect("malformed 'Sq=9223372036854775807'", "evoformer-check",
       "Sq=9223372036854775807")
expect("D .dimension 4 of query. must be static and from 1 to 256, but is 300",
       "evoformer-check", "D=300")

# What never ends is not read, neither what a program writes to nor a device.
os.mkfifo(work / "pipe.npy")
for suffix in ("json", "mlir"):
    (work / f"pipe.{suffix}").symlink_to("pipe.npy")
    (work / f"zero.{suffix}").symlink_to("/dev/zero")
(work / "zero.npy").symlink_to("/dev/zero")
for name in ("pipe", "zero"):
    expect(f"'{name}.npy': it is no regular file", "evoformer-run", "plan.json",
           *arguments(query=f"{name}.npy"))
    for suffix in ("json", "mlir"):
        expect(f"'{name}.{suffix}': it is no regular file", "evoformer-run",
               f"{name}.{suffix}")
    expect(f"cannot read the target '{name}.mlir': it is no regular file",
           "evoformer-run", "attention.mlir", f"--target={name}.mlir")
    expect(f"'{name}.mlir': it is no regular file", "evoformer-check",
           f"--cases={name}.mlir")

# Nor is a pipe's reader waited for; to one that is there, it is written.
expect("'pipe.npy': it is a pipe that nobody reads", "evoformer-run", "plan.json",
       *arguments(out="pipe.npy"))
with open(os.open(work / "pipe.npy", os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
    result = run("evoformer-run", "plan.json", *arguments(out="pipe.npy"))
    assert result.returncode == 0, result.stderr
    assert np.load(io.BytesIO(reader.read())).shape == (B, N, S, H, D)
os.mknod(work / "socket.npy", stat.S_IFSOCK | 0o600)
expect("'socket.npy': No such device or address", "evoformer-run", "plan.json",
       *arguments(out="socket.npy"))

(work / "object.json").write_text(
    '{"version": 1, "objects": [{"format": "llvm", "target": "cpu", '
    '"file": "zero.npy"}], "kernels": [], "functions": []}')
expect("object 0: cannot read '.*zero.npy': it is no regular file",
       "evoformer-run", "object.json")

# Places that cannot be written.
for option in ("input", "output"):
    expect("argument 'out': 'out=' names no file", "evoformer-run", "plan.json",
           f"--{option}=out=")
    expect("an input or output names no file", "evoformer-run", "plan.json",
           f"--{option}=")
expect("'absent/out.npy': No such file or directory", "evoformer-run",
       "plan.json", *arguments(out="absent/out.npy"))
expect("Is a directory", "evoformer-run", "plan.json", *arguments(out="/"))
expect("'absent/plan.json': No such file or directory", "evoformer-run",
       "attention.mlir", "--emit-plan=absent/plan.json", "--no-run")
if os.path.exists("/dev/full") and stat.S_ISCHR(os.stat("/dev/full").st_mode):
    full = "'/dev/full': No space left on device"
    expect(full, "evoformer-run", "plan.json", *arguments(out="/dev/full"))
    expect(full, "evoformer-run", "attention.mlir", "--emit-plan=/dev/full",
           "--no-run")
    expect("cannot write .*/dev/full.*No space left on device", "evoformer-opt",
           "attention.mlir", "--evoformer-lower=target=gfx942",
           "--evoformer-serialize=report=/dev/full", "-o", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)

# Targets, devices, programs.
expect("unknown target 'gfx9000'; known targets: "
       + ", ".join(targets.names()) + ", or",
       "evoformer-run", "attention.mlir", "--target=gfx9000")
expect("cannot read the target 'absent.mlir': No such file", "evoformer-run",
       "attention.mlir", "--target=absent.mlir")
expect("'attention.mlir' describes no target", "evoformer-run",
       "attention.mlir", "--target=attention.mlir")
expect("device 'sim' needs a target other than cpu", "evoformer-run",
       "attention.mlir", "--device=sim")
expect("unknown device 'gpu': it is cpu, cuda, hip or sim", "evoformer-run", "plan.json",
       "--device=gpu", *arguments())
expect("unknown level 'lanes': it is tiles, fragments, staged or pipelined",
       "evoformer-run", "attention.mlir",
       "--level=lanes")
expect("unknown version", "evoformer-run", "attention.mlir",
       "--schedule=v2:q=64")
expect("'absent.mlir': No such file", "evoformer-run", "absent.mlir")
# JSON holds Unicode alone.
KERNEL = r'''evo_tile.kernel @"a\FF"(%x: memref<1xf32>) { evo_tile.return }
func.func @f(%x: memref<1xf32> {evoformer.name = "b\FF"}) {
  %c1 = arith.constant 1 : index
  evo_tile.launch @"a\FF" space(%c1) args(%x : memref<1xf32>)
  return
}'''
for name, text, message in (
        ("function", r'func.func @"a\FF"() { return }',
         "a launch plan is UTF-8, the name of this function is not"),
        ("kernel", KERNEL, "a launch plan is UTF-8, the name of this kernel is not"),
        ("overwritten", "func.func @f(%n: index {evoformer.overwritten}) { return }",
         "argument 0 has 'evoformer.overwritten', which is for memrefs, and type 'index'")):
    (work / f"{name}.mlir").write_text(text)
    expect(message, "evoformer-run", f"{name}.mlir")
(work / "empty.mlir").write_text("")
expect("there is no function to run", "evoformer-run", "empty.mlir")
expect("there is no function 'other'", "evoformer-run", "plan.json",
       "--function=other")
for name, text, message in (
        ("cut", plan[:len(plan) // 2], "no valid JSON"),
        ("empty", "{}", "no integer 'version'"),
        ("list", "[]", "launch plan: "),
        ("version", re.sub(r'"version": *\d+', '"version": 99', plan),
         "version")):
    (work / f"{name}.json").write_text(text)
    expect(f"'{name}.json': .*{message}", "evoformer-run", f"{name}.json")
(work / "garbage.mlir").write_bytes(bytes(range(256)))
expect("garbage.mlir.*error: ", "evoformer-run", "garbage.mlir")
expect("unknown cover 'all': it is small, quick or full", "evoformer-check", "--cover=all")
expect("malformed 'Sq=0x'", "evoformer-check", "Sq=0x")
expect("'absent': No such file", "evoformer-check", "--cases=absent")
if problems:
    sys.exit("\n".join(problems))
