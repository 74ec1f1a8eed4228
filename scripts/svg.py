"""What pictures of measurements share."""

import html


def document(width, height, title, lines, caption):
    """An SVG file: elements on a white ground, and a caption at the bottom."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *lines,
        f'<text x="12" y="{height - 12}" font-size="11" fill="#57606a">'
        f"{html.escape(caption)}</text>", "</svg>"]) + "\n"
