"""The display of a campaign while it runs, and its summary."""

import time
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refmlc.oracle.fuzz.campaign import Campaign
from refmlc.oracle.fuzz.coverage import FAMILIES, there_is
from refmlc.oracle.fuzz.progress import Progress

MIB = 1 << 20
SHOWN = 8  # findings
COLOURS = {"wrong": "red", "crashed": "red", "timed out": "yellow", "equal": "green", "defined": "green"}
EVERY = 10.0  # seconds between lines where there is no screen


class Lines:
    """Lines in place of a screen: one from time to time, one for each new finding."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._told: set[str] = set()

    def due(self, campaign: Campaign) -> Iterator[str]:
        """The lines that are due now."""
        progress = campaign.store.progress
        for signature, found in progress.findings.items():
            if signature not in self._told:
                self._told.add(signature)
                yield f"{found.code} {found.path}: {first_line(found.message)} (seed {found.seed}, {signature})"
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            yield headline(campaign)


def headline(campaign: Campaign) -> str:
    """How far it is, in one line."""
    progress = campaign.store.progress
    rate = (progress.programs - campaign.before) / campaign.seconds if campaign.seconds else 0.0
    parts = [f"{progress.programs:,} programs", f"{rate:.0f}/s", f"{progress.per_core:.0f}/s per core"]
    parts += [f"{len(progress.findings)} findings", *left(campaign, rate)]
    return ", ".join(parts)


def left(campaign: Campaign, rate: float) -> Iterator[str]:
    """How long it will take, where that is known."""
    ways, done = campaign.ways, campaign.store.progress.programs
    if campaign.over:
        yield "ending"
    elif ways.seconds is not None:
        yield f"{clock(ways.seconds - campaign.seconds)} left"
    elif ways.programs is not None and rate:
        yield f"about {clock((ways.programs - done) / rate)} left"


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    whole = max(0, int(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def screen(campaign: Campaign) -> RenderableType:
    """The whole screen."""
    progress = campaign.store.progress
    head = Text(headline(campaign), style="bold")
    rest = [covered(progress), memory(progress), f"findings in {campaign.store.path}"]
    return Group(head, verdicts(progress), *(Text(line, style="dim") for line in rest if line), findings(progress))


def verdicts(progress: Progress) -> Table:
    """How many calls came to each verdict on each path."""
    kinds = sorted({kind for counts in progress.verdicts.values() for kind in counts})
    table = Table(title="calls", title_justify="left")
    table.add_column("path")
    for kind in kinds:
        table.add_column(kind, justify="right", style=COLOURS.get(kind))
    for path, counts in progress.verdicts.items():
        table.add_row(path, *(f"{counts[kind]:,}" if counts[kind] else "" for kind in kinds))
    return table


def covered(progress: Progress) -> str:
    """How much occurred."""
    whole = there_is()
    parts = []
    for family in FAMILIES:
        count = len(progress.coverage.get(family, ()))
        parts.append(f"{count} of {whole[family]} {family}" if family in whole else f"{count} {family}")
    return "occurred: " + ", ".join(parts)


def memory(progress: Progress) -> str:
    """What workers hold."""
    if not progress.memory:
        return ""
    grown = progress.grown()
    tail = "" if grown is None else f", {100 * grown:+.1f} % since the first tenth"
    return f"a worker holds {progress.memory[-1][1] / MIB:.0f} MiB{tail}"


def findings(progress: Progress) -> Table:
    """The findings, the most frequent ones first."""
    table = Table(title=f"{len(progress.findings)} findings", title_justify="left")
    for column in ("code", "path", "what", "times", "seed", "smallest"):
        table.add_column(column, justify="right" if column in ("times", "seed") else "left")
    for found in sorted(progress.findings.values(), key=lambda each: -each.count)[:SHOWN]:
        shrunk = progress.shrunk.get(found.signature, {})
        lines = shrunk.get("lines")
        smallest = f"{lines[0]} lines → {lines[1]}" if isinstance(lines, list) else str(shrunk.get("problem", ""))
        what = first_line(found.message)
        table.add_row(found.code, found.path, what, f"{found.count:,}", str(found.seed), smallest)
    return table


def summary(campaign: Campaign) -> Iterator[RenderableType]:
    """The summary."""
    progress = campaign.store.progress
    yield headline(campaign)
    yield verdicts(progress)
    yield covered(progress)
    tenths = progress.memory_by_tenth()
    if tenths:
        yield f"most memory of a worker by tenth of the campaign, MiB: {' '.join(f'{one / MIB:.0f}' for one in tenths)}"
    if line := memory(progress):
        yield line
    for note, count in progress.notes.items():
        yield f"{note}: {count:,}"
    if progress.findings:
        yield findings(progress)
        yield f"the findings are in {campaign.store.path / 'findings'}"


def first_line(text: str) -> str:
    """The first line of a message."""
    return text.partition("\n")[0]


def figures(campaign: Campaign) -> dict[str, object]:
    """The summary, for machines."""
    progress = campaign.store.progress
    ran = {"seconds": round(campaign.seconds, 3), "programs": progress.programs - campaign.before}
    return {"directory": str(campaign.store.path), "this_run": ran, **progress.to_json(), "there_is": dict(there_is())}
