# RUN: %python %s %source_dir %t %if full %{ all %}
"""Every pass and pipeline of the project on the IR of every level and on what
every other one makes of it: an error or a result, and of its own result the same
again; of larger programs, with products of whole groups of subgroups and with all
gradients, only of its own result, and by the pipelines to this processor with 'all' as
a further argument only. Many inputs share a process; where one ends it, its
input is found."""

import concurrent.futures
import os
import pathlib
import re
import sys

ROOT, WORK = map(pathlib.Path, sys.argv[1:3])
WORK.mkdir(exist_ok=True)
sys.path.insert(0, str(ROOT / "scripts"))
sys.path.append(str(ROOT / "test" / "Inputs"))
import bounded
from inventory import passes

LEVELS = ("buffers", "tiles", "fragments", "staged", "pipelined", "lanes", "machine")
# Copies to workgroup memory go through registers on the one, by themselves on
# the other.
CHIPS = ("gfx942", "sm_80")
ATTENTION = """
func.func @attention(
    %q: tensor<1x2x64x1x16xbf16>, %k: tensor<1x2x?x1x16xbf16>,
    %v: tensor<1x2x?x1x16xbf16>, %pair: tensor<1x1x1x64x?xf32>,
    %out: tensor<1x2x64x1x16xbf16>) -> tensor<1x2x64x1x16xbf16> {
  %0 = evoformer.attention
      query(%q : tensor<1x2x64x1x16xbf16>) key(%k : tensor<1x2x?x1x16xbf16>)
      value(%v : tensor<1x2x?x1x16xbf16>) bias(%pair : tensor<1x1x1x64x?xf32>)
      outs(%out : tensor<1x2x64x1x16xbf16>)
  return %0 : tensor<1x2x64x1x16xbf16>
}
"""
BACKWARD = """
func.func @backward(
    %q: tensor<1x2x64x1x64xbf16>, %k: tensor<1x2x64x1x64xbf16>,
    %pair: tensor<1x1x1x64x64xf32>, %stats: tensor<2x1x2x1x64xf32>)
    -> (tensor<1x2x64x1x64xbf16>, tensor<1x2x64x1x64xbf16>, tensor<1x2x64x1x64xbf16>,
        tensor<1x1x1x64x64xf32>) {
  %0:4 = evoformer.attention_backward
      query(%q : tensor<1x2x64x1x64xbf16>) key(%k : tensor<1x2x64x1x64xbf16>)
      value(%k : tensor<1x2x64x1x64xbf16>) bias(%pair : tensor<1x1x1x64x64xf32>)
      output(%q : tensor<1x2x64x1x64xbf16>) stats(%stats : tensor<2x1x2x1x64xf32>)
      output_grad(%q : tensor<1x2x64x1x64xbf16>)
      query_grad(%q : tensor<1x2x64x1x64xbf16>) key_grad(%k : tensor<1x2x64x1x64xbf16>)
      value_grad(%k : tensor<1x2x64x1x64xbf16>) bias_grad[0](%pair : tensor<1x1x1x64x64xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x2x64x1x64xbf16>, tensor<1x2x64x1x64xbf16>,
      tensor<1x2x64x1x64xbf16>, tensor<1x1x1x64x64xf32>
}
"""
# What is larger, by chip.
LARGE = {"sm_90": ATTENTION.replace("x16xbf16", "x64xbf16"), "gfx942": BACKWARD}
SUM = """
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 3>
evo_tile.kernel @sum(%a: memref<?x16xbf16>, %b: memref<?x16xbf16>,
    %c: memref<16x16xf32>) attributes {schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %size = memref.dim %a, %c0 : memref<?x16xbf16>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %sum = scf.for %i = %c0 to %size step %c16 iter_args(%acc = %zero) -> tensor<16x16xf32> {
    %x = evo_tile.load %a[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x16xbf16> -> tensor<16x16xbf16>
    %y = evo_tile.load %b[%i, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x16xbf16> -> tensor<16x16xbf16>
    %t = evo_tile.transpose %y [1, 0] : tensor<16x16xbf16> -> tensor<16x16xbf16>
    %next = evo_tile.mma %x, %t, %acc : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  evo_tile.store %sum, %c[%c0, %c0] : tensor<16x16xf32>, memref<16x16xf32>
  evo_tile.return
}
func.func @f(%a: memref<?x16xbf16>, %b: memref<?x16xbf16>, %c: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  evo_tile.launch @sum space(%c1) args(%a, %b, %c : memref<?x16xbf16>, memref<?x16xbf16>, memref<16x16xf32>)
  return
}
"""
MARK = "// -----"
TO_PROCESSOR = ("--evo-tile-to-cpu-llvm", "--evoformer-lower=target=cpu")


