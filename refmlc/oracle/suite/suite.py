"""The suite: every case of a folder laid out as `conformance/` is, which is as it was released.

| path                    | holds                                                                                   |
|-------------------------|-----------------------------------------------------------------------------------------|
| `VERSION`               | the version of the suite                                                                |
| `frozen/MANIFEST`       | SHA-256 of each file of cases, as `sha256sum -c` reads it                               |
| `frozen/withdrawn.toml` | `[[withdrawn]]`: `id`, `version`, `reason`; those cases are not run any more            |
| `cases/<area>/*.toml`   | the cases (`refmlc.oracle.evidence.case_file`); the area is the first word of their ids |

Decision: a file that the manifest does not know, or that has another hash, is an error and not a warning: a suite that
was changed by accident must not judge anybody.

`freeze` writes down what the suite is, and refuses whatever changes a released version:

| file                         | holds                                                         |
|------------------------------|---------------------------------------------------------------|
| `frozen/MANIFEST`            | the hash of each file of cases                                |
| `frozen/cases-<version>.txt` | the ids of a released version, one per line; it never changes |
| `frozen/floors.toml`         | how many cases each area has at least                         |

Decision: released is what stands in one of the lists. A file that holds no such case may be written again; one that
does is as it is for ever, and what was wrong in it is withdrawn.
"""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_USAGE
from refmlc.oracle.evidence.case_file import CaseFile, read_cases

ID = re.compile(r"[a-z0-9]+(?:\.[a-z0-9_-]+)+")
MANIFEST, WITHDRAWN = "MANIFEST", "withdrawn.toml"


@dataclass(frozen=True)
class Suite:
    """The cases of a version, by file and place in it. `withdrawn`: id and reason of those that are not run."""

    version: str
    cases: tuple[CaseFile, ...]
    withdrawn: Mapping[str, str] = field(default_factory=dict)


def load_suite(folder: Path | None = None) -> Suite:
    """The suite in `folder`, or refmlc's own. Fails: RM109 without a case, or if a file differs from the frozen one."""
    if folder is not None and not folder.is_dir():
        raise fail(BAD_FILE, f"the folder `{folder}` does not exist")
    root = root_of(folder)
    version = version_of(root)
    recorded = manifest(root)
    withdrawn = _withdrawn(root)
    cases: list[CaseFile] = []
    for name, file in case_files(root).items():
        cases += _frozen(file, name, recorded.pop(name, ""), version)
    if recorded:
        raise fail(BAD_FILE, f"`{min(recorded)}` of the suite is missing")
    if not cases:
        raise fail(BAD_FILE, "the suite has no case")
    twice = [identity for identity, count in Counter(case.id for case in cases).items() if count > 1]
    if twice:
        raise fail(BAD_FILE, f"two cases have the id `{twice[0]}`")
    return Suite(version, tuple(case for case in cases if case.id not in withdrawn), withdrawn)


def load_file(folder: Path | None, name: str, digest: str, version: str) -> tuple[CaseFile, ...]:
    """The cases of the one file `name`, which is as the manifest has it. Fails: RM109."""
    return _frozen(root_of(folder) / name, name, digest, version)


def root_of(folder: Path | None) -> Traversable:
    """Where the suite lies; None: refmlc's own."""
    return files("refmlc.oracle.suite") / "data" if folder is None else folder


def version_of(root: Traversable) -> str:
    """The version that the suite has. Fails: RM109."""
    return _text(root / "VERSION", "VERSION").strip()


def _frozen(file: Traversable, name: str, digest: str, version: str) -> tuple[CaseFile, ...]:
    data = _bytes(file, name)
    if not digest:
        raise fail(BAD_FILE, f"`{name}` is not a file of version {version}: `frozen/{MANIFEST}` does not have it")
    if hashlib.sha256(data).hexdigest() != digest:
        raise fail(BAD_FILE, f"`{name}` differs from version {version} of the suite")
    return _cases(data, name)


def case_files(root: Traversable) -> Mapping[str, Traversable]:
    """The files of cases by their path from `root`, in order."""
    cases = root / "cases"
    areas = [entry for entry in cases.iterdir() if entry.is_dir()] if cases.is_dir() else []
    files = {
        f"cases/{area.name}/{file.name}": file
        for area in areas
        for file in area.iterdir()
        if file.name.endswith(".toml")
    }
    return dict(sorted(files.items()))


