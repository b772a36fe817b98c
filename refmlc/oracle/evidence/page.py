"""The page of a finding: one HTML file that needs nothing else, no network and no script; text in it is text.

Jinja2 escapes whatever is put into the template; the only marked-up text is Pygments' (which escapes too). A policy in
the head forbids every request besides. Needs the extra `[report]`.
"""

import platform
import shlex
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import jinja2
import numpy as np

from refmlc.diag import fail
from refmlc.diag.catalogue import BAD_FILE
from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import relax
from refmlc.observe.why import Slice, outline, why
from refmlc.oracle.blame import Blame
from refmlc.oracle.difference import Difference
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.heat_map import heat, rows_of
from refmlc.oracle.evidence.listing import DARK, LIGHT, Mark, lines_of, style
from refmlc.oracle.evidence.record import case_of, text_of
from refmlc.oracle.finding import Finding
from refmlc.oracle.implementations.implementation import Ended
from refmlc.oracle.parts import parts
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of
from refmlc.vm.parameters import parameters_of

MOST_ROWS = 20
MOST_VALUES = 32
WIDEST_BAR = 16


@dataclass(frozen=True)
class ArgumentRow:
    """An argument."""

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
    text = page(finding, blame, command=command)
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
    return _template().render(
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
        difference=None if difference is None else _shown(difference),
        heat=None if tensors is None else heat(*tensors),
        rows=[] if tensors is None else rows_of(*tensors, MOST_ROWS),
        histogram=[] if difference is None else _bars(difference),
        outline=None if explanation is None else outline(explanation),
        report="" if finding.reference.report is None else finding.reference.report.text(),
        command=command or shlex.join(["refmlc", "replay", f"{case.id}.toml", *_impl(finding)]),
        case_id=case.id,
        case=case.toml(),
        versions=_versions(finding),
        light_style=style(LIGHT),
        dark_style=style(DARK),
    )


@lru_cache(maxsize=1)
def _template() -> jinja2.Template:
    folder = Path(__file__).parent / "templates"
    loader = jinja2.FileSystemLoader(folder)
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined).get_template(
        "page.html"
    )


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


def _shown(difference: Difference) -> DifferenceText:
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


def _versions(finding: Finding) -> list[tuple[str, str]]:
    return [
        ("refmlc", version("refmlc")),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("machine", f"{platform.system()} {platform.machine()}"),
        *([("implementation", finding.implementation)] if finding.implementation else []),
    ]
