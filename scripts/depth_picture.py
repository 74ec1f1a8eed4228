"""The picture of docs/data/depths.json: times of every depth, a panel a pass, beside
1.2 times that of the next multiple of 32, above which a depth would be a cliff."""

import svg

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 960, 330, 56, 40, 52, 64
STEP, MOST = 32, 1.2


def whole(size):
    return -(-size // STEP) * STEP


def times_of(data, what, name):
    """By depth (or length) the time of a pass."""
    return {int(record["shape"].split()[1]): record[name] for record in data["records"]
            if record["of each"] == what}


def draw_panel(times, name, left, width):
    high = max(times.values()) * 1.08
    low, last = min(times), max(times)

    def place(size, ms):
        return (left + width * (size - low) / (last - low),
                HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * ms / high)
    lines = [f'<text x="{left}" y="{TOP - 16}" font-weight="bold">{name}, ms</text>']
    step = next(s for s in (0.2, 0.5, 1, 2, 5) if high / s <= 6)
    for number in range(int(high / step) + 1):
        _, y = place(low, number * step)
        lines += [f'<path d="M{left} {y:.1f} h{width}" stroke="#e1e4e8"/>',
                  f'<text x="{left - 8}" y="{y + 4:.1f}" font-size="11" text-anchor="end" '
                  f'fill="#57606a">{number * step:g}</text>']
    limit = ""
    for size in times:
        if size % STEP == 0:
            begin, y = place(max(low, size - STEP), MOST * times[size])
            end, _ = place(size, 0)
            limit += f"M{begin:.1f} {max(y, TOP):.1f} H{end:.1f} "
            lines.append(f'<text x="{end:.1f}" y="{HEIGHT - BOTTOM + 16}" font-size="11" '
                         f'text-anchor="middle" fill="#57606a">{size}</text>')
    lines.append(f'<path d="{limit}" stroke="#d9730d" stroke-width="1.5" fill="none" '
                 'stroke-dasharray="4 3"/>')
    points = " ".join("{:.1f},{:.1f}".format(*place(*point))
                      for point in sorted(times.items()))
    lines.append(f'<polyline points="{points}" fill="none" stroke="#1f6feb" '
                 'stroke-width="2"/>')
    for size, ms in times.items():
        x, y = place(size, ms)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#1f6feb">'
                     f"<title>D {size}: {ms:.3f} ms</title></circle>")
    return lines


def picture(data):
    """SVG."""
    width = (WIDTH - LEFT - GAP - 24) // 2
    lines = []
    for index, name in enumerate(("forward", "backward")):
        lines += draw_panel(times_of(data, "depth", name), name,
                            LEFT + index * (width + GAP), width)
    return svg.document(
        WIDTH, HEIGHT, "Times of every depth", lines,
        f"{data['device']}, {data['date']}: depth D from 8 to 256, N 64, S 1024, H 4, bf16, "
        "medians with cold caches, through Python; dashed: 1.2 times the next multiple of 32")


def table(data):
    """Markdown: lengths that fill no block, beside the next multiple of 32."""
    lines = ["| S | forward, ms | the next | backward, ms | the next |",
             "| --- | --- | --- | --- | --- |"]
    both = {name: times_of(data, "length", name) for name in ("forward", "backward")}
    for size in sorted(both["forward"]):
        if size % STEP:
            cells = [text for name, times in both.items()
                     for text in (f"{times[size]:.3f}", f"{times[whole(size)]:.3f}")]
            lines.append(f"| {size}, {whole(size)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
