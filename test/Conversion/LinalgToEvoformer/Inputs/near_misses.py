"""near_misses.py TOOLS LLVM FOLDER [--count N] [--seed S]: programs that are
almost an attention.

Each is one of square/*.mlir, all of whose dimensions have the same size, with one
change or two: an indexing map, a permutation, an op, a constant, an operand or a
result is another. What is raised must compute the same. Both sides run in f64, so
that nothing is put down to rounding; where the program's own result is no number,
any will do.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys

import numpy as np
import programs

SQUARE = pathlib.Path(__file__).parent / "square"
BATCH = 25
SAME = {
    "arith.addf": ["arith.subf", "arith.mulf"],
    "arith.subf": ["arith.addf", "arith.mulf", "arith.maximumf"],
    "arith.mulf": ["arith.addf", "arith.divf"],
    "arith.divf": ["arith.mulf", "arith.subf"],
    "arith.maximumf": ["arith.minimumf", "arith.addf"],
    "math.exp": ["math.exp2", "math.tanh", "math.absf"],
    "math.powf": ["arith.mulf", "arith.addf"],
    "arith.andi": ["arith.ori", "arith.xori"],
    "arith.ori": ["arith.andi"],
    "cmpf oeq": ["cmpf une", "cmpf ole", "cmpf ueq"],
    "cmpi sle": ["cmpi slt", "cmpi sge"],
}
NUMBERS = ["0.0", "1.0", "-1.0", "2.0", "-1.0e+09", "1.0e+09", "0.5000001",
           "0xFF800000"]


class Mutant:
    """A module's text and where it can change."""

    def __init__(self, text, generator):
        self.lines, self.random = text.splitlines(), generator
        self.changes = []

    def pick(self, pattern):
        """A random match in the function's body, with the number of its line."""
        found = [(index, match) for index, line in enumerate(self.lines)
                 if line.startswith("    ") for match in re.finditer(pattern, line)]
        return self.random.choice(found) if found else (None, None)

    def put(self, index, start, end, text):
        line = self.lines[index]
        self.changes.append(f"{line[start:end]} -> {text}: {line.strip()[:80]}")
        self.lines[index] = line[:start] + text + line[end:]

    def change_map(self):
        index, use = self.pick(r"#map\w*")
        if use is None:
            return
        definition = next(line for line in self.lines
                          if line.startswith(f"{use[0]} = "))
        dims, results = re.search(r"\((.*?)\) -> \((.*?)\)", definition).groups()
        results = results.split(", ")
        if len(results) < 2:
            return
        # What a program does not write is no number to compare.
        isFirst = self.lines[index][:use.start()].endswith("indexing_maps = [")
        if not isFirst or self.random.random() < 0.7:
            i, j = self.random.sample(range(len(results)), 2)
            results[i], results[j] = results[j], results[i]
        else:
            results[self.random.randrange(len(results))] = self.random.choice(
                dims.split(", "))
        name = f"#mapx{len(self.changes)}"
        self.put(index, *use.span(), name)
        self.lines.insert(0, f"{name} = affine_map<({dims}) -> "
                             f"({', '.join(results)})>")

    def change_permutation(self):
        index, use = self.pick(r"(?<=permutation = \[)[0-9, ]+(?=\])")
        if use is None:
            return
        order = use[0].split(", ")
        self.random.shuffle(order)
        self.put(index, *use.span(), ", ".join(order))

    def change_op(self):
        index, use = self.pick("|".join(rf"{re.escape(op)}(?= )" for op in SAME))
        if use is not None:
            self.put(index, *use.span(), self.random.choice(SAME[use[0]]))

    def swap_operands(self):
        index, use = self.pick(
            r"(?<=arith\.subf )%\w+, %\w+|(?<=arith\.divf )%\w+, %\w+|"
            r"(?<=arith\.select )%\w+, %\w+, %\w+|(?<=matmul ins\()%\w+, %\w+")
        if use is not None:
            *first, a, b = use[0].split(", ")
            self.put(index, *use.span(), ", ".join([*first, b, a]))

    def change_constant(self):
        index, use = self.pick(
            r"(?<=arith\.constant )[-\w.+]+(?= : f32)|"
            r"(?<=arith\.constant dense<)[-\w.+]+(?=> : tensor<[\dx]*f32>)|"
            r"(?<=arith\.constant )true|(?<=dense<)true(?=>)")
        if use is None:
            return
        new = "false" if use[0] == "true" else self.random.choice(NUMBERS)
        self.put(index, *use.span(), new)

    def typed_values(self, end):
        """Values by type, of those defined before a line of the function."""
        values = {}
        for line in self.lines[:end]:
            if line.startswith("  func.func"):
                for name, kind in re.findall(r"(%\w+): (tensor<[^>]*>)", line):
                    values.setdefault(kind, []).append(name)
            match = re.match(r"    (%\w+) = .*(?:->|into) (tensor<[^>]*>)$", line)
            if match:
                values.setdefault(match[2], []).append(match[1])
            elif re.match(r"    %\w+ = linalg\.generic", line):
                pending = line.split()[0]
            elif match := re.match(r"    \} -> (tensor<[^>]*>)$", line):
                values.setdefault(match[1], []).append(pending)
        return values

    def change_operand(self):
        index, use = self.pick(r"ins\((.*?) : (.*?)\)|return (.*?) : (.*)$|"
                               r"_shape (%\w+) .* : (tensor<[^>]*>) into")
        if use is None:
            return
        group = next(g for g in (1, 3, 5) if use[g])
        names = use[group].split(", ")
        kinds = [m.group(0) for m in re.finditer(r"tensor<[^>]*>", use[group + 1])]
        if len(kinds) != len(names):
            return
        which = self.random.randrange(len(names))
        others = [name for name in self.typed_values(index).get(kinds[which], [])
                  if name != names[which]]
        if others:
            names[which] = self.random.choice(others)
            self.put(index, *use.span(group), ", ".join(names))

    def return_more(self):
        """An intermediate is a result too."""
        end = next(i for i, line in enumerate(self.lines)
                   if line.startswith("    return "))
        head = next(i for i, line in enumerate(self.lines) if "func.func" in line)
        kind, names = self.random.choice(
            [(k, n) for k, n in self.typed_values(end).items() if "f32" in k])
        names = [name for name in names if not name.startswith("%arg")]
        if not names:
            return
        match = re.match(r"    return (.*) : (.*)$", self.lines[end])
        extra = self.random.choice(names)
        self.put(end, 4, len(self.lines[end]),
                 f"return {match[1]}, {extra} : {match[2]}, {kind}")
        start, result = self.lines[head].rsplit(" -> ", 1)
        result = result.removesuffix(" {").strip("()")
        self.lines[head] = f"{start} -> ({result}, {kind}) {{"

    def mutate(self):
        kinds = [self.change_map] * 4 + [self.change_op] * 3 + [
            self.change_operand] * 3 + [self.change_permutation] * 2 + [
            self.change_constant] * 2 + [self.swap_operands] * 2 + [self.return_more]
        wanted = 2 if self.random.random() < 0.25 else 1
        for _ in range(20):
            if len(self.changes) >= wanted:
                break
            self.random.choice(kinds)()
        return "\n".join(self.lines) + "\n"


