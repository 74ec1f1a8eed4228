"""What `./dev bench --tools` does: times the examples on the devices at hand and prints
a table. Medians; on a GPU with cold caches, on its own clock. Then the speed of
the simulator."""

import argparse
import json
import os
import sys
import tempfile

import demo
import targets

# (rows, length); a CPU gets fewer rows, its time grows with them evenly.
GPU_SIZES = ((384, 384), (1024, 1024))
CPU_SIZES = ((16, 128), (16, 384))


SIMULATED = ("Sq=128 Sk=128 D=32 type=bf16 bias=bnk:i1:normal "
             "bias=bhqk:bf16:normal",
             "N=4 H=4 Sq=384 Sk=384 D=32 type=bf16 bias=bnk:i1:normal "
             "bias=bhqk:bf16:normal")


def time_simulator(tools):
    """Lane-operations a second, every chip and case; false if one fails."""
    print("\n| simulated case | chip | ms | million lane-operations a second |"
          "\n|---|---|---|---|")
    good = True
    for case in SIMULATED:
        for chip in targets.gpus(tools):
            try:
                text, _ = demo.call([
                    os.path.join(tools, "evoformer-check"), f"--target={chip}",
                    "--device=sim", "--guard-bytes=0", "--repeat=5",
                    "--sim-counters=json", case])
            except demo.Failed as problem:
                print(problem, file=sys.stderr)
                good = False
                continue
            report = next(json.loads(line) for line in text.splitlines()
                          if line.startswith("{"))
            print(f"| {case.split(' type')[0]} | {chip} | "
                  f"{report['simulated_seconds'] * 1e3:.1f} | "
                  f"{report['lane_operations_per_second'] / 1e6:.0f} |",
                  flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", default=os.path.join(demo.ROOT, "build", "bin"))
    parser.add_argument("--device", choices=("cpu", "cuda", "hip"),
                        default="cuda" if demo.has_cuda_device() else "cpu")
    parser.add_argument("--target", help="chip to compile for")
    parser.add_argument("--repeat", type=int, default=21)
    options = parser.parse_args()
    on_cpu = options.device == "cpu"
    target = options.target or {"cpu": "cpu", "cuda": "sm_80",
                                "hip": "gfx942"}[options.device]
    extra = [f"--target={target}", f"--repeat={options.repeat}"]
    if not on_cpu:
        extra.append("--cold-cache")
    print("| example | rows | length | median ms | TFLOP/s |\n|---|---|---|---|---|")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for example in demo.EXAMPLES:
            for rows, length in CPU_SIZES if on_cpu else GPU_SIZES:
                if example.one_row:
                    example.batch = 4 if on_cpu else 16
                else:
                    example.rows = rows
                try:
                    _, median = demo.run_on(options.tools, example,
                                            example.arrays(length),
                                            options.device, folder, extra)
                except demo.Failed as problem:
                    print(f"{example.name}: {problem}", file=sys.stderr)
                    failed = True
                    continue
                many = example.batch * example.rows
                flops = 4.0 * many * example.heads * length**2 * example.depth
                print(f"| {example.name} | {many} | {length} | {median:.3f} | "
                      f"{flops / median / 1e9:.2f} |", flush=True)
    failed |= not time_simulator(options.tools)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
