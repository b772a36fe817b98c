"""Who owns what, drawn: a cell for each element, the last dimension across, the others down.

The SVG and the page hold no script and load nothing; every text is escaped. On the page a click on a cell shows the
steps of its element.
"""

from collections.abc import Sequence
from html import escape

from refmlc.lang.layouts.forms import Placed
from refmlc.lang.layouts.ownership import PlacedElement, elements

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
LETTER, LINE, PAD, HEAD = 7, 15, 5, 22
STYLE = """body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:3px}
td a{color:#000;text-decoration:none;font:12px monospace;white-space:pre;display:block}section{display:none}
section:target{display:block;border-left:4px solid #3b82f6;padding:0 1em;margin:1em 0}code{font:13px monospace}"""


def owner(element: PlacedElement, axes: Sequence[str]) -> list[str]:
    """The lines of a cell: an axis with its coordinates."""
    return [f"{axis} {', '.join(map(str, element.on(axis)))}" for axis in axes]


def colour(element: PlacedElement, axes: Sequence[str]) -> str:
    """A colour for the coordinates on the first axis: the same owner has the same one."""
    first = element.on(axes[0])[0] if axes else 0
    return f"hsl({first * 137 % 360},60%,85%)"


def svg_of(layout: Placed, shape: Sequence[int], title: str) -> str:
    """The picture as SVG."""
    rows = list(elements(layout, shape))
    axes = layout.axes
    across = shape[-1] if shape else 1
    lines = max(1, len(axes))
    width = max([len(line) for row in rows for line in owner(row, axes)] or [1]) * LETTER + 2 * PAD
    height = (lines + 1) * LINE + PAD
    full_width, full_height = across * width + 1, -(-len(rows) // across) * height + HEAD
    cells = "".join(
        _cell(row, axes, (row.number % across * width, row.number // across * height + HEAD), (width, height))
        for row in rows
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full_width}" height="{full_height}"'
        f' viewBox="0 0 {full_width} {full_height}" role="img" font-family="monospace" font-size="11">'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="{PAD}" y="15">{escape(title)}</text>{cells}</svg>\n'
    )


def _cell(element: PlacedElement, axes: Sequence[str], corner: tuple[int, int], size: tuple[int, int]) -> str:
    (x, y), (width, height) = corner, size
    texts = [str(element.index), *owner(element, axes)]
    shown = "".join(
        f'<text x="{x + PAD}" y="{y + (number + 1) * LINE - 2}">{escape(text)}</text>'
        for number, text in enumerate(texts)
    )
    frame = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour(element, axes)}" stroke="#888888"/>'
    return frame + shown


def page_of(layout: Placed, shape: Sequence[int], title: str) -> str:
    """The page: a table of the elements, and the steps of each, which a click shows."""
    rows = list(elements(layout, shape))
    axes, across = layout.axes, shape[-1] if shape else 1
    lines = []
    for start in range(0, len(rows), across):
        cells = "".join(_link(row, axes) for row in rows[start : start + across])
        lines.append(f"<tr><th>{escape(', '.join(map(str, rows[start].index[:-1])))}</th>{cells}</tr>")
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    heads = "".join(f"<th>{number}</th>" for number in range(across))
    steps = "".join(_steps(row) for row in rows)
    name = escape(title)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<title>{name}</title><style>{STYLE}</style></head>\n<body>'
        f"<h1><code>{name}</code></h1><p>Click an element to see how its places come about.</p>{steps}"
        f"<table><tr><th></th>{heads}</tr>{''.join(lines)}</table></body></html>\n"
    )


def _link(element: PlacedElement, axes: Sequence[str]) -> str:
    text = escape("\n".join(owner(element, axes)))
    return f'<td style="background:{colour(element, axes)}"><a href="#e{element.number}">{text}</a></td>'


def _steps(element: PlacedElement) -> str:
    places = "".join(
        f"<li><code>{escape(', '.join(f'{axis} {coordinate}' for axis, coordinate in place))}</code></li>"
        for place in element.places
    )
    return (
        f'<section id="e{element.number}"><h2>element {escape(str(element.index))}</h2><p>flattened: {element.number}; '
        f"components over the shard: {escape(str(element.components))}; places:</p><ul>{places}</ul></section>"
    )