def manifest(root: Traversable) -> dict[str, str]:
    """Hash by path. Fails: RM109."""
    name = f"frozen/{MANIFEST}"
    rows = [line.split("  ", 1) for line in _text(root / "frozen" / MANIFEST, name).splitlines()]
    if not all(len(row) == 2 and len(row[0]) == 64 for row in rows):
        raise fail(BAD_FILE, f"`{name}` has a line without a hash and a path")
    return {path: digest for digest, path in rows}


def _cases(data: bytes, name: str) -> tuple[CaseFile, ...]:
    try:
        cases = read_cases(data.decode(), name)
    except UnicodeDecodeError:
        raise fail(BAD_FILE, f"`{name}` is not UTF-8") from None
    area = name.split("/")[1]
    for case in cases:
        if not ID.fullmatch(case.id) or case.id.split(".")[0] != area:
            raise fail(BAD_FILE, f"`{name}` has a case with the id `{case.id}`; ids there look like `{area}.word.word`")
    return cases


def _withdrawn(root: Traversable) -> dict[str, str]:
    name = f"frozen/{WITHDRAWN}"
    try:
        rows = tomllib.loads(_text(root / "frozen" / WITHDRAWN, name)).get("withdrawn", [])
        return {str(row["id"]): str(row["reason"]) for row in rows}
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        raise fail(BAD_FILE, f"`{name}` is not a list of `[[withdrawn]]` with `id`, `version` and `reason`") from None


def _text(file: Traversable, name: str) -> str:
    try:
        return _bytes(file, name).decode()
    except UnicodeDecodeError:
        raise fail(BAD_FILE, f"`{name}` is not UTF-8") from None


def _bytes(file: Traversable, name: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        raise fail(BAD_FILE, f"`{name}` of the suite cannot be read: {problem.strerror}") from None


FLOORS = "floors.toml"


def freeze(root: Path, *, release: bool = False) -> int:
    """Write the manifest and the floors, at a release the list of ids as well; the number of cases.

    Fails: RM109, RM112 if a released case has changed or is missing, or the version is released with other ids.
    """
    frozen, version = root / "frozen", version_of(root)
    frozen_digests = manifest(root) if (frozen / MANIFEST).exists() else {}
    digests = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in case_files(root)}
    cases = [case for name, digest in digests.items() for case in load_file(root, name, digest, version)]
    _unchanged(cases, {name for name, digest in digests.items() if frozen_digests.get(name) != digest}, released(root))
    text = "".join(f"{name}\n" for name in sorted(case.id for case in cases))
    listed = frozen / f"cases-{version}.txt"
    if release and listed.exists() and listed.read_text(encoding="utf-8") != text:
        raise fail(BAD_USAGE, f"version {version} is released with other cases; choose a new version")
    (frozen / MANIFEST).write_text("".join(f"{digest}  {name}\n" for name, digest in digests.items()), encoding="utf-8")
    active_cases = load_suite(root).cases  # withdrawn ones do not count
    if release:
        listed.write_text(text, encoding="utf-8")
    areas = Counter(case.id.split(".")[0] for case in active_cases)
    rows = "".join(f"{area} = {count}\n" for area, count in sorted(areas.items()))
    (frozen / FLOORS).write_text(
        f"# At least so many cases.\ntotal = {len(active_cases)}\n\n[areas]\n{rows}", encoding="utf-8"
    )
    return len(cases)


def released(root: Path) -> frozenset[str]:
    """The ids of all versions that were released."""
    lists = sorted((root / "frozen").glob("cases-*.txt"))
    return frozenset(name for path in lists for name in path.read_text(encoding="utf-8").split())


def _unchanged(cases: list[CaseFile], changed: set[str], released: frozenset[str]) -> None:
    """Fails: RM112 if a case in `released` is missing or its file has changed."""
    dropped = released - {case.id for case in cases}
    if dropped:
        raise fail(BAD_USAGE, f"`{min(dropped)}` was released and is missing; withdrawn cases keep their file")
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
