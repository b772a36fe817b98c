"""The language put together from its parts, and the entry points of the reader."""

import ast
import gc
from collections.abc import Mapping
from pathlib import Path

from refmlc.diag import Diagnostic, Source, error, fail
from refmlc.diag.catalogue import BAD_FILE, DEPTH_EXHAUSTED, NOT_TVMSCRIPT, TEXT_TOO_LARGE
from refmlc.lang.ir.module import IRModule
from refmlc.lang.script.reader.deadline import SECONDS, Deadline
from refmlc.lang.script.reader.language import LANGUAGE
from refmlc.lang.script.reader.macros import MACROS
from refmlc.lang.script.reader.module import Language
from refmlc.lang.script.reader.program import read_program
from refmlc.lang.script.reader.relax_func import relax_reader
from refmlc.lang.script.reader.relax_table import RELAX
from refmlc.lang.script.reader.syntax import LIMIT, Spans, decoded, parsed
from refmlc.lang.script.reader.table import Table, merged
from refmlc.lang.script.reader.tir_func import read_prim_func
from refmlc.lang.script.reader.tir_table import TENSORIR
from refmlc.lang.script.reader.units import Program
from refmlc.lang.script.reader.values import Meta
from refmlc.lang.script.tirx.constructs import TIRX
from refmlc.lang.script.tirx.templates import JIT, TEMPLATES
from refmlc.system.regular import open_regular

TVMSCRIPT = Language(
    merged(LANGUAGE, TIRX, TENSORIR, RELAX, Table(families=(MACROS, TEMPLATES))),
    {"T.prim_func": read_prim_func, JIT: read_prim_func, "R.function": relax_reader(merged(RELAX, LANGUAGE, TENSORIR))},
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
    return single(program_of(source, names, max_seconds=max_seconds))


def single(program: Program, name: str = "") -> IRModule:
    """The only module of a program, or the one called `name`. Fails with its problems; RM103 for none, or several.

    A module of functions is called by each of them.
    """
    units = [unit for unit in program.units if unit.module is not None and unit.answers_to(name)]
    if not name or not units:
        program.check()
    if len(units) == 1 and units[0].module is not None:
        return units[0].module
    start = next((note.span for note in program.notes), None) or Spans(program.source).whole()
    if not units:
        message = f"the text holds no module `{name}`" if name else "the text holds no module and no function"
        raise fail(NOT_TVMSCRIPT, message, start, *_lines(program))
    titles = ", ".join(f"`{unit.name}`" for unit in units)
    helps = ("name one of them: `FILE::NAME`",)
    message = f"the text holds {len(units)} modules, one is read: {titles}"
    raise error(Diagnostic(NOT_TVMSCRIPT, message, units[1].span, helps=helps))


def _lines(program: Program) -> list[str]:
    """What was skipped, in a line each."""
    return [f"line {note.span.line}: {note.message}" for note in program.notes if note.span is not None][:5]


def program_of(
    source: Source,
    names: Mapping[str, Meta] | None = None,
    *,
    tree: ast.Module | None = None,
    max_seconds: float = SECONDS,
) -> Program:
    """All modules that `source` defines, and what of it is skipped; `tree` is a part of it that is read alone.

    Fails as `read`, but keeps the problems of a module in its unit.
    """
    deadline = Deadline(max_seconds)
    collecting = gc.isenabled()
    gc.disable()  # reading makes many objects and no garbage: the collector would take half of the time
    try:
        return read_program(tree or parsed(source), Spans(source), TVMSCRIPT, names, deadline=deadline)
    except RecursionError:
        message = "the text nests deeper than the reader goes"
        raise fail(DEPTH_EXHAUSTED, message, Spans(source).whole()) from None
    finally:
        if collecting:
            gc.enable()


def read_file(path: str | Path) -> IRModule:
    """The module in the file at `path`; `FILE::NAME` is one of several.

    Fails as `read`, and with RM109 when the file cannot be read.
    """
    file, _, name = str(path).rpartition("::")
    if file and name.isidentifier() and not Path(path).exists():
        return single(program_of(source_of(file)), name)
    return read_source(source_of(path))


def source_of(path: str | Path) -> Source:
    """The text of the file at `path`. Fails: RM102, RM109, RM604."""
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
    return Source(str(place), decoded(data, str(place)))
