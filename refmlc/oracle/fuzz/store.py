"""The directory of a campaign and its journal.

The journal is an append-only file of JSON lines that a kill cannot spoil: each is written at once and synced, or torn.

A torn last line (no end of line, or no JSON) is cut off when the file is opened again; its batch is done again. A line
before it that is not JSON is damage from elsewhere: it is reported, and nothing is overwritten.

| file                        | holds                                                                        |
|-----------------------------|------------------------------------------------------------------------------|
| `campaign.toml`             | the settings, written once                                                   |
| `journal.jsonl`             | lines: see below                                                             |
| `findings/SIGNATURE.toml`   | each finding for people; made from the journal, and made again where missing |
| `lock`                      | held by the process that runs the campaign                                   |

The journal is the truth: a batch is done when its line is whole, and its counts and findings are in that line.

| key of a line | a line for                                                                                   |
|---------------|----------------------------------------------------------------------------------------------|
| `batch`       | each batch that is done                                                                      |
| `shrunk`      | each finding made smaller                                                                    |
| `versions`    | the versions of the implementations, where they say one                                      |
| `ledger`      | the causes that the campaign began with, once; only of a campaign that moves away (`avoidance`) |
| `epoch`       | the exclusions and the preferences of each epoch of such a campaign                          |
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeAlias, cast

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_INPUT, BAD_USAGE
from refmlc.oracle.fuzz.avoidance import Avoidance
from refmlc.oracle.fuzz.finding_file import finding_text
from refmlc.oracle.fuzz.result import BatchResult, Json, Progress
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.system.regular import open_regular, read_text

Entry: TypeAlias = Mapping[str, object]


class Journal:
    """The file at `path`, open for one writer."""

    def __init__(self, path: Path) -> None:
        """Open or create the file and read its entries, without a torn end. Fails: RM111."""
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            self.entries, length = read_entries(path)
            if length < path.stat().st_size:
                os.ftruncate(self._file, length)
            os.fsync(self._file)
        except BaseException:
            self.close()
            raise

    def append(self, entry: Entry) -> None:
        """Append a line; it is on disk when this returns."""
        line = json.dumps(entry, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def read_entries(path: Path) -> tuple[list[Entry], int]:
    """The whole lines of a journal, and how many bytes they are. Fails: RM111."""
    entries: list[Entry] = []
    length = 0
    with open_regular(path) as file:
        lines = file.readlines()
    for number, line in enumerate(lines):
        try:
            entry = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            if number + 1 < len(lines):
                raise fail(BAD_INPUT, f"{path}: line {number + 1} is damaged: it is not a journal entry")
            break
        entries.append(entry)
        length += len(line)
    return entries, length


LARGEST_SETTINGS = 1 << 20  # bytes
SETTINGS, JOURNAL, FINDINGS, LOCK = "campaign.toml", "journal.jsonl", "findings", "lock"


@dataclass(frozen=True)
class CampaignStore:
    """A campaign's directory, held by this process."""

    path: Path
    settings: CampaignSettings
    progress: Progress
    journal: Journal
    lock: IO[str]
    avoidance: Avoidance | None = None

    def begin(self, versions: Mapping[str, str], ledger: Mapping[str, str]) -> None:
        """Keep the versions of the implementations, and the causes to begin with unless the campaign has begun."""
        progress = self.progress
        if versions and dict(versions) != progress.versions:
            self.journal.append({"versions": dict(versions)})
            progress.versions = dict(versions)
        if self.avoidance is not None and not progress.done and not progress.ledger and ledger:
            self.journal.append({"ledger": dict(ledger)})
            progress.ledger.update(ledger)

    def finished(self, result: BatchResult) -> None:
        """Keep the result of a batch; of its coverage what is new, unless batches follow from it (`avoidance`)."""
        covered_before = {} if self.avoidance is not None else self.progress.coverage
        new = {
            family: tuple(sorted({*names} - covered_before.get(family, set())))
            for family, names in result.coverage.items()
        }
        result = replace(result, coverage={family: names for family, names in new.items() if names})
        self.journal.append({"batch": result.to_json()})
        is_new = result.batch not in self.progress.done
        self.show(self.progress.add(result))
        if self.avoidance is not None and is_new:
            for epoch in self.avoidance.add(result):
                names = self.avoidance.decided[epoch]
                prefer = list(self.avoidance.preferred[epoch])
                self.journal.append({"epoch": epoch, "exclude": list(names), "prefer": prefer})
                self.progress.excluded = names

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


