"""The page of a finding: one HTML file that needs nothing else, no network and no script; text in it is text.

The difference is drawn as a map: a cell is an element, or a tile of many; its colour is the distance, in steps.

| level | distance in units of the last place (of integers: the difference) |
|-------|-------------------------------------------------------------------|
| 0     | 0                                                                 |
| 1 … 6 | at most 1, 4, 16, 256, 65536, and more than that                  |
| 7     | from or to NaN                                                    |

A tile has the level of its worst element. Axes before the last are rows.

Jinja2 escapes whatever is put into the template; the only marked-up text is Pygments' (which escapes too). A policy in
the head forbids every request besides. Needs the extra `[report]`.
"""

import platform
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import jinja2
import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import RefmlcError
from refmlc.lang.dtypes import DType
from refmlc.lang.ir import relax
from refmlc.observe.why import Slice, outline, why
from refmlc.oracle.blame import Blame
from refmlc.oracle.compare import distance
from refmlc.oracle.difference import Difference
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.listing import DARK, LIGHT, Mark, lines_of, style
from refmlc.oracle.evidence.record import case_of, text_of
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.parts import parts
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of
from refmlc.vm.parameters import parameters_of

TOPS = (1, 4, 16, 256, 65536)
NAN_LEVEL = 7
MOST_CELLS = 48
MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class HeatTile:
    """A rectangle of the map. Units: cells. `title` says which elements, and the worst."""

    row: int
    column: int
    level: int
    title: str


@dataclass(frozen=True)
class Heat:
    """The map: its size in cells, its tiles that differ, how many elements a tile has along each side."""

    rows: int
    columns: int
    tiles: tuple[HeatTile, ...]
    step: tuple[int, int]


def level(steps: int | None) -> int:
    """The level of a distance."""
    if steps is None:
        return NAN_LEVEL
    return 0 if steps == 0 else next((number for number, top in enumerate(TOPS, 1) if steps <= top), len(TOPS) + 1)


