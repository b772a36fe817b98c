"""A tensor as a small heat map in HTML: the least value white, the greatest dark, NaN and infinities red.

A vector is one row; of more dimensions than two the last stays, the others follow each other. A tensor of more than
`LARGEST` rows or columns, or one that is not all initialised, is shown as text.
"""

from html import escape

import numpy as np

LARGEST = 32
CELL = "width:1em;height:1em;padding:0;border:1px solid #eee;background:{}"


def heat_map(text: str, array: np.ndarray | None) -> str:
    """The map of an array, with its text as the title; the text alone if there is nothing to draw."""
    plain = f"<pre>{escape(text)}</pre>"
    if array is None or not array.ndim or not array.size or array.dtype.kind not in "biuf":
        return plain
    rows = array.reshape(-1, array.shape[-1]).astype(np.float64)
    if max(rows.shape) > LARGEST:
        return plain
    finite = rows[np.isfinite(rows)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    lines = ("".join(_cell(float(value), low, high) for value in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = escape(text.partition("\n")[0])
    return f'<div>{title}<table style="border-collapse:collapse">{body}</table></div>'


def _cell(value: float, low: float, high: float) -> str:
    part = (value / 2 - low / 2) / (high / 2 - low / 2) if low < high else 0.0  # halves: the width of all floats
    level = 255 - round(200 * part) if np.isfinite(value) else 0
    colour = f"rgb({level},{level},255)" if np.isfinite(value) else "#d33"
    return f'<td style="{CELL.format(colour)}" title="{value:g}"></td>'
