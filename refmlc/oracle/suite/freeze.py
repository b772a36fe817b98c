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

    Fails: RM109, RM112 where a released case is another one now or is gone, or the version is released with other ids.
    """
    frozen, version = root / "frozen", version_of(root)
    before = manifest(root) if (frozen / MANIFEST).exists() else {}
    now = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in case_files(root)}
    cases = [case for name, digest in now.items() for case in load_file(root, name, digest, version)]
    _unchanged(cases, {name for name, digest in now.items() if before.get(name) != digest}, released(root))
    text = "".join(f"{name}\n" for name in sorted(case.id for case in cases))
    listed = frozen / f"cases-{version}.txt"
    if release and listed.exists() and listed.read_text(encoding="utf-8") != text:
        raise fail(BAD_USAGE, f"version {version} is released, with other cases; a new release has a new version")
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


def _unchanged(cases: list[CaseFile], changed: set[str], known: frozenset[str]) -> None:
    """Fails: RM112 where one of the cases that are `known` stands in a file that is another one now, or is gone."""
    gone = known - {case.id for case in cases}
    if gone:
        raise fail(BAD_USAGE, f"`{min(gone)}` was released and is gone; withdrawn cases stay where they are")
    for case in cases:
        if case.id in known and case.file in changed:
            raise fail(BAD_USAGE, f"`{case.file}` was released and is another file now; a new case is a new file")


def below_floors(root: Path, suite: Suite) -> list[str]:
    """The areas of which `suite` has fewer cases than the floors of `root`, and how many."""
    floors = tomllib.loads((root / "frozen" / FLOORS).read_text(encoding="utf-8"))
    areas = Counter(case.id.split(".")[0] for case in suite.cases)
    wanted = {**floors["areas"], "total": floors["total"]}
    areas["total"] = sum(areas.values())
    return [f"{area}: {areas[area]} of {count}" for area, count in wanted.items() if areas[area] < count]
