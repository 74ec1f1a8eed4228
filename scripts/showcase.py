"""What README.md shows beside others: a picture of kept measurements, and a table of
features whose every cell of ours names what shows it. Also the tables of
docs/performance.md. All of it is data (docs/data, docs/features.json); ./dev docs
writes what follows from it."""

import html
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "python", "evoformer", "bench"))
import depth_picture
import modelled
import svg
import tables

MEASURED = os.path.join("docs", "data", "h200.json")
PICTURE = os.path.join("docs", "speed.svg")
MODELLED = os.path.join("docs", "data", "modelled.json")
DEPTHS = os.path.join("docs", "data", "depths.json")


class Wrong(Exception):
    pass


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def replace_part(text, name, body):
    """The text with `body` between its marks for `name`."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise Wrong(f"no part '{name}' to replace")
    head, rest = text.split(begin)
    return head + begin + body + end + rest.split(end)[1]


def show_link(what):
    """A link to a test or page that exists; `path::function` also has that."""
    path, _, function = what.partition("::")
    if not os.path.isfile(os.path.join(ROOT, path)):
        raise Wrong(f"docs/features.json: there is no {path}")
    if function and f"\ndef {function}(" not in read(path):
        raise Wrong(f"docs/features.json: {path} has no {function}")
    name = function or os.path.basename(path)
    return f"[{name}]({path})"


def check_chips(what, ours):
    """A cell that names a vendor's chips names all that there are."""
    for folder, _, names in os.walk(os.path.join(ROOT, "lib", "Target")):
        chips = {name[:-len(".mlir")] for name in names if name.endswith(".mlir")}
        missing = sorted(chips - set(re.findall(r"\w+", ours)))
        if missing and len(missing) < len(chips):
            raise Wrong(f"docs/features.json: '{what}' names chips, but not "
                        f"{', '.join(missing)}")


def feature_table(data):
    """Markdown."""
    peers, sources = data["peers"], data["sources"]
    lines = [tables.row(["", "this project", *peers]),
             tables.row(["---"] * (len(peers) + 2))]
    for row in data["rows"]:
        what, ours = row["what"], row["ours"]
        if len(row["peers"]) != len(peers):
            raise Wrong(f"docs/features.json: '{what}' has {len(row['peers'])} "
                        f"cells for {len(peers)} peers")
        if ours.startswith("missing") == bool(row["show"]):
            raise Wrong(f"docs/features.json: '{what}' is either missing or "
                        "shown by something")
        check_chips(what, ours)
        shown = ", ".join(map(show_link, row["show"]))
        cells = [what, f"{ours}: {shown}" if shown else ours]
        for text, source in row["peers"]:
            if source is not None and source not in sources:
                raise Wrong(f"docs/features.json: '{what}' names the source "
                            f"{source}, which is not listed")
            if source is None and text not in ("–", "not stated"):
                raise Wrong(f"docs/features.json: '{what}' says '{text}' of a peer "
                            "without a source")
            cells.append(f"[{text}]({sources[source][1]})" if source else text)
        lines.append(tables.row(cells))
    return "\n".join(lines) + "\n"


# Columns of tables.columns by how they are drawn: colour, and whether filled.
MARKS = {"this project": ("#1f6feb", True), "FlexAttention": ("#d9730d", True),
         "FlexAttention, head-major": ("#d9730d", False), "eager": ("#6e7781", True),
         "torch SDPA": ("#2da44e", True)}
TYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}
WIDTH, LEFT, GAP, TOP, STEP = 960, 150, 96, 88, 30


def draw_mark(x, y, mark, title=""):
    colour, filled = mark
    fill = colour if filled else "#ffffff"
    shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{fill}" ' \
            f'stroke="{colour}" stroke-width="2"'
    return f"{shape}><title>{html.escape(title)}</title></circle>" if title else (
        shape + "/>")


