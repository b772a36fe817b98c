"""What torch.fx uses of tabulate: a table with a ruler under its headers."""

from collections.abc import Sequence


def tabulate(rows: Sequence[Sequence[object]], headers: Sequence[str] = ()) -> str:
    """The rows below the headers, columns as wide as their longest cell."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in [list(headers), *cells]) for place in range(len(headers))]
    lines = [list(headers), ["-" * width for width in widths], *cells]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)
