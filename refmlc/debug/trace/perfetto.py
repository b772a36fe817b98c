"""A trace as the Perfetto viewer (and chrome://tracing) opens it: Chrome's trace events. A step is a microsecond.

| event                  | becomes                                                     |
|------------------------|-------------------------------------------------------------|
| `call`, `bind`, `iter`, `block` | a slice: `B`, and `E` where it ends                 |
| `load`, `store`, `forget`, `alloc`, `fail` | an instant `i`, with the value           |
| `bound`                | the counters `nan` and `inf`: elements of the value          |
| a call's end           | the counter `stores`: the kept stores so far                  |
| threads                | tracks of a second process: `perfetto_threads`                |

`tests/unit/debug/test_debug_trace_perfetto.py` loads such a file in Perfetto and queries it.
"""

from collections.abc import Iterator
from math import isfinite

from refmlc.debug.trace.events import EventKind, Trace
from refmlc.debug.trace.perfetto_threads import of_threads

OPENS = (EventKind.CALL, EventKind.BIND, EventKind.ITER, EventKind.BLOCK)
Entry = dict[str, object]


def as_perfetto(trace: Trace) -> dict[str, object]:
    """The object; every `B` has its `E`, and they nest."""
    return {"traceEvents": [*_events(trace), *of_threads(trace)], "displayTimeUnit": "ns", "otherData": _about(trace)}


def _about(trace: Trace) -> Entry:
    failure = "" if trace.failure is None else f"{trace.failure.code.id}: {trace.failure.message}"
    return {"unit": "one step", "events": trace.total, "sampling": trace.sampling_note(), "failure": failure}


def _events(trace: Trace) -> Iterator[Entry]:
    yield _entry("M", "process_name", 0) | {"args": {"name": f"refmlc: {trace.function}"}}
    open_: list[tuple[int, str]] = []
    bases, stores = [0], 0
    step = 0
    for event in range(len(trace)):
        step = trace.step(event)
        site = trace.sites[trace.site[event]]
        depth = bases[-1] + site.depth
        while site.kind is not EventKind.CALL and open_ and open_[-1][0] >= depth:
            yield _entry("E", open_.pop()[1], step)
        if site.kind in OPENS:
            if site.kind is EventKind.CALL:
                depth = open_[-1][0] + 1 if open_ else 0
                bases.append(depth)
            name = _name(trace, event)
            yield _entry("B", name, step) | {"args": _axes(trace, event)}
            open_.append((depth, name))
        elif site.kind in (EventKind.RETURN, EventKind.BOUND):
            if site.kind is EventKind.RETURN:
                bases.pop()
                yield _entry("C", "stores", step) | {"args": {"kept": stores}}
            else:
                binding = trace.bindings[trace.at[event]]
                yield _entry("C", "special", step) | {"args": {"nan": binding.nan, "inf": binding.inf}}
        else:
            stores += site.kind is EventKind.STORE
            args = {} if site.kind in (EventKind.ALLOC, EventKind.FAIL) else {"value": _number(trace.value[event])}
            yield _entry("i", f"{site.kind.value} {site.name}", step) | {"s": "t", "args": args}
    for _, name in reversed(open_):
        yield _entry("E", name, step + 1)


def _entry(phase: str, name: str, step: int) -> Entry:
    return {"ph": phase, "name": name, "ts": step, "pid": 1, "tid": 1}


def _name(trace: Trace, event: int) -> str:
    site = trace.sites[trace.site[event]]
    return f"{site.name} = {trace.value[event]:.0f}" if site.kind is EventKind.ITER else site.name


def _axes(trace: Trace, event: int) -> Entry:
    site, at = trace.sites[trace.site[event]], trace.at[event]
    return {name: trace.ints[at + number] for number, name in enumerate(site.axes)}


def _number(value: float) -> object:
    return value if isfinite(value) else str(value)