def rename_maps(text, number):
    """Map names of its own, so that many modules become one."""
    return re.sub(r"#map", f"#m{number}_map", text)


def joined(parts):
    """(maps, function text) of many modules as one."""
    heads = "".join(head for head, _ in parts)
    return f"{heads}module {{\n{''.join(body for _, body in parts)}}}\n"


class Campaign:
    def __init__(self, options):
        self.options = options
        self.problems, self.counts = [], dict.fromkeys(
            ("made", "left", "raised", "compared", "not a number"), 0)
        self.reasons = {}

    def opt(self, text, *arguments):
        run = subprocess.run(
            [f"{self.options.tools}/evoformer-opt", *arguments], input=text,
            capture_output=True, text=True)
        return run

    def valid(self, texts):
        """Those that the verifier takes; each is tried alone with its batch."""
        run = self.opt("// -----\n".join(texts), "--split-input-file",
                       "--mlir-print-local-scope")
        alive = set(re.findall(r"func\.func @(m\d+)\(", run.stdout))
        return [text for text in texts
                if re.search(r"func\.func @(m\d+)\(", text)[1] in alive]

    def run_batch(self, mutants, number):
        """mutants: (name, text, changes, masks)."""
        names = {name: (changes, masks) for name, _, changes, masks in mutants}
        valid = self.valid([text for _, text, _, _ in mutants])
        self.counts["made"] += len(valid)
        if not valid:
            return
        parts = []
        for text in valid:
            name = re.search(r"func\.func @(m\d+)\(", text)[1]
            text = rename_maps(text, name)
            parts.append((programs.maps(text), programs.FUNCTION.search(text)[0]))
        module = joined(parts)
        run = self.opt(module, "--evoformer-raise-attention", "--canonicalize",
                       "--remarks-filter=evoformer-raise.*",
                       "--remark-format=emitRemark")
        if run.returncode:
            self.problems.append(f"batch {number}: {run.stderr[:2000]}")
            return
        for reason in re.findall(r"\[Missed\] ([\w-]+) \|", run.stderr):
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        raised = {name: f for name, f in programs.functions(run.stdout).items()
                  if "evoformer.attention" in f.body}
        self.counts["left"] += len(valid) - len(raised)
        self.counts["raised"] += len(raised)
        if raised:
            self.compare(module, run.stdout, raised, names, number)

    def compare(self, module, text, raised, names, number):
        folder, llvm = self.options.folder, self.options.llvm
        originals = programs.functions(module)
        wanted = [(programs.maps(module), "")]
        before, after, ops = [(programs.maps(text), "")], [(programs.maps(text), "")], {}
        for name in raised:
            f = originals[name]
            wanted.append(("", programs.write_function(
                name, f.arguments, f.results, f.body)))
            ops[name], (first, last) = programs.cut(text, name)
            if "evoformer.attention" in last:
                self.problems.append(f"{name}: two attentions")
                return
            before.append(("", first))
            after.append(("", last))
        libraries = [programs.Library(llvm, programs.widen(joined(parts)),
                                      f"{folder}/{kind}_{number}.so")
                     for kind, parts in
                     (("wanted", wanted), ("before", before), ("after", after))]
        for name in raised:
            self.compare_one(name, originals[name], ops[name], libraries, names)

    def compare_one(self, name, function, op, libraries, names):
        changes, masks = names[name]
        inputs = programs.widen_arrays(
            programs.random_inputs(function, int(name[1:]), masks))
        results = [programs.widen(t) for t in function.results]
        with np.errstate(all="ignore"):
            expected = libraries[0].run(name, inputs, results)
            arrays = libraries[1].run(f"{name}_before", inputs,
                                      [programs.widen(t) for *_, t in op.inputs])
            attended = op.by_definition(arrays)
            got = libraries[2].run(f"{name}_after", [*inputs, attended], results)
        for a, b in zip(got, expected):
            isNumber = np.isfinite(b)
            if not isNumber.any():
                self.counts["not a number"] += 1
                continue
            size = np.abs(b[isNumber]).max() or 1.0
            error = np.abs(a - b)[isNumber].max() / size
            if not error <= 1e-5:
                self.problems.append(f"{name}: differs by {error:.1e}: {changes}")
        self.counts["compared"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tools")
    parser.add_argument("llvm")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    bases = [(path.stem, path.read_text()) for path in sorted(SQUARE.glob("*.mlir"))]
    campaign = Campaign(options)
    number = 0
    while campaign.counts["made"] < options.count:
        mutants = []
        for _ in range(BATCH):
            number += 1
            base, text = bases[number % len(bases)]
            masks = programs.masks(text)
            text = text[text.index("#map"):].replace(f"@{base}(", f"@m{number}(")
            mutant = Mutant(text, generator)
            mutants.append((f"m{number}", mutant.mutate(),
                            f"{base}: {'; '.join(mutant.changes)}", masks))
        campaign.run_batch(mutants, number)
    print(", ".join(f"{count} {what}" for what, count in campaign.counts.items()))
    print("left because of", ", ".join(
        f"{reason} {count}" for reason, count in
        sorted(campaign.reasons.items(), key=lambda item: -item[1])))
    sys.exit("\n".join(campaign.problems) or 0)


if __name__ == "__main__":
    main()
