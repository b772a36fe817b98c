"""Write the tables of operators in conformance/spec anew: `python tests/meta/write_operator_table.py`.

`operators.md` follows from the contracts, `graph-operators.md` from the rows of the library, the tests, and
`tests/e2e/tvm_operators.toml`, which `tests/e2e/operator_table.py --record` writes.
"""

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as pytest has it: this file is a script too

import operator_runs as runs
from operator_calls import EXTENTS, Row, rows

from refmlc.lang.library import OPERATORS
from refmlc.lang.library.table import TestedOperator, markdown_table as graph_table
from refmlc.lang.ops.graph import GRAPH_OPS
from refmlc.lang.ops.scalar import SCALAR_OPS
from refmlc.lang.ops.table import markdown_table

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "conformance" / "spec"
PLACES = (SPEC / "operators.md", SPEC / "graph-operators.md")
TESTS = sorted((ROOT / "tests" / "unit" / "lang" / "library").glob("test_*.py"))
GRAPH_TESTS = sorted((ROOT / "tests" / "unit" / "run" / "interp").glob("test_interp_graph_*.py"))
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


def witnesses(name: str, tests: list[Path]) -> list[str]:
    """The test files that name an operator, without what those of operators have in common."""
    family, _, last = name.rpartition(".")
    found = [path for path in tests if name in named(path) or (family and {f"{family}.", last} <= named(path))]
    return [path.stem.removeprefix("test_library_").removeprefix("test_interp_") for path in found]


GROUPS = {
    "bool": ("bool",),
    "integers": runs.INTEGERS,
    "signed": tuple(one for one in runs.INTEGERS if one.startswith("int")),
    "unsigned": tuple(one for one in runs.INTEGERS if one.startswith("uint")),
    "floats": runs.FLOATS,
}


def in_groups(dtypes: set[str]) -> str:
    """Dtypes as the groups that they fill, then those that fill none."""
    if dtypes == set(runs.DTYPES):
        return "all"
    told = []
    left = set(dtypes)
    for name, group in GROUPS.items():
        if left >= set(group):
            told.append(name)
            left -= set(group)
    return ", ".join([*told, *sorted(left)])


def facts(calls: list[Row]) -> dict[str, str]:
    """What the type rule, the lowering and the C tier say of the calls of an operator."""
    taken = {row: [one for one in runs.DTYPES if runs.accepted(row, one)] for row in calls}
    first = {row: "float32" if "float32" in found else found[0] for row, found in taken.items() if found}
    reasons = list(dict.fromkeys(reason for row, one in first.items() if (reason := runs.in_c(row, one))))
    empty = [letter for letter in EXTENTS if any(letter in row.letters and _empty(row, first, letter) for row in calls)]
    return {
        "type": "symbolic"
        if any(runs.symbolic(row, one) for row, one in first.items())
        else "numbers"
        if first
        else "",
        "lowered": "yes" if first and all(runs.lowered(row, one) for row, one in first.items()) else "",
        "c": "; ".join(reasons) or ("yes" if first else ""),
        "dtypes": in_groups({one for found in taken.values() for one in found}),
        "edges": f"{sum(map(len, taken.values()))} calls" + (f", {len(empty)} with 0" if empty else ""),
    }


def _empty(row: Row, dtypes: dict[Row, str], letter: str) -> bool:
    return row in dtypes and runs.accepted(row, dtypes[row], {**EXTENTS, letter: 0})


@cache
def shown() -> dict[str, TestedOperator]:
    """What the tests know of each operator."""
    cases, calls = tvm()["cases"], {name: [row for row in rows() if row.operator == name] for name in OPERATORS}
    found = {
        name: TestedOperator(witnesses(name, TESTS), **cases.get(name, {}), **facts(calls[name]))
        for name, row in OPERATORS.items()
        if not row.reason
    }
    return found | {name: TestedOperator(witnesses(name, GRAPH_TESTS)) for name in GRAPH_OPS}


@cache
def tables() -> dict[Path, str]:
    """Each file with its text."""
    scalars = markdown_table(row.contract for row in SCALAR_OPS.values())
    return dict(zip(PLACES, [scalars, graph_table(OPERATORS.values(), GRAPH_OPS.values(), shown())], strict=True))


if __name__ == "__main__":
    for place, text in tables().items():
        place.write_text(text, encoding="utf-8")
