"""What `./dev demo` shows: the examples compiled for each chip with a report of
every kernel, then run on this machine and compared with f64. What was shown is
kept and shown again, with its date, as long as the tools, the examples and these
scripts are as they were; --again runs everything."""

import argparse
import concurrent.futures
import functools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

import attention
import kept
import kernel_times
import numpy as np
import pair_block
import targets

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = ("evoformer-opt", "evoformer-run", "evoformer-check")
LENGTH = 384
SIMULATED_LENGTH = 128
GRADIENT_ROWS, GRADIENT_LENGTH = 4, 192


class Example:
    """An input under examples/ and arrays for it."""

    def __init__(self, name, heads, depth, batch, rows, mask=None, gate=False):
        self.name, self.heads, self.depth = name, heads, depth
        self.path = os.path.join(ROOT, "examples", f"{name}.mlir")
        self.batch, self.rows, self.mask, self.gated = batch, rows, mask, gate
        self.one_row = rows == 1

    def arrays(self, length):
        """The arguments in the function's order, by name; all but the output."""
        draw = np.random.default_rng(7)
        kind = attention.TYPES["bf16"]
        shape = (self.batch, self.rows, length, self.heads, self.depth)

        def normal(sizes):
            return draw.standard_normal(sizes, np.float32).astype(kind)

        arrays = {name: normal(shape) for name in ("query", "key", "value")}
        if self.mask:
            keep = draw.random((self.batch, self.rows, 1, 1, length)) < 0.9
            arrays["mask"] = keep if self.mask == "i1" else np.where(
                keep, np.float32(0), np.float32(-1e9))
        arrays["pair"] = normal((self.batch, 1, self.heads, length, length))
        if self.gated:
            arrays["gate"] = normal(shape)
        return arrays

    def exact_and_eager(self, arrays):
        biases = [arrays[name] for name in ("mask", "pair") if name in arrays]
        operands = (arrays["query"], arrays["key"], arrays["value"], biases,
                    arrays.get("gate"))
        return attention.reference(*operands)[0], attention.eager(*operands)

    def describe(self):
        parts = [f"{self.heads} heads of {self.depth}", "bf16", "pair bias"]
        if self.mask:
            parts.append({"i1": "key mask", "f32": "additive mask"}[self.mask])
        if self.gated:
            parts.append("gate")
        return ", ".join(parts)

    def case(self, batch, rows, length):
        """The example as words of evoformer-check."""
        words = (f"B={batch} N={rows} H={self.heads} Sq={length} Sk={length} "
                 f"D={self.depth} type=bf16 bias=bhqk:bf16:normal")
        if self.mask:
            words += f" bias=bnk:{self.mask}:normal"
        return words + (" gate=bf16" if self.gated else "")


EXAMPLES = (
    Example("triangle_attention", 4, 32, batch=1, rows=32, mask="i1"),
    Example("msa_row_attention", 8, 32, batch=1, rows=16, mask="f32", gate=True),
    Example("pair_bias_attention", 16, 24, batch=4, rows=1, gate=True),
)


class Failed(Exception):
    pass


def call(command):
    begin = time.perf_counter()
    try:
        run = subprocess.run(command, capture_output=True, text=True)
    except OSError as problem:
        raise Failed(str(problem)) from None
    if run.returncode:
        raise Failed(f"{' '.join(command)}\n{run.stderr.strip()[-2000:]}")
    return run.stdout, time.perf_counter() - begin


def compile_for(tools, path, chip, folder):
    """The reports on the kernels of a file, and the seconds that it took."""
    name = os.path.splitext(os.path.basename(path))[0]
    report = os.path.join(folder, f"{name}.{chip}.json")

    def compile_as(form):
        return call([
            os.path.join(tools, "evoformer-opt"), path,
            f"--evoformer-lower=target={chip}",
            f"--evoformer-serialize=out-dir={folder}/{name}.{chip} "
            f"report={report}{form}", "-o", os.devnull])[1]

    try:
        seconds = compile_as("")
    except Failed as problem:
        if "a cubin needs ptxas" not in str(problem):
            raise
        # A driver compiles PTX; only it knows the registers then.
        print(f"  {chip}: no ptxas here, so PTX instead of a cubin")
        seconds = compile_as(" format=ptx")
    with open(report, encoding="utf-8") as file:
        return json.load(file), seconds


def show_report(kernel):
    """A few lines on one kernel."""
    def first(*keys):
        return next((kernel[key] for key in keys if key in kernel), "?")

    registers = str(first("vector_registers"))
    if kernel.get("accumulator_registers"):
        registers += f" + {kernel['accumulator_registers']} accumulators"
    lds = kernel["static_lds_bytes"] + kernel["dynamic_lds_bytes"]
    print(f"    {kernel['name']}: {kernel['threads']} threads, {registers} registers, "
          f"{first('spilled_registers', 'spill_bytes')} spilled, {lds} LDS bytes, "
          f"{first('occupancy')} {kernel.get('occupancy_unit', '')}, "
          f"{first('code_bytes')} code bytes")
    loop = kernel.get("hot_loop")
    if loop and loop.get("matrix"):
        ideals = {"matrix": kernel.get("ideal_matrix"),
                  "transcendental": kernel.get("ideal_transcendental")}
        counts = [f"{loop[kind]} {kind.replace('_', ' ')}" +
                  (f" (ideal {ideals[kind]})" if ideals.get(kind) else "")
                  for kind in ("matrix", "transcendental", "packed", "vector",
                               "exchange", "lds_read", "lds_write", "global_read",
                               "async_copy", "wait", "barrier") if kind in loop]
        print(f"      hot loop, {loop['total']} instructions: {', '.join(counts)}")
        for finding in kernel["findings"]:
            print(f"      note: {finding}")


