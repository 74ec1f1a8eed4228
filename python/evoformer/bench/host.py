"""What calls cost the host: the seconds of a first call, compiling included, and
the microseconds of a launch. Every first call is one of a process of its own
without cached code; "cpu" are the seconds that its threads took together."""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

import evoformer
from evoformer import _problem, _runtime
from evoformer._library import library
from evoformer._problem import Meta, dense


class Memory:
    """Addresses for arguments: a device's memory, or numbers where nothing runs."""

    def __init__(self, kind, dry):
        self.torch = None
        if not dry:
            import torch
            self.torch, self.place = torch, "cpu" if kind == "cpu" else "cuda"

    def __call__(self, size):
        if self.torch is None:
            return None, 4096
        memory = self.torch.zeros(size, dtype=self.torch.uint8, device=self.place)
        return memory, memory.data_ptr()

    def wait(self):
        if self.torch is not None and self.place == "cuda":
            self.torch.cuda.synchronize()


def make_call(options, direction, kind, length):
    """A call of triangle attention with a mask, a pair bias and a gate, and the
    bytes of its arguments."""
    shape = (1, length, length, 4, options.depth)
    operand = Meta(shape, dense(shape), kind)
    mask, pair = (1, length, 1, 1, length), (1, 1, 4, length, length)
    attention = _problem.Attention(
        operand, operand, operand,
        [Meta(mask, dense(mask), "i1"), Meta(pair, dense(pair), kind)], operand,
        None, None, [1])
    where = _runtime.device(options.device)
    if direction == "forward":
        call, others = attention.forward(where, stats=True), 2
    else:
        names = attention.gradient_names()
        call, others = attention.backward(where, operand, names), 3 + len(names)
    count = 6 + others
    elements = max(length * length * 4 * max(options.depth, 2), 2 * length ** 3)
    return call, [4 * elements] * count


def first(options, direction, kind):
    """Seconds until a first call has ended, by the clock and of all threads."""
    memory = Memory(options.device, options.dry)
    # torch's first fill loads a module of its own.
    memory(1)
    memory.wait()
    library()
    _runtime.device(options.device)
    begin, begin_cpu = time.perf_counter(), time.process_time()
    call, sizes = make_call(options, direction, kind, options.length)
    arguments = [memory(size) for size in sizes]
    call.run([address for _, address in arguments], memory)
    memory.wait()
    return time.perf_counter() - begin, time.process_time() - begin_cpu


def launch(options, direction, kind):
    """Microseconds of a call that is repeated, and its launches."""
    memory = Memory(options.device, options.dry)
    call, sizes = make_call(options, direction, kind, 16)
    arguments = [memory(size) for size in sizes]
    addresses = [address for _, address in arguments]
    call.prepare(addresses)
    workspace = memory(call.workspace_bytes)
    packed = (ctypes.c_uint64 * len(addresses))(*addresses)
    available = ctypes.c_uint64(call.workspace_bytes)
    run, best, times = library().evoformerCallRun, 1.0, 20
    for _ in range(options.repeat):
        begin = time.perf_counter()
        for _ in range(times):
            run(call, packed, workspace[1], available, None)
        best = min(best, time.perf_counter() - begin)
        # Queues of drivers are finite: launching must not wait for kernels.
        memory.wait()
    return best / times * 1e6, len(call.launches(addresses))


def main():
    parser = argparse.ArgumentParser(prog="python -m evoformer.bench.host",
                                     description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda", "hip"), default="cpu")
    parser.add_argument("--types", nargs="+", default=["bf16", "f32"],
                        choices=("f16", "bf16", "f32"))
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--length", type=int, default=64,
                        help="of rows, queries and keys in first calls")
    parser.add_argument("--repeat", type=int, default=300)
    parser.add_argument("--dry", action="store_true",
                        help="addresses are made up, for a driver that runs nothing")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(first(options, *options.one)))
        return
    where = evoformer.device(options.device)
    print(f"{where.description}, compiled for {where.target}, "
          f"{os.cpu_count()} processors")
    environment = {**os.environ, "EVOFORMER_CACHE_DIR": "",
                   "CUDA_CACHE_DISABLE": "1"}
    for kind in options.types:
        for direction in ("forward", "backward"):
            done = subprocess.run(
                [sys.executable, "-m", "evoformer.bench.host", *sys.argv[1:],
                 "--one", direction, kind],
                env=environment, stdout=subprocess.PIPE, text=True, check=True)
            wall, cpu = json.loads(done.stdout)
            print(f"{direction:8} {kind:4} first call {wall:.2f} s (cpu {cpu:.2f} s)",
                  flush=True)
    for direction in ("forward", "backward"):
        call, count = launch(options, direction, options.types[0])
        print(f"{direction:8} {options.types[0]:4} {call:.2f} us a call, {count} "
              f"launches, {call / count:.2f} us each")


if __name__ == "__main__":
    main()
