"""The page of a run: one HTML file that needs nothing else, works from a file, and asks for nothing over the network.

A case is shown as tokens of its module, and texts of arguments and assertions:

| key                                               | holds                                                         |
|---------------------------------------------------|---------------------------------------------------------------|
| `id`, `clauses`, `features`, `provenance`, `func` | as the file has them                                          |
| `module`                                          | the number of its module                                      |
| `marks`                                           | lines of the module where a call must stop                    |
| `calls`                                           | `args` and `wanted`, a text each                              |
| `results`                                         | by implementation: a verdict, null if not run, or its details |

A module is `text` and `runs`: classes of Pygments and lengths in turn, so that the page makes text of it and nothing
else.

Everything that cases, modules and answers say is data in the page, and becomes text nodes there: nothing of it is ever
read as HTML or as a script. A policy in the head permits the one script of the page by its hash, and no request.
Needs the extra `[report]`.
"""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files

import jinja2
from markupsafe import Markup
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES

from refmlc.diag.errors import RefmlcError
from refmlc.lang.ir import relax
from refmlc.lang.spec import AREAS, clauses
from refmlc.oracle.evidence.case_file import CaseFile
from refmlc.oracle.evidence.listing import DARK, LIGHT, style
from refmlc.oracle.evidence.literals import tensor_of
from refmlc.oracle.evidence.replay import first_options
from refmlc.oracle.suite.report.text import summary
from refmlc.oracle.suite.result import FAULTS, GRAVEST, NOT_SCORED, CaseResult, CaseVerdict, SuiteReport
from refmlc.oracle.suite.score import values_text
from refmlc.oracle.suite.suite import Suite
from refmlc.oracle.toml_text import Data
from refmlc.run.memory.tensor import Tensor
from refmlc.run.memory.values import kind_of
from refmlc.vm.parameters import parameters_of

MOST_TEXT = 20_000  # characters of a module
MOST_LINE = 1200  # characters of an argument


def module_data(text: str) -> dict[str, object]:
    """The module and its tokens."""
    shortened = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")[:MOST_TEXT]
    runs: list[tuple[str, int]] = []
    for kind, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens(shortened):
        name = STANDARD_TYPES.get(kind, "")
        if runs and (runs[-1][0] == name or not value.strip()):
            runs[-1] = (runs[-1][0], runs[-1][1] + len(value))
        else:
            runs.append((name, len(value)))
    return {"text": shortened, "runs": [part for run in runs for part in run]}


def case_data(
    case: CaseFile, module: int, results: Sequence[CaseResult | None], reports: Sequence[SuiteReport]
) -> Data:
    """The case with its results in each report."""
    places = [str(call.assertion.get("place", "")).partition(":")[0] for call in case.calls]
    before = len(case.text) - len(case.text.lstrip("\r\n"))
    calls: list[Data] = [
        {"args": arguments_text(case, number), "wanted": wanted_text(call.assertion)}
        for number, call in enumerate(case.calls)
    ]
    return {
        "id": case.id,
        "clauses": list(case.clauses),
        "features": list(case.features),
        "provenance": case.provenance,
        "func": case.func,
        "module": module,
        "marks": [int(line) - before for line in dict.fromkeys(places) if line],
        "calls": calls,
        "results": [_result(result, report) for result, report in zip(results, reports, strict=True)],
    }


def _result(result: CaseResult | None, report: SuiteReport) -> Data:
    if result is None:
        return None
    verdict = "not scored" if result.verdict is None else result.verdict.value
    if result.verdict in (CaseVerdict.PASS, None) and result.expected:
        return verdict
    data: dict[str, Data] = {"verdict": verdict, "expected": result.expected}
    if result.known:
        data |= {"known": result.known, "reason": report.reasons.get(result.known, "")}
        data["was"] = "" if result.was is None else result.was.value
    if result.unexpected:
        data["unexpected"] = result.unexpected
    calls: list[Data] = []
    for call in result.calls:
        rows: list[Data] = [[row.label, row.index, row.got, row.recorded, row.permitted] for row in call.rows]
        word = "not scored" if call.verdict is None else call.verdict.value
        calls.append({"verdict": word, "why": call.why, "got": _cut(call.got), "rows": rows})
    return {**data, "calls": calls}


def arguments_text(case: CaseFile, number: int) -> str:
    """The arguments of a call, a line each."""
    try:
        function = case.module.functions.get(case.func)
        parameters = [] if function is None or isinstance(function, relax.ExternFunc) else parameters_of(function)
        args = case.arguments(number)
    except RefmlcError:
        return "" if not case.calls[number].args else "(the module is not read)"
    lines = []
    for at, arg in enumerate(args):
        name = parameters[at].name if at < len(parameters) else f"argument {at}"
        value = values_text(arg) if isinstance(arg, Tensor) else repr(arg)
        lines.append(_cut(f"{name}: {kind_of(arg)}: {value}"))
    return "\n".join(lines)


