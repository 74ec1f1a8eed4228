"""Time against length, operations a second, share of the matrix units' or memory's
bound, and memory: a figure for each configuration and pass, a line for each peer and
version, and below it who did not run and why."""

import collections
import textwrap

from .._explain import bound

# Products of matrices: 2 forward; logits again, weights' gradient, and those of
# query, key and value backward.
PRODUCTS = {"forward": 2, "backward": 5, "both": 7}
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


def rows_of(record):
    return record["rows"] or record["length"]


def work(record):
    """(operations, bytes of q, k, v, out, the pair bias and their gradients)."""
    size = rows_of(record) * record["heads"] * record["length"]
    operations = PRODUCTS[record["pass"]] * 2 * size * record["length"] * (
        record["depth"])
    operands = 4 * size * record["depth"] + record["heads"] * record["length"] ** 2
    passes = {"forward": 1, "backward": 2, "both": 3}[record["pass"]]
    return operations, passes * operands * BYTES[record["type"]]


def rate(record, ms):
    """TFLOP/s."""
    return work(record)[0] / ms * 1e-9


def share(record, ms):
    """Of the time that matrix units or memory need at least; None where the
    device's rates are not known."""
    operations, size = work(record)
    least = bound(record["device"], record["type"] == "float32", operations, size)
    return None if least is None else least / ms


# Name of the file, axis, what is drawn of a record at a time, whether
# logarithmic.
KINDS = (
    ("time", "ms: median and quartiles", lambda r, ms: ms, True),
    ("tflops", "TFLOP/s", rate, False),
    ("roofline", "share of the bound", share, False),
    ("memory", "peak MB besides operands", lambda r, ms: r["peak_mb"], True),
)


def configuration(record):
    """What all points of a figure share."""
    return tuple(record[name] for name in ("device", "type", "pass", "rows",
                                           "heads", "depth"))


def title(record):
    rows = f"N {record['rows']}" if record["rows"] else "N = S"
    return (f"{record['pass']}, {record['type']}, {rows}, H {record['heads']}, "
            f"D {record['depth']}, {record['device']}")


def name_line(record):
    """A peer with the version that its times depend on."""
    version = (record["version"] if record["peer"] == "evoformer" else
               f"torch {record['torch']}")
    return f"{record['peer']} ({version})"


def group(records):
    """By configuration: by line: by length."""
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    for record in records:
        groups[configuration(record)][name_line(record)][record["length"]] = record
    return groups


def footnotes(lines):
    """Who did not run, where, and why; lengths with one reason together."""
    for name, points in lines.items():
        reasons = collections.defaultdict(list)
        for length, record in sorted(points.items()):
            if record["problem"]:
                reasons[record["problem"]].append(str(length))
        for reason, lengths in reasons.items():
            yield f"{name} at {', '.join(lengths)}: {reason}"


def spread(record, value):
    """(lowest, middle, highest) of what is drawn between the quartiles."""
    drawn = [value(record, record[name] or record["ms"])
             for name in ("low", "ms", "high")]
    return None if drawn[1] is None else (min(drawn), drawn[1], max(drawn))


def draw_lines(axes, lines, value, factor):
    """Whether there was anything to draw."""
    drawn, lengths = False, set()
    for name, points in sorted(lines.items(), key=lambda line: (
            not line[0].startswith("evoformer "), line[0])):
        shown = [(length, spread(record, value))
                 for length, record in sorted(points.items())
                 if record["ms"] is not None]
        shown = [(length, numbers) for length, numbers in shown if numbers]
        if not shown:
            continue
        drawn = True
        lengths |= {length for length, _ in shown}
        middle = [numbers[1] * factor for _, numbers in shown]
        reach = [[(n[1] - n[0]) * factor for _, n in shown],
                 [(n[2] - n[1]) * factor for _, n in shown]]
        axes.errorbar([length for length, _ in shown], middle, yerr=reach,
                      marker="o", capsize=2, label=name,
                      linewidth=2.5 if name.startswith("evoformer ") else 1.2)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(lengths), [str(length) for length in sorted(lengths)])
    axes.minorticks_off()
    return drawn


def draw(folder, records):
    """Writes SVG and PNG files; their paths."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    written = []
    for key, lines in sorted(group(records).items()):
        first = next(iter(next(iter(lines.values())).values()))
        notes = [textwrap.fill(note, 100) for note in footnotes(lines)]
        for label, axis, value, logarithmic in KINDS:
            factor = 1
            if label == "tflops":
                rates = [rate(r, r["ms"]) for points in lines.values()
                         for r in points.values() if r["ms"] is not None]
                if rates and max(rates) < 1:
                    factor, axis = 1e3, "GFLOP/s"
            figure, axes = pyplot.subplots(figsize=(6.5, 4.3), layout="constrained")
            if draw_lines(axes, lines, value, factor):
                if logarithmic:
                    axes.set_yscale("log")
                axes.set_xlabel("length S")
                axes.set_ylabel(axis)
                axes.set_title(title(first), fontsize=9)
                axes.grid(True, alpha=0.3)
                axes.legend(fontsize=8)
                if notes:
                    figure.supxlabel("not run: " + "\n".join(notes), fontsize=6,
                                     x=0.01, ha="left")
                device, kind, name, rows, heads, depth = key
                where = "".join(c if c.isalnum() else "-" for c in device)
                for suffix in ("svg", "png"):
                    path = folder / (f"{label}-{name}-{kind}-n{rows or 's'}-h{heads}"
                                     f"-d{depth}-{where}.{suffix}")
                    figure.savefig(path, dpi=150)
                    written.append(path)
            pyplot.close(figure)
    return written
