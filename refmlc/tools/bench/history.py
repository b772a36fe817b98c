"""All groups of the bench in one run, and the runs before it: a file with a line of JSON for each run.

| field     | is                                                                                          |
|-----------|---------------------------------------------------------------------------------------------|
| `time`    | when the run began, UTC                                                                     |
| `sizes`   | `full`, or `tiny`                                                                           |
| `commit`  | of the sources, empty where git does not tell                                               |
| `machine` | processor, cores, instruction set, compiler, versions                                       |
| `rows`    | group, what, against, measured, unit, goal, direction, note                                 |

A measurement is compared with the median of the earlier runs of the same sizes on the same machine (processor, cores,
instruction set). It is a regression where it is worse by more than `MOST_WORSE`, and by more than `NOISE` times the
median distance of the earlier ones from their median.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Literal, TypeAlias

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE, BAD_INPUT
from refmlc.diag.versions import KEY, FileFormat
from refmlc.system.command import run
from refmlc.tools.bench.row import Direction, Goal

FORMAT = FileFormat("history of the bench", missing=1)  # of each line: the first ones were written without
MOST_WORSE = 0.1
NOISE = 4.0
SAME = ("processor", "cores", "instruction set")
GIT_LIMIT = 10.0  # seconds
Sizes: TypeAlias = Literal["full", "tiny"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number of one group. `goal` is a bound of it, None: there is none; `limit`: what keeps it from being better."""

    group: str
    what: str
    against: str
    measured: float | None
    unit: str
    direction: Direction
    goal: float | None
    note: str = ""
    limit: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the same measurement in another run."""
        return self.group, self.what, self.against

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None: there is none, or nothing was measured."""
        if self.goal is None or self.measured is None:
            return None
        return Goal(self.goal, self.unit, self.direction).met(self.measured)

    def as_data(self) -> dict[str, object]:
        """The measurement for machines."""
        data: dict[str, object] = {"group": self.group, "what": self.what, "against": self.against}
        data |= {"measured": self.measured, "unit": self.unit, "goal": self.goal, "direction": self.direction}
        return {**data, "note": self.note}


@dataclass(frozen=True, slots=True)
class BenchRun:
    """All measurements of one run."""

    time: str
    sizes: str
    commit: str
    machine: Mapping[str, str]
    measurements: tuple[Measurement, ...]

    @property
    def place(self) -> tuple[str, ...]:
        """What is equal in runs that can be compared."""
        return (self.sizes, *(self.machine.get(name, "") for name in SAME))

    def as_data(self) -> dict[str, object]:
        """The run for machines."""
        rows = [measurement.as_data() for measurement in self.measurements]
        data: dict[str, object] = {"time": self.time, "sizes": self.sizes, "commit": self.commit}
        return {**data, "machine": dict(self.machine), "rows": rows}

    def as_line(self) -> str:
        """The line of the history."""
        return json.dumps({KEY: FORMAT.version, **self.as_data()}, ensure_ascii=False) + "\n"

    def value_of(self, key: tuple[str, str, str]) -> float | None:
        """The number of that measurement."""
        return next((each.measured for each in self.measurements if each.key == key), None)


@dataclass(frozen=True, slots=True)
class Trend:
    """A measurement beside the earlier ones. `change`: how much better (above 0) or worse it is, as a share."""

    measurement: Measurement
    earlier: tuple[float, ...]

    @property
    def change(self) -> float | None:
        """How far it is from the median of the earlier ones."""
        measured = self.measurement.measured
        if measured is None or not self.earlier or median(self.earlier) == 0:
            return None
        share = (measured - median(self.earlier)) / abs(median(self.earlier))
        return share if self.measurement.direction == "at least" else -share

    def as_data(self) -> dict[str, object]:
        """The trend for machines."""
        return {**self.measurement.as_data(), "earlier": list(self.earlier), "change": self.change}

    @property
    def is_regression(self) -> bool:
        """Whether it is worse than the earlier ones, beyond what they differ by."""
        change = self.change
        if change is None:
            return False
        centre = median(self.earlier)
        noise = NOISE * median(abs(value - centre) for value in self.earlier) / abs(centre)
        return -change > max(MOST_WORSE, noise)


def begun(sizes: Sizes, machine: Mapping[str, str], measurements: Sequence[Measurement]) -> BenchRun:
    """A run of now."""
    time = datetime.now(UTC).isoformat(timespec="seconds")
    return BenchRun(time, sizes, commit(), {**machine, "cores": str(os.cpu_count())}, tuple(measurements))


def commit() -> str:
    """The commit of the sources; empty where git does not tell."""
    try:
        ended = run(["git", "rev-parse", "--short=12", "HEAD"], GIT_LIMIT, folder=Path(__file__).parent)
    except OSError:
        return ""
    return ended.printed.strip() if ended.status == 0 else ""


def trends(current: BenchRun, earlier: Sequence[BenchRun]) -> list[Trend]:
    """Each measurement beside those of earlier runs on the same machine."""
    comparable = [each for each in earlier if each.place == current.place]
    return [
        Trend(each, tuple(value for before in comparable if (value := before.value_of(each.key)) is not None))
        for each in current.measurements
    ]


def read_history(path: Path) -> list[BenchRun]:
    """The runs in a file, the earliest first; none where the file does not exist. Fails: RM109, RM111."""
    try:
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}") from None
    return [_run(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def add_to_history(path: Path, current: BenchRun) -> None:
    """Append a run. Fails: RM109."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(current.as_line())
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}") from None


def _run(path: Path, number: int, line: str) -> BenchRun:
    try:
        data = json.loads(line)
        FORMAT.require(data, f"{path}, line {number}")
        rows = tuple(_measurement(row) for row in data["rows"])
        machine = {str(name): str(value) for name, value in data["machine"].items()}
        return BenchRun(str(data["time"]), str(data["sizes"]), str(data["commit"]), machine, rows)
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise fail(BAD_INPUT, f"`{path}`, line {number}, is no run of the bench: {problem!r}") from None


def _measurement(row: Mapping[str, object]) -> Measurement:
    measured, goal = (None if row[name] is None else float(str(row[name])) for name in ("measured", "goal"))
    group, what, against, unit, note = (str(row[name]) for name in ("group", "what", "against", "unit", "note"))
    if row["direction"] not in ("at least", "at most"):
        raise ValueError(row["direction"])
    return Measurement(group, what, against, measured, unit, row["direction"], goal, note)
