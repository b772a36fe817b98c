"""The files of a git repository that differ from a revision.

git is started with fixed words and no shell; a revision is first resolved to the digest of a commit, and nothing else
of the caller reaches a command line. Names come back with zero bytes between them, whatever characters they have.
Programs that the configuration of a repository names do not start: those of a diff, the hook that watches files, the
filters of files, submodules, and what fetches the objects that a partial clone lacks. Without its filter, a file that
git keeps in another form differs once it is touched.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SECONDS: Final = 60.0
WORDS: Final = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
DIFF: Final = (
    "diff",
    "--name-only",
    "-z",
    "--diff-filter=d",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
)
FILTERS: Final = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
ENVIRONMENT: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}


class NoAnswer(Exception):
    """git is missing, the folder is in no repository, or the revision is unknown; the text says which."""


def changed_files(folder: Path, revision: str) -> frozenset[Path]:
    """The files in the repository of `folder` that are new or changed since its branch left `revision`.

    What is not committed counts, and what git does not track, unless it is ignored; deleted files do not. Links are
    resolved. Fails: `NoAnswer`.
    """
    root = Path(os.fsdecode(_run(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))
    try:
        commit = _digest(_run(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"))
    except NoAnswer:
        raise NoAnswer(f"git knows no commit `{revision}`") from None
    try:
        start = _digest(_run(root, "merge-base", commit, "HEAD"))
    except NoAnswer:  # a clone that is not deep enough
        start = commit
    differing = _run(root, *DIFF, start, "--", settings=_without_filters(root))
    untracked = _run(root, "ls-files", "-z", "--others", "--exclude-standard", "--")
    names = [name for name in (differing + untracked).split(b"\0") if name]
    return frozenset((root / os.fsdecode(name)).resolve() for name in names)


def _digest(answer: bytes) -> str:
    text = answer.decode("ascii", "replace").strip()
    if not text or set(text) - set("0123456789abcdef"):
        raise NoAnswer("git gives no digest of a commit")
    return text


def _without_filters(folder: Path) -> dict[str, str]:
    """Settings that switch off the filters of a repository."""
    try:
        keys = _run(folder, *FILTERS).split(b"\0")
    except NoAnswer:  # there is none
        return {}
    names = dict.fromkeys(os.fsdecode(key.rpartition(b".")[0]) for key in keys if key.count(b".") > 1)
    values = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"{name}.{key}": value for name in names for key, value in values.items()}


def _run(folder: Path, *words: str, settings: Mapping[str, str] | None = None) -> bytes:
    """What git prints with `settings`, which have priority over those of files. Fails: `NoAnswer`."""
    environment = {**os.environ, **ENVIRONMENT}
    if settings:
        count = os.environ.get("GIT_CONFIG_COUNT", "")
        first = int(count) if count.isdecimal() else 0
        environment["GIT_CONFIG_COUNT"] = str(first + len(settings))
        for number, (key, value) in enumerate(settings.items(), first):
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, a digest
            [*WORDS, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=SECONDS,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.TimeoutExpired) as problem:
        raise NoAnswer(f"git does not answer: {problem}") from None
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise NoAnswer(last or f"git ends with status {done.returncode}")
    return done.stdout
