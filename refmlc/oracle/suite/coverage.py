"""Clause × number of cases: what the suite shows of the specification.

A clause is shown by the cases that name it, and by those that expect a code the clause gives. Clauses that no program
can show stand in `frozen/unshown.toml`, each with its reason.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, CODES
from refmlc.lang.spec import clauses
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.suite.suite import Suite

UNSHOWN = "unshown.toml"


@dataclass(frozen=True)
class ClauseCoverage:
    """Cases by clause; why others cannot be shown; ids that cases name and the specification has not."""

    counts: Mapping[str, int]
    unshown: Mapping[str, str]
    unknown: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Clauses without a case and without a reason."""
        return tuple(name for name, count in self.counts.items() if not count and name not in self.unshown)

    @property
    def idle(self) -> tuple[str, ...]:
        """Clauses that are listed as not shown, but are shown."""
        return tuple(name for name in self.unshown if self.counts.get(name))

    @property
    def share(self) -> float:
        """The part of the clauses that can be shown, and is."""
        able = [name for name in self.counts if name not in self.unshown]
        return sum(self.counts[name] > 0 for name in able) / len(able) if able else 1.0


def coverage(suite: Suite, folder: Path | None = None) -> ClauseCoverage:
    """What `suite` shows; `folder` as for `load_suite`. Fails: RM109."""
    rows = clauses()
    clause_ids = [name for case in suite.cases for name in shown_by(case)]
    counts = Counter(clause_ids)
    root: Traversable = files("refmlc.oracle.suite") / "data" if folder is None else folder
    unknown = tuple(sorted(set(clause_ids) - set(rows)))
    return ClauseCoverage({name: counts[name] for name in rows}, unshown(root), unknown)


def shown_by(case: CaseFile) -> frozenset[str]:
    """The clauses that a case names, and those of the codes that it expects."""
    codes = [call.assertion.get("code") for call in case.calls]
    cited = [CODES[code].clause for code in codes if isinstance(code, str) and code in CODES]
    return frozenset((*case.clauses, *(name for name in cited if name)))


def unshown(root: Traversable) -> dict[str, str]:
    """Clauses that no program shows, and why. Fails: RM109."""
    file = root / "frozen" / UNSHOWN
    try:
        rows = tomllib.loads(file.read_text(encoding="utf-8")).get("unshown", []) if file.is_file() else []
        return {str(row["clause"]): str(row["reason"]) for row in rows}
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        raise fail(BAD_FILE, f"`frozen/{UNSHOWN}` is not a list of `[[unshown]]` with `clause` and `reason`") from None
