"""Known deviations of an implementation: rows of `conformance/known/<implementation>.toml`, or of another file.

| key of a `[[deviation]]` | means                                                                               |
|--------------------------|-------------------------------------------------------------------------------------|
| `id`, `title`, `why`     | its names, and the reason                                                           |
| `cases`                  | patterns of ids of cases (`*` as in file names); a row without says nothing here    |
| `verdict`                | the verdict on each of them, or a list of those it may be: `pass` too, by chance    |
| `versions`               | of the implementation; a row for other versions says nothing                        |
| `implementations`        | patterns of its name, where the row does not hold for all ways to run it; after `!` |
|                          | the pattern of a way for which it does not                                          |

Strict: a case that a row names and that has another verdict is unexpected, a pass too; so is a pattern that matches no
case of the suite. Other keys belong to others (`conformance/known/README.md`); one that nobody has is a slip, for a row
whose `versions` are misspelt would hold for all of them.

A file may begin with `also = "tvm-0.27.toml"`: the rows of that file beside it are its own, but for ids that it has; a
row without `cases` says of such an id that no case shows it.

`format` is the version of the format (`FORMAT`); a file without it is of version 1: people write it by hand.

The file of an implementation is the one whose name fits best: `tvm-0.27.toml` for tvm 0.27.0.post1, else `tvm.toml`.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.resources import as_file, files
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.versions import KEY, FileFormat
from refmlc.oracle.record import file_for
from refmlc.oracle.suite.result import CaseResult, CaseVerdict

FORMAT = FileFormat("file of known deviations", missing=1)
OWN = frozenset({"id", "title", "why", "cases", "verdict", "versions", "implementations"})
OTHERS = frozenset(
    {
        "nodes",
        "witness",
        "clauses",
        "kind",
        "module",
        "input",
        "action",
        "steps",
        "expected",
        "got",
        "refmlc",
        "edges",
        "rank",
        "messages",
        "c_error",
        "guilty",
        "takes",
        "operator",
        "operand",
        "parts",
    }
)
EXPECTED = {verdict.value: verdict for verdict in CaseVerdict if verdict is not CaseVerdict.KNOWN}


@dataclass(frozen=True)
class Deviation:
    """One deviation, as far as cases are concerned."""

    id: str
    title: str
    why: str
    cases: tuple[str, ...]
    verdicts: tuple[CaseVerdict, ...]
    versions: tuple[str, ...] = ()
    implementations: tuple[str, ...] = ()

    def covers(self, case: str) -> bool:
        """Whether a pattern fits the id."""
        return any(fnmatchcase(case, pattern) for pattern in self.cases)

    def holds_for(self, name: str, version: str) -> bool:
        """Whether the row speaks of this implementation."""
        if self.versions and version not in self.versions:
            return False
        if any(fnmatchcase(name, pattern[1:]) for pattern in self.implementations if pattern.startswith("!")):
            return False
        positive = [pattern for pattern in self.implementations if not pattern.startswith("!")]
        return not positive or any(fnmatchcase(name, pattern) for pattern in positive)


@dataclass(frozen=True)
class Expectations:
    """The rows of a file. `source` is what messages call it."""

    source: str = ""
    rows: tuple[Deviation, ...] = ()

    def of(self, name: str, version: str) -> "Expectations":
        """Those rows that speak of the implementation."""
        return replace(self, rows=tuple(row for row in self.rows if row.holds_for(name, version)))


def read_expectations(text: str, source: str, folder: Path | None = None) -> Expectations:
    """The rows of a file's text that name cases; `folder`: where another file lies that it names. Fails: RM109."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise fail(BAD_FILE, f"`{source}` is not TOML: {problem}") from None
    FORMAT.require(data, source)
    rows = data.get("deviation", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise fail(BAD_FILE, f"`{source}`: `deviation` is not an array of tables")
    _no_slip(source, data, frozenset({"deviation", "also", KEY}))
    for row in rows:
        _no_slip(f"{source}`, `{row.get('id')}", row, OWN | OTHERS)
    rows_here = tuple(_row(row, source) for row in rows if "cases" in row)
    replaced = {row.get("id") for row in rows}
    rows_beside = () if "also" not in data else _rows_beside(data["also"], source, folder)
    return Expectations(source, rows_here + tuple(row for row in rows_beside if row.id not in replaced))


def _no_slip(place: str, table: Mapping[str, object], keys: frozenset[str]) -> None:
    """Fails: RM109 where the table has a key that is none of `keys`."""
    unknown = sorted(table.keys() - keys)
    if unknown:
        raise fail(BAD_FILE, f"`{place}`: unknown key `{unknown[0]}`; the keys are {', '.join(sorted(keys))}")


def _rows_beside(name: object, source: str, folder: Path | None) -> tuple[Deviation, ...]:
    """The rows of the file called `name`, which names no other itself. Fails: RM109."""
    if not isinstance(name, str) or "/" in name or folder is None:
        raise fail(BAD_FILE, f"`{source}`: `also` does not name a file in the same folder")
    return read_expectations(_text(folder / name), str(folder / name)).rows


def load_expectations(path: Path) -> Expectations:
    """The rows of the file at `path`. Fails: RM109."""
    return read_expectations(_text(path), str(path), path.parent)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise fail(BAD_FILE, f"`{path}`: {why}") from None


def expectations_for(name: str, version: str, folder: Path | None = None) -> Expectations:
    """The rows of the file for this implementation; none without a file. Fails: RM109."""
    if folder is None:
        with as_file(files("refmlc.oracle.suite") / "data" / "known") as folder_of_known:
            return expectations_for(name, version, folder_of_known)
    best = file_for(name, version, folder)
    return Expectations() if best is None else load_expectations(best).of(name, version)


def _row(data: Mapping[str, object], source: str) -> Deviation:
    name = data.get("id")
    if not isinstance(name, str) or not name:
        raise fail(BAD_FILE, f"`{source}`: a deviation has no `id`")
    verdict = data.get("verdict")
    words = [verdict] if isinstance(verdict, str) else _names(data, "verdict", source)
    if not words or not set(words) <= EXPECTED.keys():
        raise fail(BAD_FILE, f"`{source}`, {name}: `verdict` is {verdict!r}; the verdicts are {', '.join(EXPECTED)}")
    cases = _names(data, "cases", source)
    if not cases:
        raise fail(BAD_FILE, f"`{source}`, {name}: `cases` is empty")
    title, why = (" ".join(str(data.get(key, "")).split()) for key in ("title", "why"))
    if not why:
        raise fail(BAD_FILE, f"`{source}`, {name}: `why` is missing")
    versions, implementations = (_names(data, key, source) for key in ("versions", "implementations"))
    return Deviation(name, title, why, cases, tuple(EXPECTED[word] for word in words), versions, implementations)


def _names(data: Mapping[str, object], key: str, source: str) -> tuple[str, ...]:
    names = data.get(key, [])
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise fail(BAD_FILE, f"`{source}`, {data.get('id')}: `{key}` is not a list of strings")
    return tuple(names)


# --------------------------------------------------------------------------------------------- applying


def applied(results: Iterable[CaseResult], expectations: Expectations) -> tuple[CaseResult, ...]:
    """The results, each compared with the rows that name its case."""
    return tuple(_with_row(result, [row for row in expectations.rows if row.covers(result.id)]) for result in results)


def _with_row(result: CaseResult, rows: Sequence[Deviation]) -> CaseResult:
    if not rows or result.verdict is None:
        return result
    right = next((row for row in rows if result.verdict in row.verdicts), None)
    if right is not None:
        return replace(result, verdict=CaseVerdict.KNOWN, was=result.verdict, known=right.id)
    expected = " or ".join(verdict.value for verdict in rows[0].verdicts)
    return replace(result, unexpected=f"`{rows[0].id}` expects {expected}; the verdict is {result.verdict.value}")


def unmatched(expectations: Expectations, ids: Iterable[str]) -> tuple[str, ...]:
    """The patterns that fit no case, each as a message."""
    case_ids = tuple(ids)
    return tuple(
        f"{expectations.source}, `{row.id}`: no case is called `{pattern}`"
        for row in expectations.rows
        for pattern in row.cases
        if not any(fnmatchcase(case_id, pattern) for case_id in case_ids)
    )
