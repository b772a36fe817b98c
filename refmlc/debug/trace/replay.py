"""The tensors at a step of a trace, from its contents and events alone: the algorithm of the page in few lines."""

from array import array
from dataclasses import dataclass

from refmlc.debug.trace.events import NOWHERE, Contents, EventKind, Trace

KNOWN, UNKNOWN = 1, 2


@dataclass(slots=True)
class ReplayState:
    """All cells by address with their values; 0 uninitialised, 1 known, 2 unknown to the trace."""

    values: "array[float]"
    known: bytearray


def replay(trace: Trace, end: int | None = None) -> ReplayState:
    """The state after the kept events before `end` (None: after all)."""
    end = len(trace) if end is None else end
    size = sum(memory.cells for memory in trace.memories if memory.base != NOWHERE)
    state = ReplayState(array("d", bytes(8 * size)), bytearray(size))
    later = iter(trace.contents)
    contents = next(later, None)
    for event in range(end + 1):
        while contents is not None and contents.event <= event:
            _fill(trace, state, contents)
            contents = next(later, None)
        if event < end:
            _apply(trace, state, event)
    return state


def _fill(trace: Trace, state: ReplayState, contents: Contents) -> None:
    row = trace.memories[contents.memory]
    part = slice(row.base, row.base + row.cells)
    if contents.values is None:
        state.known[part] = bytes([UNKNOWN]) * row.cells
    else:
        state.values[part] = contents.values
        state.known[part] = contents.known


def _apply(trace: Trace, state: ReplayState, event: int) -> None:
    at = trace.at[event]
    match trace.sites[trace.site[event]].kind:
        case EventKind.STORE if at != NOWHERE:
            state.values[at] = trace.value[event]
            state.known[at] = KNOWN
        case EventKind.FORGET if at != NOWHERE:
            state.known[at] = 0
        case EventKind.ALLOC:
            row = trace.memories[trace.tensors[at].memory]
            if row.base != NOWHERE:
                state.known[row.base : row.base + row.cells] = bytes(row.cells)
        case _:
            pass


def elements(trace: Trace, tensor: int, state: ReplayState) -> list[float | None]:
    """The cells of a tensor in row-major order, lane by lane; None: not initialised. Empty where it has no address."""
    traced = trace.tensors[tensor]
    if traced.first == NOWHERE:
        return []
    offsets = [0]
    for extent, stride in zip(traced.shape, traced.strides, strict=True):
        offsets = [offset + index * stride for offset in offsets for index in range(extent)]
    addresses = [traced.first + offset * traced.lanes + lane for offset in offsets for lane in range(traced.lanes)]
    return [state.values[address] if state.known[address] == KNOWN else None for address in addresses]
