"""A graph in plain text: a line for each box, with its number and the numbers of those that it uses.

1  x: (1, 4) float32
2  constant: (4, 3) float32
3  matmul (1, 2)  lv: (1, 3) float32
"""

from refmlc.lang.drawing.graph import Graph


def lines_of(graph: Graph) -> str:
    """The lines."""
    width = len(str(len(graph.boxes)))
    lines = []
    for place, box in enumerate(graph.boxes):
        used = ", ".join(str(source + 1) for source, target in graph.arrows if target == place)
        name = f"{box.title} ({used})" if used else box.title
        more = ": ".join(box.lines)
        gap = "" if not more else "  " if used else ": "
        lines.append(f"{place + 1:>{width}}  {name}{gap}{more}\n")
    return "".join(lines)
