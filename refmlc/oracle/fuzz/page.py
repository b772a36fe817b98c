"""The page of a campaign: one HTML file that needs nothing else, no network and no script; text in it is text.

| part               | shows                                                                                   |
|--------------------|-----------------------------------------------------------------------------------------|
| figures            | programs, speed, distinct base programs, what is left out by now                        |
| the curve          | new causes per 10,000 programs, along the campaign: near 0, the space is dry            |
| verdicts           | calls by path and verdict                                                               |
| findings by cause  | the state, the smallest program, how often, the seed; most frequent first               |
| not compared       | why defined calls of each path were not compared                                        |
| coverage           | parts by family, and what is not covered by name                                        |

It is made as the pages of evidence are: in a template in which all text is escaped. Extra `[report]`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from refmlc.oracle.evidence.listing import DARK, LIGHT, style
from refmlc.oracle.evidence.page import template, versions, write_html
from refmlc.oracle.fuzz.coverage_report import coverage_of
from refmlc.oracle.fuzz.ledger import cause_text
from refmlc.oracle.fuzz.result import NEW, PER, FindingRecord, Progress
from refmlc.oracle.reasons import reason_lines

MOST_REASONS = 20
MOST_TEXT = 6000  # characters of a program
PIECES = 20  # of the curve
WIDTH, HEIGHT, LEFT, BOTTOM = 640, 180, 48, 24


@dataclass(frozen=True)
class FindingRow:
    """A finding on the page, all of it text."""

    cause: str
    state: str
    is_new: bool
    code: str
    path: str
    verdict: str
    count: int
    seed: str
    signature: str
    message: str
    program: str
    smaller: str


@dataclass(frozen=True)
class CurveBar:
    """A piece of the campaign on the curve. Units: pixels; `title` in words."""

    left: float
    top: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Curve:
    """New causes per 10,000 programs, by pieces of the campaign. `top`: the greatest rate; `programs`: of all."""

    bars: tuple[CurveBar, ...]
    top: float
    programs: int

    @property
    def rate(self) -> str:
        """The greatest rate as text."""
        return f"{self.top:,.0f}" if self.top >= 10 else f"{self.top:.1f}"


def write_campaign_page(progress: Progress, path: Path) -> None:
    """Write the page of a campaign to `path`. Fails: RM109."""
    write_html(campaign_page(progress), path)


def campaign_page(progress: Progress) -> str:
    """The page as a text."""
    kinds = sorted({kind for counts in progress.verdicts.values() for kind in counts})
    rows = list(finding_rows(progress))
    return template("campaign.html").render(
        title=f"campaign of {progress.programs:,} programs, {len(rows)} findings",
        new=sum(row.is_new for row in rows),
        figures=list(figures(progress)),
        curve=curve(progress),
        size=(WIDTH, HEIGHT, LEFT, BOTTOM),
        kinds=kinds,
        verdicts=[(path, [counts[kind] for kind in kinds]) for path, counts in sorted(progress.verdicts.items())],
        findings=rows,
        reasons=[(path, reason_lines(reasons, MOST_REASONS)) for path, reasons in sorted(progress.reasons.items())],
        coverage=list(coverage_of(progress).items()),
        settings=progress.settings.to_toml(),
        versions=versions(sorted(progress.versions.items())),
        light_style=style(LIGHT),
        dark_style=style(DARK),
    )


def figures(progress: Progress) -> Iterator[tuple[str, str]]:
    """The figures of a campaign: what, and how much."""
    yield "programs", f"{progress.programs:,} in {len(progress.done):,} batches"
    yield "programs per second and core", f"{progress.per_core:.1f}"
    yield "findings", f"{len(progress.findings):,}"
    for path, digests in sorted(progress.bases.items()):
        yield f"distinct base programs, {path}", f"{len(digests):,} of {progress.bases_counted[path]:,} counted"
    if progress.excluded:
        yield "left out by now, for causes that were met", ", ".join(progress.excluded)
    for note, count in sorted(progress.notes.items()):
        yield note, f"{count:,}"


def finding_rows(progress: Progress) -> Iterator[FindingRow]:
    """The findings: new ones first, then by how often."""
    states = {signature: progress.state(signature) for signature in progress.findings}

    def rank(finding: FindingRecord) -> tuple[bool, int, int]:
        return states[finding.signature] != NEW, -finding.count, finding.number

    for finding in sorted(progress.findings.values(), key=rank):
        shrunk = progress.shrunk.get(finding.signature, {})
        case = shrunk.get("case") or finding.case
        text = str(case.get("text", "")) if isinstance(case, dict) else ""
        steps = case.get("steps") if isinstance(case, dict) else None
        trace = "".join(f"\n# {step}" for step in steps) if isinstance(steps, list) else ""
        lines = shrunk.get("lines")
        yield FindingRow(
            cause_text(finding, shrunk),
            states[finding.signature],
            states[finding.signature] == NEW,
            finding.code,
            f"{finding.path} {progress.versions.get(finding.path, '')}".rstrip(),
            finding.verdict,
            finding.count,
            str(finding.seed),
            finding.signature,
            finding.message,
            f"{text}{trace}"[:MOST_TEXT],
            f"{lines[0]} → {lines[1]} lines" if isinstance(lines, list) and len(lines) == 2 else "",
        )


def curve(progress: Progress) -> Curve | None:
    """The curve of new causes; None: no program ran. Batches count in the order in which they ended."""
    if not progress.programs:
        return None
    edges = [progress.programs * piece / PIECES for piece in range(PIECES + 1)]
    rates = [
        PER * (_causes_at(progress.curve, high) - _causes_at(progress.curve, low)) / (high - low)
        for low, high in pairwise(edges)
    ]
    top = max(*rates, 1e-9)
    width = (WIDTH - LEFT) / PIECES
    bars = [
        CurveBar(
            round(LEFT + at * width, 1),
            round((HEIGHT - BOTTOM) * (1 - rate / top), 1),
            round(width - 1, 1),
            round((HEIGHT - BOTTOM) * rate / top, 1),
            f"programs {edges[at]:,.0f} to {edges[at + 1]:,.0f}: {rate:,.1f} new causes per {PER:,}",
        )
        for at, rate in enumerate(rates)
    ]
    return Curve(tuple(bars), max(rates), progress.programs)


def _causes_at(points: Sequence[tuple[int, int]], programs: float) -> int:
    """The number of causes after that many programs."""
    return max((causes for done, causes in points if done <= programs), default=0)
