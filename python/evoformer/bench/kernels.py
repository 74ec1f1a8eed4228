"""Kernels of one's own on the tile dialect, beside torch: a product of matrices beside
cuBLAS's, softmax and layer normalisation beside a copy of as many bytes.

    python -m evoformer.bench.kernels examples/tiles
"""

import argparse
import pathlib

import torch
import torch.nn.functional as F

from .. import _runtime
from .clock import Clock
from .worker import SPIN_MS

PRODUCT = {"cuda": 4096, "cpu": 128}
ROWS = {"cuda": ((65536, 1024), (32768, 384)), "cpu": ((64, 128),)}


def call_of(path, device, tensors):
    """A call of a module's only function with these tensors, the last of them its
    result."""
    where = _runtime.device(device)
    call = _runtime.Call(where.compile(path.read_text(encoding="utf-8")), where,
                         [(tuple(t.shape), tuple(t.stride())) for t in tensors])
    addresses = [t.data_ptr() for t in tensors]

    def allocate(size):
        kept = torch.empty(size, dtype=torch.uint8, device=device)
        return kept, kept.data_ptr()
    if device == "cpu":
        return lambda: call.run(addresses, allocate, wait=where)
    stream = torch.cuda.current_stream().cuda_stream
    return lambda: call.run(addresses, allocate, stream)


def problems(device):
    """(example, title, tensors, what it should give, beside what, how)."""
    torch.manual_seed(0)
    size = PRODUCT[device]
    # Small multiples of 1/8: all sums are exact.
    a, b = (torch.randint(-8, 9, (size, size), device=device).div(8).bfloat16()
            for _ in range(2))
    c = torch.empty(size, size, device=device)
    yield ("matmul", f"{size} x {size} x {size}, bf16", [a, b, c],
           lambda: a.float() @ b.float(), "torch.matmul", lambda: torch.matmul(a, b))
    for rows, columns in ROWS[device]:
        x = torch.randn(rows, columns, device=device)
        gamma, beta = torch.randn(2, columns, device=device).unbind()
        y = torch.empty_like(x)
        title, copied = f"{rows} x {columns}, f32", torch.empty_like(x)
        yield ("softmax", title, [x, y], lambda x=x: torch.softmax(x, 1), "a copy",
               lambda x=x, copied=copied: copied.copy_(x))
        yield ("layer_norm", title, [x, gamma, beta, y],
               lambda x=x, gamma=gamma, beta=beta, n=columns: F.layer_norm(
                   x, (n,), gamma, beta), "a copy",
               lambda x=x, copied=copied: copied.copy_(x))


def main():
    parser = argparse.ArgumentParser(
        "python -m evoformer.bench.kernels",
        description="Times of kernels of one's own on the tile dialect.")
    parser.add_argument("examples", type=pathlib.Path, help="the folder examples/tiles")
    parser.add_argument("--device", choices=("cpu", "cuda"),
                        default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    clock = Clock(options.device, SPIN_MS)
    print("| kernel | size | ms | beside | ms | share |\n| --- | --- | --- | --- | --- | --- |")
    for name, title, tensors, wanted, beside, other in problems(options.device):
        run = call_of(options.examples / f"{name}.mlir", options.device, tensors)
        run()
        torch.testing.assert_close(tensors[-1], wanted(), rtol=1e-5, atol=1e-5)
        ours, theirs = (clock.quartiles(function, options.repeat)[1]
                        for function in (run, other))
        print(f"| {name} | {title} | {ours:.3f} | {beside} | {theirs:.3f} | "
              f"{theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
