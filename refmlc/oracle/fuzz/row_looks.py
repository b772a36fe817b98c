"""What a row of `conformance/known` looks like, to be compared with a finding (`likeness`)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import cast

from refmlc.diag import RefmlcError
from refmlc.lang.dtypes import SCALARS
from refmlc.lang.ir import IRModule
from refmlc.lang.script import read
from refmlc.oracle.fuzz.finding_pattern import (
    ANY,
    CAST,
    DTYPES,
    OF_C_COMPILER,
    PLAIN,
    Uses,
    failure_words,
    group_of,
    kind_of,
    names_in_program,
)
from refmlc.oracle.fuzz.program_uses import branches_in, has_nothing, plainly, scalars_in, uses_in
from refmlc.oracle.reasons import normalised
from refmlc.oracle.record import parts_of, rows_on_record

TYPE = "type"  # how a result of another shape or dtype differs
CODE = re.compile(r"RM\d+")
UNDEFINED = re.compile(r"RM3\d+")  # what a row expects: a finding of a result is on a defined program
MEMORY = ("RM304", "RM305")  # what is outside of a buffer, or was never written
FAILED = re.compile(r"\w+Error: ")
AFTER_PASSES = "after the passes"  # what a row says where no pass is guilty
LOWERING = ("tirx.", "s_tir.")  # passes of TensorIR; a pass of Relax is run on demand
RUNS = re.compile(r"runs|SIG[A-Z]+")  # what a row got, where that is no message
SIGNAL = re.compile(r"SIG[A-Z]+")
SILENT = re.compile(r"DiagnosticError: error: *(\n|$)")
OF_BASE = re.compile(r"As `([a-z0-9-]+)`")
RESULTS = (None, "legalize")
OF_C = "run-c"
DEATHS = ("the process", "no answer")  # they name no place, as a message without a word does not


@dataclass(frozen=True)
class RowLooks:
    """What a row looks like. `exactly`: its messages with dtypes and names; `begins`: how the message begins.

    `messages`: without dtypes, and with and without the names of its program, of which a word of TVM's may be one.

    `of_c`: on the target `c`. `is_silent`: its message has no words. `signal`: what ends the process, `SIGSEGV`.
    `groups`: of the dtypes of its program; one of float32 is taken to hold of float16 too. `how`: how values differ.
    `uses`: operators of its program, `cases`: those that its cases name. `nothing`: a tensor has no elements.
    `is_undefined`: its program is, so that no result of a defined one is like it. `guilty`: the pass that is.
    `scalars`: the scalar operators and casts of its program. `base`: the row whose cause it has (`why`), or itself.
    """

    id: str
    exactly: frozenset[str]
    messages: frozenset[str]
    begins: str
    operators: frozenset[str]
    groups: tuple[str, ...]
    how: str
    uses: Uses
    cases: Uses
    nothing: bool
    is_code: bool
    is_undefined: bool
    of_c: bool
    is_silent: bool
    signal: str
    branches: frozenset[str]
    guilty: str
    scalars: Uses
    base: str


@cache
def looks_of_rows(name: str, version: str, of_c: bool) -> tuple[RowLooks, ...]:
    """What each row about a program that runs looks like."""
    says = {"name": name, "version": version} if version else {"name": name}
    actions = (*RESULTS, OF_C) if of_c else RESULTS
    return tuple(_looks(row) for row in rows_on_record(says) if row.get("action") in actions or _ends_in_a_pass(row))


def _ends_in_a_pass(row: Mapping[str, object]) -> bool:
    """Whether TVM stops with a message in a pass that every program goes through when it is compiled."""
    got, passes = str(row.get("got")), _words(row, "steps")
    return row.get("action") == "pass" and FAILED.match(got) is not None and passes[-1].startswith(LOWERING)


def _module_of(row: Mapping[str, object]) -> IRModule | None:
    """The program of a row; None: it has a model, or a call of PyTorch."""
    try:
        return read(str(row.get("module", "")), "row.py")
    except RefmlcError:
        return None


def _base_of(row: Mapping[str, object]) -> str:
    """The row whose cause a row says that it has; itself where it says none."""
    base = OF_BASE.match(str(row["why"]).strip())
    return str(row["id"]) if base is None else base[1]


def _looks(row: Mapping[str, object]) -> RowLooks:
    module = _module_of(row)
    parts, names = (
        (frozenset[str](), frozenset[str]()) if module is None else (parts_of(module), names_in_program(module))
    )
    dtypes = parts | {str(each[0]) for each in _types(row.get("expected"))}
    groups = {group_of(SCALARS[name]) for name in dtypes if name in SCALARS}
    got = str(row["got"]) if isinstance(row.get("got"), str) else ""
    is_code = CODE.fullmatch(got) is not None
    recorded = [got, *map(str, cast("Iterable[object]", row.get("messages", ())))]
    of_compiler = _words(row, "c_error")
    said_nothing = of_compiler or CODE.fullmatch(got) or RUNS.fullmatch(got)
    messages = frozenset[str]() if of_compiler else frozenset(filter(None, recorded[bool(said_nothing) :]))
    said = got.rpartition("`")[0] if got.count("`") % 2 else got  # a name that is cut off is none
    says_nothing = is_code or of_compiler or RUNS.fullmatch(got) or got.startswith(DEATHS)
    begins = "" if says_nothing else failure_words(said, names).rstrip()
    return RowLooks(
        str(row["id"]),
        frozenset(map(normalised, messages)),
        frozenset(failure_words(message, of) for message in messages for of in (names, ()))
        | frozenset(f"{OF_C_COMPILER}{error}" for error in of_compiler),
        begins,
        frozenset(name for name in parts - PLAIN if not _is_dtype(name) and (not is_code or got in MEMORY)),
        tuple(f"{group} " for group in (*groups, *(["half float"] if "float" in groups else []))),
        "" if got else how_of(row.get("got"), row.get("expected")),
        frozenset() if module is None else uses_in(module),
        frozenset(_uses_of_cases(cast("Iterable[str]", (*_words(row, "cases"), *_words(row, "edges"))))),
        module is not None and has_nothing(module),
        is_code,
        UNDEFINED.fullmatch(str(row.get("expected"))) is not None,
        row.get("action") == OF_C,
        SILENT.match(got) is not None,
        got if SIGNAL.fullmatch(got) else "",
        frozenset() if module is None else branches_in(module),
        str(row.get("guilty", "")),
        frozenset() if module is None else plainly(scalars_in(module)),
        _base_of(row),
    )


def how_of(got: object, expected: object) -> str:
    """How the values of a row differ: in their type, else as the first pair of them that does."""
    if got is not None and expected is not None and _types(got) != _types(expected):
        return TYPE
    for one, other in zip(_numbers(got), _numbers(expected), strict=False):
        if one != other and not (one != one and other != other):  # noqa: PLR0124 - NaN is NaN
            return f"{kind_of(one)} for {kind_of(other)}"
    return ""


def _types(value: object) -> list[tuple[object, ...]]:
    """The dtypes and shapes of tensors as a row writes them."""
    match value:
        case [str(dtype), list(elements), list(shape)]:
            return [(dtype, *shape)] if elements is not None else []
        case [str(dtype), elements]:
            return [(dtype, *_shape(elements))]
        case list(parts):
            return [each for part in parts for each in _types(part)]
    return []


def _shape(elements: object) -> Iterator[int]:
    while isinstance(elements, list):
        yield len(elements)
        elements = elements[0] if elements else None


def _numbers(value: object) -> Iterator[float]:
    """The numbers of tensors as a row writes them: a dtype, nested values, the shape where the values do not say it."""
    match value:
        case [str(), list(elements), *_]:
            yield from _leaves(elements)
        case [str(), int() | float() as number]:
            yield number
        case list(parts):
            for part in parts:
                yield from _numbers(part)


def _leaves(value: object) -> Iterator[float]:
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, int | float):
        yield value


def _uses_of_cases(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What cases are about: `scalar.lt.bool`, `op.cumsum.empty`, and edges: `truncmod bfloat16`."""
    for name in names:
        match name.replace(" ", ".").split("."):
            case ["scalar", operator, dtype]:
                yield operator, dtype
            case ["op", operator, _]:
                yield operator, ANY
            case ["cast", source, target]:
                yield from ((CAST, f"{one} {other}") for one in _meant(source) for other in _meant(target))
            case [operator, dtype]:
                yield operator, dtype


def _meant(pattern: str) -> list[str]:
    """The dtypes that the pattern of an edge means: `float8_*`."""
    return [name for name in map(str, SCALARS) if fnmatchcase(name, pattern)]


def _words(row: Mapping[str, object], key: str) -> Sequence[str]:
    return cast("Sequence[str]", row.get(key, ()))


def _is_dtype(name: str) -> bool:
    return name in SCALARS or DTYPES.fullmatch(name) is not None
