"""Write the tables of operators in conformance/spec anew: `python tests/meta/write_operator_table.py`.

`operators.md` follows from the contracts, `graph-operators.md` from the rows of the library, the tests, and
`tests/e2e/tvm_operators.toml`, which `tests/e2e/operator_table.py --record` writes.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

from refmlc.library import OPERATORS
from refmlc.library.table import Shown, markdown_table as graph_table
from refmlc.ops.graph import GRAPH_OPS
from refmlc.ops.scalar import SCALAR_OPS
from refmlc.ops.table import markdown_table

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "conformance" / "spec"
TESTS = sorted((ROOT / "tests" / "unit" / "library").glob("test_*.py"))
RECORD = ROOT / "tests" / "e2e" / "tvm_operators.toml"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


@cache
def tvm() -> dict:
    """The operators that TVM registers, and what its results said."""
    return tomllib.loads(RECORD.read_text(encoding="utf-8"))


@cache
def named(path: Path) -> frozenset[str]:
    """The words in strings of a test file, docstrings aside; `nn.relu` also as `relu`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    words = {word for one in strings if id(one) not in prose for word in NAME.findall(one.value)}
    return frozenset(words | {word.removeprefix("R.") for word in words})


def witnesses(name: str) -> list[str]:
    """The test files that name an operator, without what all have in common."""
    family, _, last = name.rpartition(".")
    found = [path for path in TESTS if name in named(path) or (family and {f"{family}.", last} <= named(path))]
    return [path.stem.removeprefix("test_library_") for path in found]


@cache
def shown() -> dict[str, Shown]:
    """What the tests know of each operator."""
    cases = tvm()["cases"]
    return {name: Shown(witnesses(name), **cases.get(name, {})) for name in OPERATORS}


@cache
def tables() -> dict[Path, str]:
    """Each file with its text."""
    return {
        SPEC / "operators.md": markdown_table(row.contract for row in SCALAR_OPS.values()),
        SPEC / "graph-operators.md": graph_table(OPERATORS.values(), GRAPH_OPS.values(), shown()),
    }


if __name__ == "__main__":
    for place, text in tables().items():
        place.write_text(text, encoding="utf-8")
