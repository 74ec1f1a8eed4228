"""Times triangle attention beside torch's FlexAttention and eager attention on
one NVIDIA GPU, in one run: bf16, a boolean key mask and a bf16 pair bias that
all rows share. Medians, the L2 cache evicted before each call. Needs torch."""

import argparse
import re
import statistics
import subprocess

import kernel_times
import torch
from torch.nn.attention.flex_attention import flex_attention

HEADS, DEPTH = 4, 32


def median_ms(run, repeat):
    """Milliseconds on the device's clock."""
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    times = []
    for attempt in range(repeat + 3):
        flush.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        if attempt >= 3:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def inputs(size):
    generator = torch.Generator("cuda").manual_seed(0)
    make = lambda *shape: torch.randn(
        shape, generator=generator, device="cuda", dtype=torch.bfloat16)
    q, k, v, do = (make(size, HEADS, size, DEPTH) for _ in range(4))
    bias = make(HEADS, size, size)
    mask = torch.rand(size, size, generator=generator, device="cuda") > 0.1
    for tensor in (q, k, v, bias):
        tensor.requires_grad_(True)
    return q, k, v, bias, mask, do


def flex(q, k, v, bias, mask):
    def score(value, row, head, i, j):
        value = value + bias[head, i, j]
        return torch.where(mask[row, j], value, -float("inf"))
    return flex_attention(q, k, v, score_mod=score)


def eager(q, k, v, bias, mask):
    logits = q @ k.transpose(-1, -2) * DEPTH**-0.5 + bias
    logits = logits.masked_fill(~mask[:, None, None, :], -float("inf"))
    return logits.softmax(-1) @ v


def time_peer(function, arguments, gradient, backward, repeat):
    if not backward:
        with torch.no_grad():
            return median_ms(lambda: function(*arguments), repeat)
    out = function(*arguments)
    wanted = arguments[:4]
    return median_ms(lambda: torch.autograd.grad(
        out, wanted, gradient, retain_graph=True), repeat)


def time_ours(tool, size, backward, repeat, extra):
    case = (f"B=1 N={size} H={HEADS} Sq={size} Sk={size} D={DEPTH} type=bf16 "
            "bias=bnk:i1:normal bias=bhqk:bf16:normal sample=16")
    if backward:
        # The case runs the forward pass before, which is not counted.
        found = kernel_times.measure(tool, case + " pass=backward",
                                     repeat=repeat, extra=extra)
        return found["backward"]["median_ms"]
    done = subprocess.run(
        [tool, "--device=cuda", f"--repeat={repeat}", "--warmup=3",
         "--cold-cache", "--verbose", *extra, case],
        capture_output=True, text=True)
    found = re.search(r"median ([0-9.]+) ms", done.stdout)
    if done.returncode or not found:
        raise SystemExit(f"{tool}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return float(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", default="build/bin/evoformer-check")
    parser.add_argument("--target", default="sm_80", help="chip to compile for")
    parser.add_argument("--sizes", type=int, nargs="+", default=[384, 1024])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--backward", action="store_true",
                        help="all gradients, without the forward")
    parser.add_argument("--option", action="append", default=[],
                        help="further option of evoformer-check")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
          f"{'backward' if options.backward else 'forward'}")
    print("| N = S | this project, ms | FlexAttention, ms | eager, ms | ratio |")
    print("|---|---|---|---|---|")
    for size in options.sizes:
        ours = time_ours(options.tool, size, options.backward, options.repeat,
                         [f"--target={options.target}", *options.option])
        arguments = inputs(size)
        do = arguments[-1]
        # One size a kernel, as ours: its general one is many times slower.
        torch.compiler.reset()
        peer = time_peer(torch.compile(flex, dynamic=False), arguments[:5], do,
                         options.backward, options.repeat)
        try:
            plain = time_peer(eager, arguments[:5], do, options.backward,
                              options.repeat)
        except torch.OutOfMemoryError:
            plain = float("nan")
        print(f"| {size} | {ours:.3f} | {peer:.3f} | {plain:.3f} | "
              f"{peer / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
