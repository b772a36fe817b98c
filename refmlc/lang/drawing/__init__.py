"""The computational graph of a Relax function: as SVG for notebooks and files, as lines for terminals.

| file      | does                                                                          |
|-----------|-------------------------------------------------------------------------------|
| `graph`   | boxes and arrows of a function                                                |
| `layout`  | where the boxes stand: layers, few crossings                                  |
| `svg`     | the picture as SVG, all text escaped                                          |
| `lines`   | the same in plain text, a line for each box                                   |
| `page`    | what a notebook shows of a node: highlighted TVMScript, and the picture       |

Decision: the layout is our own, a page long: the well-kept libraries for it need the program `dot`, or are not under a
permissive licence.
"""

from refmlc.lang.drawing.graph import Box, Graph, graph_of
from refmlc.lang.drawing.lines import lines_of
from refmlc.lang.drawing.page import page
from refmlc.lang.drawing.svg import svg_of

__all__ = ["Box", "Graph", "graph_of", "lines_of", "page", "svg_of"]
