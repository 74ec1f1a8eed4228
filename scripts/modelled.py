"""Models what attention costs AMD's chips, from final code (docs/rationale/modelled-cycles.md):
cycles of a processor a logit of each steady loop, and of all launches of a problem.

    modelled.py --tool build/bin/evoformer-tune -o docs/data/modelled.json

docs.py makes the tables of docs/performance.md of it."""

import argparse
import json
import re
import subprocess

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
KERNELS = {"attention_attention": "forward", "query_grad": "dQ",
           "key_value_grad": "dK, dV", "bias_grad": "dBias",
           "head_grads": "dQ, dK, dV"}
CASE = ("pass=backward N={n} H={h} Sq={s} Sk={s} D={d} type={t} bias=bnk:i1:normal "
        "bias=bhqk:{t}:normal static=heads")
# Rows of 8 share a bias, as few do, and rows of 384 widened ones; by depth and type.
LOOPS = tuple((n, 1, 256, depth, "bf16") for depth in (32, 64, 128)
              for n in (8, 384)) + ((8, 1, 256, 32, "f16"), (384, 1, 256, 32, "f16"))
WHOLE = ((384, 4, 384, 32, "bf16"), (1, 8, 256, 32, "bf16"))


def launch_rows(text):
    """Of evoformer-tune's table of launches: kernel, work items, and as it has them
    cycles, cycles a logit, microseconds and the unit that bounds it."""
    return [(name, int(items), *cells) for name, items, *cells in re.findall(
        r"^(\w+) +(\d+) +(\S+) +(\S+) +(\S+) +(.*)$", text, re.M)]


def launches(tool, chip, problem):
    """What the default launches: kernel, work items, cycles, cycles a logit, bound."""
    n, h, s, d, t = problem
    text = subprocess.run(
        [tool, f"--target={chip}", "--defaults", "--quiet",
         CASE.format(n=n, h=h, s=s, d=d, t=t)],
        check=True, capture_output=True, text=True).stdout
    return [{"kernel": name, "work_items": items,
             "cycles": None if cycles == "-" else float(cycles),
             "cycles_a_logit": None if logit == "-" else float(logit),
             "bound": bound}
            for name, items, cycles, logit, _, bound in launch_rows(text)]


def purpose(name):
    return next((column for part, column in KERNELS.items() if part in name), None)


def steady(entry):
    """Cycles a logit of each purpose's kernel."""
    return {purpose(launch["kernel"]): launch["cycles_a_logit"]
            for launch in entry["launches"]
            if launch["cycles_a_logit"] and purpose(launch["kernel"])}


def loop_table(data):
    """Markdown: cycles a logit by chip, depth and type; of few rows, then of many where
    these have other kernels."""
    columns = list(KERNELS.values())
    lines = ["| chip, type, D | " + " | ".join(columns) + " |",
             "| --- |" + " --- |" * len(columns)]
    by_row = {}
    for entry in data["loops"]:
        n, _, _, depth, kind = entry["problem"]
        by_row.setdefault((entry["chip"], kind, depth), {})[n] = steady(entry)
    for (chip, kind, depth), of_rows in by_row.items():
        cells = []
        for column in columns:
            few, many = (of_rows[n].get(column) for n in sorted(of_rows))
            values = dict.fromkeys(f"{value:.3f}" for value in (few, many) if value)
            cells.append(", ".join(values) or "–")
        lines.append(f"| {chip}, {kind}, {depth} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def whole_table(data):
    """Markdown: what all launches of a forward and backward pass take."""
    lines = ["| chip | problem | launches | cycles of loops' kernels | of these |",
             "| --- | --- | --- | --- | --- |"]
    for entry in data["whole"]:
        n, h, s, d, _ = entry["problem"]
        own = {}
        for launch in entry["launches"]:
            if launch["cycles"]:
                name = purpose(launch["kernel"])
                own[name] = own.get(name, 0) + launch["cycles"]
        shares = ", ".join(f"{name} {value / 1000:.0f}k" for name, value in own.items())
        lines.append(f"| {entry['chip']} | N {n}, H {h}, S {s}, D {d} | "
                     f"{len(entry['launches'])} | {sum(own.values()) / 1000:.0f}k | {shares} |")
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tool", required=True, help="evoformer-tune")
    options.add_argument("-o", "--output", required=True)
    said = options.parse_args()
    found = {"loops": [], "whole": []}
    for key, problems in (("loops", LOOPS), ("whole", WHOLE)):
        for chip in CHIPS:
            for problem in problems:
                print(chip, *problem, flush=True)
                found[key].append({"chip": chip, "problem": problem,
                                   "launches": launches(said.tool, chip, problem)})
    with open(said.output, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
