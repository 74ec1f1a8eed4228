"""Time against length, share of the matrix units' or memory's bound, and memory."""

import collections

from .._explain import bound

# Products of matrices: 2 forward; logits again, weights' gradient, and those of
# query, key and value backward.
PRODUCTS = {"forward": 2, "backward": 5, "both": 7}
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}


def work(record):
    """(operations, bytes of q, k, v, out, the pair bias and their gradients)."""
    size = record["rows"] * record["heads"] * record["length"]
    operations = PRODUCTS[record["pass"]] * 2 * size * record["length"] * (
        record["depth"])
    operands = 4 * size * record["depth"] + record["heads"] * record["length"] ** 2
    passes = {"forward": 1, "backward": 2, "both": 3}[record["pass"]]
    return operations, passes * operands * BYTES[record["type"]]


def share(record):
    """Of the time that matrix units or memory need at least; None where the
    device's rates are not known."""
    operations, size = work(record)
    least = bound(record["device"], record["type"] == "float32", operations, size)
    return None if least is None else least / record["ms"]


KINDS = (
    ("time", "median ms", lambda r: r["ms"], True),
    ("tflops", "TFLOP/s", lambda r: work(r)[0] / r["ms"] * 1e-9, False),
    ("roofline", "share of the bound", share, False),
    ("memory", "peak MB besides operands", lambda r: r["peak_mb"], True),
)


def draw(folder, records):
    """Writes SVG and PNG files; their paths."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = collections.defaultdict(list)
    for record in records:
        if record["ms"] is not None:
            groups[record["device"], record["type"], record["pass"]].append(record)
    written = []
    for (device, kind, name), group in sorted(groups.items()):
        for label, axis, value, logarithmic in KINDS:
            lines = collections.defaultdict(dict)
            for record in group:
                y = value(record)
                if y is not None:
                    lines[record["peer"]][record["length"]] = y
            if not lines:
                continue
            figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
            for peer, points in sorted(lines.items(),
                                       key=lambda item: item[0] != "evoformer"):
                lengths = sorted(points)
                axes.plot(lengths, [points[x] for x in lengths], marker="o",
                          linewidth=2.5 if peer == "evoformer" else 1.2,
                          label=peer)
            axes.set_xscale("log", base=2)
            if logarithmic:
                axes.set_yscale("log")
            axes.set_xlabel("length")
            axes.set_ylabel(axis)
            axes.set_title(f"{name}, {kind}, {device}", fontsize=9)
            axes.grid(True, alpha=0.3)
            axes.legend(fontsize=8)
            where = "".join(c if c.isalnum() else "-" for c in device)
            for suffix in ("svg", "png"):
                path = folder / f"{label}-{name}-{kind}-{where}.{suffix}"
                figure.savefig(path, dpi=150)
                written.append(path)
            pyplot.close(figure)
    return written