def open_store(path: Path, settings: CampaignSettings) -> CampaignStore:
    """Create the directory, or resume the campaign in it.

    Fails: RM112 where another process runs it or its settings are others, RM111 where a file in it is damaged.
    """
    (path / FINDINGS).mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        lock = held.enter_context((path / LOCK).open("a", encoding="utf-8"))
        _locked(lock, path)
        _settled(path, settings)
        journal = held.enter_context(closing(Journal(path / JOURNAL)))
        progress = recalled(settings, journal.entries)
        avoidance = avoidance_in(settings, progress, journal.entries) if settings.epoch else None
        held.pop_all()
    store = CampaignStore(path, settings, progress, journal, lock, avoidance)
    journal.entries.clear()
    store.show(list(store.progress.findings))
    return store


def _locked(lock: IO[str], path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise fail(BAD_USAGE, f"another process is running the campaign in {path}") from None


def _settled(path: Path, settings: CampaignSettings) -> None:
    """Write the settings, or make sure that they are the same. Fails: RM112 where they are not, RM111."""
    if not (path / SETTINGS).exists():
        if (path / JOURNAL).exists():
            raise fail(BAD_INPUT, f"{path} has a journal, but no {SETTINGS}")
        write_whole(path / SETTINGS, settings.to_toml())
        return
    other = CampaignSettings.from_toml((path / SETTINGS).read_text(encoding="utf-8")).differences(settings)
    if other:
        message = f"the campaign in {path} has other settings ({'; '.join(other)}): choose another directory"
        raise fail(BAD_USAGE, message)


def settings_in(path: Path) -> CampaignSettings | None:
    """The settings of the campaign in `path`; None: there is none. Fails: RM111."""
    file = path / SETTINGS
    return CampaignSettings.from_toml(file.read_text(encoding="utf-8")) if file.exists() else None


def progress_in(path: Path) -> Progress:
    """How far the campaign in `path` is, without holding it. Fails: RM111."""
    return campaign_entries(path)[1]


def campaign_entries(path: Path) -> tuple[CampaignSettings, Progress, list[Entry]]:
    """The settings, the sums and the journal of the campaign in `path`. Fails: RM109 (it is not read), RM111."""
    try:
        settings = CampaignSettings.from_toml(read_text(path / SETTINGS, LARGEST_SETTINGS))
        entries = read_entries(path / JOURNAL)[0]
    except (OSError, UnicodeDecodeError) as problem:
        raise fail(BAD_FILE, f"`{path}` has no campaign: {getattr(problem, 'strerror', None) or problem}") from None
    return settings, recalled(settings, entries), entries


def recalled(settings: CampaignSettings, entries: list[Entry]) -> Progress:
    """How far a campaign is, from its journal. Fails: RM111 for an entry that is none."""
    progress = Progress(settings)
    for entry in entries:
        match entry:
            case {"batch": dict(batch)}:
                progress.add(BatchResult.from_json(batch))
            case {"shrunk": str(signature), "what": dict(what)}:
                progress.shrunk[signature] = what
            case {"versions": dict(versions)} if _are_texts(versions):
                progress.versions = versions
            case {"ledger": dict(causes)} if _are_texts(causes):
                progress.ledger = causes
            case {"epoch": int(), "exclude": [*names], "prefer": [*prefer]} if all(
                isinstance(name, str) for name in (*names, *prefer)
            ):
                progress.excluded = tuple(map(str, names))
            case _:
                raise fail(BAD_INPUT, f"the journal has an entry that is none: {sorted(map(str, entry))[:4]}")
    return progress


def _are_texts(table: Mapping[object, object]) -> bool:
    return all(isinstance(value, str) for value in table.values())


def avoidance_in(settings: CampaignSettings, progress: Progress, entries: list[Entry]) -> Avoidance:
    """What a campaign has learned to avoid. What the journal says of an epoch holds."""
    avoidance = Avoidance(settings, progress.ledger)
    for entry in entries:
        match entry:
            case {"epoch": int(epoch), "exclude": [*names], "prefer": [*prefer]}:
                avoidance.decided[epoch], avoidance.preferred[epoch] = tuple(map(str, names)), tuple(map(str, prefer))
    for entry in entries:
        if "batch" in entry:
            avoidance.add(BatchResult.from_json(cast("Json", entry["batch"])))
    return avoidance


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole, or as it was before."""
    file, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(name, path)  # noqa: PTH105 - the same as Path.replace, of a name
