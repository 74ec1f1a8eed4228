"""Triangle attention on several devices of one machine: its rows spread over them, as
DTensors, or its keys (evoformer.distributed.context_parallel), beside one device.

    python -m evoformer.bench.sharded
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing

import evoformer

from .clock import Clock
from .worker import SPIN_MS, WRONG, distance

TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
SIZES = range(1, 1024)
# More than two parts take to launch on the host.
HOST_MS = 2 * SPIN_MS


def make_operands(options, device):
    """Query, key, value, gate, mask, pair and the output's gradient."""
    n, s, h, d = options.rows, options.length, options.heads, options.depth
    kind = TYPES[options.type]
    generator = torch.Generator(device).manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device, dtype=kind)
    *four, gradient = (normal(1, n, s, h, d) for _ in range(5))
    mask = torch.rand(1, n, 1, 1, s, generator=generator, device=device) < 0.9
    return [*four, mask, normal(1, 1, h, s, s), gradient]


def leaf(tensor):
    return tensor.detach().requires_grad_(tensor.is_floating_point())


class Whole:
    """All on one device."""

    def __init__(self, operands):
        *inputs, self.gradient = operands
        self.inputs = [leaf(t) for t in inputs]

    def forward(self):
        q, k, v, gate, mask, pair = self.inputs
        return evoformer.attention(q, k, v, [mask, pair], gate)

    def both(self):
        """The result and gradients, each where it is used: complete."""
        out = self.forward()
        wanted = [t for t in self.inputs if t.requires_grad]
        return [out, *torch.autograd.grad(out, wanted, self.gradient)]

    def compare(self, found):
        """Each result with what there should be of it here."""
        return found


class Rows(Whole):
    """Rows are spread; all have the pair bias, whose gradient is summed."""

    def __init__(self, operands):
        from torch.distributed.tensor import (Replicate, Shard, distribute_tensor,
                                              init_device_mesh)
        mesh = init_device_mesh(operands[0].device.type, (dist.get_world_size(),))
        self.replicate = [Replicate()]
        places = [Shard(1)] * 5 + [Replicate(), Shard(1)]
        super().__init__([distribute_tensor(t, mesh, [place])
                          for t, place in zip(operands, places)])

    def both(self):
        *four, pair = super().both()
        return [*four, pair.redistribute(placements=self.replicate)]

    def compare(self, found):
        return [t.full_tensor() for t in found]


class Keys(Whole):
    """Keys are spread, and the biases with them."""

    def __init__(self, operands):
        size, rank = dist.get_world_size(), dist.get_rank()
        q, k, v, gate, mask, pair, gradient = operands
        count = k.shape[2]
        self.own = slice(rank * count // size, (rank + 1) * count // size)
        super().__init__([q, k[:, :, self.own], v[:, :, self.own], gate,
                          mask[..., self.own], pair[..., self.own], gradient])

    def forward(self):
        from evoformer.distributed import context_parallel
        q, k, v, gate, mask, pair = self.inputs
        return context_parallel(q, k, v, [mask, pair], gate)


def expected(way, whole):
    """What a way should give here of the results of one device."""
    if not isinstance(way, Keys):
        return whole
    out, q, k, v, gate, pair = whole
    return [out, q, k[:, :, way.own], v[:, :, way.own], gate, pair[..., way.own]]


def measure(way, clock, options):
    """Medians of what the slowest device takes."""
    found = {}
    for name in ("forward", "both"):
        run = getattr(way, name)
        for _ in range(2):
            run()
        times = []
        for _ in range(options.repeat):
            dist.barrier()
            times.append(clock(run))
        slowest = torch.tensor(times, device=options.device)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        found[name] = statistics.median(slowest.tolist())
    return found


def work(rank, size, options, folder):
    on_gpu = options.device == "cuda"
    if on_gpu:
        torch.cuda.set_device(rank)
    else:
        torch.set_num_threads(1)
        os.environ.setdefault("EVOFORMER_NUM_THREADS", "1")
    dist.init_process_group(
        "nccl" if on_gpu else "gloo", init_method=f"file://{folder}/{size}", rank=rank,
        world_size=size, timeout=datetime.timedelta(minutes=20))
    try:
        operands = make_operands(options, options.device)
        whole = [t.detach() for t in Whole(operands).both()]
        clock = Clock(options.device, HOST_MS)
        for make in ([Whole] if size == 1 else [Rows, Keys]):
            way = make(operands)
            results = zip(way.compare(way.both()), expected(way, whole), strict=True)
            error = max(distance(one.detach(), true) for one, true in results)
            if not error < WRONG:
                raise ValueError(f"{make.__name__} on {size}, process {rank}: wrong, "
                                 f"{error:.2g} of the norm off")
            record = {"spread": make.__name__.lower(), "devices": size, "error": error,
                      **measure(way, clock, options)}
            if rank == 0:
                with open(os.path.join(folder, "records"), "a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
    finally:
        dist.destroy_process_group()


def show(records):
    (one,) = (record for record in records if record["devices"] == 1)
    print("| spread | devices | forward, ms | of one | forward and backward, ms | of one "
          "| off the norm |\n| --- | --- | --- | --- | --- | --- | --- |")
    for record in records:
        forward, both = record["forward"], record["both"]
        print(f"| {record['spread']} | {record['devices']} | {forward:.3f} | "
              f"{one['forward'] / forward:.2f}x | {both:.3f} | {one['both'] / both:.2f}x | "
              f"{record['error']:.1g} |")


def main():
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser("python -m evoformer.bench.sharded", description=(
        "Times of triangle attention spread over devices, beside one."))
    parser.add_argument("--device", choices=("cpu", "cuda"),
                        default="cuda" if on_gpu else "cpu")
    parser.add_argument("--devices", type=int, nargs="+", default=[2, 4],
                        help="how many, beside one; more than there are are left out")
    parser.add_argument("--rows", type=int, default=1024 if on_gpu else 16)
    parser.add_argument("--length", type=int, default=1024 if on_gpu else 64)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--type", choices=TYPES,
                        default="bfloat16" if on_gpu else "float32")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path, help="file for what is measured")
    options = parser.parse_args()
    for size in options.devices:
        if size not in SIZES:
            parser.error(f"--devices {size}; accepted are 1 to {SIZES[-1]}")
    # Processes of one processor share it.
    there = torch.cuda.device_count() if options.device == "cuda" else SIZES.stop
    with tempfile.TemporaryDirectory() as folder:
        for size in [1, *sorted({size for size in options.devices if size > 1})]:
            if size > there:
                print(f"{size} devices: there are {there}")
                continue
            torch.multiprocessing.start_processes(
                work, (size, options, folder), size, start_method="spawn")
        with open(os.path.join(folder, "records"), encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
    shape = (f"N {options.rows}, S {options.length}, H {options.heads}, "
             f"D {options.depth}, {options.type}")
    name = torch.cuda.get_device_name() if options.device == "cuda" else "processor"
    print(f"{shape}, {name}\n")
    show(records)
    if options.json:
        options.json.write_text(json.dumps(
            [{"shape": shape, "device": name, **record} for record in records],
            indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
