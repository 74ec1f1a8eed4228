# Nothing is found in unbroken kernels, and the numbers are right, whatever the
# interleaving and whenever copies land. The long form, with 100 seeds and the
# tools in PATH:
#
#   python3 test/Simulator/seeds.py . /tmp/seeds 100
#
# RUN: rm -rf %t
# RUN: %python %s %source_dir %t 2 | FileCheck %s

# CHECK: all clean
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from simulation import CHIPS, prepare, run

source, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
SEEDS = int(sys.argv[3])
SIZES = {"matmul": (65, 70, 49), "softmax": (33, 70), "layer_norm": (17, 130),
         "l2_norm": (18, 70)}

for chip in CHIPS:
    cases = source / "test/Simulator/Inputs/seeds.txt"
    run("evoformer-check", f"--target={chip}", "--device=sim",
        "--guard-bytes=0", f"--cases={cases}", f"--sim-seeds={SEEDS}")
    print("attention", chip, SEEDS, "seeds: clean", flush=True)
    for kernel, sizes in SIZES.items():
        launch = prepare(source, work, kernel, chip, sizes)
        for seed in range(SEEDS):
            launch.run(f"--seed={seed}")
            if not launch.is_right():
                sys.exit(f"wrong: {kernel} {chip} {sizes}, seed {seed}")
        print(kernel, chip, SEEDS, "seeds: clean", flush=True)
print("all clean")
