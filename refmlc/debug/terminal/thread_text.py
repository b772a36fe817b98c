"""Threads and their waits as text: threads in the same state share a line."""

from collections.abc import Sequence

from refmlc.debug.thread_data import BarrierState, ThreadState, Waiting, named, ranges
from refmlc.diag import Span
from refmlc.run.interp.threads.group import WARP

Row = tuple[str, str, str, str, str]


def threads_text(threads: Sequence[ThreadState], current: int | None) -> str:
    """A line for threads of one warp that stand in the same place and lack the same; an arrow at the selected one."""
    groups: dict[object, list[ThreadState]] = {}
    for thread in threads:
        alone = thread.number == current
        key = (thread.warp, thread.state, thread.span, thread.waits_for, thread.copies, alone)
        groups.setdefault(key, []).append(thread)
    rows: list[Row] = [("", "threads", "warp", "lanes", "where")]
    rows += [_row(group, current) for group in groups.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        " ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    ]
    block = threads[0].block
    title = f"block {', '.join(map(str, block))}: " if block else ""
    return "\n".join([f"{title}{len(threads)} threads", *(line.rstrip() for line in lines)])


def _row(group: Sequence[ThreadState], current: int | None) -> Row:
    first = group[0]
    numbers = [thread.number for thread in group]
    where = first.state if first.span is None else f"{place(first.span)} {first.state}"
    what = f": {first.waits_for}" if first.waits_for else ""
    copies = f" [open copies: {first.copies}]" if first.copies else ""
    sign = ">" if current in numbers else " "
    lanes = ranges(number % WARP for number in numbers)
    return sign, ranges(numbers), str(first.warp), lanes, f"{where}{what}{copies}"


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
