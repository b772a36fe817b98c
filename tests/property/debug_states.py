"""What a debugged program is at a moment, to the bit: every variable of every frame, every tensor with its mask."""

from refmlc.debug import Moment, Session
from refmlc.debug.tensors import initialised
from refmlc.run.memory.tensor import Tensor
from refmlc.strategies import Case


def whole(value: object) -> object:
    """A value as something that is equal only where every bit is."""
    match value:
        case Tensor():
            mask = initialised(value)
            cells = bytes(value.storage.bytes) if value.storage.alive else b""
            return (value.shape, str(value.dtype), value.byte_offset, mask.tobytes(), masked(cells, value))
        case tuple():
            return tuple(map(whole, value))
        case float():
            return value.hex()
        case bool() | int() | str() | None:
            return value
        case _:
            return type(value).__name__


def masked(cells: bytes, tensor: Tensor) -> bytes:
    """The bytes that were written; what was not has no value, whatever lies there."""
    unit = tensor.storage.unit or 1
    shadow = tensor.storage.shadow
    return bytes(byte for number, byte in enumerate(cells) if shadow[number // unit])


def state(session: Session) -> object:
    """Where the program stands, and everything that is visible there."""
    frames = session.frames()
    seen = [[(one.name, whole(one.value)) for one in session.variables(frame.index)] for frame in frames]
    stop = session.stop
    span = None if stop is None or stop.span is None else (stop.span.line, stop.span.column)
    return (
        [(frame.kind, frame.name, frame.detail) for frame in frames],
        seen,
        span,
        list(map(whole, session.arguments)),
    )


def walked(session: Session, most: int) -> list[tuple[Moment, object]]:
    """The first moments of a run with the states there, by steps forward alone."""
    found = []
    stop = session.start()
    while len(found) < most and not session.ended:
        found.append((stop.moment, state(session)))
        stop = session.step_in()
    return found


def arguments(case: Case) -> list[object]:
    """The arguments of the case's first call."""
    return list(case.arguments())
