"""The language put together from its parts, and the entry points of the reader."""

import gc
from collections.abc import Mapping
from pathlib import Path

from refmlc.diag import Source, fail
from refmlc.diag.catalogue import BAD_FILE, DEPTH_EXHAUSTED, TEXT_TOO_LARGE
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script.reader.deadline import SECONDS, Deadline
from refmlc.lang.script.reader.language import LANGUAGE
from refmlc.lang.script.reader.module import Language, read_tree
from refmlc.lang.script.reader.relax_func import relax_reader
from refmlc.lang.script.reader.relax_table import RELAX
from refmlc.lang.script.reader.syntax import LIMIT, Spans, decoded, parsed
from refmlc.lang.script.reader.table import merged
from refmlc.lang.script.reader.tir_func import read_prim_func
from refmlc.lang.script.reader.tir_table import TENSORIR
from refmlc.lang.script.reader.values import Meta
from refmlc.system.regular import open_regular

TVMSCRIPT = Language(
    merged(LANGUAGE, TENSORIR, RELAX),
    {"T.prim_func": read_prim_func, "R.function": relax_reader(merged(RELAX, LANGUAGE, TENSORIR))},
)


def read(text: str | bytes, name: str = "<text>", *, max_seconds: float = SECONDS) -> IRModule:
    """The module that `text` is; a text of functions alone is a module of them.

    Units: `max_seconds` are seconds of the processor. Fails: RM1xx where the text is not TVMScript, RM2xx where a
    static rule is broken that reading needs, RM5xx where refmlc does not know a construct, RM6xx where the text is too
    large, too deep, or takes too long. Nothing in it is executed.
    """
    source = Source(name, decoded(text, name) if isinstance(text, bytes) else text)
    return read_source(source, max_seconds=max_seconds)


def read_source(source: Source, names: Mapping[str, Meta] | None = None, *, max_seconds: float = SECONDS) -> IRModule:
    """The module that `source` is, with `names` defined around it. Fails as `read`."""
    deadline = Deadline(max_seconds)
    collecting = gc.isenabled()
    gc.disable()  # reading makes many objects and no garbage: the collector would take half of the time
    try:
        return read_tree(parsed(source), Spans(source), TVMSCRIPT, names, deadline=deadline)
    except RecursionError:
        message = "the text nests deeper than the reader goes"
        raise fail(DEPTH_EXHAUSTED, message, Spans(source).whole()) from None
    finally:
        if collecting:
            gc.enable()


def read_file(path: str | Path) -> IRModule:
    """The module in the file at `path`. Fails as `read`, and with RM109 when the file cannot be read."""
    place = Path(path)
    try:
        with open_regular(place) as file:
            data = file.read(LIMIT + 1)
    except OSError as bad:
        raise fail(BAD_FILE, f"`{place}`: {bad.strerror or bad}") from None
    except ValueError as bad:
        raise fail(BAD_FILE, f"`{place}`: {bad}") from None
    if len(data) > LIMIT:
        raise fail(TEXT_TOO_LARGE, f"`{place}` holds more than {LIMIT} bytes")
    return read(data, str(place))
