"""Facts of a report as parts of its text: neighbours, versions, clauses, rows that are on record."""

from collections.abc import Sequence

from refmlc.diag.layout import plain
from refmlc.lang.spec.loader import Clause
from refmlc.oracle.issue.document import Part, TextTable
from refmlc.oracle.issue.report import NeighbourRow
from refmlc.oracle.issue.versions import VersionVerdict
from refmlc.oracle.record import KnownRow


def neighbour_parts(neighbours: Sequence[NeighbourRow]) -> list[Part]:
    """The table of programs that pass and fail."""
    rows = tuple((each.name, "ok" if each.right else "fails", plain(each.word)) for each in neighbours)
    return [TextTable(("instead", "", "verdict"), rows)]


def clause_parts(clauses: Sequence[Clause]) -> list[Part]:
    """The clauses that decide, and their sources."""
    if not clauses:
        return []
    rows = tuple((each.id, each.title, each.text) for each in clauses)
    sources = dict.fromkeys(f"{each.id}: {each.source}" for each in clauses if each.source)
    table = TextTable(("clause", "of", "says"), rows)
    named = [f"Sources: {'; '.join(sources)}."] if sources else []
    return ["The rules that decide, of refmlc's specification:", table, *named]


def version_parts(versions: Sequence[VersionVerdict]) -> list[Part]:
    """The table of versions."""
    rows = tuple(
        (each.version, "affected" if each.affected else "not affected", f"{plain(each.word)}{_inferred(each.inferred)}")
        for each in versions
    )
    return [TextTable(("version", "", "verdict"), rows)]


def _inferred(inferred: bool) -> str:
    return " (not run: it lies between versions with this verdict)" if inferred else ""


def duplicate_parts(row: str, alike: Sequence[KnownRow], how: str) -> list[Part]:
    """The recorded rows: the one that it is, and others that look alike."""
    found: list[Part] = []
    if row:
        found.append(f"This is on record: `{plain(row)}` of `conformance/known` {how}.")
    else:
        found.append("No row of `conformance/known` explains it.")
    if alike:
        rows = tuple((each.id, each.title) for each in alike)
        found += ["Rows that look alike, to be read before this is filed:", TextTable(("row", "title"), rows)]
    return found
