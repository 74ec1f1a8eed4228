"""A suite's measurements as tables in Markdown. Needs nothing but Python."""

PASSES = ("forward", "backward")
NOTHING = ("–", "–, –")


def is_ours(candidate):
    return candidate["peer"] == "evoformer" and candidate["layout"] == "model"


def is_flex(layout):
    return lambda c: c["peer"] == "flex" and c["layout"] == layout


def columns(data):
    """(title, which candidates) of what ran or failed; the fastest stands for
    all."""
    found = [("this project", is_ours),
             ("FlexAttention", is_flex("model")),
             ("FlexAttention, head-major", is_flex("head-major")),
             ("eager", lambda c: c["peer"] == "eager"),
             ("torch SDPA", lambda c: c["peer"].startswith("sdpa "))]
    others = sorted({c["peer"] for c in data["candidates"]} -
                    {"evoformer", "flex", "eager"})
    found += [(name, lambda c, name=name: c["peer"] == name)
              for name in others if not name.startswith("sdpa ")]
    return [(title, which) for title, which in found
            if any(which(c) for c in data["candidates"])]


def fastest(data, shape, name, which):
    """The candidate whose pass took least; None where none ran."""
    ran = [c for c in data["candidates"]
           if c["shape"] == shape and which(c) and "ms" in c.get(name, {})]
    return min(ran, key=lambda c: c[name]["ms"], default=None)


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(header, rows):
    """Lines, without the columns in which there is nothing."""
    kept = [i for i in range(len(header))
            if i == 0 or any(cells[i] not in NOTHING for cells in rows)]
    return [row([cells[i] for i in kept])
            for cells in (header, ["---"] * len(header), *rows)]


def show_ms(ms):
    return f"{ms:.4f}" if ms < 0.1 else f"{ms:.3f}" if ms < 10 else f"{ms:.2f}"


def show_equal(measured):
    return {True: "yes", False: "no", None: "–"}[measured.get("equal")]


def variant(candidate):
    """What told the fastest from its like."""
    if candidate["peer"].startswith("sdpa "):
        return " (" + candidate["peer"].removeprefix("sdpa ") + ")"
    tiling = candidate.get("tiling")
    return f" ({tiling})" if tiling else ""


def time_table(data, name):
    """Lines: medians of a pass in ms."""
    shown = columns(data)
    rows = []
    for shape in data["shapes"]:
        cells = [shape]
        ours, peers = None, []
        for _, which in shown:
            candidate = fastest(data, shape, name, which)
            if candidate is None:
                cells.append("–")
                continue
            measured = candidate[name]
            cells.append(show_ms(measured["ms"]) + variant(candidate))
            if which is is_ours:
                ours = measured
            else:
                peers.append(measured["ms"])
        cells.append(f"{min(peers) / ours['ms']:.2f}" if ours and peers else "–")
        cells.append(f"{show_ms(ours['low'])} to {show_ms(ours['high'])}"
                     if ours and "low" in ours else "–")
        rows.append(cells)
    return table(["shape", *(title for title, _ in shown),
                  "best peer / this project", "quartiles of this project"], rows)


def result_table(data):
    """Lines: memory, equal bits and errors of both passes."""
    shown = columns(data)
    rows = []
    for shape, described in data["shapes"].items():
        cells = [shape, f"{described['results_mb']:.0f}"]
        for _, which in shown:
            peaks = [c["peak_mb"] for c in data["candidates"]
                     if c["shape"] == shape and which(c) and "peak_mb" in c]
            cells.append(f"{min(peaks):.0f}" if peaks else "–")
        for which in (is_ours, is_flex("model")):
            found = [fastest(data, shape, name, which) for name in PASSES]
            cells.append(", ".join(show_equal(c[name]) if c else "–"
                                   for c, name in zip(found, PASSES)))
        for which in (is_ours, lambda c: c["peer"] == "eager"):
            errors = [c["errors"] for c in data["candidates"]
                      if c["shape"] == shape and which(c) and "errors" in c]
            worst = max(errors[0].items(), key=lambda e: e[1]) if errors else None
            cells.append(f"{worst[1]:.1e} ({worst[0]})" if worst else "–")
        rows.append(cells)
    return table(["shape", "results, MB",
                  *(f"{title}, peak MB" for title, _ in shown),
                  "equal bits twice, forward and backward: this project",
                  "FlexAttention", "largest error of this project", "of eager"],
                 rows)


def describe(candidate):
    words = [candidate["peer"], candidate.get("tiling"),
             "head-major" if candidate["layout"] == "head-major" else None]
    return " ".join(word for word in words if word)


def footnotes(data):
    """Lines: who failed where, and why; those with one reason together."""
    reasons = {}
    for candidate in data["candidates"]:
        for name, problem in candidate.get("problems", {}).items():
            where = reasons.setdefault((describe(candidate), problem), {})
            where.setdefault(candidate["shape"], []).append(name)
    for (who, problem), where in reasons.items():
        places = ", ".join(f"{shape} {' and '.join(names)}"
                           for shape, names in where.items())
        yield f"* {who}: {places}: {problem}"
    yield from (f"* {note}" for note in data.get("notes", ()))


def render(data):
    """The whole text."""
    lines = [f"{data['device']}, {data['date']}: " + ", ".join(
        f"{name} {data[name]}" for name in ("driver", "torch", "version", "tree")
        if data.get(name)) + (f". `{data['command']}`" if data["command"] else "."),
        ""]
    for name in PASSES:
        lines += [f"{name.capitalize()}, medians in ms:", "",
                  *time_table(data, name), ""]
    lines += ["Forward and backward together:", "", *result_table(data), ""]
    notes = list(footnotes(data))
    if notes:
        lines += ["What did not run, and what else to know:", "", *notes, ""]
    lines += ["Shapes:", ""]
    lines += [f"* {shape}: {described['title']}"
              for shape, described in data["shapes"].items()]
    return "\n".join(lines) + "\n"