def show_simulated(example, tools, chip, length):
    """Two rows in the simulator: what each kernel executes, and the multiples of
    what the problem needs. Whether nothing was found."""
    rows = (2, 1) if example.one_row else (1, 2)
    try:
        text, _ = call([
            os.path.join(tools, "evoformer-check"), f"--target={chip}",
            "--device=sim", "--guard-bytes=0", "--sim-counters=text",
            example.case(*rows, length)])
    except Failed as problem:
        print(f"    simulator: failed: {problem}")
        return False
    print(f"    simulator, two rows of {length}: nothing found")
    # The lines between the case and the verdict.
    for line in text.splitlines()[2:-1]:
        print(f"    {line}", flush=True)
    return True


def run_on(tools, example, arrays, device, folder, options=()):
    """The output, and the line of times that evoformer-run prints."""
    command = [os.path.join(tools, "evoformer-run"), example.path,
               f"--device={device}", *options]
    for name, array in arrays.items():
        path = os.path.join(folder, f"{name}.npy")
        attention.save(path, array)
        command.append(f"--input={name}={path}")
    out = os.path.join(folder, "out.npy")
    shape = "x".join(map(str, arrays["query"].shape))
    text, _ = call(command + [f"--shape=out={shape}", f"--output=out={out}"])
    times = re.search(r"median\D*([\d.]+) ms", text)
    return attention.load(out), float(times[1]) if times else None


def compare(result, exact, eager):
    """A line with the errors; whether they are within the promised bound."""
    error = attention.row_errors(result, exact)
    eager_error = attention.row_errors(eager, exact)
    good = attention.within_bounds(result, exact, eager)
    return (f"error of a row: mean {error.mean():.1e}, largest {error.max():.1e} "
            f"(op by op in bf16: {eager_error.mean():.1e}, "
            f"{eager_error.max():.1e}){'' if good else '  TOO LARGE'}"), good


def has_cuda_device():
    return os.path.exists("/dev/nvidia0")


def show_run(example, tools, folder, arrays, expected, place, device, options):
    """Runs, prints errors and time, and says whether it is right."""
    try:
        result, median = run_on(tools, example, arrays, device, folder, options)
    except Failed as problem:
        print(f"    {place}: failed: {problem}")
        return False
    line, good = compare(result, *expected)
    if median:
        flops = 4.0 * result.size * result.shape[2]
        place += f", {median:.1f} ms, {flops / median / 1e6:.1f} GFLOP/s"
    print(f"    {place}; {line}", flush=True)
    return good


class Problem:
    """An example's numbers, made when a step asks for them."""

    def __init__(self, example, length):
        self.example, self.length = example, length

    @functools.cached_property
    def arrays(self):
        return self.example.arrays(self.length)

    @functools.cached_property
    def expected(self):
        return self.example.exact_and_eager(self.arrays)

    def one_row(self):
        return ({name: array[:1, :1] for name, array in self.arrays.items()},
                [array[:1, :1] for array in self.expected])


def show_chip(chip, problem, tools, folder):
    """What a chip's compiler makes of an example. Whether it is right."""
    example = problem.example
    try:
        kernels, seconds = compile_for(tools, example.path, chip, folder)
        print(f"  {chip}, compiled in {seconds:.2f} s", flush=True)
        for kernel in kernels:
            show_report(kernel)
    except (Failed, ValueError) as failure:
        print(f"  {chip}: failed: {failure}")
        return False
    # One row shows that a chip's program is right.
    good = show_run(example, tools, folder, *problem.one_row(),
                    "its tiles, run on this CPU", "cpu",
                    [f"--target={chip}", "--level=pipelined"])
    return good & show_simulated(example, tools, chip, SIMULATED_LENGTH)


def show_here(problem, tools, folder):
    example = problem.example
    count = f"{example.batch * example.rows} rows of {problem.length}"
    print("  here")
    good = show_run(example, tools, folder, problem.arrays, problem.expected,
                    f"this CPU, {count}", "cpu", ["--repeat=3"])
    if has_cuda_device():
        good &= show_run(example, tools, folder, problem.arrays,
                         problem.expected, f"this GPU, {count}", "cuda",
                         ["--target=sm_80", "--repeat=20", "--cold-cache"])
    return good


