"""The picture of a graph as SVG: no script, no link, no style from elsewhere; every text is escaped."""

from html import escape

from refmlc.lang.drawing.graph import Box, Graph
from refmlc.lang.drawing.layout import Placed, placed

LARGEST = 400
"""More boxes than these are not drawn: nobody reads them."""
COLOURS = {"param": "#e8f1fb", "constant": "#f4f0e4", "call": "#ffffff", "output": "#e6f4e6"}
LETTER, LINE, PAD = 7.0, 16.0, 8.0
WIDEST = 60


def svg_of(graph: Graph) -> str:
    """The picture."""
    if len(graph.boxes) > LARGEST:
        return f"<p>{len(graph.boxes)} boxes: too many to draw (at most {LARGEST})</p>"
    sizes = [_size(box) for box in graph.boxes]
    spots, width, height = placed(sizes, graph.arrows)
    arrows = "".join(_arrow(spots[source], spots[target]) for source, target in graph.arrows)
    boxes = "".join(_box(box, spot) for box, spot in zip(graph.boxes, spots, strict=True))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="monospace" font-size="12">'
        f"<title>{escape(graph.name)}</title>"
        f'<rect width="100%" height="100%" fill="#ffffff"/>{arrows}{boxes}</svg>'
    )


def _texts(box: Box) -> list[str]:
    return [_short(line) for line in (box.title, *box.lines)]


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDEST else f"{flat[: WIDEST - 1]}…"


def _size(box: Box) -> tuple[float, float]:
    texts = _texts(box)
    return max(len(text) for text in texts) * LETTER + 2 * PAD, len(texts) * LINE + PAD


def _box(box: Box, spot: Placed) -> str:
    radius = 12 if box.kind in ("param", "output") else 3
    frame = (
        f'<rect x="{spot.x:.1f}" y="{spot.y:.1f}" width="{spot.width:.1f}" height="{spot.height:.1f}" rx="{radius}"'
        f' fill="{COLOURS[box.kind]}" stroke="#555555"/>'
    )
    lines = []
    for number, text in enumerate(_texts(box)):
        weight = ' font-weight="bold"' if not number else ' fill="#444444"'
        at = f'x="{spot.x + spot.width / 2:.1f}" y="{spot.y + PAD / 2 + (number + 1) * LINE - 4:.1f}"'
        lines.append(f'<text {at} text-anchor="middle"{weight}>{escape(text)}</text>')
    return frame + "".join(lines)


def _arrow(source: Placed, target: Placed) -> str:
    x0, y0 = source.x + source.width / 2, source.y + source.height
    x1, y1 = target.x + target.width / 2, target.y
    bend = (y1 - y0) / 2
    path = f"M{x0:.1f},{y0:.1f} C{x0:.1f},{y0 + bend:.1f} {x1:.1f},{y1 - bend:.1f} {x1:.1f},{y1:.1f}"
    head = f"M{x1 - 4:.1f},{y1 - 7:.1f} L{x1:.1f},{y1:.1f} L{x1 + 4:.1f},{y1 - 7:.1f}"
    return f'<path d="{path} {head}" fill="none" stroke="#888888"/>'