def wanted_text(assertion: Mapping[str, Data]) -> str:
    """The expected result of a call, a line for each value."""
    match assertion:
        case {"kind": "return", "parts": list(recorded)}:
            return (
                "\n".join(_part(at, data) for at, data in enumerate(recorded) if isinstance(data, dict))
                or "it returns nothing"
            )
        case {"kind": "trap" | "undefined" | "reject" as kind, **rest}:
            at = f" at {rest['place']}" if rest.get("place") else ""
            return f"{kind} {rest.get('code', '')}{at}"
        case _:
            return "recorded only, not scored"


def _part(at: int, data: Mapping[str, Data]) -> str:
    label, rule = data.get("label", f"value {at + 1}"), data.get("rule", "exact")
    if rule == "kept":
        return f"{label}: unchanged"
    if rule == "any":
        return f"{label}: anything"
    if rule == "hash":
        return f"{label}: {data.get('dtype')} {data.get('shape')}, SHA-256 {data.get('sha256')}"
    if "dtype" not in data:
        return f"{label}: {data.get('value', data.get('extents'))}"
    try:
        tensor = tensor_of(first_options(data))
    except RefmlcError as failure:
        return f"{label}: {failure.diagnostic.message}"
    rules = {"certified": ", or within a proved interval", "one of": ", or one of a set"}
    also = f", at most {data.get('ulps')} ulp away" if rule == "ulp" else rules.get(str(rule), "")
    return _cut(f"{label}: {kind_of(tensor)}: {values_text(tensor)}{also}")


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LINE else f"{text[:MOST_LINE]}…"


NAMES = {**AREAS, "": "Without a clause"}
VERDICTS = (*(verdict.value for verdict in GRAVEST), NOT_SCORED)


def page(suite: Suite, reports: Sequence[SuiteReport]) -> str:
    """The page as a text."""
    script = _file("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = json.dumps(page_data(suite, reports), ensure_ascii=False, separators=(",", ":"))
    return _template().render(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        suite=suite.version,
        count=len({result.id for report in reports for result in report.results}),
        reports=reports,
        names=short_names(reports),
        verdicts=VERDICTS,
        faults=[verdict.value for verdict in FAULTS],
        summary=summary,
        version=version("refmlc"),
        css=Markup(_file("page.css")),  # noqa: S704 - a file of refmlc
        light_style=Markup(style(LIGHT)),  # noqa: S704 - rules of Pygments
        dark_style=Markup(style(DARK)),  # noqa: S704 - the same
        script=Markup(script),  # noqa: S704 - a file of refmlc
        data=Markup(data.replace("<", "\\u003c").replace("\u2028", "\\u2028")),  # noqa: S704 - no tag is left in it
    )


def page_data(suite: Suite, reports: Sequence[SuiteReport]) -> dict[str, object]:
    """The data of the page's script."""
    results = [{result.id: result for result in report.results} for report in reports]
    answered_cases = [case for case in suite.cases if any(case.id in results_by_id for results_by_id in results)]
    modules = {text: number for number, text in enumerate(dict.fromkeys(case.text for case in answered_cases))}
    cases = [
        case_data(case, modules[case.text], [results_by_id.get(case.id) for results_by_id in results], reports)
        for case in answered_cases
    ]
    names = short_names(reports)
    return {
        "verdicts": VERDICTS,
        "implementations": [f"{name} {report.version}".rstrip() for name, report in zip(names, reports, strict=True)],
        "names": names,
        "areas": NAMES,
        "clauses": _clauses([name for case in answered_cases for name in case.clauses]),
        "modules": [module_data(text) for text in modules],
        "cases": cases,
    }


def short_names(reports: Sequence[SuiteReport]) -> list[str]:
    """Short names of the implementations: without folders of programs, unless two would be the same."""
    short = [_short(report.implementation) for report in reports]
    twice = Counter((name, report.version) for name, report in zip(short, reports, strict=True))
    return [
        name if twice[name, report.version] == 1 else report.implementation
        for name, report in zip(short, reports, strict=True)
    ]


def _short(name: str) -> str:
    """`tvm` of `tvm:/a/bin/python`; `cmd:python mine.py` of `cmd:/a/bin/python /b/mine.py`."""
    if name.startswith("cmd:"):
        return re.sub(r"(?:(?<=\s)|(?<=^cmd:))/\S*/", "", name)
    return re.sub(r"^(\w+):/[^,]*", r"\1", name)


def _clauses(names: Sequence[str]) -> Mapping[str, Data]:
    """Title and text of the clauses that are named."""
    rows = clauses()
    known_ids = sorted(set(names) & rows.keys())
    return {name: {"title": rows[name].title, "text": rows[name].text} for name in known_ids}


def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_file("page.html"))


def _file(name: str) -> str:
    return (files("refmlc.oracle.suite.report") / "templates" / name).read_text(encoding="utf-8")
