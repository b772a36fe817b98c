"""The lines of the package that cite a clause, and the shortest piece of code around each.

A clause is cited in a comment (`case tir.Cast():  # TIR-106`), in a docstring, or as the `clause` of a row.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from refmlc_docs.markdown import CLAUSE

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "refmlc"
EXAMPLES = {"refmlc/lang/spec/loader.py", "refmlc/cli/spec.py", "refmlc/lang/spec/__init__.py"}
"""Files that name clauses only to show what an id looks like."""

ORDER = ("run/interp", "lang/ops", "lang/library", "lang/dtypes", "lang/wellformed", "run", "lang", "native", "observe")
LONGEST = 28
CASE = re.compile(r"\s*case ")


@dataclass(frozen=True)
class Citation:
    """One line that cites a clause, and the lines `first` to `last` around it that belong together."""

    file: str
    line: int
    first: int
    last: int
    name: str
    is_case: bool

    @property
    def text(self) -> str:
        """The lines around, without their common indentation."""
        lines = source(self.file).splitlines()[self.first - 1 : self.last]
        margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        return "\n".join(line[margin:] for line in lines)


@cache
def source(file: str) -> str:
    """The text of a file of the package."""
    return (ROOT / file).read_text(encoding="utf-8")


@cache
def citations() -> Mapping[str, tuple[Citation, ...]]:
    """By clause, the interpreter first, cases of a `match` before other lines."""
    cited: dict[str, list[Citation]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if file in EXAMPLES or not CLAUSE.search(source(file)):
            continue
        pieces = list(_pieces(ast.parse(source(file))))
        for number, line in enumerate(source(file).splitlines(), 1):
            for name in dict.fromkeys(CLAUSE.findall(line)):
                cited[name].append(_citation(file, number, line, pieces))
    return {name: tuple(sorted(rows, key=_rank)) for name, rows in cited.items()}


@dataclass(frozen=True)
class _Piece:
    first: int
    last: int
    name: str


def _pieces(tree: ast.Module) -> Iterator[_Piece]:
    """What may be shown as a whole: statements of a module or class, functions, cases of a `match`."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                yield _Piece(first, node.end_lineno or first, name)
            case ast.match_case():
                yield _Piece(node.pattern.lineno, node.body[-1].end_lineno or 0, "")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield _Piece(node.lineno, node.end_lineno or node.lineno, name)
            case ast.Call():
                yield _Piece(node.lineno, node.end_lineno or node.lineno, "")


def _citation(file: str, number: int, line: str, pieces: list[_Piece]) -> Citation:
    """The citation with the largest piece of at most LONGEST lines around it that is no whole module."""
    around = [piece for piece in pieces if piece.first <= number <= piece.last]
    is_case = bool(CASE.match(line))
    if is_case:
        around = [piece for piece in around if piece.first == number and not piece.name] or around
    name = min(
        (piece for piece in pieces if piece.name and piece.first <= number <= piece.last),
        key=lambda piece: piece.last - piece.first,
        default=_Piece(0, 0, ""),
    ).name
    fitting = [piece for piece in around if piece.last - piece.first < LONGEST]
    chosen = max(fitting, key=lambda piece: piece.last - piece.first, default=_Piece(number, number, ""))
    return Citation(file, number, chosen.first, chosen.last, name, is_case)


def _rank(row: Citation) -> tuple[bool, int, bool, str, int]:
    inside = row.file.removeprefix("refmlc/")
    place = next((place for place, room in enumerate(ORDER) if inside.startswith(f"{room}/")), len(ORDER))
    return not row.is_case, place, row.first == row.last, row.file, row.line