def draw_panel(data, name, left, width):
    """Times of a pass on a logarithmic axis, a line a shape, and how the fastest
    peer compares."""
    rows, numbers = [], []
    for shape in data["shapes"]:
        found = {title: tables.fastest(data, shape, name, which)
                 for title, which in tables.columns(data)}
        rows.append({title: c[name]["ms"] for title, c in found.items()
                     if c and title in MARKS})
        numbers += rows[-1].values()
    low, high = min(numbers) / 1.3, max(numbers) * 1.3

    def place(ms):
        return left + width * math.log(ms / low) / math.log(high / low)
    bottom = TOP + STEP * len(rows)
    lines = [f'<text x="{left}" y="{TOP - 22}" font-weight="bold">{name}, ms</text>']
    for exponent in range(-2, 3):
        for digit in (1, 2, 5):
            tick = digit * 10.0**exponent
            if low <= tick <= high:
                x = place(tick)
                lines += [f'<path d="M{x:.1f} {TOP - 8} V{bottom}" stroke="#e1e4e8"/>',
                          f'<text x="{x:.1f}" y="{bottom + 16}" font-size="11" '
                          f'text-anchor="middle" fill="#57606a">{tick:g}</text>']
    for index, times in enumerate(rows):
        y = TOP + STEP * index + 8
        if times:
            lines.append(f'<path d="M{place(min(times.values())):.1f} {y} '
                         f'H{place(max(times.values())):.1f}" stroke="#d0d7de" '
                         'stroke-width="2"/>')
        for title in reversed(MARKS):
            if title in times:
                lines.append(draw_mark(place(times[title]), y, MARKS[title],
                                       f"{title}: {tables.show_ms(times[title])} ms"))
        peers = [ms for title, ms in times.items() if title != "this project"]
        if peers and "this project" in times:
            quotient = times["this project"] / min(peers)
            words = (f"{quotient:.2f}× slower" if quotient > 1 else
                     f"{1 / quotient:.2f}× faster")
            lines.append(f'<text x="{left + width + 8}" y="{y + 4}" font-size="11" '
                         f'fill="#57606a">{words}</text>')
    return lines


def picture(data):
    """SVG."""
    height = TOP + STEP * len(data["shapes"]) + 58
    width = (WIDTH - LEFT) // 2 - GAP
    lines = []
    x = LEFT
    for title, _ in tables.columns(data):
        if title in MARKS:
            lines += [draw_mark(x, 22, MARKS[title]),
                      f'<text x="{x + 12}" y="26">{title}</text>']
            x += 40 + 7 * len(title)
    for index, (shape, described) in enumerate(data["shapes"].items()):
        y = TOP + STEP * index + 6
        size = "B {batch} N {rows} S {length} H {heads} D {depth} {type}".format(
            **{**described, "type": TYPES[described["type"]]})
        lines += [f'<text x="12" y="{y}">{shape}</text>',
                  f'<text x="12" y="{y + 12}" font-size="9" fill="#57606a">{size}'
                  '</text>']
    for index, name in enumerate(tables.PASSES):
        lines += draw_panel(data, name, LEFT + index * (width + GAP), width)
    return svg.document(
        WIDTH, height, "Times of triangle attention beside peers", lines,
        f"{data['device']}, {data['date']}, torch {data['torch']}: medians with cold caches, "
        "through Python, all gradients; to the right: beside the fastest peer")


def documents(readme):
    """What is generated from the data: name -> text."""
    data = json.loads(read(MEASURED))
    features = feature_table(json.loads(read(os.path.join("docs", "features.json"))))
    caption = (f"![Times of this project and its peers]({PICTURE})\n\n"
               f"{data['device']}, {data['date']}: triangle and pair bias attention "
               "with a key mask, gradients of everything; "
               "[docs/performance.md](docs/performance.md) has the numbers and the "
               "command.\n")
    performance = os.path.join("docs", "performance.md")
    depths = json.loads(read(DEPTHS))
    measured = replace_part(read(performance), "suite", tables.render(data))
    counted = json.loads(read(MODELLED))
    for name, table in (("modelled-loops", modelled.loop_table),
                        ("modelled-whole", modelled.whole_table)):
        measured = replace_part(measured, name, table(counted))
    return {"README.md": replace_part(replace_part(readme, "speed", caption),
                                      "features", features),
            PICTURE: picture(data),
            os.path.join("docs", "depths.svg"): depth_picture.picture(depths),
            performance: replace_part(measured, "lengths", depth_picture.table(depths))}
