"""The directory of a campaign.

| file                        | holds                                                                        |
|-----------------------------|------------------------------------------------------------------------------|
| `campaign.toml`             | the settings, written once                                                   |
| `journal.jsonl`             | a line for each batch that is done, a line for each finding made smaller     |
| `findings/SIGNATURE.toml`   | each finding for people; made from the journal, and made again where missing |
| `lock`                      | held by the process that runs the campaign                                   |

The journal is the truth: a batch is done when its line is whole, and its counts and findings are in that line.
"""

import fcntl
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_INPUT, BAD_USAGE
from refmlc.oracle.fuzz.finding_text import finding_text
from refmlc.oracle.fuzz.journal import Entry, Journal, read_entries
from refmlc.oracle.fuzz.progress import Progress
from refmlc.oracle.fuzz.result import BatchResult, Json
from refmlc.oracle.fuzz.settings import Settings

SETTINGS, JOURNAL, FINDINGS, LOCK = "campaign.toml", "journal.jsonl", "findings", "lock"


@dataclass(frozen=True)
class Store:
    """A campaign's directory, held by this process."""

    path: Path
    settings: Settings
    progress: Progress
    journal: Journal
    lock: IO[str]

    def finished(self, result: BatchResult) -> None:
        """Keep the result of a batch; of its coverage what is new."""
        covered_before = self.progress.coverage
        new = {
            family: tuple(sorted({*names} - covered_before.get(family, set())))
            for family, names in result.coverage.items()
        }
        result = replace(result, coverage={family: names for family, names in new.items() if names})
        self.journal.append({"batch": result.to_json()})
        self.show(self.progress.add(result))

    def shrunk(self, signature: str, what: Json) -> None:
        """Keep what became of making a finding's program smaller."""
        self.journal.append({"shrunk": signature, "what": what})
        self.progress.shrunk[signature] = what
        self.show([signature])

    def show(self, signatures: list[str]) -> None:
        """Write the findings for people."""
        for signature in signatures:
            text = finding_text(self.settings, self.progress.findings[signature], self.progress.shrunk.get(signature))
            write_whole(self.path / FINDINGS / f"{signature}.toml", text)

    def close(self) -> None:
        """Let others have it."""
        self.journal.close()
        self.lock.close()


def open_store(path: Path, settings: Settings) -> Store:
    """Create the directory, or resume the campaign in it.

    Fails: RM112 where another process runs it or its settings are others, RM111 where a file in it is damaged.
    """
    (path / FINDINGS).mkdir(parents=True, exist_ok=True)
    lock = (path / LOCK).open("a", encoding="utf-8")
    try:
        _locked(lock, path)
        _settled(path, settings)
        journal = Journal(path / JOURNAL)
    except BaseException:
        lock.close()
        raise
    store = Store(path, settings, recalled(settings, journal.entries), journal, lock)
    journal.entries.clear()
    store.show(list(store.progress.findings))
    return store


def _locked(lock: IO[str], path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise fail(BAD_USAGE, f"another process is running the campaign in {path}") from None


def _settled(path: Path, settings: Settings) -> None:
    """Write the settings, or make sure that they are the same. Fails: RM112 where they are not, RM111."""
    if not (path / SETTINGS).exists():
        if (path / JOURNAL).exists():
            raise fail(BAD_INPUT, f"{path} has a journal, but no {SETTINGS}")
        write_whole(path / SETTINGS, settings.to_toml())
        return
    other = Settings.from_toml((path / SETTINGS).read_text(encoding="utf-8")).differences(settings)
    if other:
        message = f"the campaign in {path} has other settings ({'; '.join(other)}): choose another directory"
        raise fail(BAD_USAGE, message)


def settings_in(path: Path) -> Settings | None:
    """The settings of the campaign in `path`; None: there is none. Fails: RM111."""
    file = path / SETTINGS
    return Settings.from_toml(file.read_text(encoding="utf-8")) if file.exists() else None


def progress_in(path: Path) -> Progress:
    """How far the campaign in `path` is, without holding it. Fails: RM111."""
    settings = Settings.from_toml((path / SETTINGS).read_text(encoding="utf-8"))
    return recalled(settings, read_entries(path / JOURNAL)[0])


def recalled(settings: Settings, entries: list[Entry]) -> Progress:
    """How far a campaign is, from its journal."""
    progress = Progress(settings)
    for entry in entries:
        if "batch" in entry:
            progress.add(BatchResult.from_json(cast("Json", entry["batch"])))
        else:
            progress.shrunk[str(entry["shrunk"])] = cast("Json", entry["what"])
    return progress


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole, or as it was before."""
    file, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(name, path)  # noqa: PTH105 - the same as Path.replace, of a name
