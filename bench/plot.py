"""Bars of ratios as an SVG, without any library."""

import math
from xml.sax.saxutils import escape

_ROW = 24
_LEFT = 330
_WIDTH = 420
_RIGHT = 110
_TOP = 56
_COLOURS = {True: "#2a7f62", False: "#b5483a", None: "#5b6b8c"}


def ratio_bars(title, note, rows):
    """`rows`: (label, ratio, target or None, whether it is met or None). Logarithmic: a bar
    begins at 1, equal; a tick marks the target."""
    rows = [row for row in rows if row[1] and row[1] > 0]
    values = [row[1] for row in rows] + [row[2] for row in rows if row[2]] + [1.0]
    low = math.floor(math.log2(min(values)))
    high = max(math.ceil(math.log2(max(values))), low + 1)

    def x(value):
        return _LEFT + (math.log2(value) - low) / (high - low) * _WIDTH

    height = _TOP + _ROW * len(rows) + 40
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + _RIGHT}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="12" y="20" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="38" fill="#666666">{escape(note)}</text>',
    ]
    bottom = _TOP + _ROW * len(rows)
    step = max(1, (high - low) // 10)
    for power in range(low, high + 1, step):
        value = 2.0**power
        colour = "#888888" if power == 0 else "#e4e4e4"
        out.append(
            f'<line x1="{x(value):.1f}" y1="{_TOP}" x2="{x(value):.1f}" y2="{bottom}" '
            f'stroke="{colour}"/>'
        )
        text = f"{value:g}x"
        out.append(
            f'<text x="{x(value):.1f}" y="{bottom + 16}" text-anchor="middle" '
            f'fill="#666666">{text}</text>'
        )
    for number, (label, ratio, target, met) in enumerate(rows):
        y = _TOP + _ROW * number
        left, right = sorted((x(1.0), x(ratio)))
        out.append(
            f'<text x="{_LEFT - 8}" y="{y + 16}" text-anchor="end">{escape(label)}</text>'
        )
        out.append(
            f'<rect x="{left:.1f}" y="{y + 5}" width="{max(right - left, 1):.1f}" '
            f'height="{_ROW - 10}" fill="{_COLOURS[met]}"/>'
        )
        if target:
            out.append(
                f'<line x1="{x(target):.1f}" y1="{y + 2}" x2="{x(target):.1f}" '
                f'y2="{y + _ROW - 2}" stroke="#000000" stroke-width="2"/>'
            )
        out.append(f'<text x="{right + 5:.1f}" y="{y + 16}">{ratio:.2g}x</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
