# RUN: mkdir -p %t && %python %s %build_dir/bin %t
"""Every example runs on this CPU, as compiled for it and as it is before
distribution over lanes for some chips, so that each chip has its turn, and agrees
with f64 as the project promises."""

import contextlib
import io
import sys

import demo
import targets

tools, folder = sys.argv[1:]
LENGTH = 70  # no multiple of any block
problems = []
for turn, example in enumerate(demo.EXAMPLES):
    example.rows, example.batch = min(example.rows, 3), min(example.batch, 2)
    arrays = example.arrays(LENGTH)
    exact, eager = example.exact_and_eager(arrays)
    for options in [[], *([f"--target={chip}", "--level=pipelined"]
                          for chip in targets.gpus()[turn::len(demo.EXAMPLES)])]:
        result, _ = demo.run_on(tools, example, arrays, "cpu", folder, options)
        line, good = demo.compare(result, exact, eager)
        print(example.name, *options, line)
        if not good:
            problems.append(f"{example.name} {options}: {line}")
        # The check can fail: an output of a wrong row is noticed.
        result[0, 0, 0] = result[0, 0, 1]
        assert not demo.compare(result, exact, eager)[1]
# The backward pass as the demo shows it: every step's kernel with its registers, of a
# chip of each architecture, and every gradient's error.
chips = {target.triple: target.name for target in targets.known()
         if target.name in targets.gpus()}
shown = io.StringIO()
demo.GRADIENT_LENGTH = LENGTH
with contextlib.redirect_stdout(shown):
    good = demo.show_gradients(demo.EXAMPLES[1], tools, folder, chips.values())
for part in (*(f"gradients, {chip}" for chip in chips.values()), "delta:",
             "query_grad:", "key_value_grad:", "bias_grad:", "registers",
             "hot loop", "query_grad ", "gate_grad "):
    if not good or part not in shown.getvalue():
        problems.append(f"no '{part}' in {shown.getvalue()}")
sys.exit("\n".join(problems) or 0)
