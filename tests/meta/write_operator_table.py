"""Write conformance/spec/operators.md anew from the contracts: `python tests/meta/write_operator_table.py`."""

from pathlib import Path

from refmlc.ops.scalar import SCALAR_OPS
from refmlc.ops.table import markdown_table

PLACE = Path(__file__).parents[2] / "conformance/spec/operators.md"

if __name__ == "__main__":
    PLACE.write_text(markdown_table(row.contract for row in SCALAR_OPS.values()), encoding="utf-8")
