"""Freezing: writing down what a version of the suite is, and refusing to write down anything else.

| file                        | holds                                                    |
|-----------------------------|----------------------------------------------------------|
| `frozen/MANIFEST`           | the hash of each file of cases                             |
| `frozen/cases-<version>.txt` | the ids of a version, one per line; it never changes     |
| `frozen/floors.toml`        | how many cases each area has at least                     |

Decision: before a version is released files may be written again (`draft`); afterwards only new files come in.
"""

import hashlib
import tomllib
from collections import Counter
from pathlib import Path

from refmlc.conform.suite import MANIFEST, Suite, case_files, load_suite, manifest
from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_USAGE

FLOORS = "floors.toml"


def freeze(root: Path, *, draft: bool = False) -> int:
    """Write the manifest and the version's list and floors; the number of cases. Fails: RM109, RM112 for a change."""
    frozen = root / "frozen"
    before = manifest(root) if (frozen / MANIFEST).exists() else {}
    now = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in case_files(root)}
    changed = [name for name, digest in before.items() if now.get(name) != digest]
    if changed and not draft:
        raise fail(BAD_USAGE, f"`{changed[0]}` was released and is another file now; a new case is a new file")
    (frozen / MANIFEST).write_text("".join(f"{digest}  {name}\n" for name, digest in now.items()), encoding="utf-8")
    suite = load_suite(root)
    ids = sorted(case.id for case in suite.cases)
    (frozen / f"cases-{suite.version}.txt").write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")
    areas = Counter(name.split(".")[0] for name in ids)
    rows = "".join(f"{area} = {count}\n" for area, count in sorted(areas.items()))
    (frozen / FLOORS).write_text(f"# At least so many cases.\ntotal = {len(ids)}\n\n[areas]\n{rows}", encoding="utf-8")
    return len(ids)


def below_floors(root: Path, suite: Suite) -> list[str]:
    """The areas of which `suite` has fewer cases than the floors of `root`, and how many."""
    floors = tomllib.loads((root / "frozen" / FLOORS).read_text(encoding="utf-8"))
    areas = Counter(case.id.split(".")[0] for case in suite.cases)
    wanted = {**floors["areas"], "total": floors["total"]}
    areas["total"] = sum(areas.values())
    return [f"{area}: {areas[area]} of {count}" for area, count in wanted.items() if areas[area] < count]
