"""Code blocks of a notebook: its code cells, with the text of their outputs."""

import json
from collections.abc import Iterator

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.tools.course.document import Block, Output


def blocks(text: str) -> Iterator[Block]:
    """The code cells, in order; a line is the number of the cell. Fails: RM109 if the text is not a notebook."""
    try:
        cells = json.loads(text)["cells"]
        for place, cell in enumerate(cells, 1):
            if cell["cell_type"] == "code":
                outputs = tuple(_output(place, output) for output in cell.get("outputs", ()))
                yield Block(place, 1, "".join(cell["source"]), outputs, marked=True)
    except (ValueError, KeyError, TypeError) as reason:
        raise fail(BAD_FILE, f"this is not a notebook: {type(reason).__name__}: {reason}") from None


def _output(place: int, output: dict[str, object]) -> Output:
    text = output.get("text")
    data = output.get("data")
    if text is None and isinstance(data, dict):
        if any(str(kind).startswith("image/") for kind in data):
            return Output(place, "image", "")
        text = data.get("text/plain", "")
    return Output(place, "text", "".join(text) if isinstance(text, list) else str(text or ""))
