"""Freezing: writing down what the suite is, and refusing to write down what changes a released version.

| file                         | holds                                                         |
|------------------------------|---------------------------------------------------------------|
| `frozen/MANIFEST`            | the hash of each file of cases                                |
| `frozen/cases-<version>.txt` | the ids of a released version, one per line; it never changes |
| `frozen/floors.toml`         | how many cases each area has at least                         |

Decision: released is what stands in one of the lists. A file that holds no such case may be written again; one that
does is as it is for ever, and what was wrong in it is withdrawn.
"""

import hashlib
import tomllib
from collections import Counter
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.suite.suite import MANIFEST, Suite, case_files, load_file, load_suite, manifest, version_of

FLOORS = "floors.toml"


def freeze(root: Path, *, release: bool = False) -> int:
    """Write the manifest and the floors, at a release the list of ids as well; the number of cases.

    Fails: RM109, RM112 if a released case has changed or is missing, or the version is released with other ids.
    """
    frozen, version = root / "frozen", version_of(root)
    before = manifest(root) if (frozen / MANIFEST).exists() else {}
    now = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in case_files(root)}
    cases = [case for name, digest in now.items() for case in load_file(root, name, digest, version)]
    _unchanged(cases, {name for name, digest in now.items() if before.get(name) != digest}, released(root))
    text = "".join(f"{name}\n" for name in sorted(case.id for case in cases))
    listed = frozen / f"cases-{version}.txt"
    if release and listed.exists() and listed.read_text(encoding="utf-8") != text:
        raise fail(BAD_USAGE, f"version {version} is released with other cases; choose a new version")
    (frozen / MANIFEST).write_text("".join(f"{digest}  {name}\n" for name, digest in now.items()), encoding="utf-8")
    asked = load_suite(root).cases  # withdrawn ones do not count
    if release:
        listed.write_text(text, encoding="utf-8")
    areas = Counter(case.id.split(".")[0] for case in asked)
    rows = "".join(f"{area} = {count}\n" for area, count in sorted(areas.items()))
    (frozen / FLOORS).write_text(
        f"# At least so many cases.\ntotal = {len(asked)}\n\n[areas]\n{rows}", encoding="utf-8"
    )
    return len(cases)


def released(root: Path) -> frozenset[str]:
    """The ids of all versions that were released."""
    lists = sorted((root / "frozen").glob("cases-*.txt"))
    return frozenset(name for path in lists for name in path.read_text(encoding="utf-8").split())


def _unchanged(cases: list[CaseFile], changed: set[str], released: frozenset[str]) -> None:
    """Fails: RM112 if a case in `released` is missing or its file has changed."""
    gone = released - {case.id for case in cases}
    if gone:
        raise fail(BAD_USAGE, f"`{min(gone)}` was released and is missing; withdrawn cases keep their file")
    for case in cases:
        if case.id in released and case.file in changed:
            raise fail(BAD_USAGE, f"`{case.file}` was released and has changed; put a new case into a new file")


def below_floors(root: Path, suite: Suite) -> list[str]:
    """The areas of which `suite` has fewer cases than the floors of `root`, and how many."""
    floors = tomllib.loads((root / "frozen" / FLOORS).read_text(encoding="utf-8"))
    areas = Counter(case.id.split(".")[0] for case in suite.cases)
    minimum = {**floors["areas"], "total": floors["total"]}
    areas["total"] = sum(areas.values())
    return [f"{area}: {areas[area]} of {count}" for area, count in minimum.items() if areas[area] < count]
