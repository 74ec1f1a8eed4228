# NVIDIA's operations whose result depends on which lane holds what, each alone
# in a kernel. The simulator's answers are checked here against plain loops over
# matrices, and on a GPU, with the same kernels as PTX, against the hardware:
#
#   python3 test/Simulator/nvidia.py emit FOLDER    (tools of LLVM 22 and ours)
#   python3 test/Simulator/nvidia.py compare FOLDER (any machine with a GPU)
#
# RUN: rm -rf %t
# RUN: %python %s emit %t | FileCheck %s
# CHECK-COUNT-18: as the loops say
import array
import ctypes
import pathlib
import random
import subprocess
import sys

LANES = 32


class Operation:
    """`words` 32-bit words a lane in, `results` out. `body` makes %r0, .. of
    %w0, ..; `compute` does so for the words of all lanes."""

    def __init__(self, name, words, results, body, compute, lds=0):
        self.name, self.words, self.results = name, words, results
        self.body, self.compute, self.lds = body, compute, lds

    def module(self):
        lines = ["%t = nvvm.read.ptx.sreg.tid.x : i32"]
        for k in range(self.words):
            lines += self.element("in", k, self.words)
            lines.append(f"%w{k} = llvm.load %pin{k} : !llvm.ptr<1> -> i32")
        lines += self.body
        for k in range(self.results):
            lines += self.element("out", k, self.results)
            lines.append(f"llvm.store %r{k}, %pout{k} : i32, !llvm.ptr<1>")
        text = "\n    ".join([*lines, "llvm.return"])
        memory = (f"llvm.mlir.global internal @lds() {{addr_space = 3 : i32, "
                  f"alignment = 16 : i64}} : !llvm.array<{self.lds} x i8>"
                  if self.lds else "")
        return (f"{memory}\n  llvm.func @k(%in: !llvm.ptr<1>, "
                f"%out: !llvm.ptr<1>) attributes {{gpu.kernel, nvvm.kernel}} "
                f"{{\n    {text}\n  }}")

    @staticmethod
    def element(buffer, k, count):
        """The address of word k of this lane."""
        name = f"{buffer}{k}"
        return [f"%n{name} = llvm.mlir.constant({count} : i32) : i32",
                f"%k{name} = llvm.mlir.constant({k} : i32) : i32",
                f"%m{name} = llvm.mul %t, %n{name} : i32",
                f"%i{name} = llvm.add %m{name}, %k{name} : i32",
                f"%p{name} = llvm.getelementptr %{buffer}[%i{name}] : "
                "(!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32"]


# Small integers in each format: every product and sum is exact.
def f32(v):
    return array.array("I", array.array("f", [v]).tobytes())[0]


def bf16(v):
    return f32(v) >> 16


def f16(v):
    if v == 0:
        return 0
    exponent = abs(v).bit_length() - 1
    return ((v < 0) << 15 | (exponent + 15) << 10
            | (abs(v) << (10 - exponent)) & 0x3ff)


# Where PTX puts element (row, column) of each fragment: lane, and position in
# the lane. PTX ISA, 'Matrix Fragments for mma.m16n8k16 with floating point
# type', 'mma.m16n8k8' and 'mma.m16n8k4'; written as the inverse of the formulas
# there, 16-bit elements two a register.
def place_c(row, column):
    return row % 8 * 4 + column // 2, row // 8 * 2 + column % 2


