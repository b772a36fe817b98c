"""Threads and their waits as text: threads in the same state share a line."""

from collections.abc import Sequence
from dataclasses import dataclass

from refmlc.debug.thread_data import BarrierState, ThreadState, Waiting, named, ranges
from refmlc.diag import Span
from refmlc.run.interp.threads.group import WARP


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """Threads of one warp in the same state. `current`: the selected one is among them."""

    numbers: str
    warp: str
    lanes: str
    where: str
    current: bool


def rows(threads: Sequence[ThreadState], current: int | None) -> list[ThreadRow]:
    """A row for threads of one warp that stand in the same place and lack the same; the selected one has its own."""
    groups: dict[object, list[ThreadState]] = {}
    for thread in threads:
        alone = thread.number == current
        key = (thread.warp, thread.state, thread.span, thread.waits_for, thread.copies, alone)
        groups.setdefault(key, []).append(thread)
    return [_row(group, current) for group in groups.values()]


def threads_text(threads: Sequence[ThreadState], current: int | None) -> str:
    """A line for each row of threads; an arrow at the selected one."""
    cells = [("", "threads", "warp", "lanes", "where")]
    cells += [
        (">" if row.current else " ", row.numbers, row.warp, row.lanes, row.where) for row in rows(threads, current)
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    lines = [
        " ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[4]]) for row in cells
    ]
    block = threads[0].block
    title = f"block {', '.join(map(str, block))}: " if block else ""
    return "\n".join([f"{title}{len(threads)} threads", *(line.rstrip() for line in lines)])


def _row(group: Sequence[ThreadState], current: int | None) -> ThreadRow:
    first = group[0]
    numbers = [thread.number for thread in group]
    where = first.state if first.span is None else f"{place(first.span)} {first.state}"
    what = f": {first.waits_for}" if first.waits_for else ""
    copies = f" [open copies: {first.copies}]" if first.copies else ""
    lanes = ranges(number % WARP for number in numbers)
    return ThreadRow(ranges(numbers), str(first.warp), lanes, f"{where}{what}{copies}", current in numbers)


def waiting_text(waiting: Waiting) -> str:
    """Each wait and whom it is for; then the circle, or what nobody can end."""
    lines = []
    for wait in waiting.waits:
        lines += [f"{named(wait.threads)} at {place(wait.span)}: {wait.waits_for}", f"    {wait.how}"]
    if waiting.cycle:
        ring = [*waiting.cycle, waiting.cycle[0]]
        lines.append(f"they wait for each other: {' -> '.join(named(waiting.waits[item].threads) for item in ring)}")
    elif waiting.stuck:
        lines += [f"nobody can end the wait of {named(waiting.waits[item].threads)}" for item in waiting.stuck]
    return "\n".join(lines)


def barrier_line(barrier: BarrierState) -> str:
    """A barrier in one line."""
    come = f"{barrier.come} of {barrier.expected} arrivals"
    if barrier.phase is None:
        return f"{barrier.name}: {come}"
    if barrier.nbytes:
        come += f", {barrier.nbytes} bytes to come" if barrier.nbytes > 0 else f", {-barrier.nbytes} bytes not expected"
    copies = f"; open copies: {', '.join(barrier.copies)}" if barrier.copies else ""
    return f"{barrier.name}: phase {barrier.phase} (parity {barrier.phase % 2}) has {come}{copies}"


def place(span: Span | None) -> str:
    """The file and the line."""
    return "<no text>" if span is None else f"{span.source.name}:{span.line}"