def options(name, chip):
    """How a pass is asked for; the ones to the processor do without a chip."""
    chosen = {"convert-evoformer-to-tile", "evoformer-set-target", "evoformer-lower"}
    return f"--{name}=target={chip}" if name in chosen else f"--{name}"


def report(text, arguments, problem):
    path = WORK / f"{len(PROBLEMS)}.mlir"
    path.write_text(text)
    PROBLEMS.append(f"evoformer-opt {path} {arguments}: {problem}")


def opt(texts, *arguments):
    """The result of each text, or None for an error. A crash or a hang is a
    problem of the first text that has it alone."""
    try:
        done = bounded.run(
            ["evoformer-opt", "-", "--split-input-file",
             "--mlir-print-op-on-diagnostic=false", *arguments],
            input=f"\n{MARK}\n".join(texts))
        if done.returncode in (0, 1):
            results = done.stdout.split(MARK)
            assert len(results) == len(texts), (arguments, len(results), len(texts))
            return [result.strip() or None for result in results]
        problem = done.stderr
    except bounded.Hangs as hangs:
        problem = str(hangs)
    if len(texts) == 1:
        reason = re.findall(r".*(?:Assertion|runtime error|ERROR|computes for).*", problem)
        report(texts[0], " ".join(arguments), (reason or [problem[:300]])[0])
        return [None]
    half = len(texts) // 2
    return opt(texts[:half], *arguments) + opt(texts[half:], *arguments)


def distinct(texts):
    return list(dict.fromkeys(text for text in texts if text))


def lowered(source, chip, levels):
    """The source and what it is at each level."""
    texts = opt([source])
    for level in levels:
        texts += opt([source], f"--evoformer-lower=target={chip} stop-after={level}")
        assert texts[-1], (chip, level)
    return distinct(texts)


def check_repetition(call, texts):
    """Of its own result a pass makes the same, but for what upstream's clean-up
    folds. What it leaves as it is, which is most, it leaves so again. Returns the
    results."""
    clean = ("--canonicalize", "--cse")
    results = opt(texts, call)
    changed = [pair for pair in zip(texts, results) if pair[1] and pair[0] != pair[1]]
    if changed:
        texts, made = zip(*changed)
        for text, once, twice in zip(texts, opt(made, *clean), opt(made, call, *clean)):
            if twice and twice != once:
                report(text, call, "its own result becomes another")
    return results


def all_calls(chip):
    calls = [options(name, chip) for name in passes()]
    return [*calls, "--evoformer-lower=target=cpu"]


def check_large(chip, source):
    texts = lowered(source, chip, LEVELS[:5])
    calls = [call for call in all_calls(chip)
             if call not in TO_PROCESSOR or "all" in sys.argv]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda call: check_repetition(call, texts), calls))
    print(f"{chip}: {len(calls)} passes twice on {len(texts)} larger modules")


def main():
    for chip, source in LARGE.items():
        check_large(chip, source)
    for chip in CHIPS:
        calls = all_calls(chip)
        attention, product = lowered(ATTENTION, chip, LEVELS[:5]), lowered(SUM, chip, LEVELS)
        tiled = product + attention
        # The levels at which only an attention is something of its own.
        few = len(product) + 3
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            made = list(pool.map(lambda call: check_repetition(call, tiled), calls))
            texts = distinct(text for texts in made for text in texts[:few])
            list(pool.map(lambda call: opt(texts, call), calls))
        print(f"{chip}: {len(calls)} passes twice on {len(tiled)} modules, "
              f"once on {len(texts)}")


PROBLEMS = []
main()
if PROBLEMS:
    sys.exit("\n".join(PROBLEMS))
