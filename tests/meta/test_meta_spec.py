"""Clauses and code point at each other: every clause is cited, every citation exists, every meaning has a clause."""

import re
import sys
import tokenize
from functools import cache
from pathlib import Path
from types import UnionType
from typing import get_args

import pytest
import write_operator_table

from refmlc.diag.catalogue import CODES
from refmlc.lang.ir import relax, tir
from refmlc.lang.library import OPERATORS
from refmlc.lang.ops import scalar
from refmlc.lang.ops.graph import BUILTINS, GRAPH_OPS
from refmlc.lang.ops.intrinsics import INTRINSICS
from refmlc.lang.ops.tile_operators import TILE_MEANINGS
from refmlc.lang.spec import AREAS, clauses, read_clauses

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "conformance" / "spec"
CITATION = re.compile(rf"\b(?:{'|'.join(AREAS)})-[0-9]{{3}}\b")
CASE = re.compile(r"^\s*case (?P<pattern>.*?):\s*(?:#\s*(?P<comment>.*))?$")
SENTENCE = re.compile(r"[.!?](?:\s|$)")
ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|cf|etc|vs|resp)\.")

TVM_GIVES_NOTHING = {"nn.dense"}
"""TVM has had no `nn.dense` since 2022."""

ALL = clauses()
SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "refmlc").rglob("*.py"))}
EXAMPLE_FILES = {"loader.py", "spec.py"}
ROWS = {
    **{f"scalar {name}": row.contract.clause for name, row in scalar.SCALAR_OPS.items()},
    **{f"intrinsic {name}": row.clause for name, row in INTRINSICS.items()},
    **{f"graph {name}": row.clause for name, row in {**GRAPH_OPS, **BUILTINS}.items()},
    **{f"library {name}": row.clause for name, row in OPERATORS.items()},
    **{f"tile {name}": row.clause for name, row in TILE_MEANINGS.items()},
    **{f"code {name}": row.clause for name, row in CODES.items() if row.clause},
}


@cache
def citations():
    """Ids in strings and comments of the package, the loader's own examples aside."""
    cited = set()
    for path, text in SOURCES.items():
        if path.name in EXAMPLE_FILES and path.parent.name in ("spec", "cli"):
            continue
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                if token.type in (tokenize.STRING, tokenize.COMMENT):
                    cited |= set(CITATION.findall(token.string))
        assert text
    return cited


def kinds(union):
    assert isinstance(union, UnionType) or sys.version_info >= (3, 14)
    return {kind.__name__ for kind in get_args(union)}


def cited_cases(folder):
    """Names of classes in `case` patterns of the interpreter, with the ids in the comment on their line."""
    found = {}
    for path, text in SOURCES.items():
        if path.is_relative_to(ROOT / "refmlc" / "run" / "interp" / folder):
            for line in text.splitlines():
                case = CASE.match(line)
                if case is not None:
                    for kind in re.findall(r"([A-Z]\w*)\(", case["pattern"]):
                        found.setdefault(kind, set()).update(CITATION.findall(case["comment"] or ""))
    return found


def test_rows_cite_existing_clauses():
    assert {name: cited for name, cited in ROWS.items() if cited not in ALL} == {}


def test_every_citation_names_an_existing_clause():
    assert citations() - set(ALL) == set()


def test_every_clause_is_cited():
    assert set(ALL) - citations() == set()


def uncited(kinds_, folder, area):
    cases = cited_cases(folder)
    return sorted(kind for kind in kinds_ if not any(name.startswith(area) for name in cases.get(kind, ())))


def test_every_case_of_tensorir_has_its_clause():
    assert uncited(kinds(tir.Expr) | kinds(tir.Stmt), "tensorir", ("TIR-", "TIX-")) == []


def test_every_case_of_relax_has_its_clause():
    assert uncited(kinds(relax.Expr) | kinds(relax.Binding) | kinds(relax.Block), "graph", "RLX-") == []


def sentences(text):
    return len(SENTENCE.findall(ABBREVIATIONS.sub("", text)))


def test_clauses_are_one_to_three_plain_sentences():
    long = {row.id: sentences(row.text) for row in ALL.values() if not 1 <= sentences(row.text) <= 3}
    assert long == {}
    assert [row.id for row in ALL.values() if not row.text.endswith(".") or len(row.text) > 600] == []


def test_clauses_of_a_file_are_of_one_area_and_in_order():
    for file in SPEC.glob("*.toml"):
        ids = [row.id for row in read_clauses(file)]
        assert ids == sorted(ids), file.name
        assert len({name[:3] for name in ids}) == 1, file.name


def test_undefined_codes_are_of_kind_undefined_trap_or_exhausted():
    assert [row.id for row in ALL.values() if any(entry[2] not in "346" for entry in row.undefined)] == []


@pytest.mark.parametrize("place", write_operator_table.PLACES, ids=lambda place: place.stem)
def test_tables_of_operators_are_the_generated_ones(place):
    again = "run `python tests/meta/write_operator_table.py`"
    assert place.read_text(encoding="utf-8") == write_operator_table.tables()[place], again


def test_every_operator_that_tvm_registers_is_known():
    names = set(write_operator_table.tvm()["names"].split())
    assert len(names) > 200
    assert names - set(OPERATORS) - set(GRAPH_OPS) == set()


def test_every_operator_has_a_test_or_a_reason():
    told = write_operator_table.shown()
    assert [name for name, row in OPERATORS.items() if not row.reason and not told[name].tests] == []
    assert [name for name in GRAPH_OPS if not told[name].tests] == []
    assert [name for name, row in OPERATORS.items() if not row.meaning or row.reason.endswith(".")] == []


@pytest.mark.parametrize("column", ["type", "lowered", "c", "dtypes", "edges", "tests", "clause"])
def test_the_table_of_operators_has_no_hole(column):
    told = write_operator_table.shown()
    defined = [name for name, row in OPERATORS.items() if not row.reason]
    cells = {name: getattr(OPERATORS[name] if column == "clause" else told[name], column) for name in defined}
    assert [name for name, cell in cells.items() if not cell] == []
    if column == "c":
        assert {name: cell for name, cell in cells.items() if cell != "yes"} == {}


def test_operators_are_compared_with_what_tvm_gives():
    """At least 95 of 100 of those that TVM can execute; those that it cannot are recorded as such, or listed here."""
    told = write_operator_table.shown()
    defined = [name for name, row in OPERATORS.items() if not row.reason]
    bare = {name for name in defined if not told[name].equal}
    assert {name for name in bare if not told[name].refused} <= TVM_GIVES_NOTHING
    assert len(bare) <= 0.05 * len(defined)
