# General kernels, lowered for every GPU, run in the simulator: the numbers are
# right and nothing is found, under several interleavings and both landings of
# asynchronous copies, by default one of these in turn.
#
# RUN: rm -rf %t
# RUN: %python %s %source_dir %t %if full %{ all %} | FileCheck %s

# CHECK: all right
# CHECK-NOT: {{.}}
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from simulation import CHIPS, prepare

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
ROWS = ((64, 256), (33, 70), (1, 1), (16, 65))
SIZES = {"matmul": ((128, 128, 64), (64, 192, 96), (65, 33, 17), (1, 1, 1)),
         "softmax": ROWS, "layer_norm": ROWS, "l2_norm": ROWS}

WAYS = ([], ["--seed=1"], ["--seed=2", "--copies=early"])

for turn, chip in enumerate(CHIPS):
    for kernel, list_of_sizes in SIZES.items():
        for number, sizes in enumerate(list_of_sizes, turn):
            launch = prepare(source, work, kernel, chip, sizes)
            way = number % len(WAYS)
            for options in WAYS if "all" in sys.argv else WAYS[way:way + 1]:
                launch.run(*options)
                if not launch.is_right():
                    sys.exit(f"wrong: {kernel} {chip} {sizes} {options}")
            print(kernel, chip, sizes, flush=True)
print("all right")
