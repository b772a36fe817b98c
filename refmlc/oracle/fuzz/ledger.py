"""The ledger: the causes that campaigns of many machines found, in one SQLite file.

| table       | a row for                                                             | of equal rows stays         |
|-------------|-----------------------------------------------------------------------|-----------------------------|
| `campaign`  | each campaign: its settings, which decide its programs                | either                      |
| `finding`   | each cause in each version of an implementation: its first program    | the least program           |
| `smallest`  | the same: the smallest program that shows it, and the cause in words  | the shortest text           |
| `seen`      | the same, in each batch: the number of programs                       | the greatest number         |
| `judgement` | each judgement of a person on a cause                                 | either                      |

Each row is the least or the greatest of all that were merged. So merging is commutative and idempotent: a campaign that
is merged twice, or again when it has gone on, or by way of another ledger, counts once.

| the state of a cause | is                                                        |
|----------------------|-----------------------------------------------------------|
| `judged TEXT`        | what people say of it                                     |
| `known ROW`          | a row of `conformance/known` explains it                  |
| `earlier`            | several campaigns have it                                 |
| `like ROW`           | a row looks like it (`likeness`), which is no explanation |
| `new`                | any other                                                 |

A ledger is a file from outside: a link, a file of another program or of another version of refmlc, and a database with
any other table, index, view or trigger is refused (RM109), and nothing in it is executed. `PRAGMA user_version` has the
version of the schema.
"""

import json
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast
from urllib.parse import quote

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.oracle.fuzz.result import (
    EARLIER,
    JUDGED,
    KNOWN,
    LIKE,
    NEW,
    BatchResult,
    FindingRecord,
    Json,
    cause_of,
    digest_of,
    known_row_of,
    like_row_of,
    portable,
)
from refmlc.oracle.fuzz.settings import CampaignSettings
from refmlc.oracle.fuzz.store import JOURNAL, SETTINGS, campaign_entries
from refmlc.oracle.reasons import normalised

APPLICATION = 0x72666D6C  # "rfml"
FORMAT = 1
WAIT = 30.0  # seconds, for another process that writes
LONGEST = 1 << 26  # bytes of a value
FIELDS = ("campaign", "seed", "code", "verdict", "kind", "cause", "row", "alike", "message")
COLUMNS = ", ".join(f"{name} TEXT NOT NULL" for name in FIELDS)
KEY = "signature TEXT NOT NULL, path TEXT NOT NULL, version TEXT NOT NULL"
COUNTED = "campaign TEXT NOT NULL, batch INTEGER NOT NULL, programs INTEGER NOT NULL"
KEYED = "PRIMARY KEY (signature, path, version"
STRICT = "STRICT, WITHOUT ROWID"
TABLES = (
    f"CREATE TABLE campaign (id TEXT PRIMARY KEY, seed TEXT NOT NULL, settings TEXT NOT NULL) {STRICT}",
    f"CREATE TABLE finding ({KEY}, number INTEGER NOT NULL, {COLUMNS}, {KEYED})) {STRICT}",
    f"CREATE TABLE smallest ({KEY}, program TEXT NOT NULL, cause TEXT NOT NULL, {KEYED})) {STRICT}",
    f"CREATE TABLE seen ({KEY}, {COUNTED}, {KEYED}, campaign, batch)) {STRICT}",
    f"CREATE TABLE judgement (signature TEXT NOT NULL, words TEXT NOT NULL, PRIMARY KEY (signature, words)) {STRICT}",
)
EXCLUDED = ", ".join(f"excluded.{name}" for name in FIELDS)
UPSERT = (  # of fixed names
    f"INSERT INTO finding VALUES ({', '.join('?' * (4 + len(FIELDS)))}) ON CONFLICT DO UPDATE "  # noqa: S608 - fixed names
    f"SET number = excluded.number, {', '.join(f'{name} = excluded.{name}' for name in FIELDS)} "
    f"WHERE (excluded.number, {EXCLUDED}) < (number, {', '.join(FIELDS)})"
)
MERGE = {
    "campaign": "INSERT OR IGNORE INTO campaign VALUES (?, ?, ?)",
    "finding": UPSERT,
    "smallest": "INSERT INTO smallest VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET program = excluded.program, "
    "cause = excluded.cause "
    "WHERE (length(excluded.program), excluded.program, excluded.cause) < (length(program), program, cause)",
    "seen": "INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET programs = excluded.programs "
    "WHERE excluded.programs > programs",
    "judgement": "INSERT OR IGNORE INTO judgement VALUES (?, ?)",
}
ROWS = """
SELECT finding.signature, finding.path, finding.version, kind, code, verdict, coalesce(smallest.cause, finding.cause),
  message, row, alike, coalesce(program, '{}'),
  (SELECT sum(programs) FROM seen WHERE (signature, path, version)
   = (finding.signature, finding.path, finding.version)),
  finding.campaign, finding.seed, number,
  (SELECT count(DISTINCT campaign) FROM seen WHERE signature = finding.signature),
  coalesce((SELECT group_concat(words, '; ') FROM (SELECT words FROM judgement
            WHERE signature = finding.signature ORDER BY words)), '')
FROM finding LEFT JOIN smallest USING (signature, path, version)
ORDER BY code, coalesce(smallest.cause, finding.cause), finding.signature, finding.path, finding.version
"""


