"""The purposes of the calls in a report: purposes × ways, and why there are calls of each.

Purposes of a function with the same outcome on every way share a row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from refmlc.diag.layout import plain
from refmlc.oracle.arguments import GeneratedCall, Trial
from refmlc.oracle.arguments.purposes import WHYS
from refmlc.oracle.exact.against import shown_path
from refmlc.oracle.examine import Examination

MEANING = "meaning"


@dataclass(frozen=True)
class PurposeLine:
    """Purposes of a function and their common outcome. `outcomes`: the verdict by the name of the way."""

    function: str
    purposes: tuple[str, ...]
    calls: int
    outcomes: Mapping[str, str]


def purpose_lines(
    name: str, calls: Sequence[GeneratedCall], examination: Examination, shown: Mapping[str, str]
) -> list[PurposeLine]:
    """The lines of one function, in the order of its calls."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for number, call in enumerate(calls):
        outcomes = [(MEANING, examination.reference[number].verdict)]
        outcomes += [(shown_path(way, shown), each[number].label) for way, each in examination.verdicts.items()]
        groups.setdefault(tuple(outcomes), []).append(kind_of_purpose(call.purpose))
    return [
        PurposeLine("" if at else name, tuple(dict.fromkeys(group)), len(group), dict(outcomes))
        for at, (outcomes, group) in enumerate(groups.items())
    ]


def kind_of_purpose(label: str) -> str:
    """The purpose of a call whose label may end in its number."""
    head, _, number = label.rpartition(" ")
    return head if number.isdigit() and head in WHYS else label


def reasons(calls: Sequence[GeneratedCall]) -> dict[str, str]:
    """Why there are calls of each purpose, by the purpose; the call's own reason if all of them have it."""
    rows: dict[str, list[str]] = {}
    for call in calls:
        rows.setdefault(kind_of_purpose(call.purpose), []).append(call.why)
    return {purpose: whys[0] if len(set(whys)) == 1 else WHYS.get(purpose, whys[0]) for purpose, whys in rows.items()}


def trial_remarks(name: str, trial: Trial) -> Iterator[str]:
    """What was replaced or left out, and what the calls reached."""
    yield from (f"{name}: {note}" for note in trial.notes)
    if trial.left:
        purposes = ", ".join(dict.fromkeys(map(kind_of_purpose, trial.left)))
        yield f"{name}: the budget left out {purposes}; see `--budget`"
    reach = str(trial.reach)
    if reach:
        yield f"{name}: {reach}"
    yield from (f"{name}: {branch}" for branch in trial.reach.missed)


WIDTH, NARROW, LONGEST_VERDICT = 80, 16, 8


def purposes_text(lines: Sequence[PurposeLine], whys: Mapping[str, str]) -> Iterator[str]:
    """Purposes × ways as lines of text, and under them the reason of each purpose."""
    ways = list(dict.fromkeys(way for line in lines for way in line.outcomes))
    if not lines:
        return
    width = max(NARROW, WIDTH - sum(max(len(way), LONGEST_VERDICT) + 2 for way in ways))
    rows = [("", "purposes", *ways)]
    for line in lines:
        outcomes = [line.outcomes.get(way, "") for way in ways]
        for at, part in enumerate(wrap(", ".join(line.purposes), width)):
            rows.append((plain(line.function), part, *outcomes) if at == 0 else ("", part, *("" for _ in ways)))
    if len({line.function for line in lines if line.function}) == 1:
        rows = [row[1:] for row in rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
    yield from (f"  {purpose}: {plain(why)}" for purpose, why in whys.items())
