"""The suite: every case of a folder laid out as `conformance/` is, which is as it was released.

| path                    | holds                                                                                   |
|-------------------------|-----------------------------------------------------------------------------------------|
| `VERSION`               | the version of the suite                                                                |
| `frozen/MANIFEST`       | SHA-256 of each file of cases, as `sha256sum -c` reads it                               |
| `frozen/withdrawn.toml` | `[[withdrawn]]`: `id`, `version`, `reason`; those cases are not run any more            |
| `cases/<area>/*.toml`   | the cases (`refmlc.oracle.evidence.case_file`); the area is the first word of their ids |

Decision: a file that the manifest does not know, or that has another hash, is an error and not a warning: a suite that
was changed by accident must not judge anybody.
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
from refmlc.diag.catalogue import BAD_FILE
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