def heat(actual: Tensor, expected: Tensor) -> Heat | None:
    """The map of two tensors of one shape and dtype; None where there are too many elements, or none."""
    if actual.shape != expected.shape or not 0 < actual.size <= MOST_ELEMENTS or actual.dtype.kind == "handle":
        return None
    shape = actual.array.shape or (1,)
    rows, columns = int(np.prod(shape[:-1])), shape[-1]
    actual_array, expected_array = (
        np.ascontiguousarray(each.array).reshape(rows, columns) for each in (actual, expected)
    )
    step = (-(-rows // MOST_CELLS), -(-columns // MOST_CELLS))
    worst: dict[tuple[int, int], tuple[int, str]] = {}
    for row, column in _differing_places(actual_array, expected_array):
        steps = distance(actual_array[row, column].item(), expected_array[row, column].item(), actual.dtype.scalar)
        rank = level(steps)
        cell = (row // step[0], column // step[1])
        if rank > worst.get(cell, (0, ""))[0]:
            worst[cell] = (rank, _title(shape, row * columns + column, actual_array, expected_array, steps))
    tiles = tuple(HeatTile(row, column, rank, title) for (row, column), (rank, title) in sorted(worst.items()))
    return Heat(-(-rows // step[0]), -(-columns // step[1]), tiles, step)


def _differing_places(actual: np.ndarray, expected: np.ndarray) -> Iterator[tuple[int, int]]:
    """Where the bits differ."""
    code = f"u{actual.dtype.itemsize}"
    rows, columns = np.nonzero(actual.view(code) != expected.view(code))
    yield from zip(rows.tolist(), columns.tolist(), strict=True)


def _title(
    shape: tuple[int, ...], flat: int, actual_elements: np.ndarray, expected_elements: np.ndarray, steps: int | None
) -> str:
    index = ", ".join(str(int(at)) for at in np.unravel_index(flat, shape))
    far = "NaN on one side" if steps is None else f"{steps} ulp"
    return f"[{index}]: {actual_elements.reshape(-1)[flat]!s}, expected {expected_elements.reshape(-1)[flat]!s} ({far})"


def rows_of(actual: Tensor, expected: Tensor, limit: int) -> list[tuple[str, str, str, str]]:
    """The first elements that differ: index, value, expected value, distance."""
    actual_array, expected_array = (np.ascontiguousarray(tensor.array) for tensor in (actual, expected))
    if actual_array.shape != expected_array.shape or actual.dtype.kind == "handle":
        return []
    shape, kind = actual_array.shape or (1,), actual.dtype.scalar
    rows: list[tuple[str, str, str, str]] = []
    for row, column in _differing_places(actual_array.reshape(1, -1), expected_array.reshape(1, -1)):
        if len(rows) == limit:
            break
        index = ", ".join(str(int(at)) for at in np.unravel_index(row + column, shape))
        a, b = actual_array.reshape(-1)[column], expected_array.reshape(-1)[column]
        rows.append((f"[{index}]", str(a), str(b), _far(a.item(), b.item(), kind)))
    return rows


def _far(a: float, b: float, kind: DType) -> str:
    steps = distance(a, b, kind)
    return "NaN" if steps is None else str(steps)


MOST_ROWS = 20
MOST_VALUES = 32
WIDEST_BAR = 16


@dataclass(frozen=True)
class ArgumentRow:
    name: str
    kind: str
    values: str


@dataclass(frozen=True)
class DifferenceText:
    """A difference in words."""

    index: str
    actual: str
    expected: str
    ulps: str
    bound: str
    wrong: int
    total: int
    guess: str
    note: str


def write_page(finding: Finding, path: Path | str, blame: Blame | None = None, *, command: str = "") -> None:
    """Write the page of `finding` to `path`. Fails: RM109 (the file), RM111 (an argument that cannot be written)."""
    write_html(page(finding, blame, command=command), path)


def write_html(text: str, path: Path | str) -> None:
    """Write a page. Fails: RM109."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise fail(BAD_FILE, f"`{path}`: {problem.strerror or problem}") from None


def page(finding: Finding, blame: Blame | None = None, *, command: str = "") -> str:
    """The page as a text; `command` makes the finding again, if replaying its case does not. Fails: RM111."""
    case = case_of(finding)
    explanation = slice_of(finding, case)
    difference = finding.verdict.difference
    tensors = None
    if isinstance(finding.actual, Tensor) and isinstance(finding.expected, Tensor):
        tensors = (finding.actual, finding.expected)
    return template("page.html").render(
        code=finding.code.id,
        title=finding.diagnostic.message,
        explanation=finding.code.explanation,
        implementation=finding.implementation or "the program",
        call=finding.call + 1,
        func=case.func,
        case_name=finding.case.name,
        verdict=str(finding.verdict),
        notes=finding.diagnostic.notes,
        blame="" if blame is None else str(blame),
        lines=lines_of(case.text, _marks(case, explanation)),
        arguments=_arguments(case),
        other=[] if finding.other is None else lines_of(text_of(finding.other.module), []),
        part=finding.part,
        difference=None if difference is None else _difference_text(difference),
        heat=None if tensors is None else heat(*tensors),
        rows=[] if tensors is None else rows_of(*tensors, MOST_ROWS),
        histogram=[] if difference is None else _bars(difference),
        outline=None if explanation is None else outline(explanation),
        report="" if finding.reference.report is None else finding.reference.report.text(),
        command=command or shlex.join(["refmlc", "replay", f"{case.id}.toml", *_impl(finding)]),
        case_id=case.id,
        case=case.toml(),
        versions=versions([("implementation", finding.implementation)] if finding.implementation else []),
        light_style=style(LIGHT),
        dark_style=style(DARK),
    )


@lru_cache(maxsize=2)
def template(name: str) -> jinja2.Template:
    """The template `name`, in which whatever is put is escaped."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined).get_template(name)


def slice_of(finding: Finding, case: CaseFile) -> Slice | None:
    """Why the program gives the first wrong element its value; None where it gives none, or the run says otherwise."""
    difference, answer = finding.verdict.difference, finding.reference.answer
    if difference is None or not isinstance(answer, Ended):
        return None
    labels = [part.label for part in parts(finding.case.module, finding.case.func, answer)]
    if finding.part not in labels:
        return None
    name = finding.part.strip("`").replace("the result", "result").replace("`, field ", ".").replace(", field ", ".")
    try:
        return why(case.module, case.func, case.arguments(), name, difference.index)
    except RefmlcError:
        return None


def _marks(case: CaseFile, explanation: Slice | None) -> list[Mark]:
    """The lines that matter: where the program has no meaning, and the stores that made the element."""
    marks: dict[int, str] = {}
    for call in case.calls:
        line, _, _ = str(call.assertion.get("place", "")).partition(":")
        if line:
            marks[int(line)] = f"{call.assertion.get('code')}: the program has no meaning here"
    for write in () if explanation is None else explanation.writes.values():
        if write.span is not None and write.span.source.text == case.text:
            marks.setdefault(write.span.line, f"writes `{write.element}`, which this element depends on")
    return [Mark(line, why) for line, why in sorted(marks.items())]


def _arguments(case: CaseFile) -> list[ArgumentRow]:
    function = case.module.functions.get(case.func)
    parameters = [] if function is None or isinstance(function, relax.ExternFunc) else parameters_of(function)
    rows = []
    for number, arg in enumerate(case.arguments()):
        name = parameters[number].name if number < len(parameters) else f"argument {number}"
        rows.append(ArgumentRow(name, kind_of(arg), _values(arg)))
    return rows


def _values(arg: object) -> str:
    if not isinstance(arg, Tensor):
        return repr(arg)
    if not arg.initialised:
        return "not all initialised"
    flat = np.ascontiguousarray(arg.array).reshape(-1)
    more = ", …" if flat.size > MOST_VALUES else ""
    return ", ".join(str(value) for value in flat[:MOST_VALUES]) + more


def _difference_text(difference: Difference) -> DifferenceText:
    return DifferenceText(
        f"[{', '.join(map(str, difference.index))}]",
        repr(difference.actual),
        repr(difference.expected),
        "NaN on one side" if difference.ulps is None else f"{difference.ulps} ulp",
        "the bits" if difference.bound is None else f"{difference.bound:.3g}, certified",
        difference.wrong,
        difference.total,
        difference.guess,
        difference.note,
    )


def _bars(difference: Difference) -> list[tuple[str, int, float]]:
    most = max(difference.histogram.values(), default=1)
    return [(name, count, round(WIDEST_BAR * count / most, 2)) for name, count in difference.histogram.items()]


def _impl(finding: Finding) -> list[str]:
    """The option that names the implementation, where there is one."""
    return ["--impl", finding.implementation] if finding.implementation else []


def versions(more: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """What the page was made with."""
    return [
        ("refmlc", version("refmlc")),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("machine", f"{platform.system()} {platform.machine()}"),
        *more,
    ]
