# REQUIRES: no-sanitizer
# RUN: mkdir -p %t && %python %s %build_dir %t %llvm_prefix/bin
"""Upstream's tool lowers a network's block and its gradients with the plugin: its own
passes what is linalg, to loops or to vectors, the project's what is attention. Both
agree with f64."""

import pathlib
import sys

import gpu_program
import numpy as np
import pair_block

build, folder, llvm = sys.argv[1:]
LENGTH = 12
# As docs/embedding.md has them.
LOOPS = "func.func(convert-linalg-to-loops)"
VECTORS = ("func.func(convert-linalg-to-affine-loops,"
           "affine-super-vectorize{virtual-vector-size=8},convert-vector-to-scf,"
           "lower-affine),convert-vector-to-llvm")

arrays, out_grad = pair_block.make_arrays(LENGTH)
outputs, gradients = pair_block.expected(arrays, out_grad)
for example, given, wanted, linalg in (
        ("pair_block", arrays, outputs, VECTORS),
        ("pair_block_backward", arrays | {"out_grad": out_grad}, gradients, LOOPS)):
    module = pathlib.Path(folder) / f"{example}.mlir"
    module.write_text(pair_block.resized(example, LENGTH))
    library = f"{folder}/{example}.so"
    gpu_program.compile_for_host(
        module, library, f"{build}/bin", llvm,
        "evoformer-lower{target=cpu stop-after=buffers},buffer-deallocation-pipeline,"
        f"{linalg},evoformer-lower{{target=cpu}}",
        plugin=f"{build}/lib/EvoformerPlugin.so")
    empty = [np.zeros(array.shape, np.float32) for array in wanted.values()]
    after = gpu_program.HostProgram(library).call(example, [*given.values(), *empty])
    errors = pair_block.errors(dict(zip(wanted, after[len(given):])), wanted)
    print(example, errors)
    assert max(errors.values()) < pair_block.MOST_ERROR, errors
    assert min(pair_block.errors({name: -array for name, array in wanted.items()},
                                 wanted).values()) > 1  # it can fail
