"""Threads by time in the Perfetto viewer: a process beside that of the events, with a track for each thread.

| of the trace               | becomes                                                                      |
|----------------------------|------------------------------------------------------------------------------|
| a turn                     | a slice `runs` on the track of its thread                                     |
| a wait                     | a slice named by what is waited for; `args`: the line, who ended it and when  |
| the end of a wait          | an arrow from the thread that ends it to the next turn of the one that waited |
| a block of threads         | a slice on the first track                                                    |
| an asynchronous copy       | a slice of its own from its issue to its completion                           |

Where lanes of a warp wait for the same end, one of them has the arrow.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from refmlc.debug.trace.events import Trace
from refmlc.debug.trace.threads import NEVER
from refmlc.diag import Span
from refmlc.run.interp.threads.group import WARP

PROCESS = 2
BLOCKS = 0  # the track of blocks; that of a thread is its number + 1
INSIDE = 0.5  # an arrow begins within the step before the wait ends
Entry = dict[str, object]


def of_threads(trace: Trace) -> Iterator[Entry]:
    """The events of the tracks; none where no threads take turns."""
    turns = _rows(trace.threads.turns, 4)
    if not turns:
        return
    yield _name("process_name", BLOCKS, f"threads of {trace.function}")
    yield _name("thread_name", BLOCKS, "blocks")
    for thread in sorted({turn[0] for turn in turns}):
        yield _name("thread_name", thread + 1, f"thread {thread}: warp {thread // WARP}, lane {thread % WARP}")
        yield _entry("M", "thread_sort_index", thread + 1, 0) | {"args": {"sort_index": thread + 1}}
    yield from _blocks(trace)
    yield from _turns(trace, turns)
    for number, copy in enumerate(trace.threads.copies):
        name = f"{copy.nbytes} bytes into {copy.into}"
        about = {"cat": "copy", "id": number}
        begins = _entry("b", name, copy.thread + 1, copy.begin) | about
        yield begins | {"args": {"issued by": f"thread {copy.thread}", **_line(copy.span)}}
        yield _entry("e", name, copy.thread + 1, trace.total if copy.end == NEVER else copy.end) | about


def _blocks(trace: Trace) -> Iterator[Entry]:
    rows = _rows(trace.threads.blocks, 4)
    ends = [*(row[0] for row in rows[1:]), trace.total]
    for (begin, *indices), end in zip(rows, ends, strict=True):
        name = ", ".join(str(index) for index in indices if index >= 0)
        yield _slice(f"block {name}".strip(), BLOCKS, begin, end)


def _turns(trace: Trace, turns: Sequence[Sequence[int]]) -> Iterator[Entry]:
    ends = {row: (thread, step) for row, thread, step in _rows(trace.threads.ends, 3)}
    following: dict[int, int] = {}  # of a thread: the first step of its next turn
    arrows = set[tuple[int, ...]]()
    numbers = count()
    for row in reversed(range(len(turns))):
        thread, begin, end, wait = turns[row]
        yield _slice("runs", thread + 1, begin, end)
        until, following[thread] = following.get(thread, trace.total), begin
        if wait == NEVER:
            continue
        waited, cause = trace.threads.waits[wait], ends.get(row)
        if cause is not None and cause[0] == thread:
            cause = None  # it is the last to come
        by: Entry = {} if cause is None else {"ended by": f"thread {cause[0]}", "at step": cause[1]}
        yield _slice(f"waits: {waited.text}", thread + 1, end, until) | {"args": {**_line(waited.span), **by}}
        if cause is not None and (thread // WARP, wait, *cause) not in arrows:
            arrows.add((thread // WARP, wait, *cause))
            arrow = {"cat": "wait", "id": next(numbers)}
            yield _entry("s", "ends the wait", cause[0] + 1, cause[1] - INSIDE) | arrow
            yield _entry("f", "ends the wait", thread + 1, until) | arrow | {"bp": "e"}


def _rows(numbers: Sequence[int], width: int) -> list[Sequence[int]]:
    return [numbers[first : first + width] for first in range(0, len(numbers), width)]


def _line(span: Span | None) -> Entry:
    return {} if span is None else {"line": span.line}


def _name(kind: str, track: int, name: str) -> Entry:
    return _entry("M", kind, track, 0) | {"args": {"name": name}}


def _slice(name: str, track: int, begin: int, end: int) -> Entry:
    return _entry("X", name, track, begin) | {"dur": end - begin}


def _entry(phase: str, name: str, track: int, step: float) -> Entry:
    return {"ph": phase, "name": name, "ts": step, "pid": PROCESS, "tid": track}