def place_a16(row, column):
    return (row % 8 * 4 + column % 8 // 2,
            column // 8 * 4 + row // 8 * 2 + column % 2)


def place_b16(row, column):
    return column * 4 + row % 8 // 2, row // 8 * 2 + row % 2


def place_a32(row, column):
    return row % 8 * 4 + column % 4, column // 4 * 2 + row // 8


def place_b32(row, column):
    return column * 4 + row % 4, row // 4


def mma(k, kind):
    """D = A B + C of 16 x 8 x k."""
    wide = kind == "tf32"
    per_word = 1 if wide else 2
    a_words, b_words = 16 * k // LANES // per_word, 8 * k // LANES // per_word
    operand = "vector<2xf16>" if kind == "f16" else "i32"
    suffix = "f32.f32" if kind == "f16" else kind
    body, names = [], []
    for index in range(a_words + b_words):
        name = f"%w{index}"
        if kind == "f16":
            body.append(f"%h{index} = llvm.bitcast {name} : i32 to {operand}")
            name = f"%h{index}"
        names.append(name)
    for index in range(4):
        body.append(f"%c{index} = llvm.bitcast %w{a_words + b_words + index} "
                    ": i32 to f32")
    types = ", ".join([operand] * len(names) + ["f32"] * 4)
    names += [f"%c{index}" for index in range(4)]
    result = "!llvm.struct<(f32, f32, f32, f32)>"
    body.append(f'%d = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k{k}.row.col.'
                f'{suffix}"({", ".join(names)}) : ({types}) -> {result}')
    for index in range(4):
        body += [f"%e{index} = llvm.extractvalue %d[{index}] : {result}",
                 f"%r{index} = llvm.bitcast %e{index} : f32 to i32"]
    encode = {"f16": f16, "bf16": bf16, "tf32": f32}[kind]
    place_a, place_b = ((place_a32, place_b32) if wide
                        else (place_a16, place_b16))

    def compute(words):
        # The words are given; what matrices they are follows from the places.
        value = {encode(v): v for v in range(-8, 9)}

        def element(place, first):
            lane, position = place
            word = words[lane][first + position // per_word]
            if not wide:
                word = word >> 16 * (position % 2) & 0xffff
            return value[word]

        results = [[0] * 4 for _ in range(LANES)]
        number = {f32(v): v for v in range(-8, 9)}
        for row in range(16):
            for column in range(8):
                lane, position = place_c(row, column)
                total = number[words[lane][a_words + b_words + position]]
                for at in range(k):
                    total += (element(place_a(row, at), 0)
                              * element(place_b(at, column), a_words))
                results[lane][position] = f32(total)
        return results

    def draw():
        def one():
            if wide:
                return f32(random.randint(-8, 8))
            return (encode(random.randint(-8, 8)) << 16
                    | encode(random.randint(-8, 8)))
        return [[one() for _ in range(a_words + b_words)]
                + [f32(random.randint(-8, 8)) for _ in range(4)]
                for _ in range(LANES)]

    operation = Operation(f"mma.m16n8k{k}.{kind}", a_words + b_words + 4, 4,
                          body, compute)
    operation.draw = draw
    return operation


def ldmatrix(count, transposed):
    """PTX ISA, 'ldmatrix': the address of row r of matrix m comes from lane
    8 m + r; lane l receives two neighbours of row l / 4."""
    suffix = ".trans" if transposed else ""
    result = ("i32" if count == 1 else
              f"!llvm.struct<({', '.join(['i32'] * count)})>")
    body = ["%lds = llvm.mlir.addressof @lds : !llvm.ptr<3>"]
    # Lane l writes row 5 l + 3 mod 32 and later names row 7 l + 1 mod 32.
    for name, factor, offset in (("s", 5, 3), ("l", 7, 1)):
        body += [f"%f{name} = llvm.mlir.constant({factor} : i32) : i32",
                 f"%o{name} = llvm.mlir.constant({offset} : i32) : i32",
                 f"%top{name} = llvm.mlir.constant(31 : i32) : i32",
                 f"%x{name} = llvm.mul %t, %f{name} : i32",
                 f"%y{name} = llvm.add %x{name}, %o{name} : i32",
                 f"%z{name} = llvm.and %y{name}, %top{name} : i32",
                 f"%row{name} = llvm.getelementptr %lds[%z{name}] : "
                 "(!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<4xi32>"]
    for k in range(4):
        body += [f"%q{k} = llvm.getelementptr %rows[{k}] : (!llvm.ptr<3>) -> "
                 "!llvm.ptr<3>, i32",
                 f"llvm.store %w{k}, %q{k} : i32, !llvm.ptr<3>"]
    body += ["nvvm.barrier0",
             f'%d = llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.'
             f'x{count}{suffix}.b16"(%rowl) : (!llvm.ptr<3>) -> {result}']
    body += ["%z0 = llvm.mlir.constant(0 : i32) : i32",
             "%r0 = llvm.add %d, %z0 : i32"] if count == 1 else [
        f"%r{k} = llvm.extractvalue %d[{k}] : {result}" for k in range(count)]

    def compute(words):
        rows = [None] * LANES
        for lane in range(LANES):
            rows[(5 * lane + 3) % LANES] = [
                half for word in words[lane]
                for half in (word & 0xffff, word >> 16)]
        results = []
        for lane in range(LANES):
            result = []
            for m in range(count):
                matrix = [rows[(7 * (8 * m + r) + 1) % LANES] for r in range(8)]
                if transposed:
                    matrix = list(zip(*matrix))
                row, column = lane // 4, lane % 4 * 2
                result.append(matrix[row][column]
                              | matrix[row][column + 1] << 16)
            results.append(result)
        return results

    operation = Operation(f"ldmatrix.x{count}{suffix}", 4, count, body,
                          compute, lds=512)
    operation.draw = lambda: [[random.getrandbits(32) for _ in range(4)]
                              for _ in range(LANES)]
    return operation


def shuffle(kind, by, clamp, source):
    """PTX ISA, 'shfl.sync'; lanes without a source keep their own."""
    body = ["%all = llvm.mlir.constant(-1 : i32) : i32",
            f"%by = llvm.mlir.constant({by} : i32) : i32",
            f"%clamp = llvm.mlir.constant({clamp} : i32) : i32",
            f"%r0 = nvvm.shfl.sync {kind} %all, %w0, %by, %clamp : i32 -> i32"]
    operation = Operation(
        f"shfl.{kind}.{by}.{clamp}", 1, 1, body,
        lambda words: [list(words[source(lane)]) for lane in range(LANES)])
    operation.draw = lambda: [[random.getrandbits(32)] for _ in range(LANES)]
    return operation


def operations():
    for kind, depths in (("f16", (16, 8)), ("bf16", (16, 8)),
                         ("tf32", (8, 4))):
        for k in depths:
            yield mma(k, kind)
    for transposed in (False, True):
        for count in (1, 2, 4):
            yield ldmatrix(count, transposed)
    yield shuffle("bfly", 5, 31, lambda lane: lane ^ 5)
    yield shuffle("up", 3, 0, lambda lane: lane - 3 if lane > 2 else lane)
    yield shuffle("down", 3, 31, lambda lane: lane + 3 if lane < 29 else lane)
    yield shuffle("idx", 7, 31, lambda lane: 7)
    # Segments of eight lanes.
    yield shuffle("bfly", 1, 0x1800 | 31, lambda lane: lane ^ 1)
    yield shuffle("idx", 2, 0x1800 | 31, lambda lane: lane // 8 * 8 + 2)


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True,
                            text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def flatten(words):
    return array.array("I", [word for lane in words for word in lane])


def emit(folder):
    folder.mkdir(parents=True, exist_ok=True)
    random.seed(11)
    wrong = 0
    for operation in operations():
        base = folder / operation.name
        file = lambda end: pathlib.Path(f"{base}.{end}")
        words = operation.draw()
        file("in").write_bytes(flatten(words).tobytes())
        file("sim.mlir").write_text(
            'gpu.module @m [#nvvm.target<chip = "sm_80">] {\n  '
            + operation.module() + "\n}\n")
        size = 4 * LANES * operation.results
        run("evoformer-sim", file("sim.mlir"), "--kernel=k",
            f"--block={LANES}", f"--arg=in:{file('in')}",
            f"--arg=out:{size}:{file('expected')}")
        same = (file("expected").read_bytes()
                == flatten(operation.compute(words)).tobytes())
        wrong += not same
        print(operation.name, "as the loops say" if same else "WRONG")
        file("mlir").write_text("module {\n  " + operation.module() + "\n}\n")
        run("mlir-translate", "--mlir-to-llvmir", file("mlir"), "-o",
            file("ll"))
        run("llc", "-mtriple=nvptx64-nvidia-cuda", "-mcpu=sm_80",
            "-mattr=+ptx80", file("ll"), "-o", file("ptx"))
    sys.exit(wrong)


class Cuda:
    """As little of the driver's interface as it takes."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", name, 128, device)
        self.name = name.value.decode()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise OSError(f"{name} returns {code}")

    def run(self, ptx, given, size):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        pointers = []
        for count in (len(given), size):
            pointer = ctypes.c_uint64()
            self.call("cuMemAlloc_v2", ctypes.byref(pointer),
                      ctypes.c_size_t(count))
            pointers.append(pointer)
        self.call("cuMemcpyHtoD_v2", pointers[0], given,
                  ctypes.c_size_t(len(given)))
        parameters = (ctypes.c_void_p * 2)(
            *(ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in pointers))
        self.call("cuLaunchKernel", function, 1, 1, 1, LANES, 1, 1, 0, None,
                  parameters, None)
        self.call("cuCtxSynchronize")
        result = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", result, pointers[1], ctypes.c_size_t(size))
        for pointer in pointers:
            self.call("cuMemFree_v2", pointer)
        self.call("cuModuleUnload", module)
        return result.raw


def compare(folder):
    try:
        cuda = Cuda()
    except OSError as problem:
        print(f"skipped: no GPU to compare with ({problem})")
        return
    kernels = sorted(folder.glob("*.ptx"))
    agree = 0
    for kernel in kernels:
        expected = kernel.with_suffix(".expected").read_bytes()
        actual = cuda.run(kernel.read_bytes(),
                          kernel.with_suffix(".in").read_bytes(),
                          len(expected))
        agree += actual == expected
        if actual != expected:
            words = zip(array.array("I", actual), array.array("I", expected))
            first = next(k for k, (x, y) in enumerate(words) if x != y)
            print(f"{kernel.stem}: WRONG, first in word {first}")
    print(f"{agree} of {len(kernels)} agree with {cuda.name}")
    sys.exit(agree != len(kernels) or not kernels)


{"emit": emit, "compare": compare}[sys.argv[1]](pathlib.Path(sys.argv[2]))
