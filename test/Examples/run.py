# RUN: mkdir -p %t && %python %s %build_dir/bin %t
"""Every example runs on this CPU, as compiled for it and as it is for each chip
before distribution over lanes, and agrees with f64 as the project promises."""

import sys

import demo

tools, folder = sys.argv[1:]
LENGTH = 70  # no multiple of any block
problems = []
for example in demo.EXAMPLES:
    example.rows, example.batch = min(example.rows, 3), min(example.batch, 2)
    arrays = example.arrays(LENGTH)
    exact, eager = example.exact_and_eager(arrays)
    for options in [[], *([f"--target={chip}", "--level=pipelined"]
                          for chip in demo.CHIPS)]:
        result, _ = demo.run_on(tools, example, arrays, "cpu", folder, options)
        line, good = demo.compare(result, exact, eager)
        print(example.name, *options, line)
        if not good:
            problems.append(f"{example.name} {options}: {line}")
        # The check can fail: an output of a wrong row is noticed.
        result[0, 0, 0] = result[0, 0, 1]
        assert not demo.compare(result, exact, eager)[1]
sys.exit("\n".join(problems) or 0)
