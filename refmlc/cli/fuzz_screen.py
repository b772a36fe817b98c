"""The display of a campaign while it runs, and its summary."""

import time
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from refmlc.oracle.fuzz.campaign import Campaign
from refmlc.oracle.fuzz.coverage import FAMILIES, there_is
from refmlc.oracle.fuzz.result import Progress
from refmlc.oracle.reasons import reason_lines

MIB = 1 << 20
MOST_FINDINGS = 8  # findings
MOST_REASONS = 8
RED = ("wrong", "refused", "compiler error", "crashed at run time", "hung", "crashed")
COLOURS = {**dict.fromkeys(RED, "red"), "timed out": "yellow", "equal": "green", "defined": "green"}
EVERY = 10.0  # seconds between lines without a screen


class Lines:
    """Lines in place of a screen: one every `EVERY` seconds, and one for each new finding."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._reported: set[str] = set()

    def pending(self, campaign: Campaign) -> Iterator[str]:
        """The lines to print now."""
        progress = campaign.store.progress
        for signature, finding in progress.findings.items():
            if signature not in self._reported:
                self._reported.add(signature)
                state = progress.state(signature)
                what = first_line(finding.message)
                yield f"{finding.code} {finding.path}: {what} ({state}, seed {finding.seed}, {signature})"
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            yield headline(campaign)


def headline(campaign: Campaign) -> str:
    """Progress in one line."""
    progress = campaign.store.progress
    rate = (progress.programs - campaign.before) / campaign.seconds if campaign.seconds else 0.0
    parts = [f"{progress.programs:,} programs", f"{rate:.0f}/s", f"{progress.per_core:.0f}/s per core"]
    parts += [f"{len(progress.findings)} findings", *remaining_time(campaign, rate)]
    return ", ".join(parts)


def remaining_time(campaign: Campaign, rate: float) -> Iterator[str]:
    """The remaining time, if it is known."""
    ways, programs = campaign.ways, campaign.store.progress.programs
    if campaign.over:
        yield "ending"
    elif ways.seconds is not None:
        yield f"{clock(ways.seconds - campaign.seconds)} left"
    elif ways.programs is not None and rate:
        yield f"about {clock((ways.programs - programs) / rate)} left"


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    total = max(0, int(seconds))
    return f"{total // 3600}:{total // 60 % 60:02}:{total % 60:02}"


def screen(campaign: Campaign) -> RenderableType:
    """The content of the screen."""
    progress = campaign.store.progress
    head = Text(headline(campaign), style="bold")
    lines = [coverage(progress), memory(progress), f"findings in {campaign.store.path}"]
    return Group(head, verdicts(progress), *(Text(line, style="dim") for line in lines if line), findings(progress))


def verdicts(progress: Progress) -> Table:
    """The number of calls per path and verdict."""
    kinds = sorted({kind for counts in progress.verdicts.values() for kind in counts})
    table = Table(title="calls", title_justify="left")
    table.add_column("path")
    for kind in kinds:
        table.add_column(kind, justify="right", style=COLOURS.get(kind))
    for path, counts in progress.verdicts.items():
        table.add_row(label(progress, path), *(f"{counts[kind]:,}" if counts[kind] else "" for kind in kinds))
    return table


def label(progress: Progress, path: str) -> str:
    """A path for a column: its version before the program of this machine, whose end a narrow screen leaves out."""
    version = progress.versions.get(path, "")
    return f"{version}: {path}" if version else path


def coverage(progress: Progress) -> str:
    """What the generated programs covered."""
    totals = there_is()
    parts = []
    for family in FAMILIES:
        count = len(progress.coverage.get(family, ()))
        parts.append(f"{count} of {totals[family]} {family}" if family in totals else f"{count} {family}")
    return "covered: " + ", ".join(parts)


def bases(progress: Progress) -> str:
    """How many of the counted programs of each path differ."""
    parts = [
        f"{len(digests):,} of {progress.bases_counted[path]:,} on {path}" for path, digests in progress.bases.items()
    ]
    return f"distinct base programs: {', '.join(parts)}" if parts else ""


def memory(progress: Progress) -> str:
    """The memory of a worker, and its growth."""
    if not progress.memory:
        return ""
    grown = progress.grown()
    tail = "" if grown is None else f", {100 * grown:+.1f} % since the first tenth"
    return f"a worker holds {progress.memory[-1][1] / MIB:.0f} MiB{tail}"


def findings(progress: Progress) -> Table:
    """The findings, the most frequent ones first."""
    table = Table(title=f"{len(progress.findings)} findings", title_justify="left")
    for column in ("code", "path", "what", "state", "times", "seed", "smallest"):
        table.add_column(column, justify="right" if column in ("times", "seed") else "left")
    for finding in sorted(progress.findings.values(), key=lambda finding: -finding.count)[:MOST_FINDINGS]:
        shrunk = progress.shrunk.get(finding.signature, {})
        lines = shrunk.get("lines")
        smallest = f"{lines[0]} lines → {lines[1]}" if isinstance(lines, list) else str(shrunk.get("problem", ""))
        words = (first_line(finding.message), progress.state(finding.signature))
        table.add_row(
            finding.code, label(progress, finding.path), *words, f"{finding.count:,}", str(finding.seed), smallest
        )
    return table


def summary(campaign: Campaign) -> Iterator[RenderableType]:
    """The final report on a campaign."""
    progress = campaign.store.progress
    yield headline(campaign)
    yield verdicts(progress)
    yield coverage(progress)
    tenths = progress.memory_by_tenth()
    if tenths:
        sizes = " ".join(f"{size / MIB:.0f}" for size in tenths)
        yield f"maximum memory of a worker by tenth of the campaign, MiB: {sizes}"
    if line := memory(progress):
        yield line
    if progress.findings:
        curve = " ".join(f"{rate:.0f}" for rate in progress.saturation())
        yield f"new signatures per 10,000 programs, by quarter of the campaign: {curve}"
    if line := bases(progress):
        yield line
    if progress.excluded:
        yield f"left out by now, for causes that were met: {', '.join(progress.excluded)}"
    for note, count in progress.notes.items():
        yield f"{note}: {count:,}"
    for path, reasons in progress.reasons.items():
        yield f"{path}, calls that were not compared:"
        yield from (f"  {line}" for line in reason_lines(reasons, MOST_REASONS))
    if progress.findings:
        yield findings(progress)
        yield f"the findings are in {campaign.store.path / 'findings'}"


def first_line(text: str) -> str:
    """The first line of a message."""
    return text.partition("\n")[0]


def figures(campaign: Campaign) -> dict[str, object]:
    """The summary, for machines."""
    progress = campaign.store.progress
    this_run = {"seconds": round(campaign.seconds, 3), "programs": progress.programs - campaign.before}
    return {
        "directory": str(campaign.store.path),
        "this_run": this_run,
        **progress.to_json(),
        "there_is": dict(there_is()),
    }
