"""What `./dev bench` does: times the examples on the devices at hand and prints
a table. Medians; on a GPU with cold caches, on its own clock."""

import argparse
import os
import sys
import tempfile

import demo

# (rows, length); a CPU gets fewer rows, its time grows with them evenly.
GPU_SIZES = ((384, 384), (1024, 1024))
CPU_SIZES = ((16, 128), (16, 384))


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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