def show(example, tools, folder, length, steps):
    print(f"\n{example.name}: {example.describe()}", flush=True)
    problem = Problem(example, length)
    key = [example.name, kept.digest(example.path), length]
    good = True
    for chip in targets.gpus(tools):
        good &= steps.run([*key, chip], show_chip, chip, problem, tools, folder)
    good &= steps.run(key, show_here, problem, tools, folder)
    # The kernels of this one's gradients are those of the other two.
    if example.name == "msa_row_attention":
        return good
    return good & steps.run(key, show_gradients, example, tools, folder)


def main_kernels(kernels):
    """That of each kind of step of a backward pass, for rows that whole vectors
    hold: the first of its variants."""
    first = {}
    for kernel in kernels:
        first.setdefault(kernel_times.step_of(kernel["name"]), kernel)
    return [kernel for step, kernel in first.items()
            if step in kernel_times.STEPS]


def show_gradients(example, tools, folder, chips=()):
    """The kernels of the backward pass, of every chip if none is named; its errors
    and time on this CPU. Whether it is right."""
    batch, rows = ((GRADIENT_ROWS, 1) if example.one_row
                   else (1, GRADIENT_ROWS))
    # A pair bias of one row has a gradient of which nothing is summed.
    known = "all" if example.one_row else "heads"
    case = (example.case(batch, rows, GRADIENT_LENGTH) +
            f" pass=backward static={known}")
    check = os.path.join(tools, "evoformer-check")
    path = os.path.join(folder, f"{example.name}_gradients.mlir")
    chips = chips or targets.gpus(tools)
    good = True
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(call([check, "--print-module", case])[0])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            compiled = list(pool.map(
                lambda chip: compile_for(tools, path, chip, folder), chips))
        for chip, (kernels, seconds) in zip(chips, compiled):
            print(f"  gradients, {chip}, with the forward pass compiled in "
                  f"{seconds:.2f} s beside others", flush=True)
            for kernel in main_kernels(kernels):
                show_report(kernel)
        text, _ = call([check, "--verbose", "--repeat=3", "--kernel-times", case])
        found = kernel_times.parse(text, 0)
        errors = re.search(r"largest errors of rows: (.*)", text)[1]
        print(f"  gradients, this CPU, {GRADIENT_ROWS} rows of {GRADIENT_LENGTH}, "
              f"{found['backward']['median_ms']:.1f} ms without the forward pass;"
              f" largest errors of a row against f64: {errors}", flush=True)
    except (Failed, kernel_times.Failed, ValueError) as problem:
        print(f"  gradients: failed: {problem}")
        good = False
    return good


def show_block(tools, folder, length=64):
    """A network's block around triangle attention, and its gradients."""
    arrays, out_grad = pair_block.make_arrays(length)
    outputs, gradients = pair_block.expected(arrays, out_grad)
    good = True
    for name, given, wanted, suffix in (
            ("pair_block", arrays, outputs, ""),
            ("pair_block_backward", arrays | {"out_grad": out_grad}, gradients,
             "_grad_out")):
        path = os.path.join(ROOT, "examples", f"{name}.mlir")
        try:
            _, seconds = call(pair_block.command(os.path.join(tools, "evoformer-run"),
                                                 path, folder, given, wanted, suffix))
            found = pair_block.results(folder, wanted)
            worst = max(pair_block.errors(found, wanted).values())
            right = worst < pair_block.MOST_ERROR
            print(f"  {name}, this CPU, {length}x{length} pairs, compiled and run in "
                  f"{seconds:.2f} s; largest error of {len(wanted)} results "
                  f"{worst:.1e} of the largest element: "
                  f"{'agrees' if right else 'does NOT agree'} with f64", flush=True)
            good &= right
        except Failed as problem:
            print(f"  {name}: failed: {problem}")
            good = False
    return good


def environment(tools):
    """What every step depends on."""
    return [*(kept.program(os.path.join(tools, tool)) for tool in TOOLS),
            kept.sources(sys.modules[__name__], attention, kernel_times,
                         pair_block),
            np.__version__, platform.node(), platform.machine(),
            has_cuda_device(), shutil.which("ptxas")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--length", type=int, default=LENGTH)
    parser.add_argument("--keep", default=os.path.join(ROOT, "build", ".dev",
                                                       "demo"),
                        help="the folder of what is kept")
    parser.add_argument("--again", action="store_true",
                        help="run what was kept, too")
    options = parser.parse_args()
    steps = kept.Steps(options.keep, environment(options.tools), options.again)
    with tempfile.TemporaryDirectory() as folder:
        good = [show(example, options.tools, folder, options.length, steps)
                for example in EXAMPLES]
        print("\na network's block: layer norm, projections, triangle attention, "
              "transition, residuals", flush=True)
        block = [kept.digest(os.path.join(ROOT, "examples", f"{name}.mlir"))
                 for name in ("pair_block", "pair_block_backward")]
        good.append(steps.run(block, show_block, options.tools, folder))
    steps.finish()
    if steps.shown:
        print(f"\n{steps.shown} of {steps.shown + steps.ran} steps as they were "
              "before, since nothing has changed; ./dev demo --again runs all")
    print("\nall results agree with f64" if all(good) else "\nsomething failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
