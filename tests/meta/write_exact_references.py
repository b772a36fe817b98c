"""Write docs/reference/exact-references.md anew: `python tests/meta/write_exact_references.py`."""

from pathlib import Path

from refmlc.lang.library import OPERATORS
from refmlc.oracle.exact.definitions.table import DEFINITIONS, WITHOUT
from refmlc.oracle.exact.table import page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "exact-references.md"


def text() -> str:
    """The page as the rows have it."""
    return page([row.name for row in OPERATORS.values() if not row.reason], DEFINITIONS, WITHOUT)


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