@dataclass(frozen=True)
class LedgerRow:
    """A cause in a version of an implementation.

    `program`: the smallest program that shows it, as JSON. `campaign`, `seed` and `number` are those of the first
    program that did. `programs` and `campaigns`: how many have it; `judged`: what people say of it.
    """

    signature: str
    path: str
    version: str
    kind: str
    code: str
    verdict: str
    cause: str
    message: str
    row: str
    alike: str
    program: str
    programs: int
    campaign: str
    seed: str
    number: int
    campaigns: int
    judged: str

    @property
    def state(self) -> str:
        """One of the five states."""
        if self.judged:
            return f"{JUDGED} {self.judged}"
        if self.row:
            return f"{KNOWN} {self.row}"
        return EARLIER if self.campaigns > 1 else f"{LIKE} {self.alike}" if self.alike else NEW

    def to_json(self) -> dict[str, object]:
        """The row as data."""
        return {**vars(self), "state": self.state, "program": json.loads(self.program)}


assert len(fields(LedgerRow)) == 17  # noqa: S101 - as ROWS selects


class Ledger:
    """An open ledger."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def merge(self, tables: Mapping[str, Iterable[tuple[object, ...]]]) -> None:
        """Add rows, by table: all of them, or none where this fails. Fails: RM109."""
        with _told(self.path), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            for table, statement in MERGE.items():
                connection.executemany(statement, tables.get(table, ()))

    def judge(self, signature: str, words: str) -> bool:
        """Keep the judgement of a person on a cause; False: there is no such cause. Fails: RM109."""
        cause = cause_of(signature)
        if all(cause != row.signature for row in self.rows()):
            return False
        self.merge({"judgement": [(cause, words)]})
        return True

    def rows(self) -> list[LedgerRow]:
        """All causes. Fails: RM109."""
        with _told(self.path):
            rows = [LedgerRow(*row) for row in self._connection.execute(ROWS)]
        for row in rows:
            try:
                json.loads(row.program)
            except (ValueError, RecursionError):
                raise fail(BAD_FILE, f"`{self.path}`: a program in it is not JSON") from None
        return rows

    def causes(self) -> dict[str, str]:
        """The causes with their states, as a campaign matches its findings with them: `earlier` unless judged."""
        return {row.signature: row.state if row.judged else EARLIER for row in self.rows()}

    def tables(self) -> dict[str, list[tuple[object, ...]]]:
        """All rows, by table. Fails: RM109."""
        with _told(self.path):
            return {
                table: self._connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()  # noqa: S608 - fixed
                for table in MERGE
            }


@contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[Ledger]:
    """The ledger at `path`, made where it is not there and `create` says so. Fails: RM109."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not create:
            raise fail(BAD_FILE, f"`{path}`: no such file") from None
        mode = stat.S_IFREG
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror}") from None
    if not stat.S_ISREG(mode):
        raise fail(BAD_FILE, f"`{path}` is a link, a folder or a device: a ledger is a file")
    how = "rwc" if create else "rw"
    with _told(path):
        connection = _connected(f"file:{quote(str(path.absolute()))}?mode={how}")
    with closing(connection):
        with _told(path):
            _settled(path, connection, create=create)
        yield Ledger(path, connection)


