"""The message for an operator without a rule: its name, its node, the line of the model."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from refmlc.diag import RefmlcError, Source, Span, fail
from refmlc.diag.catalogue import UNSUPPORTED_OP
from refmlc.diag.errors import error

FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def unknown(what: str, node: str, trace: object) -> RefmlcError:
    """The finding for `what` (RM501); `trace`: the stack that PyTorch keeps with a node, if it does."""
    return fail(
        UNSUPPORTED_OP,
        f"{what} is not supported",
        span_of(trace),
        f"it is the node `{node}` of the graph",
    )


def placed(refused: RefmlcError, what: str, node: str, trace: object) -> RefmlcError:
    """A finding of a rule, with the operator, the node and the line where they are known."""
    result = refused.diagnostic.at(span_of(trace))
    return error(result.noting(f"{what} is translated here: the node `{node}` of the graph"))


@contextmanager
def told(what: str, node: str, trace: object) -> Iterator[None]:
    """Translate a node in this block: its findings are `placed`."""
    try:
        yield
    except RefmlcError as refused:
        raise placed(refused, what, node, trace) from None


def span_of(trace: object) -> Span | None:
    """The innermost line of a stack, which PyTorch keeps as text; None where it is not to be read."""
    frames = list(FRAME.finditer(trace)) if isinstance(trace, str) else []
    if not frames:
        return None
    file, line = Path(frames[-1]["file"]), int(frames[-1]["line"])
    try:
        source = Source(str(file), file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    text = source.line(line)
    return Span(source, line, len(text) - len(text.lstrip()), line, len(text))
