"""The files of a git repository that differ from a revision.

git is started with fixed words and no shell; a revision is first resolved to the digest of a commit, and nothing else
of the caller reaches a command line. Names come back with zero bytes between them, whatever characters they have.
External programs that a diff could start, and the hook that watches files, are off.
"""

import os
import subprocess
from pathlib import Path
from typing import Final

SECONDS: Final = 60.0
WORDS: Final = ("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
DIFF: Final = ("diff", "--name-only", "-z", "--diff-filter=d", "--no-renames", "--no-ext-diff", "--no-textconv")


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
    differing = _run(root, *DIFF, start, "--")
    untracked = _run(root, "ls-files", "-z", "--others", "--exclude-standard", "--")
    names = [name for name in (differing + untracked).split(b"\0") if name]
    return frozenset((root / os.fsdecode(name)).resolve() for name in names)


def _digest(answer: bytes) -> str:
    text = answer.decode("ascii", "replace").strip()
    if not text or set(text) - set("0123456789abcdef"):
        raise NoAnswer("git gives no digest of a commit")
    return text


def _run(folder: Path, *words: str) -> bytes:
    """What git prints. Fails: `NoAnswer`."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
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