def _connected(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _settled(path: Path, connection: sqlite3.Connection, *, create: bool) -> None:
    """Make the tables of an empty file, or make sure that they are those of this version. Fails: RM109."""
    with connection:
        connection.execute("BEGIN IMMEDIATE" if create else "BEGIN")
        (application,), (version,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
        present = connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid").fetchall()
        if create and not present and not application and not version:
            for statement in (*TABLES, f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {FORMAT}"):
                connection.execute(statement)
            return
    if application != APPLICATION:
        raise fail(BAD_FILE, f"`{path}` is no ledger of refmlc")
    if version != FORMAT:
        raise fail(BAD_FILE, f"`{path}` is a ledger of format {version}, this version of refmlc reads format {FORMAT}")
    if [sql for (sql,) in present] != list(TABLES):
        raise fail(BAD_FILE, f"`{path}` is a ledger with other tables than refmlc makes")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Report what SQLite finds wrong with the file. Fails: RM109."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as problem:
        raise fail(BAD_FILE, f"`{path}` cannot be used as a ledger: {problem}") from None


# ---------------------------------------------------------------------------------------------- campaigns


def campaign_id(settings: CampaignSettings) -> str:
    """The name of a campaign: its settings without places of this machine."""
    data = {**settings.to_json(), "implementations": list(map(portable, settings.implementations))}
    return digest_of(json.dumps(data, sort_keys=True))


def rows_of(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """The rows of the campaign in `folder`, by table. Fails: RM109 (no campaign), RM111 (a damaged file)."""
    if not (folder / SETTINGS).is_file() or not (folder / JOURNAL).is_file():
        raise fail(BAD_FILE, f"`{folder}` has no campaign: no {SETTINGS} and {JOURNAL}")
    settings, progress, entries = campaign_entries(folder)
    name = campaign_id(settings)
    tables: dict[str, list[tuple[object, ...]]] = {table: [] for table in MERGE}
    tables["campaign"].append((name, str(settings.seed), json.dumps(settings.to_json(), sort_keys=True)))
    for entry in entries:
        if "batch" not in entry:
            continue
        batch = BatchResult.from_json(cast("Json", entry["batch"]))
        for finding in batch.findings:
            key = (cause_of(finding.signature), portable(finding.path), progress.versions.get(finding.path, ""))
            first = (finding.number, name, str(finding.seed), finding.code, finding.verdict, finding.kind)
            shrunk = progress.shrunk.get(finding.signature, {})
            rows = (known_row_of(finding, shrunk), like_row_of(finding, shrunk))
            said = (cause_text(finding, {}), *rows, finding.message)
            tables["finding"].append((*key, *first, *said))
            tables["seen"].append((*key, name, batch.batch, finding.count))
            for case, small in ((finding.case, {}), (shrunk.get("case"), shrunk)):
                if case:
                    program = json.dumps(case, sort_keys=True)
                    tables["smallest"].append((*key, program, cause_text(finding, small)))
    return tables


def cause_text(finding: FindingRecord, shrunk: Json) -> str:
    """The cause in one line, of what is left where the finding was made smaller.

    A trace: the guilty step, and how it is wrong. Else the pattern of the finding; of one without, its message.
    """
    case = shrunk.get("case") or finding.case
    match case:
        case {"steps": [*_, str(step)]}:
            _, _, undefined = finding.message.partition("is not: RM")
            after = f" RM{undefined[:3]}" if undefined else ""
            return f"{step.partition('(')[0]}: {finding.verdict}{after}"
    cause = shrunk.get("cause") or finding.cause
    if isinstance(cause, str) and cause:
        return f"{finding.verdict}: {cause}"
    first, _, rest = finding.message.partition("\n")
    said = rest.partition("\n")[0]
    return normalised(f"{finding.verdict}: {said or first}")
